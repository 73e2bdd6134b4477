"""Whole programs in fresh processes: their comments are where the clock looks."""

from pathlib import Path

from fourways import kernels
from fourways.experiments import staged_programs


def test_the_lean_programs_leave_cupy_out_and_have_all_stages() -> None:
    for name in ("cupy_cubin", "pycuda_alone", "binding_alone", "cuda_core"):
        text = staged_programs.text(name)
        assert ("import cupy" in text) == name.startswith("cupy"), name
        stages = [line[2:] for line in text.splitlines() if line.startswith("# ")]
        assert [each for each in stages if each != "load"] == ["import", "context", "launch", "launches", "check"], name


def test_cupy_gets_the_source_where_it_gets_the_cubin(tmp_path: Path) -> None:
    programs = staged_programs.lean(tmp_path)
    (source, [source_file]), (cubin, [cubin_file]) = programs["CuPy, source"], programs["CuPy, cubin"]
    (pair,) = [pair for pair in zip(source.splitlines(), cubin.splitlines(), strict=True) if pair[0] != pair[1]]
    assert "RawModule(code=open(sys.argv[2]).read())" in pair[0] and "RawModule(path=sys.argv[2])" in pair[1]
    assert source_file == kernels.path("doublify") and Path(cubin_file).read_bytes()[:4] == b"\x7fELF"
