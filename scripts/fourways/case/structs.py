"""The dtype of a struct: its fields as the kernel's file defines them, held to the size that the compiler says."""

import re

import numpy as np

from fourways.kernels import DTYPES, Parameter, without_comments

_FIELDS = re.compile(r"(?:const )?([\w ]+?) ?(\w+(?:\[\d+\])*(?:, ?\w+(?:\[\d+\])*)*)")
_TRIPLES = {"float3": "float32", "double3": "float64", "int3": "int32", "uint3": "uint32"}  # aligned as one number
_SHORT = {"unsigned": "uint32", "size_t": "uint64"} | {
    f"{sign}int{bits}_t": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}

Fields = list[tuple[str, str] | tuple[str, str, tuple[int, ...]]]


def fields(parameter: Parameter, source: str) -> Fields | None:
    """The fields, as `np.dtype(..., align=True)` takes them, of the struct that a parameter holds or points to.

    None where the text does not define the struct, by numbers and arrays of numbers alone, or where the fields do not
    fill the size that the compiler says.
    """
    name = re.escape(parameter.element)
    body = r"\{([^{}()]*)\}"
    plain = without_comments(source)
    written = re.search(rf"\bstruct\s+{name}\s*{body}", plain) or re.search(
        rf"\btypedef\s+struct\s*\w*\s*{body}\s*{name}\s*;", plain
    )
    if not written:
        return None
    told: Fields = []
    for line in written[1].split(";"):
        if not (words := " ".join(line.split())):
            continue
        parts = _FIELDS.fullmatch(words)
        if not parts:
            return None
        dtype = _TRIPLES.get(parts[1]) or _SHORT.get(parts[1]) or DTYPES.get(parts[1])
        if not dtype or dtype.startswith("complex"):  # C aligns complex numbers more than NumPy does
            return None
        for each in parts[2].split(","):
            field, *extents = each.strip().replace("]", "").split("[")
            shape = (*map(int, extents), *((3,) if parts[1] in _TRIPLES else ()))
            told.append((field, dtype, shape) if shape else (field, dtype))
    try:
        size = np.dtype(told, align=True).itemsize if told else 0
    except ValueError:  # two fields of one name
        return None
    return told if size == (parameter.element_size if parameter.is_pointer else parameter.size) else None


def struct(parameter: Parameter, source: str) -> np.dtype | None:
    """The dtype of the struct: its fields, or bytes if the fields are unknown; None if its size is unknown."""
    size = parameter.element_size if parameter.is_pointer else parameter.size
    if told := fields(parameter, source):
        return np.dtype(told, align=True)
    return np.dtype(f"V{size}") if size else None
