"""Link a program of several translation units in five builds, and see which calls the linker inlined.

A call from one unit into another stays a call if the units are linked as PTX or as machine code. Link-time optimization
(LTO) keeps LTO-IR, the compiler's intermediate form, until the link, and can inline the call. Building the program and
looking inside need no GPU and no driver. On a GPU the program is also checked and timed.
"""

from fourways.link_builds.builds import BUILDS, LinkingError, look_inside
from fourways.link_builds.compare import figure, find_gpu, inlining_table, link_all, problems, remarks, table
