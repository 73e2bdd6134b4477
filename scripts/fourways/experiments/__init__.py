"""What one lesson alone measures: a package or a module each, which a lesson imports by its name."""
