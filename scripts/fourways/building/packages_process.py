"""One kernel through a Python package's own compiler call, in this fresh process: prints its seconds as JSON.

Run by `fourways.building.packages`, which sends the task on standard input. The clock starts after the imports, after
NVRTC's library is loaded and, for CuPy, after the GPU's context is created.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Task = dict[str, Any]
Log = list[str]
Call = Callable[[], Any]

# the options of nvcc and NVRTC, and the fields of cuda.core.ProgramOptions
_FIELDS = {
    "ftz": "ftz",
    "fmad": "fma",
    "prec-div": "prec_div",
    "prec-sqrt": "prec_sqrt",
    "use_fast_math": "use_fast_math",
    "lineinfo": "lineinfo",
    "maxrregcount": "max_register_count",
    "std": "std",
}


class NotOffered(Exception):
    """The package has no way to do what was asked; no error of the user's."""


def pycuda(task: Task, log: Log) -> Call:
    """The last call of `pycuda.compiler.compile` in PyCUDA 2026.1; unlike `compile` it needs no driver."""
    from pycuda import compiler

    run = compiler.call_capture_output

    def listen(*arguments: Any, **named: Any) -> Any:
        code, out, words = run(*arguments, **named)
        log[:] = [(out + words).decode(errors="replace")]
        return code, out, words

    compiler.call_capture_output = listen  # its error has this text, but its class needs a driver
    if task["cache"]:
        import pycuda.characterize  # imported by the call otherwise  # noqa: F401
    options = [*(task["options"] or compiler.DEFAULT_NVCC_FLAGS), *(["-Xptxas=-v"] if task["report"] else [])]
    options += ["-arch", task["arch"]]
    options += [f"-I{folder}" for folder in (task["folder"], compiler._find_pycuda_include_path())]
    return lambda: compiler.compile_plain(
        task["source"], options, False, task["nvcc"], task["cache"], target=task["target"]
    )


def cuda_core(task: Task, log: Log) -> Call:
    """`cuda.core.Program`, with its cache of files where one is asked for."""
    from cuda.bindings import nvrtc
    from cuda.core import Program, ProgramOptions
    from cuda.core.utils import FileStreamProgramCache

    nvrtc.nvrtcVersion()  # loads the library
    fields = core_fields(task["options"])
    if "#include" in task["source"]:
        fields.setdefault("include_path", []).extend([task["folder"], *task["include_dirs"]])
    if task["cache"] and "include_path" in fields:
        raise NotOffered("its cache wants a digest of all headers from the user where a kernel includes any")
    if task["report"]:
        fields["ptxas_options"] = ["-v"]
    if task["target"] == "ltoir":
        fields["link_time_optimization"] = True
    options = ProgramOptions(arch=task["arch"], name=task["name"], **fields)
    cache = FileStreamProgramCache(task["cache"]) if task["cache"] else None

    class Written:
        write = log.append

    return lambda: Program(task["source"], "c++", options).compile(task["target"], logs=Written, cache=cache).code


def core_fields(options: list[str]) -> dict[str, Any]:
    """A compiler's options as the fields of `cuda.core.ProgramOptions`. Raises NotOffered for one that has no field."""
    fields: dict[str, Any] = {}
    for option in options:
        name, _, value = option.lstrip("-").partition("=")
        if option.startswith("-D"):
            fields.setdefault("define_macro", []).append((name[1:], value or "1"))
        elif option.startswith("-I"):
            fields.setdefault("include_path", []).append(option[2:])
        elif name in _FIELDS:
            fields[_FIELDS[name]] = (
                int(value) if value.isdigit() else {"": True, "true": True, "false": False}.get(value, value)
            )
        else:
            raise NotOffered(f"it takes options by name, and `fourways build` knows no name for {option}")
    return fields


def cupy(task: Task, log: Log) -> Call:
    """CuPy's `RawModule`, which also hands the machine code to the driver. Its cache is where CUPY_CACHE_DIR says."""
    import cupy

    cupy.cuda.runtime.free(0)  # creates the context
    cupy.cuda.nvrtc.getVersion()  # loads the library
    folders = [f"-I{folder}" for folder in (task["folder"], *task["include_dirs"])]
    module = cupy.RawModule(code=task["source"], options=(*task["options"], *folders), backend=task["backend"])
    return module.compile


def main() -> None:
    """Read the task, do it, print `{"seconds": [...], "log": "..."}`, or `error`, or `not_offered`."""
    task, log = json.load(sys.stdin), []  # type: tuple[Task, Log]
    answer: dict[str, Any] = {}
    try:
        call = {"pycuda": pycuda, "cuda.core": cuda_core, "cupy": cupy}[task["package"]](task, log)
        seconds = []
        for _ in range(task["times"]):
            log.clear()
            start = time.perf_counter()
            code = call()
            seconds.append(time.perf_counter() - start)
        if task["result"]:
            Path(task["result"]).write_bytes(code)
        answer = {"seconds": seconds, "log": "".join(log)}
    except NotOffered as reason:
        answer = {"not_offered": str(reason)}
    except Exception as error:
        answer = {"error": "".join(log).strip() or str(error)}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
