"""Link one program of several translation units in five builds, and see what the linker could and could not optimise.

A call from one unit into another stays a call when the units are linked as PTX or as machine code. Link-time
optimization (LTO) keeps the compiler's own form, LTO-IR, until the link, and can inline it. Building and looking inside
need no GPU and no driver; on a GPU the program is also checked and timed.
"""

from fourways.linking.builds import BUILDS, COMPILED, LinkingError, check_versions, look_inside
from fourways.linking.compare import (
    default_units,
    figure,
    find_gpu,
    inlining_table,
    link_all,
    problems,
    reference,
    remarks,
    table,
)
