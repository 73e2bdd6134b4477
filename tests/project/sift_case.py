import numpy as np

Kept = np.dtype([("name", "i1"), ("sum", "f8")], align=True)
Taps = np.linspace(-3, 4, 40, dtype=np.float32)
kernel = "sift<Kept, 3>"
constants = {"taps": Taps, "more::offset": np.array(7, np.int32)}
derived = {"n": "kept.shape[0]", "x": "(n, 4)"}
options = ("-std=c++20", '-DUNUSED="a;b"')
sizes = (0, 1, 33, 1009)


def arguments(size):
    x = np.random.default_rng(size).standard_normal((size, 4)).astype(np.float32)
    kept = np.array([(i % 100, i / 2) for i in range(size)], Kept)
    numbers = {"n": np.uint64(size), "gain": np.float16(0.75), "turn": np.complex64(2 - 1j), "flip": np.bool_(True)}
    return {"kept": kept, "x": x} | numbers


def reference(kept, x, gain, turn):
    kept = kept.copy()
    kept["sum"] -= 7 + turn.real - turn.imag + float(gain) * (x[:, :3] @ Taps[37:].astype(float))
    return {"kept": kept}


def launch(size, **arguments):
    return (max(1, -(-size // 512)), 2), 256, 65536
