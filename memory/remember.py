"""The write path: check, screen, repeat or store, and look for what the new text contradicts or repeats.

A text that is there already is not stored again; its support counts one more. Nothing else changes by
itself: what looks like a contradiction becomes a proposal with its evidence.
"""

from __future__ import annotations

import math

from memory.api import AddRecord, Candidate, Resolve, Stored
from memory.compare import NEAR_FROM, content_words, is_candidate, related, surely_unrelated
from memory.core import Core, fresh_id, need_record
from memory.embedding.port import Floats
from memory.errors import FaultCode, MemoryFault
from memory.model import (
    DAY,
    TRUST,
    Actor,
    Edge,
    Instant,
    Kind,
    MemoryText,
    Origin,
    PairClass,
    PairEvidence,
    Proposal,
    ProposalKind,
    ProposalState,
    Record,
    State,
)
from memory.recall import candidates
from memory.screen import check_text, screen
from memory.semantic_index import encoded
from memory.store.rows import Saying
from memory.store.selection import Selection
from memory.store.writing import NewRecord, RecordPatch, Writing
from memory.supersede import resolve_within
from memory.text import content_hash, embedding_text, norm_hash
from memory.words.contradiction import SHOWN_FROM

MOST_CANDIDATES = 5
"""Contradictions that one store answers with."""
_LOOKED_AT = 10
"""Neighbours of each kind, words and vectors, whose texts are compared."""
_SAME = PairEvidence(PairClass.IDENTICAL, 1.0)
_LONGEST_NAME = 200
_LONGEST_SOURCE = 512
_MOST_RELATED = 50


def add(core: Core, request: AddRecord, actor: Actor, now: Instant) -> Stored:
    """Store a text. Raises ``INVALID``, ``REFUSED`` (a secret) or ``NOT_FOUND`` (``supersedes``)."""
    _check(request, now)
    screened = screen(request.text, core.settings.secrets)
    text = screened.text
    digest, norm = content_hash(text), norm_hash(text)
    question = core.index.embed_now(embedding_text(text))
    quarantined = request.quarantine or actor.origin is Origin.EXTERNAL
    with core.store.writing(actor, request.space, now) as writing:
        if request.key:
            known = writing.keyed(request.key)
            if known is not None:
                return Stored(known, repeated=True)
        if request.supersedes is not None:
            need_record(writing, request.supersedes, request.space, "supersedes")
        same = _same(writing, request, digest, quarantined=quarantined)
        if same is not None:
            return _repeat(writing, same, now)
        record = writing.add(
            NewRecord(
                id=fresh_id(now),
                kind=request.kind,
                state=State.QUARANTINED if quarantined else State.ACTIVE,
                text=text,
                content_hash=digest,
                norm_hash=norm,
                source_ref=request.source_ref,
                trust=TRUST[actor.origin],
                importance=request.importance,
                confidence=request.confidence,
                category=request.category,
                domain=request.domain,
                flags=screened.flags,
                related_ids=request.related_ids,
                valid_from=request.valid_from,
                valid_to=request.valid_to,
                session_id=request.session_id,
                turn_number=request.turn_number,
                state_reason="waits for review" if quarantined else "",
                key=request.key,
            )
        )
        model, seq = "", 0
        if question.vector is not None:
            model = core.index.wanted_profile().id
            seq = writing.put_first_vector(model, record.num, encoded(question.vector))
        if quarantined:
            _ask_for_review(writing, record, actor, now)
            contradictions, duplicates = (), ()
        else:
            contradictions, duplicates = look_around(
                core, writing, record, question.vector, model, now, fresh=True
            )
        if request.supersedes is not None:
            resolve_within(
                core,
                writing,
                Resolve(record.id, request.supersedes, request.space),
                actor,
                now,
            )
            record = writing.record(record.id) or record
    if question.vector is not None:
        core.index.vector_came(model, record.num, question.vector, seq)
    return Stored(
        record,
        repeated=False,
        contradictions=contradictions,
        duplicates=duplicates,
        degraded=question.problem if question.vector is None else "",
        redacted=screened.redacted,
    )


def look_around(
    core: Core,
    writing: Writing,
    record: Record,
    vector: Floats | None,
    model: str,
    now: Instant,
    *,
    fresh: bool = False,
) -> tuple[tuple[Candidate, ...], tuple[Candidate, ...]]:
    """What the record contradicts and what it repeats; keeps edges and files proposals.

    May be called again for the same record once it has its vector: what was found before, or dismissed,
    is not filed again. ``fresh``: the record was stored in this very transaction.
    """
    if record.kind is Kind.EPISODIC:
        return (), ()  # what happened is history: two episodes never exclude each other
    selection = Selection(space=record.space, kinds=(record.kind,), states=(State.ACTIVE,))
    profile = core.index.searched_profile()
    comparable = vector if profile is not None and profile.id == model else None
    found = candidates(core, writing, record.text.content, selection, comparable, limit=_LOOKED_AT)
    nums = [
        num
        for num in found.fused
        if num != record.num and found.cosines.get(num, NEAR_FROM) >= NEAR_FROM
    ]
    known = writing.sayings(nums)
    own_words, own_text = content_words(record.text.content), whole(record.text)
    contradictions: list[Candidate] = []
    duplicates: list[Candidate] = []
    edges: list[Edge] = []
    evidences: dict[int, PairEvidence] = {}
    for num in nums:
        saying = known.get(num)
        if saying is None or _do_not_overlap(saying, record):
            continue
        similarity = found.cosines.get(num)
        same, text = saying.norm_hash == record.norm_hash, whole(saying.text)
        if not same and surely_unrelated(text, own_text):
            continue
        if not is_candidate(content_words(saying.text.content), own_words, similarity):
            continue
        evidence = _SAME if same else related(text, own_text, similarity)
        if evidence is not None:
            evidences[num] = evidence
    others = writing.by_nums(evidences)
    for num, evidence in evidences.items():
        other, similarity = others[num], found.cosines.get(num)
        older, newer = sorted((other.num, record.num))
        edges.append(Edge(older, newer, similarity or 0.0, evidence.klass, evidence.score, model))
        candidate = Candidate(other, similarity or 0.0, evidence)
        if evidence.duplicates:
            duplicates.append(candidate)
        elif (
            evidence.contradicts
            and evidence.score >= SHOWN_FROM
            and not writing.dismissed(other.id, record.id)
        ):
            contradictions.append(candidate)
    writing.put_edges(edges, first=fresh)
    contradictions.sort(key=lambda one: (-one.evidence.score, one.record.id))
    duplicates.sort(key=lambda one: (-one.similarity, one.record.id))
    shown = tuple(
        Candidate(
            one.record,
            one.similarity,
            one.evidence,
            _propose(writing, record, one, now),
        )
        for one in contradictions[:MOST_CANDIDATES]
    )
    return shown, tuple(duplicates[:MOST_CANDIDATES])


def _propose(writing: Writing, record: Record, candidate: Candidate, now: Instant) -> str:
    """Id of the open proposal for the pair, filed now if there was none."""
    before = writing.open_pair((record.id,), (candidate.record.id,))
    if before is not None:
        return before.id
    proposal = Proposal(
        id=fresh_id(now),
        kind=ProposalKind.SUPERSEDE,
        state=ProposalState.OPEN,
        space=record.space,
        keep=(record.id,),
        replace=(candidate.record.id,),
        versions=((record.id, record.version), (candidate.record.id, candidate.record.version)),
        evidence=candidate.evidence,
        similarity=candidate.similarity,
        proposer="engine",
        created_at=now,
        valid_to=record.valid_from,
    )
    writing.add_proposal(proposal)
    return proposal.id


def _ask_for_review(writing: Writing, record: Record, actor: Actor, now: Instant) -> None:
    writing.add_proposal(
        Proposal(
            id=fresh_id(now),
            kind=ProposalKind.APPROVE,
            state=ProposalState.OPEN,
            space=record.space,
            keep=(record.id,),
            replace=(),
            versions=((record.id, record.version),),
            evidence=PairEvidence(PairClass.UNRELATED, 0.0),
            similarity=0.0,
            proposer=actor.name or actor.origin.value,
            created_at=now,
        )
    )


def _same(writing: Writing, request: AddRecord, digest: str, *, quarantined: bool) -> Record | None:
    """The record that already says this, if storing it again adds nothing."""
    for other in writing.same_text(request.space, request.kind, digest):
        if request.kind is Kind.EPISODIC and (
            other.session_id != request.session_id or other.turn_number != request.turn_number
        ):
            continue  # the same words at another time are another event
        if quarantined and other.state is State.ARCHIVED and other.state_reason != "rejected":
            continue  # what was forgotten comes back by the person's decision only
        if other.state in (State.ACTIVE, State.QUARANTINED, State.ARCHIVED):
            return other
    return None


def _repeat(writing: Writing, same: Record, now: Instant) -> Stored:
    writing.repeat(same.id)
    if same.state is State.ARCHIVED and same.state_reason != "rejected":
        # It was forgotten, and is needed again after all.
        writing.change(
            same.id,
            "restored",
            RecordPatch(state=State.ACTIVE, state_reason="stored again", state_at=now),
            expected_version=None,
        )
    return Stored(writing.record(same.id) or same, repeated=True)


def _do_not_overlap(one: Saying, other: Record) -> bool:
    """Whether their times of validity have no moment in common: then both can hold."""
    starts = max(one.valid_from or -(2**62), other.valid_from or -(2**62))
    ends = min(one.valid_to or 2**62, other.valid_to or 2**62)
    return starts >= ends


def whole(text: MemoryText) -> str:
    """All of a text that is compared, by lines."""
    return "\n".join((text.content, *text.steps, *text.preconditions))


def _check(request: AddRecord, now: Instant) -> None:
    check_text(request.text)
    for name, value in (("importance", request.importance), ("confidence", request.confidence)):
        if not math.isfinite(value) or not 0 <= value <= 1:
            raise MemoryFault(
                FaultCode.INVALID, f"{name} is {value}, but must be a number from 0 to 1."
            )
    if request.kind is Kind.PROCEDURAL and not request.text.steps:
        raise MemoryFault(FaultCode.INVALID, "steps is empty; a procedure has at least one step.")
    if request.kind is Kind.EPISODIC and not (request.session_id or "").strip():
        raise MemoryFault(
            FaultCode.INVALID, "session_id is empty; an episode belongs to a session."
        )
    names = (
        ("category", request.category, _LONGEST_NAME),
        ("domain", request.domain or "", _LONGEST_NAME),
        ("session_id", request.session_id or "", _LONGEST_NAME),
        ("source_ref", request.source_ref, _LONGEST_SOURCE),
        ("key", request.key, _LONGEST_NAME),
    )
    for name, value, longest in names:
        if len(value) > longest or "\0" in value:
            raise MemoryFault(
                FaultCode.INVALID,
                f"{name} has {len(value):,} characters; at most {longest} are possible.",
            )
    if len(request.related_ids) > _MOST_RELATED:
        raise MemoryFault(FaultCode.INVALID, f"related_ids has more than {_MOST_RELATED} ids.")
    if request.turn_number is not None and not 0 <= request.turn_number < 2**31:
        raise MemoryFault(FaultCode.INVALID, "turn_number must be 0 or more.")
    if (
        request.valid_from is not None
        and request.valid_to is not None
        and request.valid_to <= request.valid_from
    ):
        raise MemoryFault(FaultCode.INVALID, "valid_to must be after valid_from.")
    if request.valid_from is not None and request.valid_from > now + 100 * 365 * DAY:
        raise MemoryFault(FaultCode.INVALID, "valid_from is more than a century ahead.")
