"""Read the machine code (SASS) that a compiler makes of a kernel. Needs no GPU and no driver."""

from fourways.sass.compare import listing
from fourways.sass.disassembly import SassError, disassemble, parse
from fourways.sass.opcodes import kind
