"""One link by nvJitLink in this fresh process: prints its seconds as JSON.

`fourways.link_builds.builds` runs it. nvJitLink 13.0 and 13.5 print some errors on the C library's standard error
alone, give a cubin all the same, and may crash at the next link. So each link has a process of its own.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

from cuda.bindings import nvjitlink


def main(arch: str, lto: bool, cubin: str, units: list[str], **_: Any) -> int:
    """Link, write the cubin, print what nvJitLink has in its logs; returns nvJitLink's code, 0 if all is well."""
    nvjitlink.version()  # loads the library
    options = [f"-arch={arch}", "-no-cache", *(["-lto"] if lto else [])]
    start = time.perf_counter()
    linker = nvjitlink.create(len(options), options)
    code = 0
    try:
        for unit in units:
            nvjitlink.add_file(linker, nvjitlink.InputType.ANY, unit)
        nvjitlink.complete(linker)
        content = bytearray(nvjitlink.get_linked_cubin_size(linker))
        nvjitlink.get_linked_cubin(linker, content)
        seconds = time.perf_counter() - start
        Path(cubin).write_bytes(content)
        print(json.dumps({"seconds": seconds}))
    except nvjitlink.nvJitLinkError as error:
        code = error.status
        print(error, file=sys.stderr)
    infos = _log(linker, "info").splitlines()
    said = [_log(linker, "error"), *(line for line in infos if not line.startswith("INFO: "))]
    print(*said, sep="\n", file=sys.stderr)
    return code


def _log(linker: Any, which: str) -> str:
    text = bytearray(getattr(nvjitlink, f"get_{which}_log_size")(linker))
    if text:
        getattr(nvjitlink, f"get_{which}_log")(linker, text)
    return text.decode(errors="replace").strip("\0\n")


if __name__ == "__main__":
    sys.exit(main(**json.load(sys.stdin)))
