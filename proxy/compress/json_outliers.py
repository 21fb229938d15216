"""Which items of an array must not get lost: errors, numbers far from the others, rare shapes.

Works on decoded values, which are only looked at and never sent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

FEWEST = 8
"""Items below which nothing stands out."""
RARE_SHARE = 0.1
"""What more than this share of the items have is not unusual."""
FAR = 8.0
"""How many times the middle half's width a number must be away from it."""
MOST_COLUMNS = 60
"""Names that are looked at."""

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
    rows = [
        (index, cast("dict[str, object]", item))
        for index, item in enumerate(items)
        if isinstance(item, dict)
    ]
    found: dict[int, None] = {}
    if len(rows) * 2 < len(items):
        numbers = [(i, item) for i, item in enumerate(items) if type(item) in (int, float)]
        found.update(dict.fromkeys(_far(cast("list[tuple[int, float]]", numbers))[:limit]))
        kinds = Counter(map(type, items))
        rare = {kind for kind, count in kinds.items() if count <= limit}
        found.update((i, None) for i, item in enumerate(items) if rare and type(item) in rare)
        return Unusual((), list(found)[:limit])
    names: dict[str, None] = {}
    for _, row in rows[:: max(1, len(rows) // 50)]:
        names.update(dict.fromkeys(row))
    shapes = Counter(map(len, (row for _, row in rows)))
    if len(shapes) > 1:
        # Names that only rare rows have: ``error`` mostly.
        common = shapes.most_common(1)[0][0]
        for _, row in rows:
            if len(row) != common:
                names.update(dict.fromkeys(row))
                if len(names) > MOST_COLUMNS:
                    break
    groups: list[tuple[int, int, list[int]]] = []
    for name in list(names)[:MOST_COLUMNS]:
        plain = name.lower().replace("_", "").replace("-", "")
        groups += _of_column(name, plain, rows, limit)
    if len(items) > len(rows):
        groups.append(
            (
                1,
                len(items) - len(rows),
                [i for i, item in enumerate(items) if not isinstance(item, dict)],
            )
        )
    errors: dict[int, None] = {}
    # The rarest groups first; what nearly all items have is not unusual, not even an error.
    for rank, _, members in sorted(groups, key=lambda group: group[:2]):
        if len(members) <= limit:
            (found if rank else errors).update(dict.fromkeys(members))
        elif not rank and len(members) * 2 < len(items):
            errors.update(dict.fromkeys(members))
    return Unusual(tuple(errors), [index for index in found if index not in errors][:limit])


def _of_column(
    name: str, plain: str, rows: list[tuple[int, dict[str, object]]], limit: int
) -> list[tuple[int, int, list[int]]]:
    """What is unusual in one column: rank (0 for errors), count, positions."""
    groups: list[tuple[int, int, list[int]]] = []
    having = [(index, row[name]) for index, row in rows if name in row]
    if plain in _TROUBLE:
        bad = [index for index, value in having if value]
        groups.append((0, len(bad), bad))
    if len(having) <= limit:
        return [*groups, (1, len(having), [index for index, _ in having])]
    if plain in _STATES:
        bad = [i for i, value in having if isinstance(value, str) and value.lower() in _BAD]
        groups.append((0, len(bad), bad))
    if plain in _GOOD:
        bad = [index for index, value in having if value is False]
        groups.append((0, len(bad), bad))
    if plain in _CODES:
        bad = [i for i, value in having if type(value) is int and 400 <= value <= 599]
        groups.append((0, len(bad), bad))
    kinds = Counter(type(value) for _, value in having)
    if kinds[int] + kinds[float] == len(having):
        far = _far(cast("list[tuple[int, float]]", having))
        groups.append((2, len(far), far))
    elif len(kinds) > 1:
        for kind, count in kinds.items():
            if count <= limit:
                groups.append((1, count, [i for i, value in having if type(value) is kind]))
    if kinds[str] + kinds[bool] == len(having):
        values = Counter(cast("list[str | bool]", [value for _, value in having]))
        if len(values) <= 12:
            common = sum(count for count in values.values() if count > limit)
            if common * 10 >= len(having) * 9:
                rare = {value for value, count in values.items() if count <= limit}
                few = [index for index, value in having if rare and value in rare]
                groups.append((2, len(few), few))
    return groups


def _far(numbers: list[tuple[int, float]]) -> list[int]:
    """Positions of numbers far outside of the middle half, farthest first."""
    if len(numbers) < FEWEST:
        return []
    ordered = sorted(value for _, value in numbers if value == value)
    if len(ordered) < FEWEST:
        return []
    low, high = ordered[len(ordered) // 4], ordered[len(ordered) * 3 // 4]
    if ordered[0] >= low - FAR * (high - low) and ordered[-1] <= high + FAR * (high - low):
        return []
    width = high - low
    if not width:
        # Nearly all are equal: any other is unusual, but only when there are few of them.
        far = [(index, value) for index, value in numbers if value != low]
        if len(far) > max(1, len(numbers) * RARE_SHARE / 5):
            return []
    else:
        far = [
            (i, value)
            for i, value in numbers
            if value < low - FAR * width or value > high + FAR * width
        ]
    middle = ordered[len(ordered) // 2]
    far.sort(key=lambda pair: (-abs(pair[1] - middle), pair[0]))
    return [index for index, _ in far]
