"""Lesson 05's project as far as it needs no compiler, and the judges of its exercises, which need a C++ compiler."""

import json
from typing import Any

import pytest

from fourways.experiments import binding
from fourways.experiments.binding import exercises
from fourways.experiments.binding.heat import _compiler_words

SHAPES = 'if (u.h != v.h || u.w != v.w) throw py::value_error("");'
BEFORE_V_ENDS = "u.data < v.data + v.h * v.w"
BEFORE_U_ENDS = "v.data < u.data + u.h * u.w"


def fit(condition: str, first: str = SHAPES, error: str = "py::value_error") -> str:
    return f'void fit(const Plate &u, const Plate &v) {{ {first} if ({condition}) throw {error}(""); }}'


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no function `fit`"),
        ("void fits() {}", "error: "),
        (fit("false"), "one array"),
        (fit("u.data == v.data"), "u's second row"),
        (fit("u.data <= v.data && " + BEFORE_U_ENDS), "v's last cell"),
        (fit("true"), "v far above u"),
        (fit(BEFORE_U_ENDS), "v far below u"),
        (fit(f"{BEFORE_V_ENDS} && v.data <= u.data + u.h * u.w"), "v begins where u ends"),
        (fit(f"{BEFORE_U_ENDS} && u.data <= v.data + v.h * v.w"), "u begins where v ends"),
        (fit(f"{BEFORE_U_ENDS} && {BEFORE_V_ENDS}", first=""), "different shapes"),
        (fit(f"{BEFORE_U_ENDS} && {BEFORE_V_ENDS}", error="std::runtime_error"), "wanted is a ValueError"),
        (fit("*u.data == *v.data"), "do not read"),
    ],
)
def test_wrong_fits_are_told_which_plates(text: str, told: str) -> None:
    said = binding.check_fit(text)
    assert said.startswith("Not yet: ") and told in said, said


def test_plates_overlap_if_each_begins_before_the_other_ends() -> None:
    assert binding.check_fit(fit(f"{BEFORE_U_ENDS} && {BEFORE_V_ENDS}")) == "Right for 12 pairs of plates."


DEFINED = 'target_compile_definitions(heat PRIVATE "BUILT_FOR=\\"${CMAKE_CUDA_ARCHITECTURES}\\"")'


@pytest.mark.long
@pytest.mark.parametrize(
    ("cmake", "cpp", "told"),
    [
        ("", "", "no attribute 'built_for'"),
        ("", 'm.attr("built_for") = "75";', "heat.built_for is '75'"),
        ("", 'm.attr("built_for") = BUILT_FOR;', "BUILT_FOR"),
        (DEFINED.replace('\\"', ""), 'm.attr("built_for") = BUILT_FOR;', "error: "),
        (DEFINED, 'm.attr("built_for") = "BUILT_FOR";', "heat.built_for is 'BUILT_FOR'"),
        ("target_define(heat)", 'm.attr("built_for") = BUILT_FOR;', 'Unknown CMake command "target_define".'),
    ],
)
def test_a_module_that_does_not_say_what_it_is_built_for(cmake: str, cpp: str, told: str) -> None:
    said = binding.check_built_for(cmake, cpp)
    assert said.startswith("Not yet: ") and told in said, said


@pytest.mark.long
def test_a_module_that_says_what_it_is_built_for() -> None:
    assert binding.check_built_for(DEFINED, 'm.attr("built_for") = BUILT_FOR;').startswith("Right for 2 values")


def test_the_verdict_on_a_module_that_is_asked_for_two_values(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    build = exercises.building
    monkeypatch.setattr(build, "build_with_cmake", lambda source, folder, options, *_: told.append(options[0]))
    monkeypatch.setattr(exercises.process, "output", lambda *command: f"{told[-1].split('=')[1]!r}\n")
    assert binding.check_built_for("", "") == "Right for 2 values of CMAKE_CUDA_ARCHITECTURES."
    told.clear()
    monkeypatch.setattr(exercises.process, "output", lambda *command: f"{told[0].split('=')[1]!r}\n")
    said = binding.check_built_for("", "")
    first, second = (option.split("=")[1] for option in told)
    assert said == f"Not yet: CMake was called for {second}, and heat.built_for is {first!r}."


def test_lines_are_inserted_above_a_line_that_stands_once() -> None:
    project = binding.Project()
    file = project._root / "heat.cpp"
    project.write("heat.cpp", "\nint a;\n    int b; // here\nint c, c2;\n")
    project.insert("heat.cpp", "int b", "\n    int between;\n")
    project.replace("heat.cpp", "c2", "d")
    assert file.read_text() == "int a;\n    int between;\n    int b; // here\nint c, d;\n"
    with pytest.raises(ValueError, match="has 'int ' 4 times"):
        project.insert("heat.cpp", "int ", "")
    with pytest.raises(ValueError, match="0 times"):
        project.replace("heat.cpp", "c2", "d")


@pytest.mark.long
def test_an_installation_prints_the_steps_of_the_build(capsys: pytest.CaptureFixture[str]) -> None:
    project = binding.Project()
    system = 'requires = ["scikit-build-core"]\nbuild-backend = "scikit_build_core.build"'
    project.write("pyproject.toml", f'[build-system]\n{system}\n[project]\nname = "heat"\nversion = "1"\n')
    install = "add_library(heat SHARED heat.cpp)\ninstall(TARGETS heat DESTINATION .)"
    project.write("CMakeLists.txt", f"cmake_minimum_required(VERSION 3.25)\nproject(heat LANGUAGES CXX)\n{install}\n")
    project.write("heat.cpp", "int heat() { return 1; }\n")
    project.install()
    first, second, *_, seconds = capsys.readouterr().out.splitlines()
    assert first.startswith("[1/2] Building CXX") and second.startswith("[2/2] Linking CXX")
    assert seconds.startswith("pip install: ")


def attempts(monkeypatch: pytest.MonkeyPatch, *told: dict[str, Any]) -> binding.Project:
    project, said = binding.Project(), iter(told)
    monkeypatch.setattr(project, "_python", lambda program: f"built\n{json.dumps(next(said))}")
    return project


def test_attempts_keep_earlier_columns_and_show_what_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    launched, refused = ("launched", "no GPU"), ("TypeError", "u is not float32")
    first = dict.fromkeys("abc", launched)
    project = attempts(monkeypatch, first, first | {"b": refused}, dict.fromkeys("abc", refused))
    assert [line.split() for line in str(project.attempt("", "none")).splitlines()[2:]] == [
        ["a", "launched"],
        ["b", "launched"],
        ["c", "launched"],
    ]
    changed = project.attempt("", "dtype")
    assert "a  " not in str(changed) and "as before" in str(changed)
    assert changed.rows[1] == {"call": "b", "none": "launched", "dtype": "TypeError", "message": "u is not float32"}
    assert len(str(project.attempt("", "all")).splitlines()) == 5


def test_an_attempt_with_a_broken_module_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    project = binding.Project()
    monkeypatch.setattr(project, "_python", lambda program: "heat.cpp:7:1: error: expected ‘;’")
    with pytest.raises(RuntimeError, match="could not be made:\nheat.cpp:7:1: error"):
        project.attempt("", "none")


def test_a_compiler_s_words_are_shortened() -> None:
    log = """[1/2] Building CXX object CMakeFiles/heat.dir/heat.cpp.o
FAILED: [code=1] CMakeFiles/heat.dir/heat.cpp.o
/usr/bin/g++ -O3 -c /tmp/heat/heat.cpp
In file included from /tmp/heat/heat.cpp:2:
/site/pybind11/pybind11.h: In instantiation of ‘void f(F&&) [with F = int]’:
/site/pybind11/pybind11.h:322:19:   required from ‘void g(F&&) [with F = int]’
/tmp/heat/heat.cpp:19:10:   required from here
/site/pybind11/pybind11.h:582:40: error: static assertion failed: too few
  582 |             expected_num_args<Extra...>(
/site/pybind11/pybind11.h:582:40: note: ‘(6 > 5)’ evaluates to false
ninja: build stopped: subcommand failed.
"""
    assert _compiler_words(log).splitlines() == [
        "pybind11.h:322:19:   required from ‘void g(F&&)",
        "heat.cpp:19:10:   required from here",
        "pybind11.h:582:40: error: static assertion failed: too few",
    ]
