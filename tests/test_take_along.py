"""The three scripts to take along: short enough to be shown, and of use where `fourways` is not. No GPU."""

import ast
import re
from pathlib import Path

import alone
import cell_python
import layouts
import pytest

from fourways import kernels, lesson, linking, profiling

SCRIPTS = kernels.root() / "scripts" / "fourways"
REPORT = kernels.root() / "book" / "figures" / "colmeans.ncu-rep"
LIBRARY = """
extern "C" __device__ float f(float);
extern "C" __global__ void k(float *x) { x[threadIdx.x] = f(x[threadIdx.x]) / x[32]; } // a division calls, too
"""
USER = 'extern "C" __device__ float f(float x) { return x + 1; }'


@pytest.mark.parametrize("script", ["timing", "profiling", "linking"])
def test_a_page_can_show_it(script: str) -> None:
    text = (SCRIPTS / f"{script}.py").read_text(encoding="utf-8")
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    assert text.count("\n") <= 250
    assert max((each.end_lineno or 0) - each.lineno + 1 for each in functions) <= 40
    assert re.findall(r".*\bimport\b.*fourways.*|.*fourways.*\bimport\b.*", text) == ["    from fourways import tables"]


def functions_of(tree: ast.Module) -> dict[str, str]:
    """Return the functions of a Python text by name, without docstrings and types, with CuPy as `cp`."""
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    for function in functions.values():
        function.body = function.body[ast.get_docstring(function) is not None :]
        for node in ast.walk(function):
            if isinstance(node, ast.FunctionDef):
                node.returns = None
            if isinstance(node, ast.arg):
                node.annotation = None
    bare = {name: re.sub(r"\bcupy\b", "cp", ast.unparse(function)) for name, function in functions.items()}
    return {name: re.sub(r"(?m)^(\s+\w+): [^=]+? = ", r"\1 = ", text) for name, text in bare.items()}


def test_lesson_06_builds_what_timing_has() -> None:
    script, page = functions_of(ast.parse((SCRIPTS / "timing.py").read_text(encoding="utf-8"))), dict[str, str]()
    for cell in lesson.find("06").notebook.cells:
        if cell.cell_type == "code":
            page |= functions_of(cell_python.tree(cell.source))
    for name in ("captured", "in_turns", "other_reads"):
        assert page[name] == script[name]


def test_timing_alone(tmp_path: Path) -> None:
    """What needs no GPU: the order of the calls, and what is kept of their samples."""
    program = (
        "import timing\n"
        "order = []\n"
        "calls = {name: lambda name=name: order.append(name) or len(order) for name in 'abc'}\n"
        "samples = timing.in_turns(calls, 40)\n"
        "assert [len(taken) for taken in samples.values()] == [40] * 3 and samples['a'][0] > 9\n"
        "rounds = [''.join(order[i : i + 3]) for i in range(0, len(order), 3)]\n"
        "assert {''.join(sorted(each)) for each in rounds} == {'abc'} and len(set(rounds)) > 2, rounds\n"
        "table = timing._table('t', 'device', samples | {'nothing': [1e-6]}, 10**6, 'note')\n"
        "assert [row.get('bytes') for row in table.rows] == [10**6] * 3 + [None]\n"
        "print(table)\n"
    )
    printed = alone.run("timing", program, tmp_path)
    assert "median   p10 to p90" in printed and printed.endswith("note\n")


def test_profiling_alone(tmp_path: Path) -> None:
    program = (
        "import sys, profiling\n"
        "print(profiling.metrics(sys.argv[1], ['gpu__time_duration.sum', 'launch__grid_size', 'no_such_metric']))\n"
        "print(profiling.lines(sys.argv[1], 1))\n"
    )
    printed = " ".join(alone.run("profiling", program, tmp_path, str(REPORT)).split())
    assert "1: colmeans gpu__time_duration.sum 3,289,312 ns time of one launch; ncu empties the caches" in printed
    assert "3: colmeans launch__grid_size 8,192 3: colmeans no_such_metric not in this report" in printed
    assert "1: colmeans colmeans.cuh 38 331,602 68,157,440 sum += from[row * columns];" in printed


@pytest.mark.parametrize(
    ("file", "error", "message"),
    [("nowhere.ncu-rep", FileNotFoundError, "no file nowhere"), (__file__, ValueError, "holds no launch: it is not a")],
)
def test_what_is_no_report(file: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        profiling.lines(file)


@pytest.mark.parametrize(
    ("says", "error", "message"),
    [
        ("==ERROR== ERR_NVGPUCTRPERM - no permission", PermissionError, "run as root, start a container"),
        ("==ERROR== no such option", RuntimeError, "ncu made no report:\n==ERROR== no such option"),
    ],
)
def test_what_ncu_refuses_is_said_below_its_command(
    says: str,
    error: type[Exception],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """tests/gpu runs the real ncu."""
    fake = layouts.script(tmp_path / "ncu", f"echo '{says}'; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(error, match=message):
        profiling.ncu("mine.py", "5", kernel="k")
    command = capfd.readouterr().out
    assert f" {fake} --force-overwrite --export " in command and " --kernel-name k " in command


def test_without_ncu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profiling.shutil, "which", lambda *_, **__: None)
    monkeypatch.setattr(Path, "glob", lambda *_: iter(()))
    with pytest.raises(FileNotFoundError, match=r"no ncu here: .*nsight-compute"):
        profiling.ncu("mine.py")


def test_linking_alone(tmp_path: Path) -> None:
    (tmp_path / "library.cu").write_text(LIBRARY)
    (tmp_path / "user.cu").write_text(USER)
    program = (
        "import linking\n"
        "table = linking.compare(['library.cu', 'user.cu'], 'k')\n"
        "print({row['form']: row['calls'] for row in table.rows})\n"
    )
    *shown, calls = alone.run("linking", program, tmp_path).splitlines()
    assert calls == "{'PTX': 1, 'cubin': 1, 'LTO-IR': 0, 'nvcc -rdc=true': 1, 'nvcc -dlto': 0}"
    assert sum(line.startswith("Program(…, ProgramOptions(arch='sm_90', ") for line in shown) >= 6
    assert "Linker(*units, options=LinkerOptions(arch='sm_90', link_time_optimization=True)).link('cubin')" in shown
    assert [line.split()[0].rpartition("/")[2] for line in shown[-6:]] == ["nvcc", "nvcc", "nvlink"] * 2


@pytest.mark.parametrize("form", linking.FORMS)
def test_a_function_that_no_unit_defines(form: str) -> None:
    with pytest.raises(Exception, match="(Undefined reference to|Unresolved extern function) 'f'"):
        linking.link([linking.compile(LIBRARY, form)], form)


def test_a_kernel_that_is_not_there(tmp_path: Path) -> None:
    code = linking.link([linking.compile(unit, "cubin", "sm_80") for unit in (LIBRARY, USER)], "cubin", "sm_80").code
    assert linking.calls_left(code, "k") == 1
    with pytest.raises(ValueError, match="no kernel 'main' in the cubin; its functions: .*k"):
        linking.calls_left(code, "main")
