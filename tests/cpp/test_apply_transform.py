"""A library's kernels and their plug-ins without a GPU: right on the CPU, linked in every form, refused when wrong."""

import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda.bindings import nvjitlink
from cuda.core import Linker, LinkerOptions, ObjectCode, Program, ProgramOptions

import fourways_aot
from fourways import building, host, kernels, sass

SIZES = (0, 1, 31, 32, 33, 255, 257, 1009)
PLUGIN = 'extern "C" __device__ float user_transform(float x) { return 0.5f * x - 3; }\n'
STEP = """
extern "C" __device__ float2 user_step(float2 z, float2 point)
{
    return make_float2(z.x * z.x - z.y * z.y - 0.75f, 2 * z.x * z.y + 0.25f);
}
"""
FORMS: dict[str, dict[str, bool]] = {
    "cubin": {"relocatable_device_code": True},
    "ltoir": {"link_time_optimization": True},
}


def on_the_host(kernel: str, plugin: str, folder: Path, *options: str) -> host.HostKernel:
    """The kernel and a plug-in as one text."""
    (folder / f"{kernel}.cu").write_text(plugin + kernels.source(kernel))
    return host.compile(folder / f"{kernel}.cu", ("-DPLUGIN", *options)).get_function(kernel)


def compiled(text: str, form: str, arch: str = "sm_90") -> ObjectCode:
    return Program(text, "c++", ProgramOptions(arch=arch, define_macro="PLUGIN", **FORMS[form])).compile(form)


def linked(*units: ObjectCode, lto: bool = False) -> list[Any]:
    options = LinkerOptions(arch="sm_90", link_time_optimization=lto, no_cache=True)
    return sass.parse(sass.disassemble(Linker(*units, options=options).link("cubin").code))


def calls(lines: list[Any], entry: str) -> int:
    return sum(line.entry == entry and "CALL" in str(line) for line in lines)


@pytest.mark.parametrize(("option", "times"), [((), 64), (("-DCALLS=1",), 1), (("-DCALLS=0",), 0), (("-DCALLS=3",), 3)])
def test_each_element_gets_its_calls(option: tuple[str, ...], times: int) -> None:
    kernel = host.compile(kernels.path("apply_transform"), option).get_function("apply_transform")
    for size in SIZES:
        x = np.random.default_rng(5).random(size, np.float32)
        y, expected = np.full_like(x, np.nan), x.astype(np.float64)
        for _ in range(times):
            expected = np.float32(0.99) * expected + 0.5
        kernel((2,), (32,), (x, y, np.int64(size)))
        np.testing.assert_allclose(y, expected, rtol=1e-5)


def test_the_plug_in_takes_the_default_functions_place(tmp_path: Path) -> None:
    kernel = on_the_host("apply_transform", PLUGIN, tmp_path, "-DCALLS=2")
    x = np.arange(100, dtype=np.float32)
    y = np.full_like(x, np.nan)
    kernel((1,), (32,), (x, y, np.int64(x.size)))
    np.testing.assert_array_equal(y, 0.25 * x - 4.5)


def escape_time(z: np.ndarray, constant: np.ndarray | complex, most: int) -> np.ndarray:
    """Steps of z² + constant inside the circle of radius 2, in complex128."""
    steps = np.zeros(z.shape)
    inside = np.ones(z.shape, bool)
    for _ in range(most):
        inside &= np.abs(z) <= 2
        steps += inside
        z = np.where(inside, z * z + constant, 4)
    return steps


def test_escape_times_are_numpys(tmp_path: Path) -> None:
    left, top, pixel = -2.0, 1.25, 0.0625  # exact in float32, as are the points
    default = host.compile(kernels.path("escape_time"), ("-DSTEPS=12",)).get_function("escape_time")
    julia = on_the_host("escape_time", STEP, tmp_path, "-DSTEPS=12")
    shapes, grids = ((0, 5), (5, 0), (1, 1), (7, 33), (40, 61)), ((1, 1), (3, 2), (9, 9))
    for (height, width), grid in itertools.product(shapes, grids):
        points = left + pixel * np.arange(width) + 1j * (top - pixel * np.arange(height))[:, None]
        for kernel, constant in ((default, points), (julia, -0.75 + 0.25j)):
            steps = np.full((height, width), np.nan, np.float32)
            view = (np.int64(height), np.int64(width), *map(np.float32, (left, top, pixel)))
            kernel(grid, (8, 4), (steps, *view))
            np.testing.assert_array_equal(steps, escape_time(points, constant, 12))


@pytest.mark.parametrize(("kernel", "plugin"), [("apply_transform", PLUGIN), ("escape_time", STEP)])
def test_a_call_stays_unless_both_halves_are_lto_ir(kernel: str, plugin: str) -> None:
    library, user = ({form: compiled(text, form) for form in FORMS} for text in (kernels.source(kernel), plugin))
    with_calls = linked(library["cubin"], user["cubin"])
    assert calls(with_calls, kernel) > 0
    assert calls(linked(library["ltoir"], user["cubin"], lto=True), kernel) == calls(with_calls, kernel)
    inlined = linked(library["ltoir"], user["ltoir"], lto=True)
    assert calls(inlined, kernel) == 0
    assert {line.entry for line in inlined} == {kernel}


def test_lto_makes_the_machine_code_of_the_single_source(tmp_path: Path) -> None:
    (tmp_path / "one.cu").write_text(PLUGIN + kernels.source("apply_transform"))
    one = building.build(tmp_path / "one.cu", options=("-DPLUGIN",))
    shipped = building.build(kernels.path("apply_transform"), "nvcc", "sm_75", "ltoir", ("-DPLUGIN",))
    user = compiled(PLUGIN, "ltoir")
    expected = sass.parse(sass.disassemble(one.code))
    just_in_time = linked(compiled(kernels.source("apply_transform"), "ltoir"), user, lto=True)
    assert sass.differing(expected, just_in_time) == 0
    # nvcc's for an older architecture: one file that serves them all
    assert calls(linked(ObjectCode.from_ltoir(shipped.code), user, lto=True), "apply_transform") == 0


@pytest.mark.parametrize(
    ("units", "lto", "words"),
    [
        ((), True, "Unresolved extern function 'user_transform'"),
        ((PLUGIN, PLUGIN), True, "'user_transform': symbol multiply defined"),
        ((PLUGIN.replace('extern "C" ', ""),), True, "Unresolved extern function 'user_transform'"),
        ((PLUGIN,), False, "LTO-IR input cannot be used without LTO"),
    ],
)
def test_a_program_that_cannot_be_linked_is_refused(units: tuple[str, ...], lto: bool, words: str) -> None:
    program = [compiled(text, "ltoir") for text in (kernels.source("apply_transform"), *units)]
    with pytest.raises(nvjitlink.nvJitLinkError, match=re.escape(words)):
        linked(*program, lto=lto)


def test_lto_ir_for_a_newer_architecture_is_refused() -> None:
    library = compiled(kernels.source("apply_transform"), "ltoir", "sm_120")
    with pytest.raises(nvjitlink.nvJitLinkError, match="LTOIR arch newer than target arch"):
        linked(library, compiled(PLUGIN, "ltoir"), lto=True)


def test_lto_ir_of_a_newer_version_is_refused() -> None:
    """Lesson 08 raises this byte of the header to stand for a newer compiler."""
    newer = bytearray(compiled(PLUGIN, "ltoir").code)
    newer[6] += 1
    library = compiled(kernels.source("apply_transform"), "ltoir")
    with pytest.raises(nvjitlink.nvJitLinkError, match="may need newer version of nvJitLink"):
        linked(library, ObjectCode.from_ltoir(bytes(newer)), lto=True)


def test_other_types_pass_the_linker_and_not_the_compiler_that_sees_the_declaration() -> None:
    """What lesson 08 says of extern "C", of the tools that are installed."""
    wrong = PLUGIN.replace("float", "double")
    library = compiled(kernels.source("apply_transform"), "ltoir")
    assert calls(linked(library, compiled(wrong, "ltoir"), lto=True), "apply_transform") > 0
    with pytest.raises(Exception, match='more than one instance of overloaded function .*"C" linkage'):
        compiled('extern "C" __device__ float user_transform(float x);\n' + wrong, "ltoir")


class Exported:
    """Stands for a GPU array at an address that nobody reads: the call ends before."""

    def __init__(self, address: int, shape: tuple[int, ...] = (4,), typestr: str = "<f4", read_only: bool = False):
        data = (0x7F00_0000_0000 + address, read_only)
        self.__cuda_array_interface__ = {"shape": shape, "typestr": typestr, "data": data, "version": 3}


X, Y = Exported(0), Exported(0x1000)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((Exported(0, typestr="<f8"), Y), TypeError, "x has dtype float64; wanted float32"),
        ((X, np.zeros(4, np.float32)), TypeError, "y is a numpy.ndarray in host memory"),
        ((X, Exported(0x1000, (5,))), ValueError, r"y has shape \(5,\); wanted \(4,\), the shape of x"),
        ((X, Exported(0x1000, read_only=True)), ValueError, "y is read-only"),
        ((X, Exported(12)), ValueError, "y shares memory with x"),
    ],
)
def test_the_binding_names_a_bad_argument(arguments: tuple, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^apply_transform: {message}"):
        fourways_aot.apply_transform(*arguments)
