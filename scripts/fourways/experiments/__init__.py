"""Experiments that serve a single lesson: each is a module or a package, which the lesson imports by its name."""
