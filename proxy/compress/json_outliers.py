"""Which items of an array must not get lost: errors, numbers far from the others, rare shapes.

Works on decoded values, which are only looked at and never sent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import cast

FEWEST = 8
"""Items below which nothing stands out."""
RARE_SHARE = 0.1
"""What more than this share of the items have is not unusual."""
FAR = 8.0
"""How many times the middle half's width a number must be away from it."""
MOST_COLUMNS = 60
"""Names that are looked at."""
MOST_VALUES = 12
"""Different texts of a column beyond which none of them is unusual."""

_TROUBLE = frozenset(
    ("error", "errors", "exception", "failure", "fault", "err", "stacktrace", "traceback", "panic")
)
_STATES = frozenset(
    (
        "status",
        "state",
        "level",
        "severity",
        "result",
        "outcome",
        "conclusion",
        "health",
        "loglevel",
    )
)
_BAD = frozenset(
    (
        *("error", "err", "errored", "fail", "failed", "failure", "fatal", "critical", "crit"),
        *("panic", "exception", "alert", "emergency", "timeout", "timedout", "crashed"),
        *("unhealthy", "down", "aborted", "rejected"),
    )
)
_GOOD = frozenset(("ok", "success", "succeeded", "successful", "passed", "healthy", "valid"))
_CODES = frozenset(("status", "statuscode", "code", "httpstatus", "responsecode", "httpcode"))


@dataclass(frozen=True, slots=True)
class Unusual:
    """Positions of items, the more unusual first."""

    errors: Sequence[int]
    """They report that something failed."""
    odd: Sequence[int]
    """They are unlike the others; never more than a tenth of all."""


def unusual(items: Sequence[object]) -> Unusual:
    """The unusual ones of some items, each in one group."""
    if len(items) < FEWEST:
        return Unusual((), ())
    limit = max(1, int(len(items) * RARE_SHARE))
    places: Sequence[int] = (
        range(len(items))
        if set(map(type, items)) == {dict}
        else [index for index, item in enumerate(items) if isinstance(item, dict)]
    )
    groups: list[_Group] = []
    if len(places) * 2 < len(items):
        groups += _of_column("", items, range(len(items)), limit)
    else:
        rows = cast("Sequence[dict[str, object]]", items)
        if len(places) < len(items):
            others = [index for index, item in enumerate(items) if not isinstance(item, dict)]
            groups.append(_Group(1, others))
            rows = [rows[index] for index in places]
        for name, values in _columns(rows):
            groups += _of_column(name, values, places, limit)
    errors: dict[int, None] = {}
    odd: dict[int, None] = {}
    # The rarest groups first; what most items have is not unusual, not even an error.
    for group in sorted(groups, key=lambda group: (group.rank, len(group.places))):
        if group.rank == 0 and len(group.places) * 2 < len(items):
            errors.update(dict.fromkeys(group.places))
        elif len(group.places) <= limit:
            odd.update(dict.fromkeys(group.places))
    return Unusual(tuple(errors), [index for index in odd if index not in errors][:limit])


@dataclass(frozen=True, slots=True)
class _Group:
    """Items that are unusual in the same way."""

    rank: int
    """0: errors; 1: another shape or type; 2: a value far from the others."""
    places: Sequence[int]


_ABSENT = object()


def _columns(rows: Sequence[dict[str, object]]) -> Iterable[tuple[str, Sequence[object]]]:
    """The values of each name."""
    keys = list(map(tuple, rows))
    if keys.count(keys[0]) == len(keys):
        columns = zip(*[row.values() for row in rows], strict=True)
        return islice(zip(keys[0], columns, strict=True), MOST_COLUMNS)
    return [(name, [row.get(name, _ABSENT) for row in rows]) for name in _names(rows)]


def _names(rows: Sequence[dict[str, object]]) -> list[str]:
    """The names of some rows, and of those with another number of members than most."""
    names: dict[str, None] = {}
    for row in rows[:: max(1, len(rows) // 50)]:
        names.update(dict.fromkeys(row))
    lengths = list(map(len, rows))
    kinds = Counter(lengths)
    if len(kinds) > 1:
        common = kinds.most_common(1)[0][0]
        for row, length in zip(rows, lengths, strict=True):
            if length != common:
                names.update(dict.fromkeys(row))
                if len(names) > MOST_COLUMNS:
                    break
    return list(names)[:MOST_COLUMNS]


def _of_column(
    name: str, values: Sequence[object], places: Sequence[int], limit: int
) -> list[_Group]:
    """What is unusual in one column; ``places`` are the values' positions."""
    distinct = set(map(type, values))
    kinds = Counter(
        dict.fromkeys(distinct, len(values)) if len(distinct) == 1 else map(type, values)
    )
    absent = kinds.pop(object, 0)
    present = len(values) - absent
    groups = _errors(name, values, places, kinds)
    if absent and present <= limit:
        return [*groups, _Group(1, _where(values, places, lambda value: value is not _ABSENT))]
    if len(kinds) == 1 or kinds[int] + kinds[float] == present:
        kind = next(iter(kinds))
        if kind is int or kind is float:
            groups.append(_Group(2, _far(values, places, pure=not absent)))
        elif kind is str:
            groups += _rare_values(values, places, limit)
        return groups
    for kind, count in kinds.items():
        if 0 < count <= limit:
            groups.append(_Group(1, _where(values, places, lambda value, k=kind: type(value) is k)))
    return groups


def _errors(
    name: str, values: Sequence[object], places: Sequence[int], kinds: Mapping[type, int]
) -> list[_Group]:
    plain = name.lower().replace("_", "").replace("-", "").replace(".", "")
    if plain in _TROUBLE:
        return [
            _Group(0, _where(values, places, lambda value: value is not _ABSENT and bool(value)))
        ]
    groups: list[_Group] = []
    if plain in _STATES and str in kinds:
        # Few different ones, mostly none of them bad: no need to look at each value.
        bad = {text for text in _texts(values, kinds) if text.lower() in _BAD}
        if bad:
            found = _where(values, places, lambda value: type(value) is str and value in bad)
            groups.append(_Group(0, found))
    if plain in _GOOD and bool in kinds:
        groups.append(_Group(0, _where(values, places, lambda value: value is False)))
    if plain in _CODES and int in kinds:
        codes = _where(values, places, lambda value: type(value) is int and 400 <= value <= 599)
        groups.append(_Group(0, codes))
    return groups


def _texts(values: Sequence[object], kinds: Mapping[type, int]) -> set[str]:
    """The different texts among the values."""
    if kinds[str] == len(values):
        return set(cast("Sequence[str]", values))
    return {value for value in values if type(value) is str}


def _where(
    values: Sequence[object], places: Sequence[int], wanted: Callable[[object], bool]
) -> list[int]:
    return [place for value, place in zip(values, places, strict=True) if wanted(value)]


def _rare_values(values: Sequence[object], places: Sequence[int], limit: int) -> list[_Group]:
    """Values that few have, where nearly all have one of a few others."""
    sample = [value for value in values[: 4 * MOST_VALUES] if value is not _ABSENT]
    if len(sample) > 2 * MOST_VALUES and len(set(sample)) > 2 * MOST_VALUES:
        return []
    counts = Counter(values)
    counts.pop(_ABSENT, None)
    if len(counts) > MOST_VALUES:
        return []
    rare = {value for value, count in counts.items() if count <= limit}
    few = sum(counts[value] for value in rare)
    if not rare or few * 10 > len(values):
        return []
    return [_Group(2, _where(values, places, rare.__contains__))]


def _far(values: Sequence[object], places: Sequence[int], *, pure: bool) -> list[int]:
    """Positions of numbers far outside of the middle half, farthest first.

    ``pure``: there are only numbers.
    """
    numbers = (
        cast("Sequence[float]", values)
        if pure
        else [value for value in values if isinstance(value, int | float)]
    )
    ordered = sorted(numbers)
    if len(ordered) < FEWEST:
        return []
    low, high = ordered[len(ordered) // 4], ordered[len(ordered) * 3 // 4]
    reach = FAR * (high - low)
    if ordered[0] >= low - reach and ordered[-1] <= high + reach:
        return []
    far = [
        (value, place)
        for value, place in zip(values, places, strict=True)
        if isinstance(value, int | float) and not low - reach <= value <= high + reach
    ]
    if not reach and len(far) > max(1, len(numbers) * RARE_SHARE / 5):
        # More than half are equal. Any other number is unusual only when there are few of them.
        return []
    middle = ordered[len(ordered) // 2]
    far.sort(key=lambda pair: (-abs(pair[0] - middle), pair[1]))
    return [place for _, place in far]
