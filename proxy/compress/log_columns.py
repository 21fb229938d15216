"""What is unusual in the columns of log lines that are alike: rare words, far numbers, words of their own.

The words of the lines of one template stand in columns. A column tells what is usual in it, and most of
them tell it by a sample. Nothing here looks at a line by itself, but for those that were found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import repeat

from proxy.compress.word_search import containing

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
_MOST_COLUMNS = 160
_SPREADS = 8.0
"""A number this many spreads off the median is unusual. The spread is that of a normal distribution."""
_USUAL = 12
"""Values in a sample of a column that are few in any case."""
_PER_COLUMN = 3
"""Unusual lines that one column may name."""
_FREE = 4
"""In a column with one unknown word in so many or fewer, words of their own are not strange."""
_STRANGE_SHARE = 16
"""In a column in which more than one of so many lines has a word of its own, that is not strange."""


@dataclass(frozen=True, slots=True)
class Unusual:
    """A line with a value that its template does not usually have."""

    line: int
    surprise: float
    """How seldom: below 1 for words, the closer to it the fewer others there are in more lines; 1 and above
    for numbers that are far from the others."""


@dataclass(slots=True)
class Survey:
    """What the columns of lines that hardly repeat tell. Filled template by template."""

    known: AbstractSet[bytes]
    """Words that several lines of a sample have."""
    wanted: Sequence[bytes]
    """In lower case; lines with a word that contains one of these are to be found."""
    unusual: list[Unusual] = field(default_factory=list[Unusual])
    _own: dict[bytes, int] = field(default_factory=dict[bytes, int])
    """A word that is not known, and its line; -1 when it stands in several."""
    _found: list[int] = field(default_factory=list[int])
    """Lines with a wanted word in a column in which words are not shared."""
    _shared: list[tuple[AbstractSet[bytes], Sequence[bytes], Sequence[int]]] = field(
        default_factory=list[tuple[AbstractSet[bytes], Sequence[bytes], Sequence[int]]]
    )
    """Columns with their values and lines."""

    def add(self, words: Sequence[Sequence[bytes]], rows: Sequence[int]) -> None:
        """The lines of one template: equally many words each."""
        if len(rows) < LEAST_MEMBERS or len(words[0]) > _MOST_COLUMNS:
            for line, row in zip(words, rows, strict=True):
                values = set(line)
                self._shared.append((values, line, (row,) * len(line)))
                self._note_own(_strange(values - self.known), line, repeat(row))
            return
        far: dict[int, float] = {}
        for column in zip(*words, strict=True):
            self._column(column, rows, far)
        self.unusual += _sorted(far, (rows[0], rows[-1]))

    def strange(self, most: int) -> list[int]:
        """Lines with words that no other line has, where that is not usual; the strangest first."""
        counts = Counter(row for row in self._own.values() if row >= 0)
        return sorted(counts, key=lambda row: (-counts[row], row))[:most]

    def suspects(self) -> list[int]:
        """Lines with a wanted word, in order."""
        vocabulary = list(set[bytes]().union(*[values for values, _, _ in self._shared]))
        wanted = {vocabulary[number] for number in containing(vocabulary, self.wanted)}
        found = set(self._found)
        for values, column, rows in self._shared:
            if not wanted.isdisjoint(values):
                found.update(
                    [row for word, row in zip(column, rows, strict=True) if word in wanted]
                )
        return sorted(found)

    def _column(self, column: Sequence[bytes], rows: Sequence[int], far: dict[int, float]) -> None:
        count = len(column)
        if column[0] == column[-1] and column.count(column[0]) == count:
            self._shared.append(({column[0]}, column, rows))
            return
        sample = column[:: -(-count // SAMPLE)]
        few = len(set(sample)) <= max(_USUAL, len(sample) // 16)
        if few:
            counts = Counter(column)
            values: AbstractSet[bytes] = counts.keys()
            if not _look_at_words(column, counts, rows, far):
                _look_at_numbers(column, sample, rows, far)
        elif _look_at_numbers(column, sample, rows, far):
            return
        elif sum(map(self.known.__contains__, sample)) * _FREE < len(sample) * (_FREE - 1):
            self._found += [rows[at] for at in containing(column, self.wanted)]
            return
        else:
            values = set(column)
        self._shared.append((values, column, rows))
        own = _strange(values - self.known)
        if len(own) * _STRANGE_SHARE <= count:
            self._note_own(own, column, rows)

    def _note_own(
        self, own: AbstractSet[bytes], words: Sequence[bytes], rows: Iterable[int]
    ) -> None:
        if not own:
            return
        for word, row in zip(words, rows, strict=False):
            if word in own:
                self._own[word] = -1 if word in self._own else row


def _strange(words: AbstractSet[bytes]) -> set[bytes]:
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
    if len(rows) >= LEAST_MEMBERS and width <= _MOST_COLUMNS:
        for number in range(width):
            _look(cells[number::width], rows, found)
    return _sorted(found, (members[0], members[-1], rows[0], rows[-1]))


def _sorted(found: dict[int, float], ends: Sequence[int]) -> list[Unusual]:
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
    few = len(set(sample)) <= max(_USUAL, len(sample) // 16)
    if not (few and _look_at_words(column, Counter(column), rows, found)):
        _look_at_numbers(column, sample, rows, found)


def _look_at_words(
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


def _look_at_numbers(
    column: Sequence[bytes], sample: Sequence[bytes], rows: Sequence[int], found: dict[int, float]
) -> bool:
    """Note the rows whose number is far from the others; whether the column has nothing but numbers."""
    count = len(column)
    try:
        known = sorted(_numbers(sample[:: -(-len(sample) // _MEASURED)]))
        median = known[len(known) // 2]
        spread = sorted([abs(value - median) for value in known])[len(known) // 2] * 1.4826
        if not 0 < spread < 1e300:
            return False
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
