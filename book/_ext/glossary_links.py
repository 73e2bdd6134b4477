"""Sphinx: the first use of a glossary's term on a page links to the glossary, and `glossary.js` shows its definition.

A term is found in its plural, too. Headings, code, links, tables, and words in bold get no link. A use in open
text comes before a use in a fold or a tab, which the reader may never open.
"""

import json
import re
from functools import cache
from itertools import groupby

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform

CLOSED = (nodes.reference, nodes.literal, nodes.strong, nodes.table, nodes.citation, addnodes.pending_xref)
CLOSED_CLASSES = {"provenance", "cell"}
FOLDS = {"dropdown", "tab-content"}
OTHER_SENSES = (
    r"(?i:same|another|either|under|on the|other|long|their|its|cell each) ways?",
    r"(?i:that|this|both|which|any|all three|each|in some) cases?",
    r"(?i:not|to|share a) rank",
    r"races? (?:above|cannot|their)|(?:in|for) the race",
    r"(?i:256|same|every) counters?",
    r"grid of temperatures",
    r"lane of",
    r"synchronises all ranks",
    r"(?i:first|memory|code) blocks?",
    r"blocks? of (?:calls|an array)",
    r"container toolkit",
    r"event of a timeline",
    r"guards against",
    r"plug-in host",
)
"""Phrases in which a term means something else."""


class LinkTerms(SphinxPostTransform):
    """Put a reference to the glossary around the first use of each term on a page."""

    default_priority = 5  # before Sphinx resolves references

    def run(self):
        """Called by Sphinx for each page."""
        if any(self.document.findall(addnodes.glossary)):
            return
        self.left = {form: term for term in definitions(self.app) for form in forms(term)}
        for text in sorted(running_text(self.document), key=is_folded):
            self.link(text)

    def link(self, text):
        """Put references into a text node."""
        new, end, words = [], 0, text.astext()
        longest_first = map(re.escape, sorted(self.left, key=len, reverse=True))
        phrases = "|".join([*OTHER_SENSES, *longest_first]).replace("\\ ", " ").replace(" ", r"\s+")
        pattern = re.compile(rf"(?<![\w./-])(?:{phrases})(?![\w/-]|\.\w)")
        for match in pattern.finditer(words):
            term = self.left.get(" ".join(match[0].split()))
            if term is None:
                continue  # linked already, or another sense
            definition = definitions(self.app)[term]
            self.left = {form: other for form, other in self.left.items() if definitions(self.app)[other] != definition}
            about = {"refdomain": "std", "reftype": "term", "reftarget": term, "refdoc": self.env.docname}
            word = nodes.inline("", match[0], classes=["glossary-term"], term=term)
            new += [nodes.Text(words[end : match.start()]), addnodes.pending_xref("", word, refwarn=True, **about)]
            end = match.end()
        if new:
            text.parent.replace(text, [*new, nodes.Text(words[end:])])


def join_lines(paragraph):
    """Make one text node of neighbours: MyST makes one of each line, and a term may span two."""
    for element in paragraph.findall(nodes.TextElement):
        groups = [
            (kind, list(group)) for kind, group in groupby(element.children, lambda node: type(node) is nodes.Text)
        ]
        element.children = []
        for is_text, group in groups:
            element += [nodes.Text("".join(group))] if is_text else group


def running_text(document):
    """Return the text nodes of paragraphs that may get a link."""
    paragraphs = list(document.findall(nodes.paragraph))
    for paragraph in paragraphs:
        join_lines(paragraph)
    return [
        text
        for paragraph in paragraphs
        for text in paragraph.findall(nodes.Text)
        if not any(isinstance(node, CLOSED) or CLOSED_CLASSES & set(node["classes"]) for node in around(text))
        and not any(isinstance(node, nodes.section) and node[0].astext() == "Sources" for node in around(text))
    ]


def around(node):
    """Yield the elements that a node is in, the innermost first."""
    while (node := node.parent) is not None:
        yield node


def is_folded(text):
    """Return whether a text is in a fold or a tab."""
    return any(
        node.get("design_component") in FOLDS
        or (isinstance(node, nodes.section) and node[0].astext().startswith("Deeper"))
        for node in around(text)
    )


def forms(term):
    """Return a term with its plural, and each as it begins a sentence."""
    plural = re.sub("y$", "ie", term) + ("es" if re.search("(s|x|ch|sh)$", term) else "s")
    return {form for word in (term, plural) for form in (word, word[0].upper() + word[1:])}


@cache
def definitions(app):
    """Return each term of the book's glossaries, and its definition as HTML without links."""
    found = {}
    for name in app.env.found_docs:
        for item in app.env.get_doctree(name).findall(nodes.definition_list_item):
            if not isinstance(item.parent.parent, addnodes.glossary):
                continue
            definition = item[-1].deepcopy()
            for link in list(definition.findall(addnodes.pending_xref)):
                link.parent.remove(link) if link["refdomain"] == "cite" else link.replace_self(link.children)
            text = "".join(app.builder.render_partial(part)["fragment"] for part in definition)
            found |= {term.astext(): text.replace(" .", ".") for term in item.findall(nodes.term)}
    return found


def add_definitions(app, pagename, templatename, context, doctree):
    """Give a page the definitions of the terms that it links to, by their anchors in the glossary."""
    terms = [word["term"] for word in doctree.findall(nodes.inline) if "term" in word] if doctree else []
    anchors = {app.env.domains["std"].objects["term", term][1]: definitions(app)[term] for term in terms}
    app.add_js_file(None, body=f"const GLOSSARY = {json.dumps(anchors)};".replace("</", "<\\/"))


def setup(app):
    """Called by Sphinx."""
    app.add_post_transform(LinkTerms)
    app.connect("html-page-context", add_definitions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
