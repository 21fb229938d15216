"""What must not get lost: lines that report a failure, and values that are unlike their neighbours'.

Failures are words of a dozen languages with word boundaries, and not counts of none: ``0 errors``,
``failed=0`` and ``no exceptions`` report success. Outliers are cells of rows that have equal columns:
a number far from the column's median, or a value that stands once in a column of few values.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from math import isnan
from statistics import median

FATAL = 3.0
ERROR = 2.0
FAILURE = 1.5
OUTLIER = 1.0
"""Weights; how much a segment must be kept."""

_WORDS: dict[str, float] = {
    "fatal": FATAL,
    "panic": FATAL,
    "critical": FATAL,
    "traceback": FATAL,
    "segmentation fault": FATAL,
    "core dumped": FATAL,
    "out of memory": FATAL,
    "error": ERROR,
    "exception": ERROR,
    "fail": FAILURE,
    "caused by": ERROR,
    "permission denied": FAILURE,
    "fehler": ERROR,
    "fehlgeschlagen": FAILURE,
    "ausnahme": FAILURE,
    "fallo": FAILURE,
    "erreur": ERROR,
    "erro": ERROR,
    "falha": FAILURE,
}
_WIDE_WORDS: dict[str, float] = {
    "excepci\u00f3n": ERROR,
    "fall\u00f3": FAILURE,
    "\u00e9chec": FAILURE,
    "\u043e\u0448\u0438\u0431\u043a": ERROR,
    "\u0441\u0431\u043e\u0439": FAILURE,
    "\u9519\u8bef": ERROR,
    "\u932f\u8aa4": ERROR,
    "\u5931\u8d25": FAILURE,
    "\u5931\u6557": FAILURE,
    "\u5f02\u5e38": ERROR,
    "\u7570\u5e38": ERROR,
    "\u30a8\u30e9\u30fc": ERROR,
    "\u4f8b\u5916": ERROR,
    "\uc624\ub958": ERROR,
    "\uc2e4\ud328": FAILURE,
    "\u0924\u094d\u0930\u0941\u091f\u093f": ERROR,
    "\u062e\u0637\u0623": ERROR,
    "\u0641\u0634\u0644": FAILURE,
}
_AFTER = re.compile(r"(?:s|ed|ure|ures|ing|en|e)?(?![a-z])")
_NONE_BEFORE = re.compile(
    r"(?:(?<![\d.])0|\bno|\bzero|\bwithout(?: any)?|\bnot an?|\bkeine?|\bsin|\bohne)[ _-]*$"
)
_NONE_AFTER = re.compile(
    r"[a-z_]*[\"']?\s*[:=]\s*[\"']?(?:0\b(?!\.\d)|none\b|null\b|false\b|\[\]|\{\})"
)
_BEGINS = re.compile(r"[^a-z]{0,40}$")
_STRONG = re.compile(
    r"\b(?:ERROR|FATAL|CRITICAL|PANIC|FAILED|FAILURE)\b|\b[A-Z]\w*(?:Error|Exception)\b|"
    r"Traceback \(most|panicked at"
)
_SEPARATOR = "\x1e"


def failures(segments: Sequence[str], *, strict: bool = False) -> dict[int, float]:
    """The segments that report a failure, with a weight. In order.

    ``strict``: only what a program wrote (``ERROR``, ``KeyError:``, ``error: …`` at the beginning), for
    prose, where people fail too.
    """
    raw = _SEPARATOR.join(segments)
    starts = [0, *accumulate(len(segment) + 1 for segment in segments)]
    return failures_in(raw, raw.lower(), starts, strict=strict)


def failures_in(
    raw: str, text: str, starts: Sequence[int], *, strict: bool = False
) -> dict[int, float]:
    """`failures` of the segments that begin at ``starts`` (ascending) and reach to the next one.

    ``text``: ``raw`` in small letters.
    """
    if len(text) != len(raw):  # a few letters change their length: compare only ASCII
        text = raw.translate(_ASCII_LOWER)
    count = len(starts)
    found: dict[int, float] = {}
    for word, weight in _searched(raw, strict).items():
        at = text.find(word)
        while at >= 0:
            index = max(0, bisect_right(starts, at) - 1)
            stop = starts[index + 1] if index + 1 < count else len(raw)
            if found.get(index, 0.0) >= weight:
                at = text.find(word, stop)  # nothing new in this segment
                continue
            if _reports(text, raw, at, len(word), (starts[index], stop), strict):
                found[index] = weight
            at = text.find(word, at + len(word))
    return dict(sorted(found.items()))


def _searched(text: str, strict: bool) -> dict[str, float]:
    """The words to look for: the ones of other scripts only where a sample has such letters."""
    words = _STRICT_WORDS if strict else _WORDS
    if text.isascii():
        return words
    middle = len(text) // 2
    sample = text[:2000] + text[middle : middle + 1000] + text[-1000:]
    return words | _WIDE_WORDS if _WIDE_LETTERS.search(sample) else words


_STRICT_WORDS = {
    word: weight
    for word, weight in _WORDS.items()
    if word in ("fatal", "panic", "critical", "traceback", "error", "exception", "fail", "fehler")
}
_WIDE_LETTERS = re.compile("[\u00c0-\u00ff\u0400-\u1fff\u3040-\udfff]")
_ASCII_LOWER = {code: code + 32 for code in range(65, 91)}


def _reports(
    text: str, raw: str, at: int, length: int, segment: tuple[int, int], strict: bool
) -> bool:
    """Whether the word at ``at`` is a report and not a part of another word or a count of none."""
    end = at + length
    start, stop = segment
    ascii_word = text[at].isascii() and text[end - 1].isascii()
    if ascii_word:
        if not _AFTER.match(text, end, stop):
            return False
        if at > start and text[at - 1].isalpha() and not raw[at].isupper():
            return False
    if _NONE_BEFORE.search(text, max(start, at - 14), at) or _NONE_AFTER.match(text, end, stop):
        return False
    if not strict:
        return True
    if _STRONG.search(raw, max(start, at - 40), min(end + 12, stop)):
        return True
    following = text[end : end + 8].lstrip("s")
    return following[:1] in (":", "]") and _BEGINS.search(text, max(start, at - 40), at) is not None


def must_keep(segments: Sequence[str], *, strict: bool = False) -> dict[int, float]:
    """Failures and outliers among lines, rows or other segments, with weights. In order.

    ``strict``: see `failures`.
    """
    found = failures(segments, strict=strict)
    if not strict:
        for index in odd_rows(segments):
            found[index] = max(found.get(index, 0.0), OUTLIER)
    return dict(sorted(found.items()))


MIN_ROWS = 12
MAX_COLUMNS = 40
MAX_CELLS = 400_000
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


def odd_rows(rows: Sequence[str]) -> list[int]:
    """Rows with a cell that is unlike its column; none when the rows have no common columns."""
    table = _cells(rows)
    if table is None:
        return []
    numbers, columns = table
    odd: set[int] = set()
    for column in columns:
        odd.update(numbers[place] for place in _odd_cells(column))
    return sorted(odd) if len(odd) <= max(3, len(numbers) // 20) else []


def _cells(rows: Sequence[str]) -> tuple[list[int], list[tuple[str, ...]]] | None:
    """Numbers of the rows that have the usual number of cells, and the cells by column."""
    if len(rows) < MIN_ROWS:
        return None
    sample = rows[:: max(1, len(rows) // 50)]
    for delimiter in ("\t", ",", ";", "|", None):
        widths = Counter(len(row.split(delimiter)) for row in sample)
        width, times = widths.most_common(1)[0]
        if 1 < width <= MAX_COLUMNS and times >= 0.85 * len(sample):
            break
    else:
        return None
    if width * len(rows) > MAX_CELLS:
        return None
    split = [row.split(delimiter) for row in rows]
    numbers = [number for number, cells in enumerate(split) if len(cells) == width]
    return numbers, list(zip(*(split[number] for number in numbers), strict=True))


def _odd_cells(column: tuple[str, ...]) -> list[int]:
    many = len(column)
    if 3 * len(set(column[:300])) < min(many, 300):
        counts = Counter(column)
        if len(counts) == 1:
            return []
        if len(counts) <= max(3, many // 25):
            rare = {value for value, times in counts.items() if times <= max(1, many // 500)}
            if not 0 < len(rare) <= 3:
                return []
            return [place for place, value in enumerate(column) if value in rare]
    numbers = _numbers(column)
    if numbers is None:
        return []
    places, values = numbers
    sample = values[:: max(1, len(values) // 1000)]
    middle = median(sample)
    spread = median([abs(value - middle) for value in sample])
    if not 0 < spread < float("inf"):
        return []
    low, high = middle - 12 * spread, middle + 12 * spread
    return [place for place, value in zip(places, values, strict=True) if not low <= value <= high]


def _numbers(column: tuple[str, ...]) -> tuple[Sequence[int], list[float]] | None:
    """Places and values of a column's numbers; ``None`` when less than four in five cells are one."""
    try:
        plain = list(map(float, column[1:]))  # the first cell may be the column's name
    except ValueError:
        pass
    else:
        return (range(1, len(column)), plain) if not any(map(isnan, plain)) else None
    places: list[int] = []
    values: list[float] = []
    for place, cell in enumerate(column):
        bare = cell.strip(" \"'%$\u20ac")
        if len(bare) < 25 and _NUMBER.fullmatch(bare):
            places.append(place)
            values.append(float(bare))
        elif place > 50 and 5 * len(values) < 3 * place:
            return None
    return (places, values) if 5 * len(values) >= 4 * len(column) else None
