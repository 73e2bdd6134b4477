"""Compile lesson 04's kernel to WebAssembly, for the explorable on the lesson's page.

The result, `book/_explorables/transpose_wasm.js`, is committed, so that the book is built without clang. Its first line
holds the SHA-256 of what it was made from.
"""

import base64
import hashlib
import json
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from fourways import files, kernels

VARIANTS = {"0,0": ("-DTILED=0", "-DTILE=32", "-DPAD=0")} | {
    f"{tile},{pad}": (f"-DTILE={tile}", f"-DPAD={pad}") for tile in (16, 32, 64) for pad in (0, 1, 2, 4)
}
"""The macros of each module, by its tile and padding; a tile of 0 stands for no tile."""

_OPTIONS = (
    *("-std=c++20", "--target=wasm32", "-nostdlib", "-fno-builtin", "-Os", "-Wall", "-Wextra"),
    "-Wno-pass-failed",  # the kernel asks for loops to be unrolled, which the block's size at run time prevents
    *("-Xclang", "-fsanitize=thread", "-mllvm", "-tsan-instrument-func-entry-exit=0"),
    *("-Wl,--no-entry", "-Wl,--strip-all"),
    *(f"-Wl,--export={name}" for name in ("run", "a", "b", "accesses", "access_count")),
)


def script() -> Path:
    """Return the path of the JavaScript file that carries the modules."""
    return kernels.root() / "book" / "_explorables" / "transpose_wasm.js"


def fingerprint() -> str:
    """Return the SHA-256 of the kernel, of what is compiled with it, and of the compiler's options."""
    cpp = kernels.root() / "cpp"
    sources = (kernels.path("transpose"), *sorted((cpp / "wasm").iterdir()))
    parts = [path.read_bytes() for path in sources] + [repr((_OPTIONS, VARIANTS)).encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def build() -> Path:
    """Compile each variant, write `script()`, and return its path.

    Raises FileNotFoundError without clang++ and wasm-ld, and CalledProcessError with the compiler's words.
    """
    compiler = shutil.which("clang++")
    if not compiler or not shutil.which("wasm-ld"):
        raise FileNotFoundError("`make wasm` needs clang++ and wasm-ld: apt-get install clang lld")
    modules = {}
    with TemporaryDirectory(prefix="fourways-") as folder:
        module = Path(folder, "transpose.wasm")
        source = kernels.root() / "cpp" / "wasm" / "transpose.cpp"
        for name, macros in VARIANTS.items():
            subprocess.run([compiler, *_OPTIONS, *macros, str(source), "-o", str(module)], check=True)
            modules[name] = base64.b64encode(module.read_bytes()).decode()
    files.write_text(
        script(),
        f"// Made by `make wasm` from sources with the SHA-256 {fingerprint()}\n"
        f"const transposeModules = {json.dumps(modules, indent=0)};\n",
    )
    return script()


if __name__ == "__main__":
    print(build())
