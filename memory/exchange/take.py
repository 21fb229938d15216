"""Import of our own lines: ids, states and times are kept, what is there already is repeated.

Nothing in a file is believed unless it can be checked: hashes and warnings are made anew from the texts,
texts pass the limits and the policy of secrets, and a line that is refused changes nothing. Imports
SQLAlchemy.
"""

from __future__ import annotations

import math
from dataclasses import fields, replace

from sqlalchemy import bindparam, select

from memory.api import Import, ImportResult
from memory.core import Core, need_operator
from memory.errors import FaultCode, MemoryFault
from memory.exchange.lines import (
    FORMAT,
    VERSION,
    BadLine,
    DismissalLine,
    Header,
    Line,
    ProposalLine,
    RecordLine,
    RunLine,
    read_line,
)
from memory.ids import LAST_INSTANT, is_id
from memory.model import DAY, Actor, Edge, Instant, MemoryText, Record, State
from memory.screen import check_text, screen
from memory.store.importing import STATE_FIELDS, ImportedRecord, StateStep
from memory.store.tables import dismissals
from memory.store.writing import NewRecord, Writing
from memory.text import content_hash, norm_hash

MOST_LINES = 500
_LONGEST_NAME = 2_000
_MOST_COUNT = (1 << 31) - 1
_MOST_DAYS = LAST_INSTANT // DAY
_LONGEST_CHAIN = 1_000
_HEX = frozenset("0123456789abcdef")
_OWN_ACTIONS = frozenset({"expunged", "linked", "unlinked"})
"""Actions that no step of a state has."""
_PAIR = select(dismissals.c.at).where(
    dismissals.c.first_id == bindparam("first"),
    dismissals.c.second_id == bindparam("second"),
    dismissals.c.first_hash == bindparam("first_hash"),
    dismissals.c.second_hash == bindparam("second_hash"),
)


def import_lines(core: Core, request: Import, actor: Actor, now: Instant) -> ImportResult:
    """Take a page of lines in one transaction. Person only.

    Raises ``NEEDS_OPERATOR``, and ``INVALID`` for a header of another format or a later version. Lines
    that cannot be taken are told by number and left out.
    """
    need_operator(actor, "import memories")
    if len(request.lines) > MOST_LINES:
        raise MemoryFault(
            FaultCode.INVALID, f"{len(request.lines)} lines; a page has at most {MOST_LINES}."
        )
    added = repeated = 0
    refused: list[str] = []
    with core.store.writing(actor, request.space, now) as writing:
        for number, text in enumerate(request.lines, 1):
            if not text.strip():
                continue
            try:
                is_new = _take(core, writing, request.space, read_line(text))
            except (BadLine, MemoryFault) as error:
                _stop_at_header(error)
                refused.append(f"line {number}: {error}")
                continue
            added += is_new is True
            repeated += is_new is False
    return ImportResult(added, repeated, tuple(refused))


class _OtherFormat(BadLine):
    """The whole file is none of ours."""


def _stop_at_header(error: Exception) -> None:
    if isinstance(error, _OtherFormat):
        raise MemoryFault(FaultCode.INVALID, str(error), "Nothing of this page was taken.")


def _take(core: Core, writing: Writing, space: str, line: Line) -> bool | None:
    """Whether it is new; ``None``: it counts as nothing. Raises `BadLine` or `MemoryFault`."""
    match line:
        case Header():
            if line.format != FORMAT or line.version > VERSION:
                raise _OtherFormat(
                    f"This file is {line.format!r}, version {line.version}; "
                    f"{FORMAT!r} up to version {VERSION} can be read."
                )
            return None
        case RecordLine():
            return _take_record(core, writing, space, line)
        case ProposalLine():
            return _take_proposal(writing, space, line)
        case DismissalLine():
            return _take_dismissal(writing, space, line)
        case RunLine():
            return _take_run(writing, space, line)


# Records


def _take_record(core: Core, writing: Writing, space: str, line: RecordLine) -> bool:
    record = line.record
    _check_id("id", record.id)
    known = writing.record(record.id)
    if known is not None:
        if known.space != space:
            raise BadLine(f"{record.id} is in space {known.space!r} already")
        return False
    erased = record.state is State.EXPUNGED
    if erased:
        if not _is_digest(record.content_hash):
            raise BadLine("content_hash of an erased record must be 64 hexadecimal digits")
        text, flags = MemoryText(""), record.flags
        digest, norm = record.content_hash, ""
    else:
        check_text(record.text)
        screened = screen(record.text, core.settings.secrets)
        text = screened.text
        flags = tuple(dict.fromkeys((*record.flags, *screened.flags)))
        digest, norm = content_hash(text), norm_hash(text)
    _check_values(record, writing.at)
    _check_counts(line)
    _check_no_circle(writing, record)
    key = line.key if line.key and writing.keyed(line.key) is None else ""
    _check_name("key", key)
    num = writing.import_record(
        ImportedRecord(
            NewRecord(
                kind=record.kind,
                text=text,
                content_hash=digest,
                norm_hash=norm,
                state=record.state,
                origin=record.origin,
                actor=record.actor,
                session=record.session,
                trust=record.trust,
                source_ref=record.source_ref,
                importance=record.importance,
                confidence=record.confidence,
                category=record.category,
                domain=record.domain,
                pinned=record.pinned,
                flags=flags,
                related_ids=record.related_ids,
                valid_from=record.valid_from,
                valid_to=record.valid_to,
                session_id=record.session_id,
                turn_number=record.turn_number,
                state_reason=record.state_reason,
                key=key,
                id=record.id,
                version=record.version,
                recorded_at=record.recorded_at,
                state_at=record.state_at,
                support=record.support,
                use_count=record.use_count,
                first_used=record.first_used,
                last_used=record.last_used,
                successes=record.successes,
                failures=record.failures,
            ),
            superseded_by=tuple(dict.fromkeys(record.superseded_by)),
            supersedes=tuple(dict.fromkeys(record.supersedes)),
            path=_path(core, line),
            supporters=frozenset(line.supporters),
            credits=tuple({(one.session, one.day): one for one in line.credits}.values()),
            outcomes=tuple(
                {(one.key or place): one for place, one in enumerate(line.outcomes)}.values()
            ),
            stale_since=line.stale_since,
        )
    )
    if not erased:
        _take_edges(writing, num, line)
    return True


def _take_edges(writing: Writing, num: int, line: RecordLine) -> None:
    others = {one.id: one.num for one in writing.records(one.id for one in line.neighbours)}
    writing.put_edges(
        Edge(others[one.id], num, one.similarity, one.klass, one.score, one.model)
        for one in line.neighbours
        if one.id in others
    )


def _path(core: Core, line: RecordLine) -> tuple[StateStep, ...]:
    """The way into the record's state, if it leads there; a way that does not is left out."""
    record = line.record
    if record.state is State.EXPUNGED or not line.path:
        return ()
    told: dict[str, str | int | None] = {}
    for step in line.path:
        told.update(step.values)
    now = {
        "state": record.state.value,
        "state_reason": record.state_reason,
        "state_at": record.state_at,
        "valid_to": record.valid_to,
    }
    if told != now or set(line.path[0].values) != set(STATE_FIELDS):
        return ()
    if not all(map(_is_step, line.path)):
        return ()
    texts = [step.text for step in line.path if step.text is not None]
    if not texts:
        return line.path
    if line.path[0].text is None or texts[-1] != record.text:
        return ()
    return tuple(
        step if step.text is None else replace(step, text=_screened(core, step.text))
        for step in line.path
    )


def _screened(core: Core, text: MemoryText) -> MemoryText:
    """The text as it may be kept. Raises `MemoryFault`."""
    check_text(text)
    return screen(text, core.settings.secrets).text


def _is_step(step: StateStep) -> bool:
    if not step.action.replace("_", "").isalpha() or step.action in _OWN_ACTIONS:
        return False
    for name, value in step.values.items():
        match name:
            case "state":
                if value not in {one.value for one in State} - {State.EXPUNGED.value}:
                    return False
            case "state_reason":
                if not isinstance(value, str) or len(value) > _LONGEST_NAME or "\0" in value:
                    return False
            case _:
                if value is None:
                    if name != "valid_to":
                        return False
                elif not isinstance(value, int) or abs(value) > LAST_INSTANT:
                    return False
    return True


def _check_values(record: Record, now: Instant) -> None:
    """Raises `BadLine` for what no memory can hold."""
    for name, unit in (("importance", record.importance), ("confidence", record.confidence)):
        if not math.isfinite(unit) or not 0 <= unit <= 1:
            raise BadLine(f"{name} must be a number from 0 to 1")
    if not 0 <= record.trust <= 3:
        raise BadLine("trust must be 0 to 3")
    if not 1 <= record.version < _MOST_COUNT:
        raise BadLine("version must be 1 or more")
    for name in ("support", "use_count", "successes", "failures", "turn_number"):
        count = getattr(record, name)
        if count is not None and not 0 <= count <= _MOST_COUNT:
            raise BadLine(f"{name} must be 0 or more")
    for name in _TIMES:
        at = getattr(record, name)
        if at is not None and abs(at) > LAST_INSTANT:
            raise BadLine(f"{name} is out of range")
    if record.recorded_at > now:
        raise BadLine("recorded_at is in the future; a clock is wrong")
    for one in fields(Record):
        value = getattr(record, one.name)
        if isinstance(value, str):
            _check_name(one.name, value)
    for name in ("superseded_by", "supersedes", "related_ids"):
        for id in getattr(record, name):
            _check_name(name, id)
    for flag in record.flags:
        _check_name("flags", flag)


def _check_counts(line: RecordLine) -> None:
    names = [name for pair in line.supporters for name in pair]
    names += [name for one in line.credits for name in (one.session, one.source)]
    for one in line.outcomes:
        names += (one.actor, one.key, one.note)
        if abs(one.at) > LAST_INSTANT:
            raise BadLine("the time of an outcome is out of range")
    for name in names:
        _check_name("a name", name)
    if any(not 0 <= one.day <= _MOST_DAYS for one in line.credits):
        raise BadLine("the day of a credit is out of range")
    if line.stale_since is not None and abs(line.stale_since) > LAST_INSTANT:
        raise BadLine("stale_since is out of range")
    for one in line.neighbours:
        _check_name("model", one.model)
        if not (math.isfinite(one.similarity) and math.isfinite(one.score)):
            raise BadLine("similarity and score must be numbers")


def _check_no_circle(writing: Writing, record: Record) -> None:
    """Raises `BadLine` when what took the record's place would, at the end, be replaced by it."""
    seen: set[str] = set()
    todo = record.superseded_by
    while todo and len(seen) < _LONGEST_CHAIN:
        if record.id in todo:
            raise BadLine("it would supersede itself, by way of others")
        seen.update(todo)
        following = (id for one in writing.records(todo) for id in one.superseded_by)
        todo = tuple(dict.fromkeys(id for id in following if id not in seen))


_TIMES = ("recorded_at", "state_at", "valid_from", "valid_to", "first_used", "last_used")


# What people decided


def _take_proposal(writing: Writing, space: str, line: ProposalLine) -> bool:
    proposal = line.proposal
    _check_id("id", proposal.id)
    known = writing.proposal(proposal.id)
    if known is not None:
        if known.space != space:
            raise BadLine(f"{proposal.id} is in space {known.space!r} already")
        return False
    _check_known(writing, space, {*proposal.keep, *proposal.replace})
    evidence = proposal.evidence
    if not all(map(math.isfinite, (proposal.similarity, evidence.score))):
        raise BadLine("similarity and score must be numbers")
    texts = (
        proposal.proposer,
        proposal.agent_verdict,
        proposal.plan_hash,
        proposal.decided_by,
        proposal.reason,
        *evidence.older_words,
        *evidence.newer_words,
    )
    for text in texts:
        _check_name("a text", text)
    for at in (proposal.created_at, proposal.valid_to, proposal.decided_at):
        if at is not None and abs(at) > LAST_INSTANT:
            raise BadLine("a time is out of range")
    writing.import_proposal(replace(proposal, space=space))
    return True


def _take_dismissal(writing: Writing, space: str, line: DismissalLine) -> bool:
    one = line.dismissal
    _check_known(writing, space, {one.first, one.second})
    if one.first >= one.second:
        raise BadLine("first must be the smaller id")
    if not (_is_digest(one.first_hash) and _is_digest(one.second_hash)):
        raise BadLine("hashes must be 64 hexadecimal digits")
    if abs(one.at) > LAST_INSTANT:
        raise BadLine("at is out of range")
    pair = {
        "first": one.first,
        "second": one.second,
        "first_hash": one.first_hash,
        "second_hash": one.second_hash,
    }
    if writing.rows(_PAIR, pair):
        return False
    writing.import_dismissal(one)
    return True


def _take_run(writing: Writing, space: str, line: RunLine) -> bool:
    run = line.run
    _check_id("id", run.id)
    known = writing.run(run.id)
    if known is not None:
        if known.space != space:
            raise BadLine(f"{run.id} is in space {known.space!r} already")
        return False
    _check_name("actor", run.actor)
    _check_name("plan_hash", run.plan_hash)
    counts = [count for _, count in (*run.by_reason, *line.changed)]
    for count in (run.archived, run.would_have_hit, *counts):
        if not 0 <= count <= _MOST_COUNT:
            raise BadLine("a count must be 0 or more")
    for at in (run.at, run.undone_at):
        if at is not None and abs(at) > LAST_INSTANT:
            raise BadLine("a time is out of range")
    _check_known(writing, space, {id for id, _ in line.changed})
    writing.import_run(replace(run, space=space), line.changed)
    return True


def _check_known(writing: Writing, space: str, ids: set[str]) -> None:
    here = {one.id for one in writing.records(sorted(ids)) if one.space == space}
    missing = sorted(ids - here)
    if missing:
        raise BadLine(f"it is about {missing[0][:26]!r}, which is not in this space")


def _check_id(name: str, id: str) -> None:
    if not is_id(id):
        raise BadLine(f"{name} must be an id of 26 characters")


def _check_name(name: str, value: str) -> None:
    if len(value) > _LONGEST_NAME or "\0" in value:
        raise BadLine(
            f"{name} has {len(value):,} characters or a NUL; {_LONGEST_NAME:,} are possible"
        )


def _is_digest(text: str) -> bool:
    return len(text) == 64 and _HEX.issuperset(text)
