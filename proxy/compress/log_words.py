"""Log lines that nearly all have a form of their own, told apart by the common words among theirs.

What is common is told by a sample. Lines are cut into words block by block, and whoever wants the words
gets them at once: a megabyte of log has more words than fit into a processor's cache.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import TypeVar

from proxy.compress.log_columns import MOST_COLUMNS, SAMPLE, is_counted

_FREQUENT = 4
_SHARES = (100, 20, 6, 3)
"""A common word stands in at least one of so many lines; tried in turn."""
_SAMPLED_PER_TEMPLATE = 12
"""Lines of a sample that a template has on average, or there are too many templates to compare lines in."""
_MOST_PLACES = 8
"""Common words that stand in more places than these are looked for everywhere."""
_BLOCK = 256
"""Lines that are cut at a time."""

_Cells = tuple[bytes, ...]
_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")
_Line = TypeVar("_Line", bound=Sequence[bytes])


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a sample of lines tells of their words."""

    common: frozenset[bytes]
    """Words that tell which lines are alike."""
    known: frozenset[bytes]
    """Words that several lines have."""
    places: dict[int, list[int]]
    """Where common words stand, by the number of words in a line; none where they stand nowhere."""
    counted: dict[int, frozenset[int]]
    """Places of few values or of numbers, by the number of words in a line. All lines may tell otherwise."""


@dataclass(frozen=True, slots=True)
class Alike:
    """Some lines of one template."""

    template: tuple[object, ...]
    rows: list[int]
    """Their numbers, ascending."""
    words: list[list[bytes]]
    """Of each of them; equally many."""


def vocabulary(lines: Sequence[bytes]) -> Vocabulary:
    """Read a sample of the lines. Words are separated by white space."""
    sample = [line.split() for line in lines[:: -(-len(lines) // SAMPLE)]]
    counts = Counter(chain.from_iterable(sample))
    common = _telling(sample, counts)
    places: dict[int, list[int]] = {}
    counted: dict[int, frozenset[int]] = {}
    for width, members in by_key(map(len, sample), sample).items():
        columns = list(zip(*members, strict=True))
        found = [place for place, words in enumerate(columns) if not common.isdisjoint(words)]
        if found:
            places[width] = found
        counted[width] = frozenset(
            place for place, words in enumerate(columns[:MOST_COLUMNS]) if is_counted(words)
        )
    return Vocabulary(
        frozenset(common),
        frozenset([word for word, count in counts.items() if count > 1]),
        places,
        counted,
    )


def alike(lines: Sequence[bytes], words: Vocabulary) -> Iterator[Alike]:
    """The lines, together where they have as many words and the same common ones.

    Every template comes in several parts, in the order of its lines.
    """
    takes = {
        # Two places at least, so that what is taken is always a tuple.
        width: itemgetter(*places, places[0])
        for width, places in words.places.items()
        if len(places) <= _MOST_PLACES
    }
    for start in range(0, len(lines), _BLOCK):
        block = list(map(bytes.split, lines[start : start + _BLOCK]))
        rows = list(range(start, start + len(block)))
        for width, members in _widths(block).items():
            cut, numbers = _chosen(block, rows, members)
            if width not in words.places:
                yield Alike((width,), numbers, cut)
                continue
            for key, same in _by_common(cut, takes.get(width), words.common).items():
                chosen, places = _chosen(cut, numbers, same)
                yield Alike((width, *key), places, chosen)


def _widths(lines: Sequence[Sequence[bytes]]) -> dict[int, list[int]]:
    """The indexes of lines by their number of words; most blocks have one only."""
    widths = list(map(len, lines))
    if widths.count(widths[0]) == len(widths):
        return {widths[0]: list(range(len(lines)))}
    return by_key(widths, range(len(lines)))


def _chosen(
    lines: list[list[bytes]], rows: list[int], indexes: list[int]
) -> tuple[list[list[bytes]], list[int]]:
    """Some of the lines with their numbers. ``indexes``: ascending."""
    if len(indexes) == len(lines):
        return lines, rows
    return [lines[index] for index in indexes], [rows[index] for index in indexes]


def common_words(counts: Counter[bytes], least: int) -> set[bytes]:
    """Words, not numbers, that stand in so many lines at least."""
    least = max(least, _FREQUENT)
    return {word for word, count in counts.items() if count >= least and word.isalpha()}


def by_key(keys: Iterable[_Key], values: Iterable[_Value]) -> dict[_Key, list[_Value]]:
    """The values by their keys, both in the order in which they come."""
    found: defaultdict[_Key, list[_Value]] = defaultdict(list)
    _append_each(map(found.__getitem__, keys), values)
    return found


def _telling(sample: Sequence[Sequence[bytes]], counts: Counter[bytes]) -> set[bytes]:
    """The common words by which lines fall into few templates; as many of them as possible.

    Where a small vocabulary is mixed at will, too many common words would tell every line apart.
    """
    common = common_words(counts, len(sample) // _SHARES[0])
    tried: set[bytes] | None = None
    for share in _SHARES:
        common = {word for word in common if counts[word] * share >= len(sample)}
        if common != tried and _few_templates(sample, common):
            return common
        tried = common
    return set()


def _few_templates(sample: Sequence[Sequence[bytes]], common: set[bytes]) -> bool:
    """Whether these common words leave enough lines per template. A few lines may tell that they do not."""
    most = len(sample) // _SAMPLED_PER_TEMPLATE
    is_common = common.__contains__
    found: set[tuple[object, ...]] = set()
    for line in sample:
        found.add((len(line), *filter(is_common, line)))
        if len(found) > most:
            return False
    return True


class _ByCommon(dict[_Cells, list[int]]):
    """Lists of indexes by what is taken of lines; one list where the common words in it are the same."""

    def __init__(self, common: frozenset[bytes]) -> None:
        super().__init__()
        self.lists: dict[_Cells, list[int]] = {}
        """By common words."""
        self._is_common = common.__contains__

    def __missing__(self, taken: _Cells) -> list[int]:
        found = self[taken] = self.lists.setdefault(tuple(filter(self._is_common, taken)), [])
        return found


def _by_common(
    lines: Sequence[list[bytes]],
    take: Callable[[list[bytes]], _Cells] | None,
    common: frozenset[bytes],
) -> dict[_Cells, list[int]]:
    """Indexes of equally long lines by their common words, which stand in the places that ``take`` takes;
    anywhere without."""
    if take is None:
        is_common = common.__contains__
        return by_key([tuple(filter(is_common, line)) for line in lines], range(len(lines)))
    found = _ByCommon(common)
    _append_each(map(found.__getitem__, map(take, lines)), range(len(lines)))
    return found.lists


def _append_each(lists: Iterable[list[_Value]], values: Iterable[_Value]) -> None:
    """Append each value to its list."""
    # A loop that runs in C takes half the time of one written out; only its effects are wanted.
    deque(map(list[_Value].append, lists, values), maxlen=0)
