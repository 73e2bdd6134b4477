"""Sphinx: keeps a number and its unit on one line, and the words of short code."""

import re

from docutils import nodes
from sphinx.transforms import SphinxTransform

UNIT = re.compile(r"(?<=\d)\s(?=(?:[nµm]s|s|min|h|%|[kKMGT]i?B(?:/s)?|B|[GT]FLOP/s|[MG]Hz|V|W)(?![\w/]))")
LONGEST, LONGEST_IN_TABLE = 24, 18
"""Letters of a word of code for which a phone has room."""


class KeepTogether(SphinxTransform):
    """Mend the text of a page's paragraphs."""

    default_priority = 900  # after all that splits texts

    def apply(self):
        """Called by Sphinx for each page."""
        in_tables = {id(each) for table in self.document.findall(nodes.table) for each in table.findall(nodes.literal)}
        for literal in self.document.findall(nodes.literal):
            longest = LONGEST_IN_TABLE if id(literal) in in_tables else LONGEST
            if all(len(word) <= longest for word in literal.astext().split()):
                literal["classes"].append("short")
        for text in list(self.document.findall(nodes.Text)):
            if not isinstance(text.parent, nodes.FixedTextElement | nodes.literal | nodes.raw) and UNIT.search(text):
                text.parent.replace(text, nodes.Text(UNIT.sub("\N{NO-BREAK SPACE}", text)))


def setup(app):
    """Called by Sphinx."""
    app.add_transform(KeepTogether)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
