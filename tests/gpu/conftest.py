"""Tests that need a GPU: skipped with the reason where there is none; a run in which none ran has failed."""

from pathlib import Path

import pytest

from fourways import toolchain

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if reason := toolchain.missing("gpu"):
        for item in items:
            if HERE in item.path.parents:
                item.add_marker(pytest.mark.skip(reason=reason))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    places = [Path(argument.split("::")[0]).resolve() for argument in terminalreporter.config.args]
    only_here = all(HERE in (place, *place.parents) for place in places)
    if only_here and not any(terminalreporter.stats.get(outcome) for outcome in ("passed", "failed", "error")):
        terminalreporter.write_line("no GPU test ran, so nothing was shown to work: this counts as a failure", red=True)
        terminalreporter._session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
