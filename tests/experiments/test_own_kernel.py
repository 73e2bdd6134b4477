"""The page "Your own kernel": its ladder, its mistakes, and the judge of kernels that readers write."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fourways import building, checking, lesson, toolchain
from fourways.experiments import own_kernel
from fourways.experiments.own_kernel import cases

CASES = Path(__file__).parents[1] / "cases"
QUICK = ("dot",)
IMPORT = "import numpy as np\nsizes = (0, 1, 33, 1009)\n"
FLOATS = IMPORT + "make_inputs = lambda size: (np.random.default_rng(1).random(size, np.float32),)\n"
HEAD = 'extern "C" __global__ void mine(const float *x, float *y, int n)\n{\n'
HEAD += "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
SQUARE = HEAD + "    if (i < n) y[i] = x[i] * x[i];\n}\n"
SQUARED = "reference = lambda x: x * x\n"
IN_PLACE = 'extern "C" __global__ void mine(float *y, int n) {}\n'


def page_cells(*kinds: str) -> list[str]:
    page = lesson.find("your_own_kernel")
    code = [cell for cell in page.whole.cells if cell.cell_type == "code"]
    return [cell.source for cell in code if set(kinds) & set(lesson.tags(cell))]


def page_names() -> dict[str, object]:
    """Return the names that the page's texts of kernel and case have."""
    names: dict[str, object] = {"own_kernel": own_kernel}
    page = "\n".join(cell.source for cell in lesson.find("your_own_kernel").notebook.cells)
    for name in ("kernel", "case"):
        names[name] = re.findall(rf'^{name} = r"""(.*?)"""', page, re.DOTALL | re.MULTILINE)[0]
    return names


def judged(kernel: str, case: str) -> str:
    return own_kernel.judge(kernel, case, (CASES / "softclip.cu").read_text())


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(path.stem, marks=[] if path.stem in QUICK else [pytest.mark.long])
        for path in sorted(CASES.glob("*.cu"))
        if path.stem != "softclip"
    ],
)
def test_any_right_kernel_passes(name: str) -> None:
    text, case = ((CASES / f"{name}{suffix}").read_text() for suffix in (".cu", ".py"))
    assert re.fullmatch(r"Right at (\d+ sizes, from \d+ to|size) [\d,]+; no race was found\.", judged(text, case))


MANDELBROT = """
extern "C" __global__ void mandelbrot(int *steps, int h, int w)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= h || column >= w)
        return;
    double x = 0, y = 0;
    int count = 0;
    for (; count < 20 && x * x + y * y <= 4; ++count) {
        const double next = x * x - y * y + 3.0 * column / w - 2;
        y = 2 * x * y + 2.0 * row / h - 1;
        x = next;
    }
    steps[row * w + column] = count;
}
"""
DRAWN = """
import numpy as np
sizes = (1, 33, 1009)
make_inputs = lambda size: (size // 8 + 1, 8)
launch = lambda _, h, w: ((w // 16 + 1, h // 16 + 1), (16, 16))
def reference(h, w):
    z, steps = np.zeros((h, w), complex), np.zeros((h, w), np.int32)
    c = 3.0 * np.arange(w) / w - 2 + 1j * (2.0 * np.arange(h)[:, None] / h - 1)
    for _ in range(20):
        inside = z.real**2 + z.imag**2 <= 4
        steps += inside
        z[inside] = (z * z + c)[inside]
    return steps
"""
FILL = 'extern "C" __global__ void fill(float *y, int n, float value)\n{\n'
FILL += "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = value;\n}\n"
FILLED = "in_place = 'y'\nreference = lambda y, value: np.full_like(y, value)\n"
FILLED += "make_inputs = lambda size: (np.arange(size, dtype='f4'), 2.5)\n"
REST = 'extern "C" __global__ void rest(float *y, int n, int m)\n{\n'
REST += "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) y[i] = i % m;\n}\n"
RESTS = "in_place, size = 'y', 'n'\nmake_inputs = lambda size: (np.zeros(size, np.float32), 7)\n"
RESTS += "reference = lambda y, m: np.arange(y.size) % m\n"
STRIDE = HEAD.replace("int n", "int n, int stride") + "    if (i < n) y[i] = x[i * stride];\n}\n"
STRIDES = "make_inputs = lambda size: (np.ones(2 * size, 'f4'), 2)\nreference = lambda x, k: x[::k]\n"
FLAGS = "make_inputs = lambda size: (np.arange(size, dtype=np.float32) % 2,)\nreference = lambda x: x == 0\n"


@pytest.mark.long
@pytest.mark.parametrize(
    ("kernel", "case"),
    [
        (REST, IMPORT + RESTS),
        (FILL.replace("float value", "int value"), IMPORT + FILLED.replace("2.5", "3")),
        (STRIDE, IMPORT + "size = 'n'\n" + STRIDES),
        (SQUARE.replace("float *y", "bool *y").replace("x[i] * x[i]", "x[i] == 0"), IMPORT + FLAGS),
        (MANDELBROT, DRAWN),
        (FILL, IMPORT + FILLED),
        (SQUARE, IMPORT + "make_inputs = lambda size: (np.ones(size, 'f4'),)\n" + SQUARED),
        (SQUARE.replace("x[i] * x[i]", "fminf(x[i] * x[i], INFINITY)"), FLOATS + SQUARED),
    ],
    ids=[
        "an integer counts",
        "an integer alone counts",
        "an integer that cannot be larger",
        "the answers are bool",
        "no array goes in",
        "all elements are equal",
        "inputs of ones",
        "nvcc alone compiles it",
    ],
)
def test_an_unusual_kernel_or_case_passes(kernel: str, case: str) -> None:
    assert judged(kernel, case).startswith("Right at")


@pytest.mark.long
def test_the_answers_of_the_page_are_judged(capsys: pytest.CaptureFixture[str]) -> None:
    names = page_names()
    for source in page_cells("exercise", "wrong"):
        exec(source, names)
    told = capsys.readouterr().out.splitlines()
    assert len(told) == len(set(told)) >= 5 and all(line.startswith("Not yet: ") for line in told), told
    exec(page_cells("solution")[0], names)
    assert capsys.readouterr().out.startswith("Right at 11 sizes")


@pytest.mark.parametrize(
    ("kernel", "case", "told"),
    [
        (SQUARE, FLOATS, "the case has no reference"),
        (SQUARE, FLOATS + "reference = lambda x: x * x * x", "expected"),
        (SQUARE.replace("y[i] = x[i] * x[i];", ";"), FLOATS + SQUARED, "nothing was written"),
        (SQUARE.replace("i < n", "i <= n"), FLOATS + SQUARED, "is there a test like `if (i < n)`"),
        (SQUARE.replace("i < n", "i < 256"), FLOATS + SQUARED, "size 0"),
        (SQUARE.replace("x[i] * x[i]", "x[i] * z"), FLOATS + SQUARED, "z"),
        (SQUARE, FLOATS + SQUARED + "sizes = (0,)", "a kernel that does nothing passes"),
        (IN_PLACE, FLOATS + "in_place = 'y'\nreference = lambda y: y", "a kernel that does nothing passes"),
        (SQUARE, FLOATS + "reference = lambda x: np.full_like(x, 7)", "whatever the inputs hold"),
        (SQUARE, FLOATS + SQUARED + "atol = 9.0", "one and the same number"),
        (SQUARE.replace("x[i] *", "2 *"), FLOATS + "reference = lambda x: x\nrtol = 1.0\n", "rtol or atol is too wide"),
        (SQUARE.replace("x[i] *", "1.5f *"), FLOATS + "reference = lambda x: x\nrtol = 0.6\n", "rtol or atol"),
        (SQUARE.replace("x[i] *", "1.2f *"), FLOATS + "reference = lambda x: x\nrtol = 0.3\n", "rtol or atol"),
        (SQUARE.replace('extern "C"', ""), FLOATS + SQUARED, 'it cannot run on the CPU: mine must be extern "C"'),
        (SQUARE + SQUARE.replace("mine", "other"), FLOATS + SQUARED, "the text holds 2 kernels (mine, other)"),
        (
            HEAD + "    if (i < n) y[i] = 1;\n}\n",
            IMPORT + "make_inputs = lambda size: (np.ones(size, 'f4'),)\n" + SQUARED,
            "one and the same number",
        ),
        (
            HEAD + "    if (i < n) y[i] = i;\n}\n",
            FLOATS + "reference = lambda x: np.arange(x.size)",
            "whatever the inputs hold",
        ),
        (SQUARE, FLOATS + f"KERNEL = {SQUARE!r}\n" + SQUARED, "the reference runs a kernel"),
        (
            SQUARE,
            FLOATS + "from pathlib import Path\nfrom fourways import host\n"
            "mine = host.compile(Path(__file__).with_name('mine.cu')).get_function('mine')\n"
            "def reference(x):\n    y = np.empty_like(x)\n"
            "    mine((x.size // 256 + 1,), (256,), (x, y, np.int32(x.size)))\n    return y\n",
            "the reference runs a kernel",
        ),
        (
            SQUARE.replace("    if", "#ifdef __CUDACC__\n    return;\n#endif\n    if"),
            FLOATS + SQUARED,
            "asks for __CUDACC__",
        ),
        (
            SQUARE.replace("    if", "    __shared__ float tile[20000];\n    tile[threadIdx.x] = 0;\n    if").replace(
                "= x[i]", "= tile[threadIdx.x] + x[i]"
            ),
            FLOATS + SQUARED,
            "compiles for the CPU, but not for sm_",
        ),
        (
            'extern "C" __global__ void mine(const int *x, int *y, int n)\n{\n'
            "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) *y += x[i];\n}\n",
            IMPORT + "in_place = 'y'\nlaunch = lambda size: (size // 8 + 1, 8)\n"
            "make_inputs = lambda size: (np.arange(size, dtype='i4') % 7, np.zeros(1, 'i4'))\n"
            "reference = lambda x, y: y + x.sum(dtype='i4')",
            "right, but mine_host, size 1009: A race between",
        ),
        ("", FLOATS + SQUARED, "mine.cu holds no kernel"),
        (
            SQUARE.replace("blockIdx.x", "0"),
            FLOATS + SQUARED + "sizes = (1, 255)",
            "the case's sizes fill one block only",
        ),
        (SQUARE, "", "make_inputs"),
        (SQUARE, "import nothing_there", "cannot be run"),
        (SQUARE, FLOATS + "reference = lambda x: 1 / 0", "division"),
    ],
)
def test_what_proves_nothing_is_refused(kernel: str, case: str, told: str) -> None:
    said = judged(kernel, case)
    assert said.startswith("Not yet: ") and told in said and "\n" not in said, said


@pytest.mark.parametrize(("kernel", "case"), [(None, FLOATS), (SQUARE, CASES / "softclip.py")])
def test_what_is_no_text_is_refused(kernel: Any, case: Any) -> None:
    assert judged(kernel, case) == "Not yet: the kernel and its case are two texts."


@pytest.mark.long
def test_other_names_and_comments_make_no_other_kernel() -> None:
    text, case = ((CASES / f"softclip{suffix}").read_text() for suffix in (".cu", ".py"))
    for old, new in {"softclip": "bend", "half": "h", "gain": "factor", "int n,": "int count, // how many\n"}.items():
        text = text.replace(old, new)
    copied = text.replace("i >= n", "i >= count") + "\n;\n"
    assert "machine code of this page's kernel" in judged(copied, case)
    wider = copied.replace("i >= count)", "i >= count || !(gain_ > 0 || gain_ <= 0))").replace("gain_", "factor")
    assert judged(wider, case).startswith("Right")


def test_without_a_sanitizer_races_are_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def search(build: object, sanitizer: str) -> None:
        raise building.BuildError("no libtsan")

    monkeypatch.setattr(checking, "search", search)
    said = judged(SQUARE, FLOATS + SQUARED)
    assert said == "Right at 4 sizes, from 0 to 1,009; races were not looked for: the compiler has no sanitizer."


def test_ten_kernels_with_their_cases() -> None:
    names = [rung.name for rung in own_kernel.LADDER]
    assert len(set(names)) == len(names) == 10
    assert all((CASES / f"{name}.cu").is_file() and (CASES / f"{name}.py").is_file() for name in names)
    assert len({rung.after.partition(":")[0] for rung in own_kernel.LADDER}) >= 5


def test_a_rung_says_what_check_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "LADDER", own_kernel.LADDER[:1])
    assert own_kernel.ladder().cells() == [["grey", "inducer/pycuda: simple_rgb2gray.py",
                                            "three bytes for each pixel", "11", "right"]]  # fmt: skip


@pytest.mark.long
def test_which_mistakes_which_command_finds() -> None:
    table = own_kernel.mistakes()
    guard, barrier, race, tame, large = ((row["check"], row["sanitize"]) for row in table.rows)
    assert "reads element 0 of rgb" in guard[0]
    assert "is -1, expected 30" in barrier[0] and "data race" in barrier[1]
    assert race[0] == "right" and "A race between blocks" in race[1] and "of counts" in race[1]
    assert tame == ("right", "no race was found")
    assert "size 1000003: element 0 is" in large[0] and large[1] == "no race was found"
    shown = [text for cells in table.cells() for text in cells[2:]]
    assert all(len(text) < 95 and "_host" not in text and "Error" not in text for text in shown), "without the advice"


def test_an_edit_that_does_not_fit_is_an_error() -> None:
    with pytest.raises(ValueError, match="the text has no 'x < n'"):
        cases._edited("i < n", {"x < n": "x <= n"})


def test_the_package_is_installed_and_tested_by_its_own_tools(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    called = []

    def run(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        called.append((command, options))
        return subprocess.CompletedProcess(command, 0, "2 passed", "")

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(toolchain, "gpu_arch", lambda: "sm_90")
    own_kernel.install("project", "there")
    own_kernel.run_tests("project", "there")
    (pip, _), (pytest_command, options) = called
    assert pip[:4] == [sys.executable, "-m", "pip", "install"] and pip[-1] == "project" and pip[-3] == "there"
    assert pip[-2].endswith("CMAKE_CUDA_ARCHITECTURES=90") and "--no-index" in pip
    assert pytest_command[2] == "pytest" and pytest_command[-1] == "project/tests"
    assert str(Path("there").absolute()) in options["env"]["PYTHONPATH"]  # type: ignore[index]
    assert "exit code 0" in (said := capsys.readouterr().out) and "2 passed" in said


def test_the_workbench_is_a_new_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    command = own_kernel.workbench()
    assert Path.cwd() != tmp_path and not list(Path.cwd().iterdir()) and command.endswith("-m fourways")
