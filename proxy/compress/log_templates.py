"""Templates of log lines: which lines say the same with other values, and which values are unusual.

No line is looked at character by character. Deleting digits and hexadecimal letters makes lines with
other numbers and ids equal, at the speed of a copy; where names vary too, words that are rare among the
remaining forms are left out as well. Inside a template the words stand in columns, and a column tells
what is usual in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

_DELETED = b"0123456789abcdefABCDEF \t\r"
_DELIMITERS = bytes(32 if byte in b" \t=:,;()[]{}\"'/|<>-\r\n" else byte for byte in range(256))
_KEEP_LINES = bytes(10 if byte == 10 else _DELIMITERS[byte] for byte in range(256))
_UNITS = b"ghijklmnopqrstuvwxyzGHIJKLMNOPQRSTUVWXYZ%"
"""Letters that may follow a number without making it something else than a number."""
_FEW_FORMS = 64
"""So many forms are templates as they are."""
_FREQUENT = 4
_LINES_PER_FORM = 8
"""With so many lines per form, forms are templates as they are."""
_SHARES = (100, 20, 6, 3)
"""A common word stands in at least one of so many forms; tried in turn."""
_LARGE_SHARE = 3
_SAMPLED_PER_TEMPLATE = 12
"""Lines of a sample that a template has on average, or there are too many templates to compare lines in."""
_LONE = 2
_MOST_STRANGE = 40
_LEAST_MEMBERS = 8
"""In smaller templates nothing is usual."""
_MOST_COLUMNS = 160
_SPREADS = 8.0
"""A number this many spreads off the median is unusual. The spread is that of a normal distribution."""
_USUAL = 12
"""Values in a sample of a column that are few in any case."""
_PER_COLUMN = 3
"""Unusual lines that one column may name."""
_SAMPLE = 512


@dataclass(frozen=True, slots=True)
class Unusual:
    """A line with a value that its template does not usually have."""

    line: int
    surprise: float
    """How seldom: below 1 for words, the closer to it the fewer others there are in more lines; 1 and above
    for numbers that are far from the others."""


@dataclass(frozen=True, slots=True)
class Groups:
    """Indexes of lines that are alike. Groups are in the order of appearance."""

    forms: list[list[int]]
    """Lines that differ in digits and hexadecimal letters only."""
    templates: list[list[int]]
    """Forms, or where nearly every line has a form of its own, lines with the same common words."""
    lone: list[int]
    """Lines unlike all others in their number of words or the most common ones."""
    strange: list[int]
    """Lines with words that no other line has, where that is not usual; the strangest first."""
    words: list[list[bytes]] | None = None
    """Of every line, where lines had to be cut into words; then all lines of a template have as many."""
    vocabulary: Mapping[bytes, int] = field(default_factory=dict[bytes, int])
    """How often each of these words occurs."""


def group(data: bytes) -> Groups:
    """The lines of ``data`` (UTF-8, split at line feeds), grouped."""
    bare = data.translate(None, _DELETED).split(b"\n")
    sample = bare[:: -(-len(bare) // _SAMPLE)]
    if len(bare) > 2 * _SAMPLE and len(set(sample)) * 2 > len(sample):
        return _varied(data)
    forms: dict[bytes, list[int]] = {}
    for index, form in enumerate(bare):
        members = forms.get(form)
        if members is None:
            forms[form] = [index]
        else:
            members.append(index)
    found = list(forms.values())
    if len(found) <= _FEW_FORMS:
        return Groups(found, found, [], [])
    if len(found) * _LINES_PER_FORM > len(bare):
        return _varied(data)
    lines = data.split(b"\n")
    words = _words(b"\n".join([lines[members[0]] for members in found]))
    counts = Counter(chain.from_iterable(words))
    shapes = _with_common(words, _common(counts, len(found) // _LARGE_SHARE))
    lone = [
        index for shape in shapes if len(shape) <= _LONE for form in shape for index in found[form]
    ]
    return Groups(found, found, lone, [found[form][0] for form in _strange(words, counts)])


def _varied(data: bytes) -> Groups:
    """Groups of lines that nearly all have a form of their own."""
    words = _words(data)
    counts = Counter(chain.from_iterable(words))
    templates = _with_common(words, _telling(words, counts))
    lone = [index for members in templates if len(members) <= _LONE for index in members]
    forms = [[index] for index in range(len(words))]
    return Groups(forms, templates, lone, _strange(words, counts), words, counts)


def _words(data: bytes) -> list[list[bytes]]:
    return [line.split() for line in data.translate(_KEEP_LINES).split(b"\n")]


def _common(counts: Counter[bytes], least: int) -> set[bytes]:
    """Words, not numbers, that stand in so many lines at least."""
    least = max(least, _FREQUENT)
    return {word for word, count in counts.items() if count >= least and word.isalpha()}


def _telling(words: Sequence[list[bytes]], counts: Counter[bytes]) -> set[bytes]:
    """The common words by which lines fall into few templates; as many of them as possible.

    Where a small vocabulary is mixed at will, too many common words would tell every line apart.
    """
    sample = words[:: -(-len(words) // _SAMPLE)]
    common = _common(counts, len(words) // _SHARES[0])
    for share in _SHARES:
        common = {word for word in common if counts[word] * share >= len(words)}
        keys = {(len(line), *filter(common.__contains__, line)) for line in sample}
        if len(keys) * _SAMPLED_PER_TEMPLATE <= len(sample):
            return common
    return set()


def _with_common(words: Sequence[list[bytes]], common: set[bytes]) -> list[list[int]]:
    """Indexes of lines of as many words that have the same common ones."""
    found: dict[tuple[object, ...], list[int]] = {}
    for index, line in enumerate(words):
        key = (len(line), *filter(common.__contains__, line))
        same = found.get(key)
        if same is None:
            found[key] = [index]
        else:
            same.append(index)
    return list(found.values())


def _strange(words: Sequence[list[bytes]], counts: Counter[bytes]) -> list[int]:
    """Indexes of lines with more words of their own than lines usually have here."""
    own = {
        word
        for word, count in counts.items()
        if count == 1 and (word.isalpha() or word[0] > 127) and word.translate(None, _DELETED)
    }
    if not own:
        return []
    owned = [len(own.intersection(line)) for line in words]
    usual = sorted(owned)[len(owned) // 2]
    found = [(-count, index) for index, count in enumerate(owned) if count > usual]
    return [index for _, index in sorted(found)[:_MOST_STRANGE]]


def unusual(
    lines: Sequence[bytes], members: Sequence[int], words: Sequence[list[bytes]] | None = None
) -> list[Unusual]:
    """Lines of one template whose values stand out, the most surprising first.

    ``words``: of all lines, when all members have as many.
    """
    if len(members) < _LEAST_MEMBERS:
        return []
    rows: Sequence[int] = members
    found: dict[int, float] = {}
    columns: Iterable[Sequence[bytes]]
    if words is not None:
        columns = zip(*[words[index] for index in members], strict=True)
        width = len(words[members[0]])
    else:
        joined = b"\n".join([lines[index] for index in members])
        cells = joined.translate(_DELIMITERS).split()
        width, odd = divmod(len(cells), len(members))
        if odd or len(lines[members[0]].translate(_DELIMITERS).split()) != width:
            rows, cells, width, outside = _aligned(joined, members)
            found = dict.fromkeys(outside, 1 - 1 / len(members))
        columns = (cells[column::width] for column in range(width))
    if len(rows) >= _LEAST_MEMBERS and width <= _MOST_COLUMNS:
        for column in columns:
            _look(column, rows, found)
    # The ends are shown anyway; and where a clock's digits change, they look unusual.
    ends = (members[0], members[-1], rows[0], rows[-1])
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


def _look(column: Sequence[bytes], rows: Sequence[int], found: dict[int, float]) -> None:
    """Note the rows whose value is rare in the column, or far from its other numbers."""
    count = len(column)
    if column[0] == column[-1] and column.count(column[0]) == count:
        return
    sample = column[:: -(-count // _SAMPLE)]
    if len(set(sample)) <= max(_USUAL, len(sample) // 16):
        values = Counter(column)
        rare = [value for value, times in values.items() if times <= max(1, count // 1000)]
        if 0 < len(rare) <= max(_PER_COLUMN, count // 500):
            for value in rare[:_PER_COLUMN]:
                _note(found, rows[column.index(value)], 1 - len(values) * values[value] / count)
            return
        if len(rare) == 0:
            return
    _look_at_numbers(column, sample, rows, found)


def _look_at_numbers(
    column: Sequence[bytes], sample: Sequence[bytes], rows: Sequence[int], found: dict[int, float]
) -> None:
    count = len(column)
    try:
        known = sorted([float(value.rstrip(_UNITS)) for value in sample])
        median = known[len(known) // 2]
        spread = sorted([abs(value - median) for value in known])[len(known) // 2] * 1.4826
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
