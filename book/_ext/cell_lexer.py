"""Sphinx: colours CUDA, CMake and TOML in Python's strings; in the cells of lessons also shell commands and files."""

import re

from pygments.lexer import Lexer
from pygments.lexers import BashLexer, CMakeLexer, CudaLexer, PythonLexer, TOMLLexer
from pygments.token import Error, Keyword, String, Text

IN_STRINGS = {
    r"(?m)^\s*(import|from \S+ import) ": PythonLexer,
    "__global__|__device__|#include": CudaLexer,
    "cmake_minimum": CMakeLexer,
    r"\[project\]": TOMLLexer,
}
"""What tells the language of a string of several lines."""
COMMAND = r"^(?P<command>[ \t]*[!%](?:[^\n]*\\\n)*[^\n]*\n?)|"
"""A line for the shell or IPython, with its continuations."""
IN_QUOTES = r"(?P<open>[rf]*(?P<quotes>\"{3}|'{3}))(?P<inside>.*?)(?P<close>(?P=quotes))"


class ProgramLexer(Lexer):
    """Lexes a Python program."""

    name = "Program"
    parts = re.compile(IN_QUOTES, re.DOTALL)

    def get_tokens_unprocessed(self, text):
        end = 0
        for match in self.parts.finditer(text):
            yield from within(PythonLexer, text, end, match.start())
            end = match.end()
            if match.groupdict().get("command"):
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


class CellLexer(ProgramLexer):
    """Lexes a notebook's cell."""

    name = "Cell"
    aliases = ("ipython3",)
    parts = re.compile(COMMAND + IN_QUOTES, re.MULTILINE | re.DOTALL)

    def get_tokens_unprocessed(self, text):
        if match := re.match(r"%%writefile \S*?(\.\w+)\n", text):
            yield 0, Keyword, match[0]
            yield from within(WRITTEN.get(match[1], CudaLexer), text, match.end(), len(text))
        else:
            yield from super().get_tokens_unprocessed(text)


WRITTEN = {".py": ProgramLexer, ".toml": TOMLLexer, ".txt": CMakeLexer}
"""The lexers of files that `%%writefile` writes, by their endings; CUDA's for the others."""


def within(language, text, begin, end):
    """Yield the tokens of a part of the text, as `language` sees it."""
    for index, kind, value in language(stripnl=False, ensurenl=False).get_tokens_unprocessed(text[begin:end]):
        yield begin + index, Text if kind is Error else kind, value  # part of a file may be no program


def setup(app):
    """Called by Sphinx."""
    app.add_lexer("ipython3", CellLexer)
    app.add_lexer("python", ProgramLexer)  # files that pages include
    return {"parallel_read_safe": True, "parallel_write_safe": True}
