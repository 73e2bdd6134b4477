"""Sphinx: the cells of a lesson's ways become tabs, one for each way. All pages keep the reader's choice.

The tabs are sphinx-design's: radio buttons, which need no JavaScript to switch. In print they follow one another.
"""

from docutils import nodes
from sphinx_design.shared import create_component

from fourways.ways import WAYS


def wrap(app, doctree):
    """Put neighbouring cells of ways into a set of tabs. What stands between two of them belongs to the second."""
    for section in doctree.findall(nodes.section):
        ways = [number for number, node in enumerate(section.children) if way_of(node)]
        if len(ways) < 2:
            continue
        tabs = create_component("tab-set", classes=["sd-tab-set", "ways"])
        first = ways[0] - introduces(section[ways[0] - 1])
        begins = [first, *(number + 1 for number in ways)]
        for begin, number in zip(begins, ways, strict=False):
            tabs += tab(section.children[begin : number + 1])
        section.children[first : ways[-1] + 1] = [tabs]
        tabs.parent = section


def introduces(node):
    """Return whether a paragraph begins with a way's name in bold."""
    said = [child for child in node.children if child.astext()]  # an empty text comes first
    return isinstance(node, nodes.paragraph) and isinstance(said[0], nodes.strong)


def way_of(node):
    """Return the way that a cell defines, or None."""
    classes = node.get("classes", []) if isinstance(node, nodes.container) else []
    return next((way for name, way in WAYS.items() if "cell" in classes and f"tag_way-{name}" in classes), None)


def tab(content):
    """Return the tab of the way that the last node of `content` defines."""
    way = way_of(content[-1])
    item = create_component("tab-item", classes=["sd-tab-item"], selected="tag_opens" in content[-1]["classes"])
    label = nodes.rubric("", way.short, classes=["sd-tab-label", f"way-{way.name}"])
    label["sync_id"], label["sync_group"] = way.name, "way"
    item += [label, create_component("tab-content", classes=["sd-tab-content"], children=content)]
    return item


def setup(app):
    """Called by Sphinx."""
    app.connect("doctree-read", wrap)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
