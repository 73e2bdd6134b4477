"""Write each drawing's dark variant: `python darken.py` makes NAME_dark.svg from every NAME_light.svg beside it."""

from pathlib import Path

DARK = {
    **{"#1f2328": "#e6edf3", "#57606a": "#a9b4c0"},  # text, and text that matters less
    **{"#6e7781": "#8b949e", "#eef2f6": "#262d36", "#ffffff": "#1b2027"},  # lines, areas, boxes
    **{"#C2410C": "#FB923C", "#fbe3d6": "#4a2c17"},  # the accent, and an area of it
    **{"#005B94": "#4AA3DF", "#3A94C9": "#9AD4F7", "#B87500": "#F0B03C", "#007F5C": "#35C79B", "#6B7280": "#9AA3AF"},
}  # the last line: the ways nvrtc, nvcc, pycuda, pybind11, host


def darken(light: str) -> str:
    """Return the drawing with each colour of the light palette replaced by its dark counterpart."""
    for colour, dark in DARK.items():
        light = light.replace(colour, dark)
    return light


if __name__ == "__main__":
    for path in Path(__file__).parent.glob("*_light.svg"):
        path.with_name(path.name.replace("_light", "_dark")).write_text(darken(path.read_text()))
