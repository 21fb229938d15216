"""The vocabulary of answers made smaller: ledger, held texts, what-if. Frozen values for screen and CLI.

Tokens are o200k counts. A call's net saving is ``before - sent``; what was fetched back later and what
our own tools cost in every tool list is taken off it in sums.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Savings:
    """Sums over calls. Parts add up to totals, field by field."""

    calls: int = 0
    """Calls of upstreams' tools that were answered."""
    reduced: int = 0
    """Of these, the ones whose answer was made smaller."""
    before: int = 0
    """Tokens that upstreams sent, capped per call at where the host would have cut them itself."""
    sent: int = 0
    """Tokens that hosts were sent for them, announcements and legends included."""
    fetched: int = 0
    """Tokens of held text that agents fetched back afterwards."""
    notices: int = 0
    """Of ``sent``, mms's own words: announcements, legends. For information; not taken off twice."""
    control_tools: int = 0
    """Tokens of our own tools in the tool lists that hosts were given."""
    cache_hits: int = 0
    """Calls answered without the upstream. They save time, not tokens."""

    def __add__(self, other: Savings) -> Savings:
        return Savings(
            self.calls + other.calls,
            self.reduced + other.reduced,
            self.before + other.before,
            self.sent + other.sent,
            self.fetched + other.fetched,
            self.notices + other.notices,
            self.control_tools + other.control_tools,
            self.cache_hits + other.cache_hits,
        )

    @property
    def net(self) -> int:
        """Tokens saved; negative when mms cost more than it saved."""
        return self.before - self.sent - self.fetched - self.control_tools


@dataclass(frozen=True, slots=True)
class SavingsLine:
    """Sums of one day and tool. The cost of our tool lists stands under upstream ``mms``, no tool."""

    day: str
    """Local date, ``YYYY-MM-DD``."""
    upstream: str
    tool: str
    savings: Savings


@dataclass(frozen=True, slots=True)
class SavingsView:
    """The ledger of some days."""

    lines: tuple[SavingsLine, ...]
    """By day, upstream, tool."""
    control_tools_tokens: int
    """What our own tools cost in one tool list now."""
    tokenizer: str
    """Name of the vocabulary of every figure."""
    missed: tuple[FeedbackLine, ...] = ()
    """What agents reported as missing in shortened answers, of the last 90 days."""

    @property
    def total(self) -> Savings:
        """The sum of all lines."""
        total = Savings()
        for line in self.lines:
            total += line.savings
        return total

    def by_day(self) -> dict[str, Savings]:
        """Sums per local day, in order."""
        return self._by(lambda line: line.day)

    def by_upstream(self) -> dict[str, Savings]:
        """Sums per upstream."""
        return self._by(lambda line: line.upstream)

    def by_tool(self) -> dict[tuple[str, str], Savings]:
        """Sums per upstream and tool."""
        found: dict[tuple[str, str], Savings] = {}
        for line in self.lines:
            key = (line.upstream, line.tool)
            found[key] = found.get(key, Savings()) + line.savings
        return found

    def _by(self, name: Callable[[SavingsLine], str]) -> dict[str, Savings]:
        found: dict[str, Savings] = {}
        for line in self.lines:
            found[name(line)] = found.get(name(line), Savings()) + line.savings
        return dict(sorted(found.items()))


@dataclass(frozen=True, slots=True)
class HeldView:
    """One held answer at a glance."""

    key: str
    """Of the whole answer: 16 hexadecimal digits of the SHA-256 of its bytes."""
    upstream: str
    tool: str
    bytes: int
    """As the upstream sent it."""
    stored_bytes: int
    """On disk, compressed."""
    created_at: float
    used_at: float
    reads: int
    """How often some of it was fetched back."""
    pinned: bool
    """A connected host was given its handle: it is not evicted."""


@dataclass(frozen=True, slots=True)
class HeldDetail:
    """A held answer with its text, for a person: laid out, secrets redacted, cut to a screen's worth."""

    view: HeldView
    text: str
    truncated: bool


@dataclass(frozen=True, slots=True)
class HeldTotals:
    """The store of held texts as a whole."""

    answers: int
    bytes: int
    stored_bytes: int
    capacity_bytes: int
    evicted: int
    """Since the station started."""


@dataclass(frozen=True, slots=True)
class HeldList:
    """Held answers, used last first."""

    totals: HeldTotals
    answers: tuple[HeldView, ...]


@dataclass(frozen=True, slots=True)
class FactCounts:
    """What became of an answer's checkable facts: numbers with keys, paths, URLs, ids, error lines."""

    total: int
    retained: int
    """In the shortened answer itself."""
    recoverable: int
    """Not there, but in the held text that its handle fetches."""
    lost: int
    lost_examples: tuple[str, ...] = ()
    """Up to 10, error lines first; also the recoverable ones are not in here."""
    missing_examples: tuple[str, ...] = ()
    """Up to 10 facts that have to be fetched, error lines first."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One answer under other settings."""

    strategy: str
    """What was really done: after a fallback not what was asked for."""
    asked: str
    budget_tokens: int
    tokens: int
    text: str
    """As the agent would see it, secrets redacted, cut to a screen's worth."""
    facts: FactCounts
    milliseconds: float


@dataclass(frozen=True, slots=True)
class WhatIfQuery:
    """What would this call's answer be like under other settings?"""

    call_id: int
    strategies: tuple[str, ...] = ()
    """Names of `config.schema.Compression`; empty: those that suit the content."""
    budget_tokens: int | None = None
    """``None``: the budget that is in force for the tool."""
    query: str | None = None
    """``None``: the query of the call."""


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Variants side by side. ``problem`` is not empty when there are none, and says why."""

    call_id: int
    upstream: str
    tool: str
    content: str
    """What the text was recognised as."""
    before_tokens: int
    before_text: str
    sent: Variant | None
    """What the agent was really sent, when it is still known."""
    variants: tuple[Variant, ...]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class FeedbackLine:
    """What agents missed in one tool's shortened answers, by kind."""

    upstream: str
    tool: str
    kind: str
    """``truncated``, ``missing_example``, ``missing_metadata``, ``wrong_topic`` or ``other``."""
    reports: int
    last_at: float
    latest: tuple[str, ...]
    """What was missing, in the agents' words: up to 3, newest first."""


@dataclass(frozen=True, slots=True)
class FeedbackReport:
    """Reports of agents that are kept: of the last 90 days, at most 10,000."""

    lines: tuple[FeedbackLine, ...]
    """By upstream, tool, kind."""

    @property
    def reports(self) -> int:
        """How many there are in all."""
        return sum(line.reports for line in self.lines)
