"""Checkable facts of a text: what an agent may have to quote exactly, and what became of it.

Numbers with what they belong to, paths, URLs, ids and error lines can be checked without
understanding a text. A fact of the original is *retained* when it stands in what was sent, else
*recoverable* when the held text has it, else *lost*. This judges strategies from outside: it shares
no code with them and does not know how they choose.

Linear in the text. Of a long text only stretches are read, evenly spread, so that finding facts costs
a few milliseconds for any size; error lines are looked for everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from proxy.answer_model import FactCounts

FACT_LIMIT = 5_000
"""At most so many facts are judged. A total of exactly so many means: at least so many."""
ERROR_LIMIT = 500
"""Of these at most so many error lines, the first and the last ones."""
EXAMPLES = 10
"""Facts shown per outcome."""

_WHOLE = 128 * 1024
"""A text of up to so many characters is read whole; of a longer one as much in stretches."""
_STRETCHES = 64
_ERROR_LENGTH = 200
"""An error line is known by its first so many characters."""
_EXAMPLE_LENGTH = 160


class FactKind(Enum):
    """What sort of thing can be checked; in the order of weight."""

    ERROR = "error line"
    ID = "id"
    URL = "URL"
    PATH = "path"
    NUMBER = "number"


class Fact(NamedTuple):
    """One checkable thing. Equal facts are one."""

    kind: FactKind
    text: str
    """Normalised: no quotes, no punctuation after it; an error line with single spaces."""
    key: str = ""
    """Of a number: the name before it or the unit after it; may be empty."""

    def __str__(self) -> str:
        return f"{self.key}: {self.text}" if self.key else self.text


# Every quantifier below is bounded or possessive and every pattern starts at the edge of a word, so no
# text makes the search try the same characters over and over.
_URL = re.compile(r"\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}+://[^\s\"'<>`|\\^{}\[\]()]{1,2000}+")
_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
_ID = re.compile(
    rf"(?<![\w-])(?:{_UUID}|0x[0-9a-fA-F]{{4,40}}+|[0-9a-fA-F]{{7,128}}+|[A-Z][A-Z0-9]{{1,9}}+-[0-9]{{1,9}}+)"
    r"(?![\w-])"
)
_PATH = re.compile(
    r"(?<![\w/\\.~:-])"
    r"(?:~|\.{1,2}|[A-Za-z]:|[\w.@+-]{1,255}+)?"
    r"(?:[/\\][\w.@+~-]{1,255}+){1,64}+"
)
# Read backwards: digits are rarer than letters, so a search that begins with a digit is four times faster
# than one that begins with a name.
_KEYED_BACKWARDS = re.compile(
    r"([0-9%](?<![\w:].)[0-9.,_eE+-]{0,60}+)[\"'`*]{0,3}+[ \t]{0,4}+[:=][ \t]{0,4}+[\"'`*]{0,3}+"
    r"([\w.-]{1,80}+)(?<=[^\W\d])"
)
_NUMBER = re.compile(r"[-+]?[0-9][0-9.,_]*+(?:[eE][-+]?[0-9]+)?%?")
_MEASURED = re.compile(r"([0-9](?<![\w.,:=/-].)[0-9.,]{0,30}+)[ ]?([^\W\d_]{2,20}+|%)(?![\w-])")
_CELL = re.compile(r"[,\t;|][ ]?(-?[0-9][0-9.]{1,30}+)(?=[ ]?[,\t;|\r\n]|\Z)")
_PUNCTUATION = ".,:;!?*_"
_BREAKS = str.maketrans(dict.fromkeys("\"'`<>()[]{}|,;*", " "))
"""What no id, URL or path goes across."""

# Each tells one way of writing; found by searching the text for it, which is much faster than a
# pattern that ignores case.
_ERROR_PARTS = (
    "rror",
    "RROR",
    "xception",
    "XCEPTION",
    "atal",
    "FATAL",
    "anic",
    "PANIC",
    "raceback",
    "ritical",
    "CRITICAL",
    "ailed",
    "AILED",
    "ailure",
)
_ERROR = re.compile(
    r"(?<![^\W_])(?<!\b0 )(?<!\bno )(?<!\bNo )"
    r"(?:[A-Za-z]{0,40}(?:errors?|exception|failure)|fatal|panic(?:ked)?|traceback|critical|failed)"
    r"(?![^\W_])",
    re.IGNORECASE,
)
_AROUND = 120
"""Characters before and after the word that make up an error in a very long line."""
_LONG_LINE = 600


def facts_of(text: str) -> tuple[Fact, ...]:
    """The checkable facts of a text: error lines first, then in order of kind; each once.

    At most `FACT_LIMIT`. Nothing is raised for any text.
    """
    found = dict.fromkeys(_errors(text))
    kinds = [dict.fromkeys(kind) for kind in _read(_stretches(text))]
    room = FACT_LIMIT - len(found)
    # A text with too many facts keeps its ids, URLs and paths before its numbers, each kind evenly.
    for facts in kinds:
        taken = list(facts)
        if len(taken) > room:
            taken = [taken[at * len(taken) // room] for at in range(room)] if room else []
        found.update(dict.fromkeys(taken))
        room = FACT_LIMIT - len(found)
    return tuple(found)


def classify(original: str, sent: str, held: str | None) -> FactCounts:
    """What became of the original's facts. ``held``: what the handle fetches, ``None`` without one."""
    return judge(facts_of(original), sent, held if held != original else None, held == original)


def judge(
    facts: tuple[Fact, ...], sent: str, held: str | None, held_whole: bool = False
) -> FactCounts:
    """`classify` for facts that are already known; ``held_whole``: the original itself is held."""
    missing = _missing(facts, sent)
    if held_whole:
        lost: list[Fact] = []
    else:
        lost = missing if held is None else _missing(missing, held)
    gone = set(lost)
    return FactCounts(
        total=len(facts),
        retained=len(facts) - len(missing),
        recoverable=len(missing) - len(lost),
        lost=len(lost),
        lost_examples=_examples(lost),
        missing_examples=_examples(fact for fact in missing if fact not in gone),
    )


def all_retained(facts: tuple[Fact, ...]) -> FactCounts:
    """For an answer from which the original can be rebuilt."""
    return FactCounts(total=len(facts), retained=len(facts), recoverable=0, lost=0)


def _missing(facts: Iterable[Fact], text: str) -> list[Fact]:
    there: set[Fact] = set()
    for kind in _read([text]):
        there.update(kind)
    facts = tuple(facts)
    squeezed = _squeezed(text) if any(fact.kind is FactKind.ERROR for fact in facts) else ""
    return [
        fact
        for fact in facts
        if (
            _squeezed(fact.text) not in squeezed
            if fact.kind is FactKind.ERROR
            else fact not in there and not _spelled_out(fact, text)
        )
    ]


def _spelled_out(fact: Fact, text: str) -> bool:
    """The fact stands there though something else touches it, as ``name`` in ``[name](url)``."""
    if fact.kind is FactKind.NUMBER or len(text) > _WHOLE:
        return False
    start = text.find(fact.text)
    while start >= 0:
        end = start + len(fact.text)
        before, after = text[start - 1 : start], text[end : end + 1]
        if not (before.isalnum() or after.isalnum() or after in {"/", "-", "\u2026"}):
            return True
        start = text.find(fact.text, end)
    return False


def _examples(facts: Iterable[Fact]) -> tuple[str, ...]:
    shown: list[str] = []
    for fact in facts:
        if len(shown) == EXAMPLES:
            break
        text = str(fact)
        shown.append(
            text if len(text) <= _EXAMPLE_LENGTH else text[: _EXAMPLE_LENGTH - 1] + "\u2026"
        )
    return tuple(shown)


def _read(stretches: Iterable[str]) -> tuple[list[Fact], list[Fact], list[Fact], list[Fact]]:
    """Ids, URLs, paths and numbers in the order in which they stand."""
    ids: list[Fact] = []
    urls: list[Fact] = []
    paths: list[Fact] = []
    numbers: list[Fact] = []
    for text in stretches:
        words = _words(text)
        ids += [Fact(FactKind.ID, name) for name in _ID.findall(words) if _is_id(name)]
        if "://" in words:
            urls += [Fact(FactKind.URL, _trimmed(url)) for url in _URL.findall(words)]
        if "/" in words or "\\" in words:
            paths += [
                Fact(FactKind.PATH, _trimmed(path))
                for path in _PATH.findall(words)
                if _is_path(path)
            ]
        numbers += [
            Fact(FactKind.NUMBER, _trimmed(number), key[::-1])
            for backwards, key in reversed(dict.fromkeys(_KEYED_BACKWARDS.findall(text[::-1])))
            if _NUMBER.fullmatch(number := backwards[::-1])
        ]
        numbers += [
            Fact(FactKind.NUMBER, _trimmed(number), unit)
            for number, unit in dict.fromkeys(_MEASURED.findall(text))
        ]
        numbers += [
            Fact(FactKind.NUMBER, _trimmed(number)) for number in dict.fromkeys(_CELL.findall(text))
        ]
    return ids, urls, paths, numbers


def _words(text: str) -> str:
    """What may be an id, a URL or a path, each once, on lines of its own."""
    return "\n".join(
        dict.fromkeys(word for word in text.translate(_BREAKS).split() if len(word) > 4)
    )


def _trimmed(text: str) -> str:
    return text.rstrip(_PUNCTUATION)


def _is_id(name: str) -> bool:
    """A word of seven letters from a to f, and a plain number, are no ids."""
    if "-" in name or name[:2] == "0x":
        return True
    return not name.isalpha() and not name.isdigit()


def _is_path(path: str) -> bool:
    """Not ``and/or``, a date or a fraction: it is rooted, is deep, or ends like a file."""
    path = _trimmed(path)
    if path[:1] in "/\\~." or path[1:2] == ":":
        return len(path) > 2
    if not any(map(str.isalpha, path)):
        return False
    name = path.replace("\\", "/").split("/")
    return len(name) > 2 or ("." in name[-1] and not name[-1].endswith("."))


def _stretches(text: str) -> Iterator[str]:
    """The whole text, or evenly spread parts of it that begin and end between words."""
    if len(text) <= _WHOLE:
        yield text
        return
    size = _WHOLE // _STRETCHES
    for at in range(_STRETCHES):
        start = (len(text) - size) * at // (_STRETCHES - 1)
        part = text[start : start + size]
        if start:
            part = _after_break(part)
        if start + size < len(text):
            part = _before_break(part)
        yield part


def _after_break(part: str) -> str:
    for mark in "\n, ":
        at = part.find(mark, 0, len(part) // 2)
        if at >= 0:
            return part[at + 1 :]
    return ""


def _before_break(part: str) -> str:
    for mark in "\n, ":
        at = part.rfind(mark, len(part) // 2)
        if at >= 0:
            return part[:at]
    return ""


def _errors(text: str) -> list[Fact]:
    """Lines that report an error, in order; of very many the first and the last ones."""
    spots: set[int] = set()
    for part in _ERROR_PARTS:
        spots.update(_spots(text, part, ERROR_LIMIT))
    found: dict[Fact, None] = {}
    for spot in sorted(spots):
        if (line := _error_line(text, spot)) is not None:
            found[Fact(FactKind.ERROR, line)] = None
    facts = list(found)
    if len(facts) > ERROR_LIMIT:
        facts = facts[: ERROR_LIMIT // 2] + facts[-ERROR_LIMIT // 2 :]
    return facts


def _spots(text: str, part: str, limit: int) -> Iterator[int]:
    """Where a part of a word stands, one spot per line, at most ``limit`` from either end."""
    at = text.find(part)
    last = -1
    for _ in range(limit):
        if at < 0:
            return
        yield at
        last = at
        end = text.find("\n", at, at + _LONG_LINE)
        at = text.find(part, at + _AROUND if end < 0 else end)
    at = text.rfind(part)
    for _ in range(limit):
        if at <= last:
            return
        yield at
        start = text.rfind("\n", max(0, at - _LONG_LINE), at)
        at = text.rfind(part, 0, max(0, at - _AROUND) if start < 0 else start)


def _error_line(text: str, spot: int) -> str | None:
    """The line around a spot with single spaces; of a very long line what is near the spot."""
    start = text.rfind("\n", max(0, spot - _LONG_LINE), spot) + 1
    end = text.find("\n", spot, spot + _LONG_LINE)
    if end < 0:
        end = min(len(text), spot + _LONG_LINE)
    if (start == 0 and spot > _LONG_LINE) or end - start > _LONG_LINE:
        # One member or sentence of a long line: what is around it may be cut away from it.
        near = max(0, spot - _AROUND)
        start = max(start, near, *(text.rfind(mark, near, spot) + 1 for mark in "{[,"))
        stop = [at for mark in "}],\n" if (at := text.find(mark, spot, end)) >= 0]
        end = min(end, spot + _AROUND, *stop) if stop else min(end, spot + _AROUND)
    line = text[start:end]
    if _ERROR.search(line) is None:
        return None
    return " ".join(line.split())[:_ERROR_LENGTH]


def _squeezed(text: str) -> str:
    """Without white space, so that neither indentation nor line ends matter."""
    return "".join(text.split())
