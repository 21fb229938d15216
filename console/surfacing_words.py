"""Surfacing in words, the same on the screen and on the command line. Pure; no Textual."""

from __future__ import annotations

from console import format as fmt
from console.safe import safe_line
from proxy.surface.model import (
    Adjustment,
    Decision,
    QueryLevel,
    Rating,
    ShownMemory,
    SourceStatus,
    SurfacingEvent,
    ToolHelpfulness,
    Verdict,
)

RATING_WORDS: dict[Rating, str] = {
    Rating.HELPFUL: "helpful",
    Rating.PARTIALLY_HELPFUL: "partly",
    Rating.NOT_RELEVANT: "not relevant",
    Rating.ALREADY_KNOWN: "known",
}

DECISIONS: dict[Decision, str] = {
    Decision.SURFACED: "shown",
    Decision.HELD_OUT: "withheld, to measure what showing does",
    Decision.EMPTY_RENDER: "found, but nothing fitted the budget",
    Decision.CANCELLED: "the call was taken back",
    Decision.TOO_SHORT: "the answer is short",
    Decision.NO_QUERY: "the call says nothing to search for",
    Decision.TOOL_ERROR: "the tool reported an error",
    Decision.DISABLED: "surfacing is off",
    Decision.TOOL_OFF: "off for this tool",
    Decision.EXCLUDED_TOOL: "the tool is excluded",
    Decision.WRITE_TOOL: "the tool changes something",
    Decision.RATE_LIMIT: "too many searches a minute",
    Decision.COOLDOWN: "nearly the same query just before",
    Decision.SESSION_BUDGET: "the session was shown enough",
    Decision.NO_MEMORIES: "there are no memories",
    Decision.NO_RESULTS: "nothing found",
    Decision.BELOW_THRESHOLD: "found, but below the threshold",
    Decision.SEEN: "shown in this session before",
    Decision.INVALIDATED: "rated away in this session",
    Decision.DEMOTED: "rated away for this tool again and again",
    Decision.NOT_TEXT: "the answer holds no text",
    Decision.CIRCUIT_OPEN: "the source is given a rest after faults",
    Decision.TIMEOUT: "the source was too slow",
    Decision.UNAVAILABLE: "the source cannot be reached",
    Decision.FAILED: "the source answered with an error",
}
"""What became of a call's chance to show memories."""

LEVELS: dict[QueryLevel, str] = {
    QueryLevel.TEMPLATE: "the tool's surfacing_query",
    QueryLevel.CONTEXT_QUERY: "_context_query",
    QueryLevel.PATHS: "paths of the arguments",
    QueryLevel.KEYS: "arguments that carry meaning",
    QueryLevel.TOOL_NAME: "the tool's name",
    QueryLevel.NONE: "nowhere",
}
"""Where the words that were searched for came from."""

_BREAKER = {
    "open": "given a rest after faults",
    "half-open": "being tried again",
}
_FULL, _EMPTY = "\u2588", "\u2591"


def percent(share: float | None) -> str:
    """A share of 0 to 1 as ``83%``; a dash for none."""
    return fmt.NONE if share is None else f"{100 * share:.0f}%"


def bar(share: float | None, width: int) -> str:
    """A share of 0 to 1 as filled and empty blocks; spaces for none."""
    if share is None:
        return " " * width
    filled = max(0, min(width, round(share * width)))
    return _FULL * filled + _EMPTY * (width - filled)


def tool_name(upstream: str, tool: str) -> str:
    """``UPSTREAM/TOOL``, as it is written in settings and on the command line."""
    return f"{safe_line(upstream, 60)}/{safe_line(tool, 80)}"


def query_words(event: SurfacingEvent) -> str:
    """What was searched for, or that it may not be kept."""
    if event.query.startswith("sha256:"):
        return "(the query's text was not kept)"
    return f"\u201c{safe_line(event.query, 200)}\u201d"


def reason_words(memory: ShownMemory) -> str:
    """Why it was shown, without the score, which stands beside it."""
    score, colon, rest = memory.why.partition(":")
    return (
        rest.strip() if colon and score.strip().removesuffix("%").strip().isdigit() else memory.why
    )


def rating_words(rating: Rating | None) -> str:
    """One word; ``unrated`` for none."""
    return "unrated" if rating is None else RATING_WORDS[rating]


def unrated_in(event: SurfacingEvent) -> int:
    """Memories of it that nobody rated."""
    return sum(memory.rating is None for memory in event.memories)


def source_words(source: SourceStatus) -> str:
    """What the source of memories is and how it is, one sentence."""
    if source.name == "off":
        return "no memories are shown: surfacing is off, or there is no memory"
    names = {"memory": "the memory of mms", "ltm": "an external memory"}
    words = names.get(source.name, safe_line(source.name, 60))
    if source.detail:
        words += f" ({safe_line(source.detail, 160)})"
    return words


def breaker_words(source: SourceStatus) -> str:
    """``closed``, or what the breaker does and until when."""
    words = _BREAKER.get(source.state, "")
    if not words:
        return safe_line(source.state, 20)
    again = ""
    if source.retry_in_seconds is not None:
        again = f", next attempt in {fmt.age(source.retry_in_seconds)}"
    return f"{safe_line(source.state, 20)}: {words}{again}"


def verdict_words(verdict: Verdict) -> str:
    """How well the source answers."""
    return {
        Verdict.HEALTHY: "answers well",
        Verdict.DEGRADED: "a quarter or more of its searches failed",
        Verdict.FAULTY: "three quarters or more of its searches failed",
        Verdict.UNKNOWN: "too few searches yet to say",
    }[verdict]


def threshold_words(line: ToolHelpfulness) -> str:
    """The threshold in force, and who set it; in parentheses what the settings say."""
    score = f"{line.threshold:.2f}"
    if line.pinned:
        return f"{score} pinned"
    if line.threshold != line.configured:
        return f"{score} tuned ({line.configured:.2f})"
    return score


def step_state(step: Adjustment) -> str:
    """What has become of a step of the tuner."""
    if step.reverted_at is not None:
        return "taken back"
    return f"takes {step.reverts} back" if step.reverts is not None else "in force"
