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
from itertools import repeat

from proxy.compress.log_columns import (
    HEXADECIMAL,
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


@dataclass(slots=True)
class Template:
    """Lines with equally many words, of which the common ones are the same."""

    width: int
    source: Sequence[bytes]
    """All lines of the log, their words separated by white space."""
    counted: AbstractSet[int] = frozenset()
    """Columns that are kept even where they are harmless: all of their words are expected to be asked for."""
    rows: list[int] = field(default_factory=list[int])
    """Numbers of the template's lines, ascending."""
    lines: list[list[bytes]] = field(default_factory=list[list[bytes]])
    """The words of the last lines, which are not in columns."""
    _columns: list[list[bytes]] = field(default_factory=list[list[bytes]])
    """The words of each column, block by block: joined, or one where all are the same; empty where all are
    harmless. As objects of their own they would drive each other out of the cache."""
    _ends: list[int] = field(default_factory=list[int])
    """How many lines there are up to the end of each block."""

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
        if not self._columns:
            self._columns = [[] for _ in range(self.width)]
        for number, words in enumerate(zip(*self.lines, strict=True)):
            first = words[0]
            if number not in self.counted and harmless.issuperset(words):
                text = b""
            elif first == words[-1] and words.count(first) == len(words):
                text = first
            else:
                text = b" ".join(words)
            self._columns[number].append(text)
        self._ends.append(len(self.rows))
        self.lines = []

    def sample(self) -> list[tuple[bytes, ...]]:
        """The columns of some lines, evenly spread."""
        some = self.rows[:: -(-len(self.rows) // SAMPLE)]
        return list(zip(*[self.source[row].split() for row in some], strict=True))

    def constant(self, number: int) -> bytes:
        """The one value of a column; empty when it has several, or is left out somewhere."""
        texts = self._columns[number]
        first = texts[0]
        return first if b" " not in first and texts.count(first) == len(texts) else b""

    def column(self, number: int) -> Sequence[bytes]:
        """All values of a column."""
        if not all(self._columns[number]):
            return [self.source[row].split(None, number + 1)[number] for row in self.rows]
        return self.telling(number)[0]

    def telling(self, number: int) -> tuple[list[bytes], list[int]]:
        """The values of a column, and their lines, without blocks in which all are harmless."""
        words: list[bytes] = []
        rows: list[int] = []
        start = 0
        for text, end in zip(self._columns[number], self._ends, strict=True):
            if text:
                words += text.split() if b" " in text else (text,) * (end - start)
                rows += self.rows[start:end]
            start = end
        return words, rows

    def only_ids(self, number: int) -> bool:
        """Whether a column has nothing but hexadecimal digits where it is not harmless."""
        return not b"".join(self._columns[number]).translate(None, HEXADECIMAL)


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
    """Lines with a wanted word."""
    _small: list[tuple[AbstractSet[bytes], int]] = field(
        default_factory=list[tuple[AbstractSet[bytes], int]]
    )
    """Words of lines of small templates that are not harmless; and the line."""
    _ids_wanted: bool = False
    """Whether hexadecimal digits may contain a wanted word."""

    def __post_init__(self) -> None:
        self.harmless = self.known - self._wanted_among(self.known)
        self._ids_wanted = not all(word.translate(None, HEXADECIMAL) for word in self.wanted)

    def add(self, template: Template) -> None:
        """All lines of one template."""
        rows = template.rows
        if len(rows) < LEAST_MEMBERS or template.width > MOST_COLUMNS:
            for line, row in zip(template.lines, rows, strict=True):
                loud = set(line) - self.harmless
                self._small.append((loud, row))
                self._note_own(telling_words(loud - self.known), line, repeat(row))
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
        wanted = self._wanted_among(set[bytes]().union(*[words for words, _ in self._small]))
        small = [row for words, row in self._small if not wanted.isdisjoint(words)]
        return sorted({*self._found, *small})

    def _column(
        self, template: Template, number: int, sample: Sequence[bytes], far: dict[int, float]
    ) -> None:
        rows = template.rows
        constant = template.constant(number)
        if constant:
            if self._wanted_among({constant} - self.harmless):
                self._found += rows
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
        if template.only_ids(number) and not self._ids_wanted:
            return
        column, told = template.telling(number)
        if sum(map(self.known.__contains__, sample)) * _FREE < len(sample) * (_FREE - 1):
            self._found += [told[at] for at in containing(column, self.wanted)]
        else:
            self._share(set(column), column, told, len(rows))

    def _share(
        self, values: AbstractSet[bytes], column: Sequence[bytes], rows: Sequence[int], count: int
    ) -> None:
        """Words of a column that lines share. ``count``: its lines, harmless ones included."""
        loud = values - self.harmless
        if not loud:
            return
        wanted = self._wanted_among(loud)
        if wanted:
            self._found += [row for word, row in zip(column, rows, strict=True) if word in wanted]
        own = telling_words(loud - self.known)
        if len(own) * _STRANGE_SHARE <= count:
            self._note_own(own, column, rows)

    def _wanted_among(self, words: AbstractSet[bytes]) -> set[bytes]:
        """The words that contain a wanted one."""
        texts = list(words)
        return {texts[number] for number in containing(texts, self.wanted)} if texts else set()

    def _note_own(
        self, own: AbstractSet[bytes], words: Sequence[bytes], rows: Iterable[int]
    ) -> None:
        if not own:
            return
        for word, row in zip(words, rows, strict=False):
            if word in own:
                self._own[word] = -1 if word in self._own else row
