"""The three scripts to take along: short enough to be shown, and of use where `fourways` is not. No GPU."""

import ast
import sys
from pathlib import Path

import alone
import cell_python
import pytest

from fourways import kernels, lesson, linking, profiling

SCRIPTS = ("timing", "profiling", "linking")
REPORT = kernels.root() / "book" / "figures" / "colmeans.ncu-rep"
LIBRARY = """
extern "C" __device__ float f(float);
extern "C" __global__ void k(float *x) { x[threadIdx.x] = f(x[threadIdx.x]) / x[32]; } // a division calls, too
"""
USER = 'extern "C" __device__ float f(float x) { return x + 1; }'


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_page_can_show_it(script: str) -> None:
    text = (kernels.root() / "scripts" / "fourways" / f"{script}.py").read_text(encoding="utf-8")
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    assert text.count("\n") <= 250
    long = {each.name: lines for each in functions if (lines := each.end_lineno - each.lineno + 1) > 40}  # type: ignore
    assert not long
    ours = [line for line in text.splitlines() if "import" in line and "fourways" in line]
    assert ours == ["    from fourways import tables"]


def functions_of(tree: ast.Module) -> dict[str, str]:
    """Return the functions of a Python text by name, without docstrings and types, with CuPy as `cp`."""

    class Bare(ast.NodeTransformer):
        def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
            node.returns, node.decorator_list = None, []
            node.body = node.body[ast.get_docstring(node) is not None :]
            return self.generic_visit(node)

        def visit_arg(self, node: ast.arg) -> ast.AST:
            node.annotation = None
            return node

        def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
            return ast.Assign([node.target], node.value or ast.Constant(None), lineno=node.lineno)

        def visit_Name(self, node: ast.Name) -> ast.AST:
            return ast.Name("cp" if node.id == "cupy" else node.id, node.ctx)

    each = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {node.name: ast.unparse(Bare().visit(node)) for node in each}


def test_lesson_06_builds_what_timing_has() -> None:
    text = (kernels.root() / "scripts" / "fourways" / "timing.py").read_text(encoding="utf-8")
    script, page = functions_of(ast.parse(text)), dict[str, str]()
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
    ("body", "error", "message"),
    [
        ("open(words[words.index('--export') + 1], 'w')", None, ""),
        ("print('==ERROR== ERR_NVGPUCTRPERM - no permission')", PermissionError, "run as root, start a container"),
        ("sys.exit('==ERROR== no such option')", RuntimeError, "ncu made no report:\n==ERROR== no such option"),
    ],
)
def test_the_command_of_ncu(
    body: str,
    error: type[Exception] | None,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """A script plays ncu."""
    fake, program = tmp_path / "ncu", tmp_path / "mine.py"
    fake.write_text(
        f"#!{sys.executable}\nimport os, sys\nassert os.environ['CUPY_CACHE_DIR']\nwords = sys.argv\n{body}"
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    if error:
        with pytest.raises(error, match=message):
            profiling.ncu(program, "5")
    else:
        assert profiling.ncu(program, "5", kernel="k", options=("--set", "full")) == tmp_path / "mine.ncu-rep"
    printed = capfd.readouterr().out
    assert f"{fake} --force-overwrite --export {tmp_path}/mine.ncu-rep " in printed
    assert printed.endswith(f" {sys.executable} {program} 5\n")
    assert bool(error) or ("--kernel-name k --source-folders /" in printed and " --set full " in printed)


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
