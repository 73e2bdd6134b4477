"""The host way under a sanitizer, and the sanitizer's report in terms of the kernel."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from fourways import kernels
from fourways.host.compile import SANITIZE
from fourways.host.faults import in_kernel

SEARCHES = {
    "thread": (("blocks", "thread"), "races between threads of a block, and between blocks in the kernel's arrays"),
    "address": (("address",), "accesses outside of arrays and of shared memory"),
}
"""The values of `--sanitize`, each with the kinds of `sanitizing` that search for it, and its faults in words."""

_ACCESS = re.compile(
    r"^ *(?P<verb>(?:previous )?(?:atomic )?(?:read|write)) of size (?P<bytes>\d+) at (?P<address>0x\w+) "
    r"(?:by )?(?:main thread|thread T(?P<thread>\d+)).*\n(?P<stack>(?: +#\d+ .*\n)+)",
    re.MULTILINE | re.IGNORECASE,
)
_FRAME = re.compile(r" (/[^\n]*?):(\d+)(?=[:\s])")
_OUTSIDE = re.compile(
    r"is located (?P<distance>\d+) bytes (?P<side>to the right of|after|to the left of|before) "
    r"(?:(?P<region>\d+)-byte region|global variable '(?P<name>[^']+)' defined in '(?P<file>[^']+?)[:\d]*' "
    r"\(\w+\) of size (?P<size>\d+))"
)
_KIND = re.compile(r"(?:Thread|Address)Sanitizer: (data race|[\w-]+)")
_MEANS = {
    "data race": "Nothing orders these two accesses; a __syncthreads() between them does, or a __syncwarp() in a warp.",
    "heap-buffer-overflow": "The kernel left an array that it was given; is there `if (i < n)`?",
    "global-buffer-overflow": "The kernel left an array of its own.",
    "SEGV": "The kernel used memory far from any array, here or before.",
}
_RACED = re.compile(r"Location is (?:global '(?P<name>[^']+)'|heap block) of size (?P<size>\d+) at (?P<start>0x\w+)")


@contextmanager
def sanitizing(kind: str) -> Iterator[None]:
    """Compile with this sanitizer, a key of `host.SANITIZERS`, in every call of `host.compile` in this block."""
    before = SANITIZE.set(kind)
    try:
        yield
    finally:
        SANITIZE.reset(before)


def finding(report: str) -> str:
    """Summarise a sanitizer's report: file and line of each access in the kernel, the thread, the array's element.

    A report that names no line of a kernel file is returned unchanged.
    """
    lines = []
    for access in _ACCESS.finditer(report):
        where, width = in_kernel(_FRAME.findall(access["stack"])), int(access["bytes"])
        if not where:  # cpp/host's own
            continue
        *earlier, verb = access["verb"].lower().replace("previous", "earlier").split()
        done = " ".join([*earlier, "written" if verb == "write" else verb])
        element = _outside(report, width) or _raced(report, int(access["address"], 16), width) or f"{width} bytes"
        lines += [where, f"    {done} by thread {access['thread'] or 0} of its block: {element}"]
    lines = lines or list(filter(None, [in_kernel(_FRAME.findall(report))]))
    kind = _KIND.search(report)
    if not lines or not kind:
        return report
    if kind[1] == "data race" and len(lines) > 2 and all("written by" in line for line in lines[1::2]):
        lines.append("If both always write the same value, the answer does not depend on their order.")
    return "\n".join([f"{kind[0]}. {_MEANS.get(kind[1], '')}".rstrip(), *lines])


def _outside(report: str, width: int) -> str | None:
    for match in _OUTSIDE.finditer(report):
        if match["region"] or kernels.is_file(match["file"]):  # not a variable of cpp/host nearby
            size, after = int(match["region"] or match["size"]), match["side"] in ("after", "to the right of")
            distance = size + int(match["distance"]) if after else -int(match["distance"])
            return _element(distance // width, match["name"], size // width)
    return None


def _raced(report: str, address: int, width: int) -> str | None:
    if match := _RACED.search(report):
        return _element((address - int(match["start"], 16)) // width, match["name"], int(match["size"]) // width)
    return None


def _element(number: int, name: str | None, count: int) -> str:
    return f"element {number} of {name.split('::')[-1] if name else 'an array'}, which has {count}"
