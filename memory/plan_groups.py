"""The rows that a forgetting plan is made from, and which of them are duplicates of each other.

Two steps, both such that doing the same again after a run finds nothing new:

1. Records with the same text (`PlanRow.content_hash` or `norm_hash`) form a class, which keeps one.
2. What is left is linked by edges that say "duplicate". A group counts only if each of its records is
   linked to each other one (complete link). Where A is like B and B like C, but not A like C, nothing is a
   duplicate: B is ambiguous, and merging in steps would lose what tells A from C.

Who survives: the person's choice, then trust, pinned, importance, uses, the earliest, the smallest id. But
a record that is stale itself survives only where none of its class is fresh, one that is expired or failing
never does, and one of lower trust never takes the place of one of higher trust.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from enum import IntEnum

from memory.model import Edge, Instant, Kind, Origin, PairClass, State

_Links = defaultdict[int, dict[int, Edge | None]]
"""By number, who is a duplicate of whom, both ways; no edge is needed between records with the same text."""
_DUPLICATE_CLASSES = frozenset((PairClass.IDENTICAL, PairClass.REWORDING))
MOST_MATES = 50
"""If more guarded records than that share a text, it is not compared with others."""


@dataclass(frozen=True, slots=True)
class PlanRow:
    """What a plan needs to know of one record; the fields mean what they mean in `memory.model.Record`."""

    num: int
    id: str
    kind: Kind
    version: int
    state: State
    content_hash: str
    norm_hash: str
    recorded_at: Instant
    state_at: Instant
    importance: float
    pinned: bool
    origin: Origin
    trust: int
    support: int
    use_count: int
    first_used: Instant | None
    last_used: Instant | None
    successes: int
    failures: int
    valid_to: Instant | None
    state_reason: str = ""
    successors: tuple[str, ...] = ()
    """Ids of the direct successors that are active, superseded or archived; not of expunged ones."""
    open_proposal: bool = False
    """An open proposal would keep or replace it."""
    stale_before: bool = False
    """An earlier plan, at least a day ago, found it stale, and so did every plan since."""


class Apart:
    """Pairs that the person wants to keep both. It holds for the texts, so also for other copies of them."""

    def __init__(self, pairs: Iterable[tuple[str, str]], rows: Iterable[PlanRow]) -> None:
        """``pairs``: ids, in either order. ``rows``: all records, archived ones as well."""
        both = [pair for a, b in pairs for pair in ((a, b), (b, a))]
        some = {id for pair in both for id in pair}
        texts = {row.id: _text(row) for row in rows if row.id in some}
        self._ids = frozenset(both)
        self._texts = frozenset((texts[a], texts[b]) for a, b in both if a in texts and b in texts)

    def holds(self, a: PlanRow, b: PlanRow) -> bool:
        """Whether neither may go for the other."""
        if not self._ids:
            return False
        if _text(a) == _text(b):
            return (a.id, b.id) in self._ids
        return (_text(a), _text(b)) in self._texts


class Standing(IntEnum):
    """How a record would fare without its duplicates; the lower, the better a survivor it is."""

    FRESH = 0
    """It stays, or is protected."""
    STALE = 1
    """Its need is too low, in this plan for the first time or not."""
    LEAVING = 2
    """Expired, or a procedure that fails."""


@dataclass(frozen=True, slots=True)
class Duplicate:
    """One record that another one makes superfluous."""

    row: PlanRow
    survivor: PlanRow
    klass: PairClass
    similarity: float | None
    """Cosine; ``None`` where nothing was compared: the texts are the same but for stop words and marks."""


def duplicates(
    rows: Sequence[PlanRow],
    edges: Iterable[Edge],
    standing: Callable[[PlanRow], Standing],
    stays: Callable[[PlanRow], bool],
    chosen: Set[str],
    apart: Apart,
) -> list[Duplicate]:
    """The superfluous ones of these active records, in no particular order.

    ``stays``: a guard keeps it, whatever is found here. ``chosen``: ids that the person lets survive.
    A survivor may be superfluous itself, because of a third record; see `memory.plan`.
    """
    found: list[Duplicate] = []
    nodes: list[PlanRow] = []
    mates: list[list[PlanRow]] = []
    alone, classes = _classes(rows)
    nodes += [row for row in alone if standing(row) is Standing.FRESH]
    for group in classes:
        same = _of_class(group, standing, chosen, apart)
        found += same
        gone = {one.row.id for one in same if not stays(one.row)}
        left = [row for row in group if row.id not in gone and standing(row) is Standing.FRESH]
        if len(left) <= MOST_MATES:
            nodes += left
            mates.append(left)
    known = {one.row.id for one in found}
    return found + _of_edges(nodes, _links(nodes, mates, edges, apart), chosen, known)


def best(rows: Iterable[PlanRow], chosen: Set[str] = frozenset()) -> PlanRow:
    """The one that should survive. Raises `ValueError` when there is none."""
    return min(
        rows,
        key=lambda row: (
            row.id not in chosen,
            -row.trust,
            not row.pinned,
            -row.importance,
            -(row.use_count + row.support),
            row.recorded_at,
            row.id,
        ),
    )


def _text(row: PlanRow) -> str:
    return row.norm_hash or row.content_hash


def _classes(rows: Sequence[PlanRow]) -> tuple[list[PlanRow], list[list[PlanRow]]]:
    """The records whose text no other of their kind has, and the groups of those with the same text.

    Equal content hashes imply equal norm hashes.
    """
    alone: list[PlanRow] = []
    classes: list[list[PlanRow]] = []
    for kind in Kind:
        first: dict[str, PlanRow] = {}
        more: dict[str, list[PlanRow]] = {}
        for row in rows:
            if row.kind is kind:
                text = _text(row)
                other = first.setdefault(text, row)
                if other is not row:
                    more.setdefault(text, [other]).append(row)
        alone += [row for text, row in first.items() if text not in more]
        classes += more.values()
    return alone, classes


def _of_class(
    group: Sequence[PlanRow],
    standing: Callable[[PlanRow], Standing],
    chosen: Set[str],
    apart: Apart,
) -> list[Duplicate]:
    found: list[Duplicate] = []
    left = list(group)
    picked = [row for row in left if row.id in chosen]
    if picked:
        survivor = best(picked, chosen)
        others = (row for row in left if row is not survivor and not apart.holds(row, survivor))
        return [_same_text(row, survivor) for row in others]
    for level in (Standing.FRESH, Standing.STALE):
        while candidates := [row for row in left if standing(row) is level]:
            survivor = best(candidates)
            rest: list[PlanRow] = []
            for row in left:
                if row.trust > survivor.trust or apart.holds(row, survivor):
                    rest.append(row)
                elif row is not survivor:
                    found.append(_same_text(row, survivor))
            left = rest
    return found


def _same_text(row: PlanRow, survivor: PlanRow) -> Duplicate:
    equal = row.content_hash == survivor.content_hash
    return Duplicate(row, survivor, PairClass.IDENTICAL, 1.0 if equal else None)


def _of_edges(
    nodes: Sequence[PlanRow], links: _Links, chosen: Set[str], known: Set[str]
) -> list[Duplicate]:
    by_num = {row.num: row for row in nodes}
    found: list[Duplicate] = []
    for component in _components(links):
        if any(len(links[num]) != len(component) - 1 for num in component):
            continue
        survivor = best((by_num[num] for num in component), chosen)
        for num in component:
            edge = links[num].get(survivor.num)
            if edge is not None and by_num[num].id not in known:
                found.append(Duplicate(by_num[num], survivor, edge.klass, edge.similarity))
    return found


def _links(
    nodes: Sequence[PlanRow],
    mates: Iterable[Sequence[PlanRow]],
    edges: Iterable[Edge],
    apart: Apart,
) -> _Links:
    by_num = {row.num: row for row in nodes}
    pairs: dict[tuple[int, int], Edge | None] = {}
    for edge in edges:
        a, b = by_num.get(edge.older), by_num.get(edge.newer)
        if a is None or b is None or a is b or a.kind is not b.kind:
            continue
        pair = (a.num, b.num) if a.num < b.num else (b.num, a.num)
        known = pairs.get(pair, edge)
        if edge.klass not in _DUPLICATE_CLASSES or known is None or apart.holds(a, b):
            pairs[pair] = None  # of two opinions about a pair, the careful one counts
        else:
            pairs[pair] = max(known, edge, key=lambda one: (one.similarity, one.klass.value))
    links: _Links = defaultdict(dict)
    for (a, b), edge in pairs.items():
        if edge is not None:
            links[a][b] = links[b][a] = edge
    for same in mates:
        for row in same:
            for other in same:
                if other is not row and not apart.holds(row, other):
                    links[row.num][other.num] = None
    return links


def _components(links: _Links) -> Iterable[list[int]]:
    seen: set[int] = set()
    for start in links:
        if start in seen:
            continue
        seen.add(start)
        component, todo = [start], [start]
        while todo:
            for num in links[todo.pop()]:
                if num not in seen:
                    seen.add(num)
                    component.append(num)
                    todo.append(num)
        yield component
