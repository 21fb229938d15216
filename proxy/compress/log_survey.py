"""What is unusual in log lines that hardly repeat: column by column of each template.

Most words of such lines are known: other lines have them, too. Where nothing but known words stand,
nothing is to be found, and that is seen while the lines are still at hand; only the other columns are
looked at as a whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import chain, repeat

from proxy.compress.log_columns import (
    LEAST_MEMBERS,
    MOST_COLUMNS,
    SAMPLE,
    Unusual,
    few,
    look_at_numbers,
    look_at_words,
    sort_unusual,
    telling_words,
    usual_numbers,
)
from proxy.compress.word_search import containing

_FREE = 4
"""In a column with one unknown word in so many or fewer, words of their own are not strange."""
_STRANGE_SHARE = 16
"""In a column in which more than one of so many lines has a word of its own, that is not strange."""
_BLOCK = 128
"""Lines that are turned into columns at a time."""
_MANY = 32
"""A block of a column with more different words than these is hardly of a column with few."""


@dataclass(frozen=True, slots=True)
class _Block:
    """Some lines of a template, turned."""

    start: int
    end: int
    """Which lines of the template."""
    columns: list[tuple[bytes, ...]]
    """Empty where nobody is expected to ask for the words."""
    constant: list[bool]
    """Which columns have one value."""
    harmless: list[bool]
    """Which columns have nothing but harmless words."""


@dataclass(slots=True)
class Template:
    """Lines with equally many words, of which the common ones are the same."""

    width: int
    source: Sequence[bytes]
    """All lines of the log, their words separated by white space."""
    rows: list[int] = field(default_factory=list[int])
    """Numbers of the template's lines, ascending."""
    blocks: list[_Block] = field(default_factory=list[_Block])
    lines: list[list[bytes]] = field(default_factory=list[list[bytes]])
    """The words of the last lines, which are not in blocks."""

    def add(
        self, rows: Sequence[int], lines: Sequence[list[bytes]], harmless: frozenset[bytes]
    ) -> None:
        """Further lines."""
        self.rows += rows
        self.lines += lines
        if len(self.lines) >= _BLOCK and self.width <= MOST_COLUMNS:
            self.turn(harmless)

    def turn(self, harmless: frozenset[bytes]) -> None:
        """Turn all lines that are left into columns."""
        if not self.lines:
            return
        columns: list[tuple[bytes, ...]] = []
        constant: list[bool] = []
        safe: list[bool] = []
        for column in zip(*self.lines, strict=True):
            first = column[0]
            same = first == column[-1] and column.count(first) == len(column)
            is_safe = first in harmless
            if same:
                column = (first,) * len(column)
            elif is_safe:
                values = set(column)
                is_safe = values <= harmless
                # Freeing words at once keeps all that follows in the cache.
                if is_safe and len(values) > _MANY and first.isalpha():
                    column = ()
            columns.append(column)
            constant.append(same)
            safe.append(is_safe)
        end = len(self.rows)
        self.blocks.append(_Block(end - len(self.lines), end, columns, constant, safe))
        self.lines = []

    def sample(self) -> list[tuple[bytes, ...]]:
        """The columns of some lines, evenly spread."""
        some = self.rows[:: -(-len(self.rows) // SAMPLE)]
        return list(zip(*[self.source[row].split() for row in some], strict=True))

    def constant(self, number: int) -> bool:
        """Whether a column has one value."""
        first = self.blocks[0].columns[number][:1]
        return all(
            block.constant[number] and block.columns[number][:1] == first for block in self.blocks
        )

    def column(self, number: int) -> Sequence[bytes]:
        """All values of a column."""
        cells = list(chain.from_iterable([block.columns[number] for block in self.blocks]))
        if len(cells) < len(self.rows):
            return [self.source[row].split()[number] for row in self.rows]
        return cells

    def telling(self, number: int) -> tuple[list[bytes], list[int]]:
        """The values of a column, and their lines, without blocks in which all are harmless."""
        told = [block for block in self.blocks if not block.harmless[number]]
        values = chain.from_iterable([block.columns[number] for block in told])
        rows = chain.from_iterable([self.rows[block.start : block.end] for block in told])
        return list(values), list(rows)


@dataclass(slots=True)
class Survey:
    """What the columns of templates tell. Filled template by template."""

    known: frozenset[bytes]
    """Words that several lines of a sample have."""
    wanted: Sequence[bytes]
    """In lower case; lines with a word that contains one of these are to be found."""
    unusual: list[Unusual] = field(default_factory=list[Unusual])
    harmless: frozenset[bytes] = frozenset()
    """Known words that contain no wanted one."""
    _own: dict[bytes, int] = field(default_factory=dict[bytes, int])
    """A word that is not known, and its line; -1 when it stands in several."""
    _found: list[int] = field(default_factory=list[int])
    """Lines with a wanted word in a column in which words are not shared."""
    _shared: list[tuple[AbstractSet[bytes], Sequence[bytes], Sequence[int]]] = field(
        default_factory=list[tuple[AbstractSet[bytes], Sequence[bytes], Sequence[int]]]
    )
    """Columns with their values and lines; harmless ones may be missing."""

    def __post_init__(self) -> None:
        words = list(self.known)
        self.harmless = self.known.difference(
            [words[number] for number in containing(words, self.wanted)]
        )

    def add(self, template: Template) -> None:
        """All lines of one template."""
        rows = template.rows
        if len(rows) < LEAST_MEMBERS or template.width > MOST_COLUMNS:
            for line, row in zip(template.lines, rows, strict=True):
                values = set(line)
                self._shared.append((values, line, (row,) * len(line)))
                self._note_own(telling_words(values - self.known), line, repeat(row))
            return
        template.turn(self.harmless)
        far: dict[int, float] = {}
        for number, sample in enumerate(template.sample()):
            self._column(template, number, sample, far)
        self.unusual += sort_unusual(far, (rows[0], rows[-1]))

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

    def _column(
        self, template: Template, number: int, sample: Sequence[bytes], far: dict[int, float]
    ) -> None:
        rows = template.rows
        if template.constant(number):
            value = sample[0]
            if value not in self.harmless:
                self._shared.append(({value}, (value,) * len(rows), rows))
            return
        if len(set(sample)) <= few(sample):
            column = template.column(number)
            counts = Counter(column)
            if not look_at_words(column, counts, rows, far):
                look_at_numbers(column, sample, rows, far)
            self._share(counts.keys(), column, rows, len(rows))
            return
        if usual_numbers(sample) is not None and look_at_numbers(
            template.column(number), sample, rows, far
        ):
            return
        column, told = template.telling(number)
        if not column:
            return
        if sum(map(self.known.__contains__, sample)) * _FREE < len(sample) * (_FREE - 1):
            self._found += [told[at] for at in containing(column, self.wanted)]
        else:
            self._share(set(column), column, told, len(rows))

    def _share(
        self, values: AbstractSet[bytes], column: Sequence[bytes], rows: Sequence[int], count: int
    ) -> None:
        """``count``: lines of the column, harmless ones included."""
        self._shared.append((values, column, rows))
        own = telling_words(values - self.known)
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
