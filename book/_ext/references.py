"""Sphinx: gives the entries of the list of references the role `listitem`, which a list's children must have.

docutils writes `doc-biblioentry`, which DPUB-ARIA 1.1 deprecates (https://www.w3.org/TR/dpub-aria-1.1/#doc-biblioentry).
"""


def mend(app, pagename, templatename, context, doctree):
    """Replace the role in a page's HTML."""
    if "body" in context:
        context["body"] = context["body"].replace('role="doc-biblioentry"', 'role="listitem"')


def setup(app):
    """Called by Sphinx."""
    app.connect("html-page-context", mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
