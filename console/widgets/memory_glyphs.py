"""One glyph, one word and one tone for every state of a record and every kind and state of a proposal."""

from __future__ import annotations

from console.widgets.glyphs import Sign
from console.widgets.tone import Tone
from memory.model import ProposalKind, ProposalState, State

RECORD_STATES: dict[State, Sign] = {
    State.ACTIVE: Sign("\u25cf", "active", Tone.GOOD),
    State.QUARANTINED: Sign("\u25b2", "quarantined", Tone.WARN),
    State.SUPERSEDED: Sign("\u25cb", "superseded", Tone.MUTED),
    State.ARCHIVED: Sign("\u25cc", "archived", Tone.MUTED),
    State.EXPUNGED: Sign("\u2716", "expunged", Tone.BAD),
}

RECORD_MEANINGS: dict[State, str] = {
    State.ACTIVE: "agents find it",
    State.QUARANTINED: "waits for you; agents do not find it",
    State.SUPERSEDED: "another record took its place; it can be restored",
    State.ARCHIVED: "out of search; it can be restored",
    State.EXPUNGED: "its text was erased for ever",
}

PROPOSAL_KINDS: dict[ProposalKind, Sign] = {
    ProposalKind.SUPERSEDE: Sign("\u25c6", "replace", Tone.WARN),
    ProposalKind.DUPLICATE: Sign("\u2261", "duplicate", Tone.ACCENT),
    ProposalKind.APPROVE: Sign("\u25b2", "let in", Tone.WARN),
    ProposalKind.RUN: Sign("\u25cc", "forget", Tone.BAD),
}

PROPOSAL_MEANINGS: dict[ProposalKind, str] = {
    ProposalKind.SUPERSEDE: "a new record contradicts an old one and would replace it",
    ProposalKind.DUPLICATE: "records say the same; one would stay",
    ProposalKind.APPROVE: "a record is kept back until you let it in",
    ProposalKind.RUN: "an agent wants to run a plan of forgetting",
}

PROPOSAL_STATES: dict[ProposalState, Sign] = {
    ProposalState.OPEN: Sign("?", "waits", Tone.WARN),
    ProposalState.APPLIED: Sign("\u2713", "approved", Tone.GOOD),
    ProposalState.REJECTED: Sign("\u2716", "rejected", Tone.BAD),
    ProposalState.KEPT_BOTH: Sign("=", "kept both", Tone.ACCENT),
    ProposalState.STALE: Sign("\u25b2", "stale", Tone.WARN),
    ProposalState.WITHDRAWN: Sign("\u2298", "withdrawn", Tone.MUTED),
}
