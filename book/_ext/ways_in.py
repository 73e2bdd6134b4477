"""Sphinx: a lesson's page offers its notebook for download."""


def add_buttons(app, pagename, templatename, context, doctree):
    """Replace the theme's download of the page's source."""
    folder, _, slug = pagename.rpartition("/")
    if folder != "lessons" or "header_buttons" not in context:
        return
    for group in context["header_buttons"]:
        if group.get("label") == "download-buttons":
            group["tooltip"] = "Download this lesson, or print it"
            group["buttons"] = [
                {
                    "type": "link",
                    "text": ".ipynb",
                    "url": f"{slug}.ipynb",
                    "tooltip": "The notebook, without solutions",
                    "icon": "fas fa-code",
                    "label": "get.ipynb",
                },
                group["buttons"][-1],  # print to PDF
            ]


def setup(app):
    """Called by Sphinx."""
    app.connect("html-page-context", add_buttons, priority=502)  # after the theme's own
    return {"parallel_read_safe": True, "parallel_write_safe": True}
