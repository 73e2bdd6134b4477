"""The doctor: the tools that lessons can use on this machine, whether they work together, and what to do if not."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fourways import files, toolchain
from fourways.doctor.checks import Finding, Tool, judge, tools
from fourways.toolchain import Gpu

STYLES = {"note": "cyan", "warning": "yellow", "error": "bold red"}


@dataclass(frozen=True)
class Diagnosis:
    """The tools and GPUs of this machine, and the findings of all checks."""

    tools: Sequence[Tool]
    gpus: Sequence[Gpu]
    findings: Sequence[Finding]

    @property
    def lessons_can_run(self) -> bool:
        """True if no finding is an error. Single ways may still be missing."""
        return all(finding.level != "error" for finding in self.findings)

    def table(self) -> Any:
        """Return a Rich table with a row for each tool, and a row for each finding about anything else."""
        from rich.markup import escape
        from rich.table import Table

        shown = Table("tool", "version", "where", "what to do")
        for column in shown.columns[2:]:
            column.overflow = "fold"
        gpus = [Tool(gpu.name, None, gpu.arch, f"GPU with {gpu.memory_bytes / 2**30:.0f} GiB") for gpu in self.gpus]
        others = {finding.tool for finding in self.findings} - {tool.name for tool in self.tools}
        for tool in [*self.tools, *gpus, *map(Tool, sorted(others))]:
            where = [str(files.short(tool.path))] if tool.path else []
            about = [
                f"[{STYLES[each.level]}]{each.level}[/]: {escape('; '.join(filter(None, (each.what, each.remedy))))}"
                for each in self.findings
                if each.tool == tool.name
            ]
            cells = tool.name, tool.version or "-", "\n".join([*where, *filter(None, [tool.why])])
            shown.add_row(*map(escape, cells), "\n".join(about), style="" if tool.path or tool.version else "dim")
        return shown


def diagnose() -> Diagnosis:
    """Examine this machine. Takes a second or two, and writes nothing."""
    here, gpus = tools(), toolchain.gpus()
    return Diagnosis(list(here.values()), gpus, list(judge(here, toolchain.driver(), gpus)))
