"""What each compiler says of a text that NVRTC may refuse: the page on textures asks."""

from collections.abc import Mapping

from fourways import building
from fourways.tables import Row, Table


def refusals(texts: Mapping[str, str]) -> Table:
    """Compile each text with both compilers, and return what each says: "compiles", or its first error."""
    rows: list[Row] = []
    for name, text in texts.items():
        row: Row = {"text": name}
        for compiler in building.COMPILERS:
            try:
                building.build(text, compiler, arch="sm_90")
                row[compiler] = "compiles"
            except building.BuildError as refused:
                lines = [line for line in str(refused).splitlines() if "error" in line]
                row[compiler] = lines[0].split("): ")[-1].removeprefix("catastrophic ").removeprefix("error: ")
        rows.append(row)
    return Table("refusals", rows)
