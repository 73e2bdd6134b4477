"""PyCUDA's build, the wheelhouse and the interpreters, with stand-ins for what takes minutes or a network."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import layouts
import pytest

from fourways import installing, interpreters, toolchain
from fourways.interpreters import InstallError


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine whose only toolkit lies in `tmp_path / "cuda"`, with a libcurand.so.10 and no libcurand.so."""
    root = layouts.toolkit(tmp_path / "cuda", parts=("nvcc", "headers"))
    for name in ("cuda.h", "cudaProfiler.h", "curand.h"):
        layouts.header(root / "include" / name, f"HAS_{name[:-2].upper()}", 1)
    curand = ["g++", "-shared", "-fPIC", "-Wl,-soname,libcurand.so.10", "-xc", "/dev/null"]
    (root / "lib").mkdir()
    subprocess.run([*curand, "-o", str(root / "lib" / "libcurand.so.10")], check=True)
    monkeypatch.setattr(toolchain, "roots", lambda: (toolchain.Root(root, "wheels"),))
    for name in ("CXX", "LIBRARY_PATH", "CPLUS_INCLUDE_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("LDFLAGS", "-Wl,--as-needed")  # Ubuntu's compilers do so by themselves
    return root


def test_the_build_links_driver_and_curand(machine: Path, tmp_path: Path) -> None:
    """A module built with these variables loads the driver and finds libcurand beside itself in site-packages."""
    work, module = tmp_path / "work", tmp_path / "module.so"
    work.mkdir()
    variables = installing.build_variables(work)
    code = "#include <cudaProfiler.h>\n#include <curand.h>\nint both = HAS_CUDAPROFILER + HAS_CURAND;\n"
    link = ["g++", "-shared", "-fPIC", *variables["LDFLAGS"].split(), "-xc++", "-", "-lcuda", "-lcurand"]
    subprocess.run([*link, "-o", str(module)], input=code, text=True, env=variables, check=True)
    dynamic = subprocess.run(["readelf", "-d", str(module)], capture_output=True, text=True, check=True).stdout
    assert re.findall(r"NEEDED.*\[(libcu\w+\.so[.\d]*)\]", dynamic) == ["libcuda.so.1", "libcurand.so.10"]
    assert "[$ORIGIN/../nvidia/cu13/lib:/usr/local/cuda/lib64]" in dynamic
    assert str(tmp_path) not in dynamic
    assert variables["PATH"].startswith(f"{machine}/bin:"), "PyCUDA's setup.py takes the first nvcc on PATH"


@pytest.mark.parametrize("lost", ["include/curand.h", "include/cudaProfiler.h", "lib/libcurand.so.10", "bin/nvcc"])
def test_what_the_build_lacks_is_named(machine: Path, tmp_path: Path, lost: str) -> None:
    (machine / lost).unlink()
    with pytest.raises(InstallError, match=r"cuda-toolkit\[.*profiler,curand\]") as failure:
        installing.build_variables(tmp_path)
    assert Path(lost).name.removesuffix(".10") in str(failure.value)
    assert str(machine) in str(failure.value)


def test_no_compiler(machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "host_compiler", lambda: None)
    monkeypatch.setattr(toolchain, "missing", lambda way: f"no compiler for {way}")
    with pytest.raises(InstallError, match="no compiler for host"):
        installing.build_variables(tmp_path)


@pytest.fixture
def bare_python(tmp_path: Path) -> Path:
    """This interpreter without the packages of its environment."""
    return layouts.script(tmp_path / "bare", f'exec "{sys.executable}" -S "$@"')


def fake_pycuda(folder: Path, version: str = installing.PYCUDA, code: str = "") -> None:
    (folder / "pycuda").mkdir(parents=True)
    (folder / "pycuda" / "__init__.py").touch()
    (folder / "pycuda" / "driver.py").touch()
    (folder / "pycuda" / "compiler.py").write_text(code)
    (folder / f"pycuda-{version}.dist-info").mkdir()
    (folder / f"pycuda-{version}.dist-info" / "METADATA").write_text(f"Name: pycuda\nVersion: {version}\n")


@pytest.mark.parametrize(
    ("package", "problem"),
    [
        ({}, None),
        ({"version": "2025.1"}, "version 2025.1 is installed"),
        (
            {"code": "raise ImportError('libcurand.so.10: no such file')"},
            "does not import: ImportError: libcurand.so.10",
        ),
        (None, "is not installed"),
    ],
)
def test_pycuda_problem(
    bare_python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: dict | None, problem: str | None
) -> None:
    site = tmp_path / "site"
    monkeypatch.setenv("PYTHONPATH", str(site))
    if package is not None:
        fake_pycuda(site, **package)
    found = installing.pycuda_problem(bare_python)
    assert (found or "").startswith(problem or "") and bool(found) == bool(problem)


class Commands:
    """Stands for `run`: keeps the commands; a download writes a wheel for each entry that it was asked for."""

    def __init__(self) -> None:
        self.ran: list[list[str]] = []
        self.fails = False

    def __call__(self, command: list[str], doing: str, environment: object = None) -> None:
        self.ran.append(command)
        if "download" in command:
            wanted = Path(command[command.index("-r") + 1]).read_text()
            for name, version in re.findall(r"^(\S+)==(\S+)", wanted, re.MULTILINE):
                # pip would take one of two entries by its marker; here the later writes over the earlier
                Path(command[command.index("-d") + 1], f"{name.replace('-', '_')}-x-py3-none-any.whl").write_text(
                    version
                )
        if self.fails:
            raise InstallError("no network")


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> Commands:
    stand_in = Commands()
    monkeypatch.setattr(installing, "run", stand_in)

    def build(python: Path, folder: Path) -> Path:
        wheel = folder / f"pycuda-{installing.PYCUDA}-cp3-cp3-linux_x86_64.whl"
        wheel.write_text(str(python))
        return wheel

    monkeypatch.setattr(installing, "build_pycuda", build)
    return stand_in


def answers(monkeypatch: pytest.MonkeyPatch, *problems: str | None) -> None:
    left = iter(problems)
    monkeypatch.setattr(installing, "pycuda_problem", lambda python: next(left))


def test_install_does_nothing_twice(commands: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, None)
    said: list[str] = []
    installing.install_pycuda(log=said.append)
    assert commands.ran == [] and said == [f"PyCUDA {installing.PYCUDA} is already installed"]


def test_install_replaces_a_broken_one(commands: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, "does not import: ImportError", None)
    said: list[str] = []
    installing.install_pycuda(log=said.append)
    assert "--force-reinstall" in commands.ran[0] and commands.ran[0][-1].endswith(".whl")
    assert "built and installed" in said[-1]


def test_install_does_not_believe_itself(commands: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, "is not installed", "does not import: ImportError: libcuda")
    with pytest.raises(InstallError, match="but does not import: ImportError: libcuda"):
        installing.install_pycuda(log=lambda _: None)


def names(wheels: list[Path]) -> set[str]:
    return {wheel.name.split("-")[0].replace("_", "-") for wheel in wheels}


def gather(folder: Path, **options: object) -> list[Path]:
    return installing.wheelhouse(folder, python=sys.executable, log=lambda _: None, **options)  # type: ignore[arg-type]


@pytest.fixture
def headers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether this interpreter has its C headers is not the question here."""
    monkeypatch.setattr(installing, "find_python", Path)


@pytest.mark.usefixtures("headers")
def test_wheelhouse_for_a_bare_machine(commands: Commands, tmp_path: Path) -> None:
    """All that lessons, book and GPU tests need, with what that needs; nothing of the linters and the browser."""
    wheels = gather(tmp_path / "new" / "house")
    assert names(wheels) >= installing.direct_dependencies() - installing.DESK_TOOLS
    assert names(wheels) >= {"nvidia-cuda-nvcc", "jedi", "rpds-py", "siphash24", "pycuda"}
    assert names(wheels) >= {"jupyter-book", "sphinx"}
    assert names(wheels).isdisjoint({"ruff", "mypy", "selenium", "trio"})
    assert len(names(wheels)) == len(wheels)
    assert {"--require-hashes", "--no-deps"} <= set(commands.ran[0])


@pytest.mark.usefixtures("headers", "commands")
def test_wheelhouse_leaves_out_what_is_there(tmp_path: Path) -> None:
    everything = names(gather(tmp_path / "all"))
    have = ["CuPy_CUDA13x==14.2.0", "nvidia-*\n", "numpy @ file:///numpy", "jinja", "", "# comment"]
    left = names(gather(tmp_path / "some", have=have))
    assert everything - left == {"cupy-cuda13x", "numpy"} | {each for each in everything if each.startswith("nvidia-")}
    assert left < everything


@pytest.mark.usefixtures("headers")
def test_wheelhouse_is_whole_or_not_there(commands: Commands, tmp_path: Path) -> None:
    commands.fails = True
    with pytest.raises(InstallError, match="no network"):
        gather(tmp_path / "house")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("headers")
def test_wheelhouse_misses_nothing_silently(
    commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Python that the lock does not serve: pip skips what a marker excludes, without an error."""
    monkeypatch.setattr(installing, "run", lambda command, doing: None)
    with pytest.raises(InstallError, match=r"holds nothing for Python .*numpy"):
        gather(tmp_path / "house")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("headers")
def test_wheelhouse_keeps_other_peoples_files(commands: Commands, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("42")
    with pytest.raises(InstallError, match="not empty"):
        gather(tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "42" and commands.ran == []


def test_lock_is_read(tmp_path: Path) -> None:
    text = (
        "# a comment\n"
        "a.b==1 ; python_version < '3.12' \\\n    --hash=sha256:aa\n    # via\n    #   fourways (pyproject.toml)\n"
        "A_b==2 ; python_version >= '3.12' \\\n    --hash=sha256:bb \\\n    --hash=sha256:cc\n    # via c\n"
        "c==3 \\\n    --hash=sha256:dd\n    # via top\n"
    )
    lock = installing.read_lock(text)
    assert [by for _, by in lock["a-b"]] == [{"fourways"}, {"c"}]
    assert lock["a-b"][1][0].count("--hash") == 2
    assert installing.needed(lock, {"top"}) == {"top", "c", "a-b"}
    assert installing.needed(lock, {"a-b"}) == {"a-b"}


Interpreter = Callable[..., Path]


@pytest.fixture
def interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Interpreter:
    """Makes interpreters of Python 9.9, which nobody has, on PATH and in pyenv's folder."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setattr(interpreters, "find_uv", lambda: None)

    def make(place: str, answer: str = "echo 9.9 True") -> Path:
        return layouts.script(tmp_path / place, answer)

    return make


def test_find_python_passes_dead_shims(interpreter: Interpreter) -> None:
    interpreter("bin/python9.9", "echo 'pyenv: python9.9: command not found' >&2; exit 127")
    found = interpreter("pyenv/versions/9.9.1/bin/python3")
    assert interpreters.find_python("9.9") == interpreters.find_python("9.9.3") == found


def test_find_python_takes_a_path(interpreter: Interpreter) -> None:
    found = interpreter("somewhere/python", "echo 8.8 True")
    assert interpreters.find_python(str(found)) == found


def test_find_python_asks_uv(interpreter: Interpreter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = interpreter("uv-pythons/python9.9")
    uv = layouts.script(tmp_path / "uv", f'test "$1 $2" = "python find" && echo "{found}"')
    monkeypatch.setattr(interpreters, "find_uv", lambda: str(uv))
    assert interpreters.find_python("9.9") == found


def test_find_python_says_why_not(interpreter: Interpreter) -> None:
    with pytest.raises(InstallError, match=r"no Python 9\.9 .*PATH.*pyenv"):
        interpreters.find_python("9.9")
    with pytest.raises(InstallError, match="no Python interpreter"):
        interpreters.find_python("/bin/ls")
    interpreter("bin/python9.9", "echo 9.9 False")
    with pytest.raises(InstallError, match=r"no Python\.h .*apt install python9\.9-dev"):
        interpreters.find_python("9.9")


def test_pip_without_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    assert interpreters.pip("/a/python", "list")[-3:] == ["--python", "/a/python", "list"]
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(interpreters, "find_uv", lambda: "/bin/uv")
    assert interpreters.pip("/a/python", "list")[0] == "/bin/uv"
    monkeypatch.setattr(interpreters, "find_uv", lambda: None)
    with pytest.raises(InstallError, match="ensurepip"):
        interpreters.pip("/a/python", "list")


def test_run_shows_what_matters() -> None:
    talk = "echo chatter; echo 'x.cpp:1: error: no curand.h' >&2; seq 100; exit 3"
    with pytest.raises(InstallError, match=r"building failed \(exit code 3") as failure:
        interpreters.run(["sh", "-c", talk], "building")
    message = str(failure.value)
    assert message.endswith("\nx.cpp:1: error: no curand.h")
    whole = Path(re.search(r"all of it: (\S+)\)", message)[1])  # type: ignore[index]
    assert whole.read_text().startswith("chatter\n") and "\n100\n" in whole.read_text()
    whole.unlink()


def test_run_is_quiet_where_nobody_looks(capfd: pytest.CaptureFixture[str]) -> None:
    interpreters.run(["echo", "chatter"], "talking")
    assert capfd.readouterr() == ("", "")
