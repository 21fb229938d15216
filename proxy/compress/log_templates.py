"""Templates of log lines: which lines say the same with other values, and which values are unusual.

No line is looked at character by character. Deleting digits and hexadecimal letters makes lines with
other numbers and ids equal, at the speed of a copy; where names vary too, words that are rare among the
remaining forms are left out as well. Inside a template the words stand in columns, and a column tells
what is usual in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

_DELETED = b"0123456789abcdefABCDEF \t\r"
_DELIMITERS = bytes(32 if byte in b" \t=:,;()[]{}\"'/|<>-\r\n" else byte for byte in range(256))
_UNITS = b"ghijklmnopqrstuvwxyzGHIJKLMNOPQRSTUVWXYZ%"
"""Letters that may follow a number without making it something else than a number."""
_FEW_FORMS = 64
"""So many forms are templates as they are."""
_LEAST_MEMBERS = 8
"""In smaller templates nothing is usual."""
_MOST_COLUMNS = 160
_SPREADS = 8.0
"""A number this many spreads off the median is unusual. The spread is that of a normal distribution."""
_PER_COLUMN = 3
"""Unusual lines that one column may name."""
_SAMPLE = 512


@dataclass(frozen=True, slots=True)
class Unusual:
    """A line with a value that its template does not usually have."""

    line: int
    surprise: float
    """How seldom: the share of the template's lines that are unlike it, 0 to 1, and above for numbers."""


@dataclass(frozen=True, slots=True)
class Groups:
    """Indexes of lines that are alike. Both partitions are in order of appearance."""

    forms: list[list[int]]
    """Lines that differ in digits and hexadecimal letters only."""
    templates: list[list[int]]
    """Forms that differ in rare words are one template."""


def group(data: bytes) -> Groups:
    """The lines of ``data`` (UTF-8, split at line feeds) by form and by template."""
    forms: dict[bytes, list[int]] = {}
    for index, form in enumerate(data.translate(None, _DELETED).split(b"\n")):
        members = forms.get(form)
        if members is None:
            forms[form] = [index]
        else:
            members.append(index)
    found = list(forms.values())
    return Groups(found, found if len(found) <= _FEW_FORMS else _merged(data, found))


def _merged(data: bytes, forms: list[list[int]]) -> list[list[int]]:
    """Forms that differ in rare words only become one."""
    lines = data.split(b"\n")
    words = [lines[members[0]][:4096].translate(_DELIMITERS).split() for members in forms]
    usual = Counter[bytes]()
    for line_words in words:
        usual.update(line_words)
    least = max(4, len(forms) // 100)
    fixed = {word for word, count in usual.items() if count >= least and word.isalpha()}
    templates: dict[tuple[object, ...], list[int]] = {}
    for members, line_words in zip(forms, words, strict=True):
        key = (len(line_words), *filter(fixed.__contains__, line_words))
        found = templates.get(key)
        if found is None:
            templates[key] = list(members)
        else:
            found.extend(members)
    for members in templates.values():
        members.sort()
    return list(templates.values())


def unusual(lines: Sequence[bytes], members: Sequence[int]) -> list[Unusual]:
    """Lines of one template whose values stand out, the most surprising first."""
    if len(members) < _LEAST_MEMBERS:
        return []
    rows = list(members)
    joined = b"\n".join([lines[index] for index in rows])
    cells = joined.translate(_DELIMITERS).split()
    width, odd = divmod(len(cells), len(rows))
    found: dict[int, float] = {}
    if odd or len(lines[rows[0]].translate(_DELIMITERS).split()) != width:
        rows, cells, width, outside = _aligned(joined, rows)
        for index in outside:
            found[index] = 1 - 1 / len(members)
    if len(rows) >= _LEAST_MEMBERS and width <= _MOST_COLUMNS:
        for column in range(width):
            _look(cells[column::width], rows, found)
    ends = (
        members[0],
        members[-1],
        rows[0],
        rows[-1],
    )  # shown anyway; and where a clock's digits change, they look unusual
    return sorted(
        (Unusual(line, surprise) for line, surprise in found.items() if line not in ends),
        key=lambda one: (-one.surprise, one.line),
    )


def _aligned(joined: bytes, rows: Sequence[int]) -> tuple[list[int], list[bytes], int, list[int]]:
    """Rows of the usual number of words with their words, and the few that have another number."""
    split = [line.split() for line in joined.translate(_KEEP_LINES).split(b"\n")]
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


_KEEP_LINES = bytes(10 if byte == 10 else _DELIMITERS[byte] for byte in range(256))


def _look(column: list[bytes], rows: Sequence[int], found: dict[int, float]) -> None:
    """Note the rows whose value is rare in the column, or far from its other numbers."""
    count = len(column)
    if column[0] == column[-1] and column.count(column[0]) == count:
        return
    values = Counter(column)
    if len(values) * 2 < count or len(values) <= 3:
        rare = [value for value, times in values.items() if times <= max(1, count // 1000)]
        if 0 < len(rare) <= max(_PER_COLUMN, count // 500):
            for value in rare[:_PER_COLUMN]:
                _note(found, rows[column.index(value)], 1 - values[value] / count)
            return
        if len(rare) == 0:
            return
    _look_at_numbers(column, rows, found)


def _look_at_numbers(column: list[bytes], rows: Sequence[int], found: dict[int, float]) -> None:
    count = len(column)
    step = max(1, count // _SAMPLE)
    try:
        sample = sorted([float(value.rstrip(_UNITS)) for value in column[::step]])
        median = sample[len(sample) // 2]
        spread = sorted([abs(value - median) for value in sample])[len(sample) // 2] * 1.4826
        if not 0 < spread < 1e300:
            return
        # Letters stand behind their number in the sample; elsewhere they may not, and are dropped.
        bare = b" ".join(column).translate(None, _UNITS).split()
        numbers = list(map(float, bare)) if len(bare) == count else []
    except (ValueError, OverflowError):
        return
    lowest, highest = median - _SPREADS * spread, median + _SPREADS * spread
    if not numbers or (min(numbers) >= lowest and max(numbers) <= highest):
        return
    far = [at for at, number in enumerate(numbers) if not lowest <= number <= highest]
    if len(far) > max(_PER_COLUMN, count // 50):
        return  # so many are how this column is
    far.sort(key=lambda at: (-abs(numbers[at] - median), at))
    for at in far[:_PER_COLUMN]:
        _note(found, rows[at], 1 + min(1.0, abs(numbers[at] - median) / spread / 1000))


def _note(found: dict[int, float], line: int, surprise: float) -> None:
    found[line] = max(found.get(line, 0.0), surprise)
