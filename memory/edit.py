"""What the person does to single records, and outcomes of procedures."""

from __future__ import annotations

import math

from memory.api import (
    ArchiveRecord,
    BestProcedures,
    EditRecord,
    ExpungeRecord,
    ProcedureHit,
    RankedProcedures,
    Receipt,
    RecordOutcome,
    RestoreRecord,
    Search,
)
from memory.core import Core, need_operator, need_record
from memory.errors import FaultCode, MemoryFault
from memory.model import Actor, Instant, Kind, Record, State
from memory.procedures import ProcedureMatch, rank
from memory.recall import LONGEST_QUERY, candidates
from memory.screen import check_text, screen
from memory.store.selection import Selection
from memory.store.writing import UNSET, RecordPatch
from memory.supersede import restore, take_back
from memory.text import content_hash, norm_hash

_LONGEST_NOTE = 2_000
_LONGEST_KEY = 200


def edit_record(core: Core, request: EditRecord, actor: Actor, now: Instant) -> Record:
    """Change a record. Raises ``NEEDS_OPERATOR``, ``NOT_FOUND``, ``STALE`` or ``INVALID``."""
    need_operator(actor, "edit memories")
    if request.importance is not None and not (
        math.isfinite(request.importance) and 0 <= request.importance <= 1
    ):
        raise MemoryFault(FaultCode.INVALID, "importance must be a number from 0 to 1.")
    with core.store.writing(actor, request.space, now) as writing:
        record = _living(need_record(writing, request.id, request.space))
        version = request.version
        if request.text is not None and request.text != record.text:
            check_text(request.text, steps_needed=record.kind is Kind.PROCEDURAL)
            text = screen(request.text, core.settings.secrets).text
            record = writing.edit_text(
                record.id, text, content_hash(text), norm_hash(text), expected_version=version
            )
            version = record.version
        patch = RecordPatch(
            importance=UNSET if request.importance is None else request.importance,
            pinned=UNSET if request.pinned is None else request.pinned,
            category=UNSET if request.category is None else request.category,
            valid_to=UNSET if request.valid_to is None else request.valid_to,
        )
        if patch != RecordPatch():
            record = writing.change(record.id, "edited", patch, expected_version=version)
        return record


def archive_record(core: Core, request: ArchiveRecord, actor: Actor, now: Instant) -> Record:
    """Take a record out of search. Raises ``NEEDS_OPERATOR`` or ``NOT_FOUND``."""
    need_operator(actor, "archive memories")
    with core.store.writing(actor, request.space, now) as writing:
        record = _living(need_record(writing, request.id, request.space))
        if record.state is State.ARCHIVED:
            return record
        return writing.change(
            record.id,
            "archived",
            RecordPatch(
                state=State.ARCHIVED,
                state_reason=request.reason or "by hand",
                state_at=now,
            ),
            expected_version=None,
        )


def restore_record(core: Core, request: RestoreRecord, actor: Actor, now: Instant) -> Record:
    """Make it active again. Raises ``NEEDS_OPERATOR``, ``NOT_FOUND`` or ``REFUSED``."""
    need_operator(actor, "restore memories")
    with core.store.writing(actor, request.space, now) as writing:
        record = _living(need_record(writing, request.id, request.space))
        if record.state is State.SUPERSEDED:
            take_back(writing, record, now)
        elif record.state is State.ARCHIVED:
            restore(writing, record, now, "restored by hand")
        elif record.state is State.QUARANTINED:
            writing.change(
                record.id,
                "approved",
                RecordPatch(state=State.ACTIVE, state_reason="", state_at=now),
                expected_version=None,
            )
        return need_record(writing, record.id, request.space)


def expunge_record(core: Core, request: ExpungeRecord, actor: Actor, now: Instant) -> Receipt:
    """Erase a record's text and vectors everywhere. Raises ``NEEDS_OPERATOR`` or ``NOT_FOUND``."""
    need_operator(actor, "erase memories")
    with core.store.writing(actor, request.space, now) as writing:
        record = need_record(writing, request.id, request.space)
        receipt = writing.expunge(record.id, request.reason or "by request")
    places, problems = core.index.erase(record.num)
    problems += core.store.purge_files()
    return Receipt(record.id, receipt.places + places, problems)


def record_outcome(core: Core, request: RecordOutcome, actor: Actor, now: Instant) -> Record:
    """Count one use of a procedure. Raises ``NOT_FOUND`` or ``REFUSED``."""
    if len(request.note) > _LONGEST_NOTE or len(request.key) > _LONGEST_KEY:
        raise MemoryFault(
            FaultCode.INVALID,
            f"note may have {_LONGEST_NOTE:,} and key {_LONGEST_KEY} characters at most.",
        )
    with core.store.writing(actor, request.space, now) as writing:
        record = need_record(writing, request.id, request.space, "record_id")
        if record.kind is not Kind.PROCEDURAL:
            raise MemoryFault(
                FaultCode.REFUSED,
                f"{record.id} is {record.kind.value}; only procedures have outcomes.",
                "Take the record_id from memory_best_procedures.",
            )
        if record.state is State.EXPUNGED:
            raise MemoryFault(FaultCode.REFUSED, f"{record.id} was erased.")
        writing.outcome(record.id, request.success, request.key, request.note)
        return need_record(writing, record.id, request.space)


def best_procedures(core: Core, request: BestProcedures, now: Instant) -> RankedProcedures:
    """Procedures for a task: by similarity as a gate, then by the exploration index."""
    search = Search(request.task, request.space, request.top_k)
    if not request.task.strip():
        raise MemoryFault(FaultCode.INVALID, "task is empty.", "Say what is to be done.")
    if not 1 <= search.top_k <= 100:
        raise MemoryFault(FaultCode.INVALID, f"top_k is {search.top_k}, but must be 1 to 100.")
    question = core.index.embed_query(request.task[:LONGEST_QUERY])
    selection = Selection(space=request.space, kinds=(Kind.PROCEDURAL,), valid_at=now)
    with core.store.reading() as reading:
        found = candidates(core, reading, request.task, selection, question.vector)
        records = reading.by_nums(found.fused)
        matches = [
            ProcedureMatch(
                record.id,
                found.cosines.get(num, 0.0)
                if question.vector is not None
                else found.fused[num].words,
                record.successes,
                record.failures,
            )
            for num, record in records.items()
        ]
        by_id = {record.id: record for record in records.values()}
        hits = tuple(
            ProcedureHit(
                record=by_id[one.id],
                similarity=one.similarity,
                wilson_score=one.wilson_score,
                combined_score=one.combined_score,
                lower=one.lower,
                upper=one.upper,
                explore=one.explore,
            )
            for one in rank(matches)[: request.top_k]
        )
    return RankedProcedures(hits, question.problem if question.vector is None else "")


def _living(record: Record) -> Record:
    if record.state is State.EXPUNGED:
        raise MemoryFault(FaultCode.REFUSED, f"{record.id} was erased; there is nothing to change.")
    return record
