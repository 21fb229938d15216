"""Templates of log lines: which lines say the same with other values.

No line is looked at character by character. Deleting digits and hexadecimal letters makes lines with
other numbers and ids equal, at the speed of a copy; where names vary too, lines with as many words and
the same common ones are alike. What is common is told by a sample.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from operator import itemgetter
from typing import TypeVar

from proxy.compress.log_columns import (
    HEXADECIMAL,
    KEEP_LINES,
    SAMPLE,
    Survey,
    Unusual,
    unusual,
)
from proxy.compress.word_search import containing

_FEW_FORMS = 64
"""So many forms are templates as they are."""
_FREQUENT = 4
_LINES_PER_FORM = 8
"""With so many lines per form, forms are templates as they are."""
_SHARES = (100, 20, 6, 3)
"""A common word stands in at least one of so many lines; tried in turn."""
_LARGE_SHARE = 3
_SAMPLED_PER_TEMPLATE = 12
"""Lines of a sample that a template has on average, or there are too many templates to compare lines in."""
_MOST_PLACES = 8
"""Common words that stand in more places than these are looked for everywhere."""
_LONE = 2
_MOST_STRANGE = 40


@dataclass(frozen=True, slots=True)
class Groups:
    """Indexes of lines that are alike. Groups are in the order of appearance."""

    templates: list[list[int]]
    """Lines that differ in digits and hexadecimal letters only; where nearly every line would be alone
    then, lines with as many words and the same common ones."""
    lone: list[int]
    """Lines unlike all others in their number of words or the most common ones."""
    strange: list[int]
    """Lines with words that no other line has, where that is not usual; the strangest first."""
    suspects: list[list[int]]
    """Lines with a wanted word; together when they differ in digits and hexadecimal letters only."""
    unusual: list[Unusual]
    """Lines with a value that their template does not usually have, in the order of templates."""


def templates(data: bytes) -> list[list[int]]:
    """The lines of ``data`` (UTF-8, split at line feeds) by template, as in `Groups`."""
    lines = data.split(b"\n")
    forms = None if _hardly_repeat(lines) else _forms(data)
    return _with_common(_words(data))[0] if forms is None else forms


def group(data: bytes, wanted: Sequence[bytes] = ()) -> Groups:
    """The lines of ``data`` (UTF-8, split at line feeds), grouped.

    ``wanted``: in lower case; what `Groups.suspects` contain, inside of a word.
    """
    lines = data.split(b"\n")
    forms = None if _hardly_repeat(lines) else _forms(data)
    if forms is None:
        return _varied(data, wanted)
    first = [lines[members[0]] for members in forms]
    suspects = [forms[number] for number in sorted(containing(first, wanted))]
    odd = [one for members in forms for one in unusual(lines, members)]
    if len(forms) <= _FEW_FORMS:
        return Groups(forms, [], [], suspects, odd)
    lone, strange = _among_forms(first)
    return Groups(
        forms,
        [index for form in lone for index in forms[form]],
        [forms[form][0] for form in strange],
        suspects,
        odd,
    )


def _hardly_repeat(lines: Sequence[bytes]) -> bool:
    """Whether most lines of a sample have a form of their own."""
    if len(lines) <= 2 * SAMPLE:
        return False
    sample = lines[:: -(-len(lines) // SAMPLE)]
    forms = set(b"\n".join(sample).translate(None, HEXADECIMAL).split(b"\n"))
    return len(forms) * 2 > len(sample)


def _forms(data: bytes) -> list[list[int]] | None:
    """Lines that differ in digits and hexadecimal letters only; ``None`` when too few do."""
    bare = data.translate(None, HEXADECIMAL).split(b"\n")
    forms = _by_key(bare, range(len(bare)))
    few = len(forms) <= max(_FEW_FORMS, len(bare) // _LINES_PER_FORM)
    return list(forms.values()) if few else None


_Key = TypeVar("_Key", bound=Hashable)


def _by_key(keys: Iterable[_Key], indexes: Iterable[int]) -> dict[_Key, list[int]]:
    """The indexes by their keys, both in the order in which they come."""
    found: defaultdict[_Key, list[int]] = defaultdict(list)
    # A loop that runs in C takes half the time of one written out; only its effects are wanted.
    deque(map(list[int].append, map(found.__getitem__, keys), indexes), maxlen=0)
    return found


def _among_forms(first: Sequence[bytes]) -> tuple[list[int], list[int]]:
    """Forms unlike all others, and forms with words that no other has; by a line of each."""
    words = _words(b"\n".join(first))
    counts = Counter(chain.from_iterable(words))
    common = _common(counts, len(words) // _LARGE_SHARE)
    shapes: dict[tuple[object, ...], list[int]] = {}
    for form, line in enumerate(words):
        shapes.setdefault((len(line), *filter(common.__contains__, line)), []).append(form)
    lone = [form for shape in shapes.values() if len(shape) <= _LONE for form in shape]
    return lone, _strange(words, counts)


def _varied(data: bytes, wanted: Sequence[bytes]) -> Groups:
    """Groups of lines that nearly all have a form of their own."""
    words = _words(data)
    found, known = _with_common(words)
    lone = [index for members in found if len(members) <= _LONE for index in members]
    survey = Survey(known, wanted)
    for members in found:
        survey.add([words[index] for index in members], members)
    suspects = [[index] for index in survey.suspects()]
    return Groups(found, lone, survey.strange(_MOST_STRANGE), suspects, survey.unusual)


def _words(data: bytes) -> list[list[bytes]]:
    return [line.split() for line in data.translate(KEEP_LINES).split(b"\n")]


def _common(counts: Counter[bytes], least: int) -> set[bytes]:
    """Words, not numbers, that stand in so many lines at least."""
    least = max(least, _FREQUENT)
    return {word for word, count in counts.items() if count >= least and word.isalpha()}


def _with_common(words: Sequence[list[bytes]]) -> tuple[list[list[int]], set[bytes]]:
    """Indexes of lines with as many words and the same common ones; words that several lines have."""
    sample = words[:: -(-len(words) // SAMPLE)]
    counts = Counter(chain.from_iterable(sample))
    common = _telling(sample, counts)
    places: dict[int, set[int]] = {}
    for line in sample:
        if not common.isdisjoint(line):
            at_common = compress(range(len(line)), map(common.__contains__, line))
            places.setdefault(len(line), set()).update(at_common)
    widths = _by_key(map(len, words), range(len(words)))
    found: list[list[int]] = []
    for width, members in widths.items():
        found += _by_places(words, members, sorted(places.get(width, ())), common)
    found.sort()
    return found, {word for word, count in counts.items() if count > 1}


def _telling(sample: Sequence[list[bytes]], counts: Counter[bytes]) -> set[bytes]:
    """The common words by which lines fall into few templates; as many of them as possible.

    Where a small vocabulary is mixed at will, too many common words would tell every line apart.
    """
    common = _common(counts, len(sample) // _SHARES[0])
    keys = [(len(line), *filter(common.__contains__, line)) for line in sample]
    for share in _SHARES:
        fewer = {word for word in common if counts[word] * share >= len(sample)}
        if len(fewer) < len(common):
            common = fewer
            keys = [(width, *filter(common.__contains__, some)) for width, *some in keys]
        if len(set(keys)) * _SAMPLED_PER_TEMPLATE <= len(sample):
            return common
    return set()


def _by_places(
    words: Sequence[list[bytes]], members: list[int], places: Sequence[int], common: set[bytes]
) -> list[list[int]]:
    """Lines of equally many words by the common words that stand in these places."""
    if not places:
        return [members]
    lines = map(words.__getitem__, members)
    is_common = common.__contains__
    if len(places) > _MOST_PLACES:
        return list(_by_key([tuple(filter(is_common, line)) for line in lines], members).values())
    # Two places at least, so that what is taken is always a tuple.
    take: Callable[[list[bytes]], tuple[bytes, ...]] = itemgetter(*places, places[0])
    taken = _by_key(map(take, lines), members)
    found: dict[tuple[bytes, ...], list[list[int]]] = {}
    for some, same in taken.items():
        found.setdefault(tuple(filter(is_common, some)), []).append(same)
    return [parts[0] if len(parts) == 1 else sorted(chain(*parts)) for parts in found.values()]


def _strange(words: Sequence[list[bytes]], counts: Counter[bytes]) -> list[int]:
    """Indexes of lines with more words of their own than lines usually have here."""
    own = {
        word
        for word, count in counts.items()
        if count == 1 and (word.isalpha() or word[0] > 127) and word.translate(None, HEXADECIMAL)
    }
    if not own:
        return []
    owned = [len(own.intersection(line)) for line in words]
    usual = sorted(owned)[len(owned) // 2]
    found = [(-count, index) for index, count in enumerate(owned) if count > usual]
    return [index for _, index in sorted(found)[:_MOST_STRANGE]]
