"""Export, page by page. Imports SQLAlchemy.

A page is one state of the memory; who changes it between two pages may find the change in the later
pages only. `memory.api.GetPosition` tells whether that happened.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import msgspec
from sqlalchemy import BindParameter, ColumnElement, Select, bindparam, select, tuple_

from memory.api import Export, ExportPage
from memory.core import Core, page_limit
from memory.errors import FaultCode, MemoryFault
from memory.exchange.lines import (
    FORMAT,
    VERSION,
    DismissalLine,
    Header,
    NeighbourLine,
    ProposalLine,
    RecordLine,
    RunLine,
    write_line,
)
from memory.model import MemoryText, PairClass, Record, State
from memory.store.importing import STATE_FIELDS, Dismissed, KeptCredit, KeptOutcome, StateStep
from memory.store.journal import RECORD
from memory.store.reading import Reading
from memory.store.rows import proposal_of, run_of
from memory.store.tables import (
    credited_uses,
    dismissals,
    edges,
    outcomes,
    proposals,
    records,
    request_keys,
    runs,
    stale_seen,
    supporters,
)

PAGE_SIZE = 4_194_304
"""Characters; a page ends behind the line that passes it."""
MOST_VERSIONS = 262_144
"""Characters of all texts that a record ever had; of a record with more only the last one is exported."""
_AT_ONCE = 100
"""Records whose texts are in memory at once."""

_IDS: BindParameter[str] = bindparam("ids", expanding=True)
_KEYS = select(request_keys.c.record_id, request_keys.c.key).where(
    request_keys.c.record_id.in_(_IDS)
)
_SUPPORTERS = select(supporters.c.record_id, supporters.c.actor, supporters.c.session).where(
    supporters.c.record_id.in_(_IDS)
)
_CREDITS = (
    select(
        credited_uses.c.record_id,
        credited_uses.c.session,
        credited_uses.c.day,
        credited_uses.c.source,
    )
    .where(credited_uses.c.record_id.in_(_IDS))
    .order_by(credited_uses.c.day, credited_uses.c.session)
)
_OUTCOMES = (
    select(
        outcomes.c.record_id,
        outcomes.c.at,
        outcomes.c.success,
        outcomes.c.actor,
        outcomes.c.note,
        outcomes.c.key,
    )
    .where(outcomes.c.record_id.in_(_IDS))
    .order_by(outcomes.c.seq)
)
_STALE = select(stale_seen.c.record_id, stale_seen.c.first_at).where(
    stale_seen.c.record_id.in_(_IDS)
)
_NEWER = records.alias("newer")
_OLDER = records.alias("older")
_EDGES = (
    select(
        _NEWER.c.id,
        _OLDER.c.id,
        edges.c.similarity,
        edges.c.klass,
        edges.c.score,
        edges.c.model,
    )
    .select_from(
        edges.join(_NEWER, _NEWER.c.num == edges.c.newer).join(
            _OLDER, _OLDER.c.num == edges.c.older
        )
    )
    .where(_NEWER.c.id.in_(_IDS))
    .order_by(edges.c.older, edges.c.model)
)


def export_page(core: Core, request: Export) -> ExportPage:
    """A page of lines; the first one begins with the header. Raises ``INVALID`` for a foreign cursor."""
    limit = page_limit(request.limit)
    place = _place(request.after)
    lines: list[str] = []
    if not request.after:
        lines.append(write_line(Header(FORMAT, VERSION, request.space)))
    size = 0
    with core.store.reading() as reading:
        for number in range(place.section, len(_SECTIONS)):
            if number != place.section:
                place = _Place(number)
            while len(lines) < limit and size < PAGE_SIZE:
                found = _SECTIONS[number](
                    reading, request.space, place.after, min(limit - len(lines), _AT_ONCE)
                )
                for after, line in found:
                    place = _Place(number, after)
                    lines.append(line)
                    size += len(line)
                if not found:
                    break
            else:
                return ExportPage(tuple(lines), msgspec.json.encode(place).decode())
    return ExportPage(tuple(lines))


class _Place(msgspec.Struct, frozen=True, array_like=True):
    """Behind which line the next page begins: a section, and the key of its last line."""

    section: int
    after: tuple[int | str, ...] = ()


_Found = Sequence[tuple[tuple[int | str, ...], str]]


def _place(cursor: str) -> _Place:
    if not cursor:
        return _Place(0)
    try:
        place = msgspec.json.decode(cursor, type=_Place)
    except (msgspec.DecodeError, UnicodeEncodeError):
        place = _Place(-1)
    if not 0 <= place.section < len(_SECTIONS) or not _fits(place):
        raise MemoryFault(
            FaultCode.INVALID, "after is no cursor of an export.", "Begin without it."
        )
    return place


def _fits(place: _Place) -> bool:
    kinds = _KEY_TYPES[place.section]
    return not place.after or (
        len(place.after) == len(kinds)
        and all(isinstance(value, kind) for value, kind in zip(place.after, kinds, strict=True))
        and all(abs(value) < 1 << 63 for value in place.after if isinstance(value, int))
    )


def _page(
    query: Select[*tuple[Any, ...]],
    key: Sequence[ColumnElement[Any]],
    after: Sequence[Any],
    limit: int,
) -> Select[*tuple[Any, ...]]:
    if after:
        query = query.where(tuple_(*key) > tuple(after))
    return query.order_by(*key).limit(limit)


# Records


def _records(reading: Reading, space: str, after: Sequence[Any], limit: int) -> _Found:
    query = _page(
        select(records.c.num).where(records.c.space == space), (records.c.num,), after, limit
    )
    found = reading.by_nums(num for (num,) in reading.rows(query))
    about = _About(reading, [record.id for record in found.values()])
    return [((num,), write_line(about.line(found[num]))) for num in sorted(found)]


class _About:
    """What is kept beside some records."""

    def __init__(self, reading: Reading, ids: list[str]) -> None:
        def by_id(query: Select[*tuple[Any, ...]]) -> dict[str, list[tuple[Any, ...]]]:
            rows: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
            for id, *rest in reading.rows(query, {"ids": ids}):
                rows[id].append(tuple(rest))
            return rows

        self._reading = reading
        self._keys = by_id(_KEYS)
        self._supporters = by_id(_SUPPORTERS)
        self._credits = by_id(_CREDITS)
        self._outcomes = by_id(_OUTCOMES)
        self._stale = by_id(_STALE)
        self._edges = by_id(_EDGES)

    def line(self, record: Record) -> RecordLine:
        """The whole line of one of the records."""
        id = record.id
        keys, stale = self._keys.get(id), self._stale.get(id)
        return RecordLine(
            record,
            key=keys[0][0] if keys else "",
            path=_path(self._reading, record),
            supporters=tuple(sorted((one, other) for one, other in self._supporters.get(id, ()))),
            credits=tuple(KeptCredit(*rest) for rest in self._credits.get(id, ())),
            outcomes=tuple(
                KeptOutcome(at, bool(success), actor, note, key or "")
                for at, success, actor, note, key in self._outcomes.get(id, ())
            ),
            stale_since=stale[0][0] if stale else None,
            neighbours=tuple(
                NeighbourLine(other, similarity, PairClass(klass), score, model)
                for other, similarity, klass, score, model in self._edges.get(id, ())
            ),
        )


def _path(reading: Reading, record: Record) -> tuple[StateStep, ...]:
    """How the record came to be as it is; empty when it is as it was stored, or was erased."""
    if record.version == 1 or record.state is State.EXPUNGED:
        return ()
    steps: list[StateStep] = []
    for entry in reversed(reading.history(record.id)):
        if entry.entity != RECORD:
            continue
        patch = cast("dict[str, Any]", json.loads(entry.patch))
        values = {name: patch[name] for name in STATE_FIELDS if name in patch}
        text = reading.text_at(record.id, patch["digest"]) if "digest" in patch else None
        if values or text is not None:
            steps.append(StateStep(entry.action, values, text))
    if not steps or not set(STATE_FIELDS) <= set(steps[0].values):
        return ()  # the beginning is too long ago
    texts = [step.text for step in steps if step.text is not None]
    if len(texts) < 2 or sum(map(_length, texts)) > MOST_VERSIONS:
        steps = [replace(step, text=None) for step in steps]
    return tuple(step for step in steps if step.values or step.text is not None)


def _length(text: MemoryText) -> int:
    parts = (text.content, text.summary, *text.steps, *text.preconditions, text.note)
    return sum(map(len, parts))


# What people decided


def _proposals(reading: Reading, space: str, after: Sequence[Any], limit: int) -> _Found:
    query = select(proposals).where(proposals.c.space == space)
    rows = reading.rows(_page(query, (proposals.c.created_at, proposals.c.id), after, limit))
    found = map(proposal_of, rows)
    return [((one.created_at, one.id), write_line(ProposalLine(one))) for one in found]


def _dismissals(reading: Reading, space: str, after: Sequence[Any], limit: int) -> _Found:
    key = (
        dismissals.c.first_id,
        dismissals.c.second_id,
        dismissals.c.first_hash,
        dismissals.c.second_hash,
    )
    query = (
        select(*key, dismissals.c.at)
        .join(records, records.c.id == dismissals.c.first_id)
        .where(records.c.space == space)
    )
    found = [Dismissed(*row) for row in reading.rows(_page(query, key, after, limit))]
    return [
        (
            (one.first, one.second, one.first_hash, one.second_hash),
            write_line(DismissalLine(one)),
        )
        for one in found
    ]


def _runs(reading: Reading, space: str, after: Sequence[Any], limit: int) -> _Found:
    query = _page(select(runs).where(runs.c.space == space), (runs.c.at, runs.c.id), after, limit)
    found = [run_of(row) for row in reading.rows(query)]
    return [
        ((run.at, run.id), write_line(RunLine(run, reading.run_records(run.id)))) for run in found
    ]


_SECTIONS: Sequence[Callable[[Reading, str, Sequence[Any], int], _Found]] = (
    _records,
    _proposals,
    _dismissals,
    _runs,
)
_KEY_TYPES: Sequence[Sequence[type]] = ((int,), (int, str), (str, str, str, str), (int, str))
