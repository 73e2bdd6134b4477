"""Sphinx: a figure or box with the class of an explorable gets its scripts, on its page only.

Without JavaScript the page stays as it is. With it, the script adds a figure that the reader changes.
"""

from docutils import nodes

SCRIPTS = {"access-pattern": ("transpose_wasm.js", "access_pattern.js")}
"""The scripts of each class, from the folder `_explorables`: not `_static`, whose scripts Jupyter Book gives to all."""


def add_folder(app, config):
    """Copy the scripts beside those of `_static`."""
    config.html_static_path.append("_explorables")


def add_scripts(app, pagename, templatename, context, doctree):
    """Give a page the scripts of its explorables."""
    classes = {each for node in doctree.findall(nodes.Element) for each in node.get("classes", [])} if doctree else ()
    for name in SCRIPTS.keys() & classes:
        app.add_css_file("explorable.css")
        for script in SCRIPTS[name]:
            app.add_js_file(script)


def setup(app):
    """Called by Sphinx."""
    app.connect("config-inited", add_folder)
    app.connect("html-page-context", add_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
