"""Disassembled machine code (SASS), as text and as instructions, with labels in place of addresses."""

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from fourways import toolchain
from fourways.sass import opcodes

_JUMPS = ("BRA", "BRX", "BRXU", "BSSY", "CALL", "JMP", "JMX", "JMXU", "RET", "WARPSYNC")
_ENTRY = re.compile(r"\s*\.section\s+\.text\.([^,\s]+)")
_LABEL = re.compile(r"([.$\w]+):\s*$")
_INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]+)\*/\s+(?:(@!?\w+)\s+)?([A-Z][\w.]*)\s*([^;]*?)\s*;")
_TARGET = re.compile(r"`\(([^)]+)\)")


@dataclass(frozen=True)
class Instruction:
    """A SASS instruction, e.g. `@!P0 BRA L0`: its function `entry`, its byte address in it, and its parts.

    `target` is nvdisasm's name for the target of a jump, such as a called function.
    """

    entry: str
    address: int
    predicate: str
    opcode: str
    operands: str
    target: str = field(default="", compare=False)

    @property
    def base(self) -> str:
        """The opcode without its modifiers: `IMAD` of `IMAD.MOV.U32`."""
        return self.opcode.split(".")[0]

    @property
    def kind(self) -> str:
        """The instruction's kind, as `opcodes.kind` says it."""
        return opcodes.kind(self.opcode)

    def __str__(self) -> str:
        return " ".join(filter(None, (self.predicate, self.opcode, self.operands)))


class SassError(RuntimeError):
    """Machine code that cannot be read, or that lacks the function asked for; the message lists its functions."""


def disassemble(cubin: bytes) -> str:
    """Return the SASS of a cubin as text, by nvdisasm. Raises SassError if nvdisasm is missing, or cannot read it."""
    tool = toolchain.program("nvdisasm")
    if tool is None:
        raise SassError(f"no nvdisasm found: {toolchain.SETUP}")
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        done = toolchain.run(tool, "-c", file.name)
    if done.returncode:
        raise SassError(f"nvdisasm could not read the cubin:\n{done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def parse(text: str) -> list[Instruction]:
    """Return the instructions in the output of nvdisasm, by function name and address.

    Jumps go to labels `L0`, `L1`, ..., because addresses move with every added instruction. The padding at the end of
    the code, a jump to itself and `NOP`s, is left out.
    """
    functions: dict[str, list[Instruction]] = {}
    labels: dict[str, dict[str, int]] = {}
    entry, waiting = "", []
    for line in text.splitlines():
        if match := _ENTRY.match(line):
            entry = match[1]
        elif match := _LABEL.match(line):
            waiting.append(match[1])
        elif match := _INSTRUCTION.match(line):
            address = int(match[1], 16)
            labels.setdefault(entry, {}).update(dict.fromkeys(waiting, address))
            waiting = []
            functions.setdefault(entry, []).append(Instruction(entry, address, match[2] or "", match[3], match[4]))
    return [line for entry in sorted(functions) for line in _tidy(functions[entry], labels[entry])]


def _tidy(lines: list[Instruction], labels: dict[str, int]) -> Iterator[Instruction]:
    places = {line.address for line in lines}
    targets = {}
    for number, line in enumerate(lines):
        if line.base in _JUMPS and (match := _TARGET.search(line.operands)):
            lines[number] = replace(line, target=match[1])
            if labels.get(match[1]) in places:  # not a function elsewhere
                targets[line.address] = labels[match[1]]
    while lines and (lines[-1].opcode == "NOP" or targets.get(lines[-1].address) == lines[-1].address):
        lines.pop()
    names: dict[int, str] = {}
    for line in lines:
        if line.address in targets:
            label = names.setdefault(targets[line.address], f"L{len(names)}")
            line = replace(line, operands=_TARGET.sub(label, line.operands))
        yield line
