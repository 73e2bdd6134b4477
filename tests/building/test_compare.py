"""Builds side by side: what is counted, which artefact runs where, and what bad input says."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fourways import building, figures, kernels, tables, toolchain
from fourways.tables import Row


@pytest.fixture(scope="module")
def found(made_once: Callable[..., Path]) -> list[Row]:
    """Two compilers, two architectures and the fatbin of both; as JSON brings them back."""

    return json.loads((made_once("built-rows", build_rows) / "rows.json").read_text())


def build_rows(folder: Path) -> None:
    """Keep the rows of `found`, and what is told of the progress."""
    told: list[str] = []
    rows = building.rows(kernels.path("doublify"), ["nvrtc", "nvcc"], ["sm_75", "sm_90"], tell=told.append)
    (folder / "rows.json").write_text(json.dumps(rows))
    (folder / "told.json").write_text(json.dumps(told))


def test_a_row_for_each_compiler_and_architecture(found: list[Row]) -> None:
    singles, fat = found[:4], found[4]
    assert [(row["compiler"], row["arch"]) for row in singles] == [
        (compiler, arch) for compiler in ("nvrtc", "nvcc") for arch in ("sm_75", "sm_90")
    ]
    for row in singles:
        assert row["clock"] == "host" and row["kernel"] == "doublify.cuh"
        assert row["seconds"]["samples"] == 3 and row["seconds"]["median"] > 0
        assert 0 < row["registers"] < 64 and row["spill_bytes"] == 0
        assert row["cubin_bytes"] > 1000 and row["ptx_bytes"] > 500 and row["ltoir_bytes"] > 500
        assert (row["fatbin_bytes"] is None) == (row["compiler"] == "nvrtc")
    assert singles[1]["registers"] == singles[3]["registers"]
    assert fat["holds"] == ["sm_75", "sm_90", "compute_90"]
    assert fat["fatbin_bytes"] > max(row["fatbin_bytes"] or 0 for row in singles)


def test_tables_hold_every_number_once(found: list[Row]) -> None:
    times, sizes, matrix = (
        str(building.table(found)),
        str(building.sizes_table(found)),
        str(building.matrix_table(found)),
    )
    for row in found[:4]:
        assert f"{row['cubin_bytes']:,}" in sizes and f"{row['cubin_bytes']:,}" in matrix
        assert tables.seconds(row["seconds"]["median"]) in times
        assert tables.seconds(row["seconds"]["median"]) in matrix
    assert f"{found[4]['fatbin_bytes']:,}" in sizes
    assert matrix.splitlines()[0].split() == ["compiler", "sm_75", "sm_90"]
    assert len(building.matrix_table(found).rows) == 4, "seconds and bytes, for two compilers"


@pytest.mark.parametrize("make", [building.table, building.sizes_table, building.matrix_table])
def test_tables_fit_80_columns(found: list[Row], make) -> None:  # type: ignore[no-untyped-def]
    from rich.console import Console

    wide = [
        row | {"compiler": "cuda.core", "arch": f"sm_{arch}"} for row in found[:1] for arch in toolchain.ARCHITECTURES
    ]
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(make(wide))
    assert "…" not in console.export_text()


def test_what_is_missing_is_said_once(two_kernels: Path) -> None:
    rows = building.rows(two_kernels, ["nvrtc", "cmake"], ["sm_75", "sm_90"], ["-DSIZE=32"])
    assert [row["arch"] for row in rows] == ["sm_75", "sm_90", ""]
    assert rows[-1]["seconds"] is None and rows[-1]["missing"] == {}
    assert (
        rows[-1]["not_built"].endswith("for two.cu a case makes one: --case my_case.py")
        and rows[0]["not_built"] is None
    )
    assert building.table(rows).note.count("for two.cu a case makes one: --case my_case.py") == 1
    assert "cmake" in str(building.table(rows)) and "cmake" not in str(building.sizes_table(rows))


@pytest.mark.long
def test_what_the_module_does_not_tell_stays_empty() -> None:
    (row,) = building.rows(kernels.path("doublify"), ["cmake"])
    assert row["shared_bytes"] is None and row["spill_bytes"] is None and row["registers"] > 0
    assert row["module_bytes"] > row["cubin_bytes"] and row["cached_seconds"]["samples"] == 3
    assert "cmake: no spill" in building.table([row]).note


def test_nothing_built_is_an_error(two_kernels: Path) -> None:
    with pytest.raises(building.BuildError, match="cmake: the module holds kernels of cpp/kernels alone"):
        building.rows(two_kernels, ["cmake"])


def test_what_one_compiler_refuses_the_others_still_build(tmp_path: Path) -> None:
    """A row that says so, with the first error and the advice."""
    kernel = tmp_path / "prints.cu"
    kernel.write_text('#include <cstdio>\nextern "C" __global__ void k(float *x) { printf("%f", *x); }\n')
    rows = building.rows(kernel, ["nvrtc", "nvcc"])
    refused, built = rows
    assert refused["not_built"].startswith(
        'refused: prints.cu(1): catastrophic error: cannot open source file "cstdio"'
    )
    assert "printf" in refused["not_built"] and refused["seconds"] is refused["registers"] is None
    assert (refused["arch"], built["arch"]) == ("sm_90", "sm_90") and built["registers"] and not built["not_built"]
    shown = building.table(json.loads(json.dumps(rows)))
    assert shown.cells()[0][2] == "not built" and "nvrtc: not built: refused: prints.cu(1)" in shown.note
    assert len(building.figure(rows).axes[0].patches) == 1


def test_there_is_no_fatbin_where_one_architecture_is_refused(tmp_path: Path) -> None:
    kernel = tmp_path / "new.cu"
    kernel.write_text("#if __CUDA_ARCH__ < 800\n#error too old\n#endif\n" + 'extern "C" __global__ void k() {}\n')
    rows = building.rows(kernel, ["nvcc"], ["sm_90", "sm_75"])
    assert [row["arch"] for row in rows] == ["sm_90", "sm_75"]
    assert rows[0]["seconds"] and "too old" in rows[1]["not_built"]


def test_what_every_compiler_refuses_is_an_error_in_the_first_ones_words(two_kernels: Path) -> None:
    with pytest.raises(building.BuildError, match=r'^nvcc could not compile two.cu(.|\n)*"SIZE" is undefined'):
        building.rows(two_kernels, ["nvcc", "nvrtc"])


def test_a_mangled_name_is_told(two_kernels: Path, tmp_path: Path) -> None:
    def told(path: Path, entry: str | None = None) -> str:
        return building.table(building.rows(path, ["nvrtc"], options=["-DSIZE=32"], entry=entry)).note

    assert 'no plain name: get_function("light") finds no _Z5lightPf; declare' in told(two_kernels, "light")
    assert "plain name" not in told(two_kernels, "heavy")
    template = tmp_path / "template.cu"
    template.write_text(
        "template <int N> __global__ void t(int *x) { *x = N; }\ntemplate __global__ void t<3>(int *);\n"
    )
    assert "plain name" not in told(template), "its instances are asked for by name expressions"


def test_shared_memory_and_options_are_seen(two_kernels: Path) -> None:
    (row,) = building.rows(two_kernels, ["nvrtc"], ["sm_90"], ["-DSIZE=512"])
    assert row["shared_bytes"] == 2048
    with pytest.raises(building.BuildError, match="SIZE"):
        building.rows(two_kernels, ["nvrtc"], ["sm_90"])


def test_an_entry_of_its_own(two_kernels: Path) -> None:
    """By its name as written, though C++ mangles one of them; the others do not count."""
    heavy, light, hungriest = (
        building.rows(two_kernels, ["nvrtc"], options=["-DSIZE=512"], entry=entry)[0]
        for entry in ("heavy", "light", None)
    )
    assert heavy["entry"] == "heavy" and heavy["shared_bytes"] == hungriest["shared_bytes"] == 2048
    assert light["shared_bytes"] == 0 and light["registers"] > 0
    with pytest.raises(building.BuildError, match=r"two.cu has no entry point 'ght'; there are: .*heavy"):
        building.rows(two_kernels, ["nvrtc"], options=["-DSIZE=512"], entry="ght")


def test_a_file_without_kernels_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty.cu").touch()
    with pytest.raises(building.BuildError, match="empty.cu has no entry point; there are: none"):
        building.rows(tmp_path / "empty.cu", ["nvrtc"])


def test_progress_names_compiler_and_architecture(made_once: Callable[..., Path]) -> None:
    told = json.loads((made_once("built-rows", build_rows) / "told.json").read_text())
    singles = [f"{compiler} for sm_{arch}" for compiler in ("nvrtc", "nvcc") for arch in (75, 90)]
    assert told == [*singles, "a fatbin for 2 architectures"]


def test_the_figure_has_a_bar_for_each_compiler(found: list[Row]) -> None:
    cached = {"median": 0.001, "p10": 0.001, "p90": 0.001, "samples": 3}
    rows = [row | {"cached_seconds": cached} if row["compiler"] == "nvrtc" else row for row in found]
    cold, warm = building.figure(rows).axes
    assert [label.get_text() for label in cold.get_yticklabels()] == ["nvrtc", "nvcc"], "the fatbin is no compiler"
    assert [bar.get_width() for bar in warm.patches] == [0.001]
    medians = [row["seconds"]["median"] for row in rows[:2]]
    assert cold.patches[0].get_width() == pytest.approx(sum(medians) / 2), "the median over two architectures"
    assert cold.patches[0].get_facecolor() == figures_colour("nvrtc")
    assert cold.get_xscale() == warm.get_xscale() == "log" and cold.get_xticks().size
    assert cold.get_xlim()[0] < min(bar.get_width() for bar in cold.patches), "the shortest bar can be seen"
    assert "2 architectures" in cold.get_title(loc="left")
    assert len(building.figure(found[2:4]).axes) == (2 if found[2]["cached_seconds"] else 1), "no empty panel"


def figures_colour(way: str) -> tuple[float, ...]:
    from matplotlib.colors import to_rgba

    return to_rgba(figures.COLOURS[way])


def test_which_artefact_runs_where() -> None:
    where = {row["artefact"]: row["gpus"] for row in building.runs_on(["sm_80", "sm_90", "sm_100"]).rows}
    assert where["cubin sm_80"] == ["80", "86", "89"], "the same major version, from this minor version on"
    assert where["cubin sm_90"] == ["90"]
    assert where["PTX compute_90"] == ["90", "100", "120"]
    assert where["cubin sm_100"] == ["100"], "12.0 is another major version"
    assert where["fatbin of all"] == ["80", "86", "89", "90", "100", "120"], "its PTX serves what is newer"
    assert "fatbin of all" not in str(building.runs_on(["sm_90"]))
