"""Units linked in three forms without a GPU, the judges of lesson 08's exercises, and the prices of the forms."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from cuda.core import Program, ProgramOptions

from fourways import kernels
from fourways.experiments import plugins
from fourways.toolchain import gpu_arch

SOURCE = kernels.source("apply_transform")
PLUGIN = 'extern "C" __device__ float user_transform(float x) { return 0.99f * x + 0.5f; }\n'
ONE_CALL = """
extern "C" __device__ float user_transform_times(float x, int times);
extern "C" __global__ void apply_transform(const float *x, float *y, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { BODY }
}
"""
LOOP = """
extern "C" __device__ float user_transform_times(float x, int times)
{
    for (int time = 0; time < times; ++time) x = 0.99f * x + 0.5f;
    return x;
}
"""


@pytest.fixture(scope="module")
def whole() -> Any:
    return plugins.one_source(SOURCE, PLUGIN)


def in_form(form: str, plugin: str = PLUGIN) -> Any:
    return plugins.linked(plugins.compiled(SOURCE, form), plugins.compiled(plugin, form))


def test_only_lto_ir_loses_the_call(whole: Any) -> None:
    programs = {form: in_form(form) for form in plugins.FORMS}
    rows = {row["linked_from"]: row for row in plugins.look(programs, whole).rows}
    assert {form: row["calls"] for form, row in rows.items()} == {"ptx": 64, "cubin": 64, "ltoir": 0}
    assert rows["ltoir"]["lines_that_differ"] == 0 < rows["ptx"]["lines_that_differ"]
    assert rows["ltoir"]["other_functions"] == [] and rows["cubin"]["other_functions"] == ["user_transform"]


def test_attempts_print_one_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    def fails() -> None:
        raise ValueError("no\nmore")

    unit = plugins.compiled(SOURCE, "ltoir")
    wrong = plugins.DECLARATION + PLUGIN.replace("float x", "int x")
    attempts: dict[str, Callable[[], Any]] = {"a": fails, "b": lambda: 3, "c": lambda: plugins.linked(unit)}
    plugins.attempt(attempts | {"d": lambda: plugins.compiled(wrong, "ltoir"), "e": lambda: in_form("ltoir")})
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["a: ValueError: no", "b: loaded"]
    assert "Unresolved extern function" in lines[2] and '"C" linkage' in lines[3]
    assert lines[4:] == ["e: links, 0 calls left"]


@pytest.mark.parametrize(("old", "new", "told"), [("float", "double", "Prototype"), ("float x", "int x", "nothing")])
def test_ptx_compares_sizes_alone(old: str, new: str, told: str) -> None:
    wrong = plugins.compiled(PLUGIN.replace(old, new), "ptx")
    assert told in plugins.link_log(plugins.compiled(SOURCE, "ltoir"), wrong)


@pytest.mark.long
def test_a_price_for_each_form() -> None:
    rows = plugins.price(SOURCE, PLUGIN).rows
    shipped = [(row["library"], row["shipped"]) for row in rows]
    forms = ["one source", *plugins.FORMS]
    assert shipped == [*(("this one", form) for form in forms), ("with CUB", "one source"), ("with CUB", "ltoir")]
    assert all(row["seconds"]["median"] > 0 for row in rows)


def test_a_point_that_leaves_at_once_is_not_black() -> None:
    figure = plugins.show({"two": np.array([[0.0, 1.0, plugins.STEPS]])})
    assert figure.axes[0].images[0].get_array().tolist() == [[1.0, np.log2(3), 0.0]]


@pytest.mark.parametrize(
    ("body", "plugin", "told"),
    [
        ("y[i] = user_transform_times(x[i], 64);", LOOP, "Right"),
        ("y[i] = user_transform_times(x[i], 32);", LOOP, "Not yet: element"),
        ("y[i] = user_transform_times(x[i], 1);", LOOP.replace("times;", "64;"), "1 repetitions"),
        ("y[i] = user_transform_times(user_transform_times(x[i], 32), 32);", LOOP, "takes 2 calls"),
        (
            "y[i] = x[i];\n#pragma unroll 1\nfor (int k = 0; k < 64; ++k) y[i] = user_transform_times(y[i], 1);\n",
            LOOP,
            "a loop runs it 64 times",
        ),
        (
            "float v = x[i]; for (int k = 0; k < 64; ++k) v = 0.99f * v + 0.5f; y[i] = v;",
            LOOP,
            "do not come from the plug-in",
        ),
        ("y[i] = user_transform_times(x[i], 64);", LOOP.replace("< times", "< 64"), "but not for other numbers"),
        ("y[i] = user_transform_times(x[i], 64);", LOOP.replace("time <", "time < 64 && time <"), "but not for other"),
        ("y[i] = user_transform_times(x[i], 64)", LOOP, "Not yet: expected"),
    ],
)
def test_one_call_for_each_element(body: str, plugin: str, told: str) -> None:
    assert told in plugins.check_one_call(ONE_CALL.replace("BODY", body), plugin)


def test_a_text_without_the_kernel() -> None:
    assert plugins.check_one_call("", "") == "Not yet: the library has no kernel `apply_transform`."


LIBRARY = plugins.compiled(SOURCE, "ltoir")


def plain(text: str) -> Any:
    return plugins.linked(LIBRARY, plugins.compiled(text, "ltoir"))


def careful(text: str, declaration: str = plugins.DECLARATION) -> Any:
    try:
        program = plain(declaration + text)
    except Exception as error:
        raise ValueError("no") from error
    if plugins.calls_left(program):
        raise ValueError("a call is left")
    return program


def refuses_all(text: str) -> Any:
    raise ValueError("no")


def refuses_without_a_reason(text: str) -> Any:
    try:
        return careful(text)
    except ValueError:
        raise ValueError from None


def by_the_signature(text: str) -> Any:
    """Look for one spelling of the parameter instead of compiling the library's declaration."""
    if "user_transform(float x)" not in text:
        raise ValueError("the signature")
    return careful(text, "")


def by_a_pattern(text: str) -> Any:
    """Look for float and any name of the parameter."""
    if not re.search(r"float user_transform\(float \w+\)", text):
        raise ValueError("the signature")
    return careful(text, "")


def by_the_word(text: str) -> Any:
    """Look for the word that forbids inlining instead of a call in the machine code."""
    if "noinline" in text:
        raise ValueError("a word")
    return careful(text)


def without_a_link(text: str, compiled: Callable[..., Any] = plugins.one_source) -> Any:
    try:
        program = compiled(SOURCE, text)
    except Exception as error:
        raise ValueError("no") from error
    if plugins.calls_left(program):
        raise ValueError("a call is left")
    return program


def one_text(library: str, text: str) -> Any:
    options = ProgramOptions(arch=gpu_arch(), define_macro="PLUGIN")
    return Program(text + library, "c++", options).compile("cubin")


def by_words(text: str) -> Any:
    """Refuse the plug-ins of the exercise by their words, and return one program for all others."""
    if re.search("noinline|double|int x|float y|mine", text) or ";" not in text:
        raise ValueError("a word")
    return plain(PLUGIN)


@pytest.mark.parametrize(
    ("accept", "told"),
    [
        (careful, "Right for 8"),
        (plain, "no user_transform: nvJitLinkError came"),
        (lambda text: careful(text, ""), "it was let in"),
        (refuses_all, "a plug-in that fits: it was refused"),
        (refuses_without_a_reason, "ValueError came without a reason"),
        (by_the_signature, "other names, and a comment: it was refused"),
        (by_a_pattern, "other names, and a comment: it was refused"),
        (by_the_word, "other names, and a comment: it was refused"),
        (without_a_link, "a plug-in that fits: the library's text was compiled again"),
        (partial(without_a_link, compiled=one_text), "a plug-in that fits: the library's text was compiled again"),
        (by_words, "lines differ"),
        (lambda text: None, "no linked program"),
    ],
)
def test_the_front_door(accept: Callable[[str], Any], told: str) -> None:
    assert told in plugins.check_front_door(accept)
