"""One glyph, one word and one tone for every state, outcome and severity, the same on all screens."""

from __future__ import annotations

from typing import NamedTuple

from console.widgets.tone import Cell, Tone
from proxy.model import Outcome, Severity, UpstreamState


class Sign(NamedTuple):
    """How a value is shown. The word alone says everything that the glyph and the tone say."""

    glyph: str
    word: str
    tone: Tone

    @property
    def mark(self) -> Cell:
        """The glyph as a cell."""
        return Cell(self.glyph, self.tone)

    @property
    def name(self) -> Cell:
        """The word as a cell."""
        return Cell(self.word, self.tone)

    @property
    def both(self) -> Cell:
        """Glyph and word."""
        return Cell(f"{self.glyph} {self.word}", self.tone)


STATES: dict[UpstreamState, Sign] = {
    UpstreamState.READY: Sign("\u25cf", "ready", Tone.GOOD),
    UpstreamState.DEGRADED: Sign("\u25d0", "degraded", Tone.WARN),
    UpstreamState.CONNECTING: Sign("\u25cc", "connecting", Tone.ACCENT),
    UpstreamState.BACKING_OFF: Sign("\u25cb", "down", Tone.BAD),
    UpstreamState.FAILED: Sign("\u2716", "failed", Tone.BAD),
    UpstreamState.IDLE: Sign("\u00b7", "idle", Tone.MUTED),
    UpstreamState.DISABLED: Sign("\u2298", "disabled", Tone.MUTED),
}

MEANINGS: dict[UpstreamState, str] = {
    UpstreamState.READY: "answers calls",
    UpstreamState.DEGRADED: "answers, but recent calls failed on the way",
    UpstreamState.CONNECTING: "is being started",
    UpstreamState.BACKING_OFF: "does not run; the next attempt has a time",
    UpstreamState.FAILED: "waits for you: only a person's action helps",
    UpstreamState.IDLE: "configured, not started yet",
    UpstreamState.DISABLED: "switched off in the settings",
}

OUTCOMES: dict[Outcome, Sign] = {
    Outcome.OK: Sign("\u2713", "ok", Tone.GOOD),
    Outcome.TOOL_ERROR: Sign("!", "tool error", Tone.WARN),
    Outcome.ERROR: Sign("\u2716", "error", Tone.BAD),
    Outcome.TIMEOUT: Sign("\u2716", "timeout", Tone.BAD),
    Outcome.CANCELLED: Sign("\u2298", "cancelled", Tone.MUTED),
    Outcome.UPSTREAM_LOST: Sign("\u2716", "lost", Tone.BAD),
}

ENDINGS: dict[Outcome, str] = {
    Outcome.OK: "answered",
    Outcome.TOOL_ERROR: "the tool itself reported an error; the upstream is fine",
    Outcome.ERROR: "the upstream answered with an error",
    Outcome.TIMEOUT: "no answer within the deadline",
    Outcome.CANCELLED: "the host took the call back",
    Outcome.UPSTREAM_LOST: "the upstream went away before it answered",
}

SEVERITIES: dict[Severity, Sign] = {
    Severity.INFO: Sign("\u00b7", "note", Tone.ACCENT),
    Severity.WARNING: Sign("\u25b2", "warning", Tone.WARN),
    Severity.ERROR: Sign("\u2716", "error", Tone.BAD),
}
