"""Facts about kernels: the catalogue of `cpp/kernels`, what a file declares, and the signature of each kernel."""

from fourways.kernels.catalogue import (
    InputError,
    NotThereError,
    check_path,
    is_file,
    names,
    path,
    root,
    source,
    text_of,
    user_file,
)
from fourways.kernels.declarations import (
    BRACKETS,
    STRING,
    Declared,
    Variable,
    declared,
    meant,
    without_comments,
    without_directives,
)
from fourways.kernels.signatures import (
    TELLING,
    Limits,
    Parameter,
    Signature,
    demangled,
    signature,
)
