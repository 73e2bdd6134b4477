"""Sphinx: folds a section whose heading begins with "Deeper". HTML's own fold, so it opens without JavaScript."""

from docutils import nodes


def fold(app, doctree, docname):
    """Put what stands in such a section into <details>, its heading into <summary>."""
    for section in list(doctree.findall(nodes.section)):
        if section[0].astext().startswith("Deeper"):
            begin, between, end = (
                nodes.raw("", html, format="html")
                for html in ('<details class="deeper"><summary>', "</summary>", "</details>")
            )
            section.children = [begin, section[0], between, *section[1:], end]


def setup(app):
    """Called by Sphinx."""
    app.connect("doctree-resolved", fold)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
