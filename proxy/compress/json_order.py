"""Which items of an array go first: those that answer the query, errors, the unusual, both ends."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import msgspec

from proxy.compress.json_outliers import Unusual, unusual
from proxy.compress.json_query import Hits
from proxy.compress.json_tree import Children, Document

LARGEST_SCAN = 2_000_000
"""Bytes of an array that is looked through for what is unusual."""
MOST_UNUSUAL = 40
"""Unusual items of one array that are put first."""
WORTH_NAMING = 0.25
"""An item that scores less than this share of the best one is only as good as any other."""
WITH_NEIGHBOURS = 12
"""Best items whose neighbours are put before the rest."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """The items of an array that can be shown."""

    order: Sequence[int]
    """Positions, the first choice first, each once."""
    named: frozenset[int]
    """Those that answer the query."""
    odd: frozenset[int]
    """Those that are only unusual; there may be too many of them."""


def items_in_order(
    document: Document, children: Children, span: tuple[int, int], hits: Hits, most: int
) -> Ranked:
    """At most about ``most`` items of the array at ``span`` besides the ones that stand out."""
    count = len(children)
    named = _named(children, span, hits, most)
    found = _unusual(document, span)
    errors = found.errors[:MOST_UNUSUAL]
    odd = found.odd[:MOST_UNUSUAL]
    order: dict[int, None] = {}
    if not named:
        # The first item shows what the others look like.
        order[0] = None
    few = named if not errors else named[: max(1, most // 4)]
    order.update(dict.fromkeys(few))
    order.update(dict.fromkeys(errors))
    order.update(dict.fromkeys(named))
    special = set(order)
    order.update(dict.fromkeys(odd))
    order.update(dict.fromkeys((0, count - 1)))
    for index in named[:WITH_NEIGHBOURS]:
        order.update((i, None) for i in (index - 1, index + 1) if 0 <= i < count)
    order.update(dict.fromkeys(range(most)))
    return Ranked(tuple(order), frozenset(named), frozenset(odd) - special)


def _named(children: Children, span: tuple[int, int], hits: Hits, most: int) -> list[int]:
    places = hits.within(span[0] + 1, span[1])
    items = dict.fromkeys(bisect_right(children.starts, at) - 1 for at in places)
    worth = {i: hits.score(children.starts[i], children.ends[i]) for i in items}
    best = sorted(worth, key=lambda i: (-worth[i], i))[:most]
    return [i for i in best if worth[i] >= WORTH_NAMING * worth[best[0]]]


def _unusual(document: Document, span: tuple[int, int]) -> Unusual:
    start, end = span
    if end - start > LARGEST_SCAN:
        return Unusual((), ())
    part = document.shadow[start:end]
    values: object
    try:
        values = msgspec.json.decode(part)
    except (msgspec.MsgspecError, RecursionError):
        try:
            # Numbers that are too large for the parser above.
            values = json.loads(part)
        except (ValueError, RecursionError):
            return Unusual((), ())
    if not isinstance(values, list):
        return Unusual((), ())
    return unusual(cast("list[object]", values))
