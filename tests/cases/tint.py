import numpy as np

Lamp = np.dtype({"names": ["power", "colour"], "formats": ["f4", "4f4"], "offsets": [0, 16], "itemsize": 32})
Room = np.dtype(
    {
        "names": ["name", "lamps", "dust"],
        "formats": ["3i1", (Lamp, 2), "f8"],
        "offsets": [0, 16, 80],
        "itemsize": 96,
    }
)


def arguments(size):
    lamps = [(2, (1, 2, 3, 4)), (0.5, (4, 3, 2, 1))]
    room = np.array(((0, 0, 0), lamps, 0.25), Room)
    return {"x": np.linspace(-1, 1, size, dtype=np.float32), "y": None, "n": np.int32(size), "room": room}


def reference(x, room):
    light = (room["lamps"]["power"][:, None] * room["lamps"]["colour"].astype("f8")).sum(axis=0)
    return {"y": x[:, None] * light * room["dust"]}
