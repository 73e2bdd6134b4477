"""The one exception of this package."""


class PackageError(RuntimeError):
    """No package can be made of this case, or none can be built or written. The message says what to mend."""
