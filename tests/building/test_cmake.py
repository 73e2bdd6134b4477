"""The pybind11 module with one kernel, built in a folder of one's own: what lesson 00 does on its workbench."""

import shutil
from pathlib import Path

import pytest

from fourways import building


@pytest.mark.long
def test_it_builds_from_a_copy_rebuilds_an_edit_and_says_what_failed(tmp_path: Path, root: Path) -> None:
    shutil.copytree(root / "cpp", tmp_path / "cpp")
    shutil.copy(root / "pyproject.toml", tmp_path)
    folder = tmp_path / "build"
    cold = building.build_binding("doublify", folder, tmp_path / "cpp", ["-DCMAKE_CUDA_ARCHITECTURES=90-real"])
    (module,) = folder.glob("fourways_aot*.so")
    assert list(building.of_code(module)) == ["doublify"]
    before = module.read_bytes()
    kernel = tmp_path / "cpp" / "kernels" / "doublify.cuh"
    kernel.write_text(kernel.read_text().replace("#define FACTOR 2", "#define FACTOR 3"))
    again = building.build_binding("doublify", folder, tmp_path / "cpp")
    assert module.read_bytes() != before
    assert 0 < again < cold, "the second build need not configure"
    kernel.write_text(kernel.read_text().replace("#define FACTOR 3", "#define FACTOR nothing"))
    with pytest.raises(
        building.BuildError, match=r"with doublify:\nFAILED(.|\n)*error(.|\n)*\nAdvice: mend the source"
    ):
        building.build_binding("doublify", folder, tmp_path / "cpp")


def test_a_refusal_starts_where_it_failed(tmp_path: Path) -> None:
    with pytest.raises(building.BuildError) as refused:
        building.build_binding("doublify", tmp_path, options=["-DCMAKE_CUDA_ARCHITECTURES=999-real"])
    first, second, *_, last = str(refused.value).splitlines()
    assert first == "CMake could not build the module with doublify:" and second.startswith("CMake Error")
    assert "'compute_999'" in str(refused.value)
    assert last.startswith("Advice: take one that the compiler knows, such as 75")
