"""Where keys work: the screens with their numbers and names, and what else has keys of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

EVERYWHERE = "everywhere"
LISTS = "lists"
OVERVIEW = "overview"
UPSTREAMS = "upstreams"
UPSTREAM = "upstream"
CALLS = "calls"
CALL = "call"
CONFIG = "config"
SAVINGS = "savings"
HELD = "held"
HELD_TEXT = "held_text"
WHAT_IF = "what_if"
MEMORY = "memory"
RECORD = "record"
DECISIONS = "decisions"
FORGETTING = "forgetting"
RUNS = "runs"
SURFACING = "surfacing"
SURFACING_EVENT = "surfacing_event"
SURFACING_FIGURES = "surfacing_figures"
TUNING = "tuning"


@dataclass(frozen=True, slots=True)
class ScreenName:
    """A main screen, reached by its number."""

    id: str
    number: str
    title: str
    short: str = ""
    """For the navigation when not all titles fit; empty: the title."""


SCREENS: tuple[ScreenName, ...] = (
    ScreenName(OVERVIEW, "1", "Overview", "Home"),
    ScreenName(UPSTREAMS, "2", "Upstreams", "Upstr"),
    ScreenName(CALLS, "3", "Calls"),
    ScreenName(CONFIG, "4", "Config", "Conf"),
    ScreenName(SAVINGS, "5", "Savings", "Saved"),
    ScreenName(MEMORY, "6", "Memory"),
    ScreenName(DECISIONS, "7", "Decisions", "Decide"),
    ScreenName(FORGETTING, "8", "Forgetting", "Forget"),
    ScreenName(SURFACING, "9", "Surfacing", "Surf"),
)
"""The main screens in the order of their numbers."""

TITLES: Mapping[str, str] = {
    EVERYWHERE: "everywhere",
    LISTS: "in lists and texts",
    OVERVIEW: "Overview",
    UPSTREAMS: "Upstreams",
    UPSTREAM: "one upstream",
    CALLS: "Calls",
    CALL: "one call",
    CONFIG: "Config",
    SAVINGS: "Savings",
    HELD: "held texts",
    HELD_TEXT: "one held text",
    WHAT_IF: "what-if",
    MEMORY: "Memory",
    RECORD: "one record",
    DECISIONS: "Decisions",
    FORGETTING: "Forgetting",
    RUNS: "runs of forgetting",
    SURFACING: "Surfacing",
    SURFACING_EVENT: "one answer with memories",
    SURFACING_FIGURES: "figures of surfacing",
    TUNING: "tuning",
}
"""How help calls a scope."""
