"""The diagnosis of this machine, for a terminal and as JSON."""

import dataclasses
import json
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Column, Table

from fourways import files, toolchain
from fourways.doctor import checks, inventory
from fourways.doctor.checks import Finding
from fourways.doctor.inventory import Tool
from fourways.toolchain import Driver, Gpu

STYLES = {"ok": "green", "note": "cyan", "warning": "yellow", "error": "bold red"}


@dataclass(frozen=True)
class Diagnosis:
    """The tools, driver and GPUs of this machine, and the findings of all checks."""

    tools: dict[str, Tool]
    driver: Driver | None
    gpus: list[Gpu]
    findings: list[Finding]

    @property
    def lessons_can_run(self) -> bool:
        """True if no finding is an error. Single ways may still be missing."""
        return all(finding.level != "error" for finding in self.findings)

    def to_json(self) -> str:
        """Return the diagnosis as JSON text: `lessons_can_run` and the fields of this class, paths as strings."""
        plain = {"lessons_can_run": self.lessons_can_run, **dataclasses.asdict(self)}
        return json.dumps(plain, indent=1, default=str)


def diagnose() -> Diagnosis:
    """Examine this machine. Takes a second or two, and writes nothing."""
    tools, driver, gpus = inventory.tools(), toolchain.driver(), toolchain.gpus()
    return Diagnosis(tools, driver, gpus, checks.judge(tools, driver, gpus))


def render(diagnosis: Diagnosis) -> RenderableType:
    """Return the diagnosis for a terminal: a table of tools, then a table of findings."""
    tools = Table(
        "tool", "version", Column("where, and why this one", overflow="fold"), title="Tools", title_justify="left"
    )
    for tool in diagnosis.tools.values():
        here = [str(files.short(tool.path))] if tool.path else []
        where = [*here, tool.why, *(f"passed over: {files.short(path)}" for path in tool.passed_over)]
        style = "" if tool.path or tool.version else "dim"
        tools.add_row(tool.name, tool.version or "-", escape("\n".join(where)), style=style)
    for gpu in diagnosis.gpus:
        tools.add_row("GPU", gpu.arch, f"{escape(gpu.name)}, {gpu.memory_bytes / 2**30:.0f} GiB")
    findings = Table("", Column("finding", overflow="fold"), Column("what to do", overflow="fold"), title="Findings")
    findings.title_justify = "left"
    for finding in diagnosis.findings:
        findings.add_row(f"[{STYLES[finding.level]}]{finding.level}[/]", escape(finding.what), escape(finding.remedy))
    return Group(tools, findings)
