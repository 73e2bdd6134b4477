"""Points at prose that is hard to read: `make prose`, or `python tests/prose.py FILE ...`. A person judges.

It prints `file:line: what: sentence` for sentences of more than 25 words, for openings that put the verb before the
subject, for the words and phrases that STYLE forbids, and for words that neither pyspellchecker nor `words.txt` knows.
"""

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
LONG = 25
"""Words of a sentence that is worth a second look."""
SKIPPED = ("{code-cell}", "{image}", "{figure}", "{include}", "{bibliography}", "{tableofcontents}")
PERSON = "can|could|may|might|must|should|would|wants?|needs?|has to|sees?|knows?|gets?|reads?|asks?"
AFTER_PRONOUN = (
    r"(?= *(?:[.,;:?!)]|$)| (?:is|are|was|were|that|which|who|with|has|have|does|must|can|in|on|from|by|for)\b)"
)
FORBIDDEN = {
    '"one" as a pronoun': rf"(?i)\bone (?:{PERSON}|that|which|who)\b|\bone's\b|"
    rf"\b(?:the|an?|another|this|that|each|every|any|own)(?: \w+)? ones?\b{AFTER_PRONOUN}|\bones\b",
    '"who" without a person': r"^Who\b(?!.*\?)|(?i:\bwhoever\b)|\b(?:says|tells|of|for|by|to|and) who\b",
    '"behind" for "after"': r"(?i)(?<!fall )(?<!falls )(?<!hide )(?<!hides )(?<!\bis )(?<!\bare )(?<!leaves )"
    r"(?<!stays )\bbehind\b(?! (?:a|the) (?:proxy|firewall))",
    "a phrase to avoid": r"(?i)\bwhat there is\b|\bso many times\b|\bof which\b|\bin sum\b|\bthere besides\b",
    "a coined word": r"(?i)\b(?:houses?|rooms|(?:a|each|its|own) room|faces?|floors?)\b",
}
"""What prose of the second edition must not hold, and the pattern that finds it in a sentence."""
INVERTED = (
    r"^(?:So|Nor|Neither|Only) (?:is|are|was|were|does|do|did|has|have|can|may)\b(?! not)|"
    r"^(?:Of|Behind|Beside|Besides|Between|Beneath|Below|Above|In|On|At|To|With|From|For|By)\b(?!.* there )"
    r"[^,.:;]{0,60}? (?:is|are|was|were|stands?|lies?|comes?|begins?|gives?|goes|tells?|says?) "
    r"(?:the|an?|it|they|you|we|its|their)\b"
)
"""What an opening looks like that may put the verb before the subject. Half of what it finds is good English."""


class Sentence(NamedTuple):
    """A sentence of a Markdown file: its line, the number of its paragraph, the boxes around it, its Markdown."""

    line: int
    paragraph: int
    boxes: str
    text: str


def paragraphs(markdown: str) -> Iterator[tuple[int, str, str]]:
    """Yield the first line's number, the boxes around, and the lines of each paragraph, list item and table row."""
    lines = markdown.splitlines()
    skip = lines.index("---", 1) + 1 if lines[:1] == ["---"] else 0
    fence, boxes, part, begin = "", [""], [], 0
    for number, line in enumerate([*lines, ""], 1):
        mark = re.match(r"\s*(```+|:::+)(.*)", line)
        starts = re.match(r"\s*(?:[-*+] |\d+\. |\|)|#", line)
        if part and (mark or starts or fence or not line.strip()):
            yield begin, " ".join(boxes).strip(), "\n".join(part)
            part = []
        if number <= skip:
            continue
        if mark and mark[1].startswith("```"):
            fence = "" if fence else mark[2].strip() or "text"
            if fence.startswith("{") and not fence.startswith(SKIPPED):  # a box, written with backticks
                boxes, fence = [*boxes, f"```{fence}"], ""
            elif not mark[2].strip() and boxes[-1].startswith("```"):
                boxes, fence = boxes[:-1], ""
        elif mark and not fence:
            boxes = [*boxes, mark[2].strip()] if mark[2].strip() else boxes[:-1]
        elif re.match(r":[\w-]+:", line):
            boxes[-1] += f" {line}"
        elif line.strip() and not fence and not re.fullmatch(r"[-| :+]+|%.*|\(.*\)=|<!--.*", line):
            begin = begin if part else number
            part.append(line)


def sentences(markdown: str) -> list[Sentence]:
    """Return the sentences of a Markdown file, the items of its lists and the rows of its tables."""
    found = []
    for number, (line, boxes, text) in enumerate(paragraphs(markdown)):
        ends = [match.end() for match in re.finditer(r"(?<!e\.g)(?<!i\.e)(?<! cf)(?<! vs)[.?!][*_)\"”’]*(?=\s)", text)]
        for start, end in zip([0, *ends], [*ends, len(text)], strict=True):
            if sentence := text[start:end].strip():
                above = text[: start + len(text[start:end]) - len(text[start:end].lstrip())].count("\n")
                found.append(Sentence(line + above, number, boxes, sentence))
    return found


def plain(text: str) -> str:
    """Return the words of a sentence: code and formulas as `X`, links without address, no citations, no marks."""
    text = re.sub(r"\{cite\}`[^`]*`|\{[\w:]+\}(?=`)|<[^>]+>", "", text)
    text = re.sub(r"``.*?``|`[^`]*`|\$[^$]*\$", "X", text)
    return " ".join(re.sub(r"!?\[([^]]*)\]\([^)]*\)|https?://\S+|^[\s|>#+*-]+|^\s*\d+\. |\*+", r"\1", text).split())


def faults(sentence: Sentence, long: int = LONG) -> list[str]:
    """Return what a sentence has of STYLE's faults: more than `long` words, and everything in `FORBIDDEN`."""
    cells = [cell for cell in plain(sentence.text).split("|") if cell.strip()]
    words = max((len(re.findall(r"\w[\w'’.,-]*", cell)) for cell in cells), default=0)
    told = [f"{words} words"] if words > long else []
    return told + [what for what, pattern in FORBIDDEN.items() if any(re.search(pattern, cell) for cell in cells)]


@cache
def speller() -> Any:
    """Return pyspellchecker's English dictionary with the project's names and terms, or None where it is missing."""
    try:
        from spellchecker import SpellChecker
    except ImportError:
        return None
    known = SpellChecker()
    known.word_frequency.load_words((ROOT / "tests" / "words.txt").read_text("utf-8").split())
    return known


def misspelled(sentence: Sentence) -> list[str]:
    """Return the words of a sentence that the dictionary lacks. Names with capitals inside, such as PyCUDA, pass."""
    words = re.findall(r"(?<![\w.'-])[A-Za-z]?[a-z]{2,}(?![\w]|\.\w)", plain(sentence.text).replace("-", " "))
    return sorted(speller().unknown(words)) if speller() else []


def main(paths: list[Path]) -> None:
    """Print what prose to look at, file by file, and how many sentences that are."""
    count = 0
    for path in paths:
        for sentence in sentences(path.read_text("utf-8")):
            told = faults(sentence)
            if re.match(INVERTED, plain(sentence.text)) and not sentence.text.endswith("?"):
                told.append("verb before subject?")
            if unknown := misspelled(sentence):
                told.append(f"spelling? {', '.join(unknown)}")
            if told:
                count += 1
                print(f"{path.relative_to(ROOT)}:{sentence.line}: {'; '.join(told)}: {plain(sentence.text)}")
    print(f"{count} sentences to look at" + ("" if speller() else "; spelling needs `pip install pyspellchecker`"))


if __name__ == "__main__":
    given = [Path(name).resolve() for name in sys.argv[1:]]
    main(given or [ROOT / "README.md", *sorted((ROOT / "book").glob("*.md")), *sorted((ROOT / "lessons").glob("*.md"))])
