"""What is unusual in the columns of log lines that are alike: rare words, far numbers, words of their own.

The words of the lines of one template stand in columns. A column tells what is usual in it, and most of
them tell it by a sample. Nothing here looks at a line by itself, but for those that were found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

HEXADECIMAL = b"0123456789abcdefABCDEF \t\r"
DELIMITERS = bytes(32 if byte in b" \t=:,;()[]{}\"'/|<>-\r\n" else byte for byte in range(256))
KEEP_LINES = bytes(10 if byte == 10 else DELIMITERS[byte] for byte in range(256))
LEAST_MEMBERS = 8
"""In smaller templates nothing is usual."""
SAMPLE = 512
_UNITS = b"ghijklmnopqrstuvwxyzGHIJKLMNOPQRSTUVWXYZ%"
"""Letters that may follow a number without making it something else than a number."""
_MEASURED = 128
"""Numbers of a sample that tell what is usual."""
MOST_COLUMNS = 160
_SPREADS = 8.0
"""A number this many spreads off the median is unusual. The spread is that of a normal distribution."""
_USUAL = 12
"""Values in a sample of a column that are few in any case."""
_PER_COLUMN = 3
"""Unusual lines that one column may name."""


@dataclass(frozen=True, slots=True)
class Unusual:
    """A line with a value that its template does not usually have."""

    line: int
    surprise: float
    """How seldom: below 1 for words, the closer to it the fewer others there are in more lines; 1 and above
    for numbers that are far from the others."""


def telling_words(words: AbstractSet[bytes]) -> set[bytes]:
    """The ones that are words, and not numbers, ids or signs."""
    return {
        word
        for word in words
        if (word.isalpha() or word[0] > 127) and word.translate(None, HEXADECIMAL)
    }


def unusual(lines: Sequence[bytes], members: Sequence[int]) -> list[Unusual]:
    """Lines of one template whose values stand out, the most surprising first."""
    if len(members) < LEAST_MEMBERS:
        return []
    rows: Sequence[int] = members
    found: dict[int, float] = {}
    joined = b"\n".join([lines[index] for index in members])
    cells = joined.translate(DELIMITERS).split()
    width, odd = divmod(len(cells), len(members))
    if odd or len(lines[members[0]].translate(DELIMITERS).split()) != width:
        rows, cells, width, outside = _aligned(joined, members)
        found = dict.fromkeys(outside, 1 - 1 / len(members))
    if len(rows) >= LEAST_MEMBERS and width <= MOST_COLUMNS:
        for number in range(width):
            _look(cells[number::width], rows, found)
    return sort_unusual(found, (members[0], members[-1], rows[0], rows[-1]))


def sort_unusual(found: dict[int, float], ends: Sequence[int]) -> list[Unusual]:
    """Without the ends: they are shown anyway; and where a clock's digits change, they look unusual."""
    return sorted(
        (Unusual(line, surprise) for line, surprise in found.items() if line not in ends),
        key=lambda one: (-one.surprise, one.line),
    )


def _aligned(joined: bytes, rows: Sequence[int]) -> tuple[list[int], list[bytes], int, list[int]]:
    """Rows of the usual number of words with their words, and the few that have another number."""
    split = [line.split() for line in joined.translate(KEEP_LINES).split(b"\n")]
    widths = Counter(map(len, split))
    width = widths.most_common(1)[0][0]
    kept: list[int] = []
    cells: list[bytes] = []
    outside: list[int] = []
    for index, words in zip(rows, split, strict=True):
        if len(words) == width:
            kept.append(index)
            cells.extend(words)
        elif widths[len(words)] <= max(1, len(rows) // 1000):
            outside.append(index)
    return kept, cells, width, outside[:_PER_COLUMN]


def _look(column: Sequence[bytes], rows: Sequence[int], found: dict[int, float]) -> None:
    """Note the rows whose value is rare in the column, or far from its other numbers."""
    count = len(column)
    if column[0] == column[-1] and column.count(column[0]) == count:
        return
    sample = column[:: -(-count // SAMPLE)]
    is_few = len(set(sample)) <= few(sample)
    if not (is_few and look_at_words(column, Counter(column), rows, found)):
        look_at_numbers(column, sample, rows, found)


def few(sample: Sequence[bytes]) -> int:
    """So many different values of a column's sample are few."""
    return max(_USUAL, len(sample) // 16)


def is_counted(sample: Sequence[bytes]) -> bool:
    """Whether a column, by a sample of it, has few values or is of numbers: all its words are looked at."""
    return len(set(sample)) <= few(sample) or usual_numbers(sample) is not None


def look_at_words(
    column: Sequence[bytes], counts: Counter[bytes], rows: Sequence[int], found: dict[int, float]
) -> bool:
    """Note the rows with one of the few rare values; whether there is nothing more to look for."""
    count = len(column)
    rare = [value for value, times in counts.items() if times <= max(1, count // 1000)]
    if 0 < len(rare) <= max(_PER_COLUMN, count // 500):
        for value in rare[:_PER_COLUMN]:
            _note(found, rows[column.index(value)], 1 - len(counts) * counts[value] / count)
        return True
    return len(rare) == 0


def look_at_numbers(
    column: Sequence[bytes], sample: Sequence[bytes], rows: Sequence[int], found: dict[int, float]
) -> bool:
    """Note the rows whose number is far from the others; whether the column has nothing but numbers."""
    usual = usual_numbers(sample)
    if usual is None:
        return False
    count = len(column)
    median, spread = usual
    try:
        lowest, highest = median - _SPREADS * spread, median + _SPREADS * spread
        # Letters stand behind their number in the sample; elsewhere they may not, and are dropped.
        bare = column
        if not b"".join(column).isdigit():
            bare = b" ".join(column).translate(None, _UNITS).split()
        if lowest <= 0 and _digits(bare) < len(str(int(highest))):
            return len(bare) == count
        numbers = list(map(float, bare)) if len(bare) == count else []
    except (ValueError, OverflowError):
        return False
    if not numbers:
        return False
    if min(numbers) >= lowest and max(numbers) <= highest:
        return True
    far = [at for at, number in enumerate(numbers) if not lowest <= number <= highest]
    if len(far) > max(_PER_COLUMN, count // 50):
        return True  # so many are how this column is
    far.sort(key=lambda at: (-abs(numbers[at] - median), at))
    for at in far[:_PER_COLUMN]:
        _note(found, rows[at], 1 + min(1.0, abs(numbers[at] - median) / spread / 1000))
    return True


def usual_numbers(sample: Sequence[bytes]) -> tuple[float, float] | None:
    """Median and spread of numbers; ``None`` where not all are numbers, or nothing is usual in them."""
    try:
        known = sorted(_numbers(sample[:: -(-len(sample) // _MEASURED)]))
        median = known[len(known) // 2]
        spread = sorted([abs(value - median) for value in known])[len(known) // 2] * 1.4826
    except (ValueError, OverflowError):
        return None
    return (median, spread) if 0 < spread < 1e300 else None


def _digits(values: Sequence[bytes]) -> float:
    """Of the longest number, when none has anything but digits, so that none is larger than 10 to that;
    infinite otherwise."""
    return max(map(len, values)) if b"".join(values).isdigit() else float("inf")


def _numbers(values: Sequence[bytes]) -> list[float]:
    """Raises `ValueError` when one is no number with or without a unit behind it."""
    try:
        return list(map(float, values))
    except ValueError:
        return [float(value.rstrip(_UNITS)) for value in values]


def _note(found: dict[int, float], line: int, surprise: float) -> None:
    found[line] = max(found.get(line, 0.0), surprise)
