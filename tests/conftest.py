"""What all tests share."""

import fcntl
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import fourways

ROOT = Path(__file__).parents[1]
assert Path(fourways.__file__).is_relative_to(ROOT), f"the tests of {ROOT} would test {fourways.__file__}: make setup"
for end, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(end) is signal.SIG_IGN:  # in the background or under nohup: for us and all that tests start
        signal.signal(end, handler)

# The tests start hundreds of Pythons. Where nothing may keep their bytecode, each compiles anew all that it imports.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# All tests of all runs share what is compiled, and leave nothing in the cache of who runs them.
os.environ["FOURWAYS_CACHE_DIR"] = str(ROOT / "build" / "test-cache")


@pytest.fixture(scope="session")
def root() -> Path:
    """The clone."""
    return ROOT


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], object]], Path]:
    """Give a folder by its name. The first worker of a run that asks for it fills it; the others wait for that."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own

    def folder_of(name: str, make: Callable[[Path], object]) -> Path:
        folder = shared / name
        with folder.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not folder.is_dir():
                folder.mkdir()
                try:
                    make(folder)
                except BaseException:
                    shutil.rmtree(folder)
                    raise
        return folder

    return folder_of
