"""Sphinx: a lesson's page offers its notebook and script for download, and opens the notebook at Colab or Kaggle.

The EPUB gets the version.
"""

from fourways import __version__, lesson


def add_buttons(app, pagename, templatename, context, doctree):
    """Replace the theme's download of the page's source, and add the hosts that CITATION.cff's address allows."""
    folder, _, slug = pagename.rpartition("/")
    if folder != "lessons" or "header_buttons" not in context:
        return
    for group in context["header_buttons"]:
        if group.get("label") == "download-buttons":
            group["tooltip"] = "Download this lesson, or print it"
            group["buttons"] = [
                button(".ipynb", f"{slug}.ipynb", "The notebook, without solutions", "fas fa-code"),
                button(".py", f"{slug}.py", "The cells as a Python script", "fas fa-file"),
                group["buttons"][-1],  # print to PDF
            ]
    if hosts := lesson.hosts(slug):
        buttons = [button(name, link, f"Open the notebook at {name}", "fas fa-cloud") for name, link in hosts.items()]
        group = {"type": "group", "label": "launch-buttons", "icon": "fas fa-rocket", "buttons": buttons}
        context["header_buttons"].append(group | {"tooltip": "Open this lesson on a server"})


def button(text, url, tooltip, icon):
    """Return a link as the theme's template takes it."""
    return {"type": "link", "text": text, "url": url, "tooltip": tooltip, "icon": icon, "label": f"get{text}"}


def setup(app):
    """Called by Sphinx."""
    app.connect("config-inited", lambda _, config: setattr(config, "version", __version__))
    app.connect("html-page-context", add_buttons, priority=502)  # after the theme's own
    return {"parallel_read_safe": True, "parallel_write_safe": True}
