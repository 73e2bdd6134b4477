"""Sphinx: colours shell commands, files, and CUDA and CMake in Python's strings, in the cells of lessons."""

import re

from pygments.lexer import Lexer
from pygments.lexers import BashLexer, CMakeLexer, CudaLexer, PythonLexer, TOMLLexer
from pygments.token import Error, Keyword, String, Text

WRITTEN = {".py": PythonLexer, ".toml": TOMLLexer, ".txt": CMakeLexer}
"""The lexers of files that `%%writefile` writes, by their endings; CUDA's for the others."""
IN_STRINGS = {
    r"(?m)^\s*(import|from) ": PythonLexer,
    "__global__|__device__|#include": CudaLexer,
    "cmake_minimum": CMakeLexer,
    r"\[project\]": TOMLLexer,
}
"""What tells the language of a string of several lines."""
PARTS = re.compile(
    r"^(?P<command>[ \t]*[!%](?:[^\n]*\\\n)*[^\n]*\n?)"  # a line for the shell or IPython, with its continuations
    r"|(?P<open>[rf]*(?P<quotes>\"{3}|'{3}))(?P<inside>.*?)(?P<close>(?P=quotes))",
    re.MULTILINE | re.DOTALL,
)


class CellLexer(Lexer):
    """Lexes a notebook's cell."""

    name = "Cell"
    aliases = ("ipython3",)

    def get_tokens_unprocessed(self, text):
        if match := re.match(r"%%writefile \S*?(\.\w+)\n", text):
            yield 0, Keyword, match[0]
            yield from within(WRITTEN.get(match[1], CudaLexer), text, match.end(), len(text))
            return
        end = 0
        for match in PARTS.finditer(text):
            yield from within(PythonLexer, text, end, match.start())
            end = match.end()
            if match["command"]:
                yield from within(BashLexer, text, match.start(), end)
            else:
                language = next((found for key, found in IN_STRINGS.items() if re.search(key, match["inside"])), None)
                yield match.start("open"), String, match["open"]
                if language:
                    yield from within(language, text, match.start("inside"), match.end("inside"))
                else:
                    yield match.start("inside"), String, match["inside"]
                yield match.start("close"), String, match["close"]
        yield from within(PythonLexer, text, end, len(text))


def within(language, text, begin, end):
    """Yield the tokens of a part of the text, as `language` sees it."""
    for index, kind, value in language(stripnl=False, ensurenl=False).get_tokens_unprocessed(text[begin:end]):
        yield begin + index, Text if kind is Error else kind, value  # part of a file may be no program


def setup(app):
    """Called by Sphinx."""
    app.add_lexer("ipython3", CellLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
