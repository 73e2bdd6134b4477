"""The interface of a package's function: its caller gives the parameters of the kernel that no array tells.

The case is called at three small sizes. An integer that is the extent of the same array at all three is taken from that
array, and so is the shape of an output. Extents that agree at all three must agree in every call, because the case
checks the kernel for no others. A case whose numbers agree by chance is misread; `told` says where each number comes
from.
"""

import ast
import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence

from fourways.kernels import KernelCase, Parameter
from fourways.package.carried import launch_source
from fourways.package.error import PackageError
from fourways.package.interface import Extent, Given, Interface, Probe, Value, numbers

_PROBES = (5, 12, 33)
_LARGE = (1000, 10_000, 100_000, 1_000_000)  # for launch(size) alone, which makes no arrays


def interface(case: KernelCase) -> Interface:
    """Call the case at three sizes, and find out what need not be asked for.

    Raises PackageError for a parameter without a name, or to arrays, and what the case raises itself.
    """
    parameters = {each.name: each for each in case.signature.parameters}
    if nameless := [name for name in parameters if not name.isidentifier()]:
        raise PackageError(f"{case.path.name}: {nameless[0]} of {case.entry} has no name: give it one in the kernel")
    if rows := [each for each in parameters.values() if "(*)" in each.type]:
        raise PackageError(f"{case.path.name}: {rows[0].name} is {rows[0].type}; a binding takes plain pointers alone")
    own_name = "size"
    while own_name in parameters:
        own_name = f"launch_{own_name}"
    size_name = case.size or own_name
    probes = list(_probes(case, size_name))
    launched = [case.launch(int(probe[size_name]), *map(probe.__getitem__, case.launch_inputs)) for probe in probes]
    given = [name for name in parameters if name in (*case.names, case.size)]
    inputs = [name for name in given if parameters[name].is_pointer]
    allocated = [name for name in case.outputs if name not in case.in_place]
    telling = inputs or allocated  # without inputs the caller must give the outputs
    integers = [name for name in given if parameters[name].is_integer]
    values = {name: [int(probe[name]) for probe in probes] for name in [*integers, size_name]}
    extents = {name: _extent(value, probes, telling) for name, value in values.items()}
    derived = {name: extent for name in integers if (extent := extents[name])}
    asked = [name for name in values if not extents[name]]
    same = _same(probes, [*inputs, *allocated], telling)
    agreed = {name: shape for name in telling if name not in same and (shape := _agreed(name, probes, telling))}
    size: Extent | Given | int = extents[size_name] or Given(size_name)
    doubt = ""
    if case.launch_inputs and not _uses_size(case):
        size = 0
    elif case.has_launch and not case.launch_inputs and isinstance(size, Extent):
        axes = _axes(size.array, probes, parameters)
        own = [size, *axes] if len(axes) == 1 else [size]
        others = [each for name in telling if name not in same for each in _axes(name, probes, parameters)]
        others = [each for each in others if each not in own and _is_free(each, agreed) and max(_at(each, probes)) > 1]
        doubt, is_asked = _doubt(case, values[size_name], others, probes)
        if is_asked:
            probes = [{**probe, own_name: probe[size_name]} for probe in probes]
            size, size_name = Given(own_name), own_name
    return Interface(
        case=case,
        values=probes[0],
        arguments=tuple(name for name in given if name not in derived),
        allocated=tuple(allocated),
        derived=derived,
        same=same,
        agreed=agreed,
        shapes={name: _shape(name, probes, inputs, asked) for name in allocated},
        size=size,
        size_name=size_name,
        has_shared=any(shape[2] for shape in launched),
        doubt=doubt,
    )


def _uses_size(case: KernelCase) -> bool:
    """Whether launch() reads its first parameter."""
    functions = [each for each in ast.parse(launch_source(case)).body if isinstance(each, ast.FunctionDef)]
    launch = next((each for each in functions if each.name == "launch"), None)
    if launch is None:
        return True
    first = [*launch.args.posonlyargs, *launch.args.args][0].arg
    return any(isinstance(node, ast.Name) and node.id == first for part in launch.body for node in ast.walk(part))


def _axes(name: str, probes: Sequence[Probe], parameters: Mapping[str, Parameter]) -> list[Extent]:
    """The axes of an array, without that of a vector type's numbers."""
    count = min(probe[name].ndim for probe in probes) - bool(numbers(parameters[name], probes[0][name])[1])
    return [Extent(name, axis) for axis in range(count)]


def _is_free(extent: Extent, agreed: Mapping[str, tuple[Value, ...]]) -> bool:
    """Whether no other extent tells this one."""
    assert extent.axis is not None
    return agreed.get(extent.array, {extent.axis: extent})[extent.axis] == extent


def _doubt(case: KernelCase, sizes: list[int], others: list[Extent], probes: list[Probe]) -> tuple[str, bool]:
    """Reasons against a grid that one array's extent tells, and whether the caller must give the size instead.

    `others` are the extents that may vary on their own.
    """
    shapes = {}
    for size in (*sizes, *_LARGE):
        with contextlib.suppress(Exception):  # a case may be made for few sizes
            shapes[size] = case.launch(size)
    grid, block, _ = shapes[sizes[0]]
    other = others[0] if others else None
    advice = f"if the grid depends on {other}, write launch(size, {other.array})" if other else ""
    if len({*shapes.values()}) == 1:
        told = f"grid {grid} and block {block} are the same at every size"
        return (f"{told}; {advice}" if advice else told), False
    blocks = [math.prod(shapes[size][0]) for size in sizes]
    for each in others:
        counts = _at(each, probes)
        if len({*counts}) > 1 and blocks in (counts, [count - 1 for count in counts]):
            return f"its blocks are as many as {each} counts at sizes {sizes}: write launch(size, {each.array})", True
    if not other or _covers({size: shape[0] for size, shape in shapes.items()}):
        return "", False
    return f"its grid is no share of the size, and {other} may vary: {advice}", True


def _covers(grids: Mapping[int, tuple[int, ...]]) -> bool:
    """Whether the number of blocks is the size divided by a constant, rounded up, as far as the grid grows."""
    if any(extent != 1 for grid in grids.values() for extent in grid[1:]):
        return False
    most = max(grid[0] for grid in grids.values())
    low, high = 0.0, math.inf  # bounds of the constant
    for size, (blocks, *_) in grids.items():
        low = max(low, size / blocks) if blocks < most else low
        high = min(high, size / (blocks - 1)) if blocks > 1 else high
    return low < high


def _probes(case: KernelCase, size_name: str) -> Iterator[Probe]:
    """All arguments of the kernel by name, and the size, at three sizes; fewer where the case has no three."""
    own = sorted({size for size in case.sizes if size > 1}) or sorted(set(case.sizes))
    for size in own[:3] or _PROBES:
        counted, *inputs = case.make_inputs(size)
        before = dict(zip(case.names, inputs, strict=True))
        yield case.reference(counted, *inputs) | before | {size_name: size}


def _extent(wanted: list[int], probes: list[Probe], arrays: Sequence[str]) -> Extent | None:
    """The extent of an array that is `wanted` at all probes; 0 or 1 at all of them tells nothing."""
    if max(wanted) < 2:
        return None
    return next((each for each in _candidates(probes, arrays) if _at(each, probes) == wanted), None)


def _candidates(probes: list[Probe], arrays: Sequence[str]) -> list[Extent]:
    """All extents of arrays."""
    axes = [Extent(name, axis) for name in arrays for axis in range(min(probe[name].ndim for probe in probes))]
    return [*map(Extent, arrays), *axes]


def _at(extent: Extent, probes: list[Probe]) -> list[int]:
    """An extent at each probe."""
    arrays = [probe[extent.array] for probe in probes]
    return [array.size if extent.axis is None else array.shape[extent.axis] for array in arrays]


def _same(probes: list[Probe], arrays: Sequence[str], telling: Sequence[str]) -> dict[str, str]:
    """Map an array to the first one before it, among those `telling`, that has its shape at all probes."""
    shapes = {name: [probe[name].shape for probe in probes] for name in arrays}
    first = {name: next((other for other in telling if shapes[other] == shapes[name]), name) for name in arrays}
    return {name: other for name, other in first.items() if name != other}


def _agreed(name: str, probes: list[Probe], arrays: list[str]) -> tuple[Value, ...]:
    """The array's extents. One that varies as an earlier extent does is replaced by it; () without any."""
    if len({probe[name].ndim for probe in probes}) > 1:
        return ()
    shape = []
    for axis in range(probes[0][name].ndim):
        wanted = [probe[name].shape[axis] for probe in probes]
        before = _candidates(probes, arrays[: arrays.index(name)]) + [Extent(name, other) for other in range(axis)]
        extent = next((each for each in before if _at(each, probes) == wanted), None)
        shape.append(extent if extent and len(set(wanted)) > 1 else Extent(name, axis))
    return () if shape == [Extent(name, axis) for axis in range(len(shape))] else tuple(shape)


def _shape(name: str, probes: list[Probe], inputs: list[str], numbers: list[str]) -> tuple[Value, ...] | None:
    """The extents of an output: those of inputs, integers of the caller, or constants; else None."""
    if len({probe[name].ndim for probe in probes}) > 1:
        return None
    shape: list[Value] = []
    for extents in zip(*(probe[name].shape for probe in probes), strict=True):
        wanted = list(extents)
        constant = wanted[0] if len(set(wanted)) == 1 else None
        by_number = next((Given(each) for each in numbers if [int(probe[each]) for probe in probes] == wanted), None)
        value = _extent(wanted, probes, inputs) or (by_number if max(wanted) > 1 else None) or constant
        if value is None:
            return None
        shape.append(value)
    return tuple(shape)
