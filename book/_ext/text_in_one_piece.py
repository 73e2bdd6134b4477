"""Sphinx: keeps on one line a number and its unit, the words of short code, and words such as plug-in in titles."""

import re

from docutils import nodes
from sphinx.transforms import SphinxTransform

UNIT = re.compile(r"(?<=\d)\s(?=(?:[nµm]s|s|min|h|%|[kKMGT]i?B(?:/s)?|B|[GT]FLOP/s|[MG]Hz|V|W)(?![\w/]))")
SHORT_END = re.compile(r"(?<=\w)-(?=\w{1,3}\b)")
LONGEST, LONGEST_IN_TABLE = 24, 18
"""Letters of a word of code for which a phone has room."""


class KeepTogether(SphinxTransform):
    """Mend the text of a page, after its titles have given their anchors."""

    default_priority = 870  # before Sphinx reads titles

    def apply(self):
        """Called by Sphinx for each page."""
        in_tables = {id(each) for table in self.document.findall(nodes.table) for each in table.findall(nodes.literal)}
        for literal in self.document.findall(nodes.literal):
            longest = LONGEST_IN_TABLE if id(literal) in in_tables else LONGEST
            if all(len(word) <= longest for word in literal.astext().split()):
                literal["classes"].append("short")
        for text in list(self.document.findall(nodes.Text)):
            if isinstance(text.parent, nodes.FixedTextElement | nodes.literal | nodes.raw):
                continue
            mended = UNIT.sub("\N{NO-BREAK SPACE}", text)
            if isinstance(text.parent, nodes.title):
                mended = SHORT_END.sub("\N{NON-BREAKING HYPHEN}", mended)
            if mended != text:
                text.parent.replace(text, nodes.Text(mended))


def setup(app):
    """Called by Sphinx."""
    app.add_transform(KeepTogether)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
