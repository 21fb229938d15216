"""What the demo's agent does: an investigation of a slow checkout, step by step.

Plain values. The same steps with the same arguments every time, so that two runs differ in nothing but
the durations. The sizes of the answers go from some hundred bytes to 1 MB.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

DOCUMENTS, LOGS, ISSUES = "documents", "logs", "issues"


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """One call of a tool and how it is known to end."""

    upstream: str
    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    fails: bool = False
    """The tool will answer with an error of its own."""

    @property
    def advertised_name(self) -> str:
        """The name under which a host sees the tool."""
        return f"{self.upstream}__{self.tool}"


@dataclass(frozen=True, slots=True)
class Step:
    """Calls made at the same time, after a pause."""

    pause_seconds: float
    calls: tuple[PlannedCall, ...]


def _documents(tool: str, /, **arguments: Any) -> PlannedCall:
    return PlannedCall(DOCUMENTS, tool, arguments)


def _logs(tool: str, /, *, fails: bool = False, **arguments: Any) -> PlannedCall:
    return PlannedCall(LOGS, tool, arguments, fails)


def _issues(tool: str, /, *, fails: bool = False, **arguments: Any) -> PlannedCall:
    return PlannedCall(ISSUES, tool, arguments, fails)


SCRIPT: tuple[Step, ...] = (
    # What is known about it?
    Step(0.0, (_documents("search", query="checkout slow"), _logs("services"))),
    Step(0.2, (_issues("list_issues", label="checkout", per_page=10),)),
    Step(0.3, (_documents("read", name="runbooks/checkout-latency"),)),
    Step(0.4, (_documents("outline", name="postmortems/2026-10-slow-checkout"),)),
    Step(0.3, (_documents("read", name="postmortems/2026-10-slow-checkout"),)),
    Step(0.6, (_documents("read", name="handbook/glossary"),)),
    # What do the logs say?
    Step(
        0.5,
        (
            _logs("tail", service="checkout", lines=50),
            _logs("tail", service="gateway", lines=50),
            _logs("tail", service="orders", lines=50),
        ),
    ),
    Step(0.5, (_logs("grep", service="checkout", pattern="ERROR"),)),
    Step(0.5, (_logs("grep", service="checkout", pattern="payments-(", fails=True),)),
    Step(0.4, (_logs("grep", service="checkout", pattern="payments-2"),)),
    Step(0.4, (_logs("tail", service="billing", lines=200, fails=True),)),
    Step(
        0.5,
        (
            _logs("grep", service="gateway", pattern="status=429", limit=500),
            _logs("grep", service="orders", pattern="deadlock"),
        ),
    ),
    Step(0.7, (_logs("tail", service="checkout", lines=2000),)),
    Step(0.9, (_logs("tail", service="checkout", lines=10_000),)),
    # Who has seen it before?
    Step(0.6, (_issues("list_issues", label="latency", state="all", per_page=30),)),
    Step(0.4, (_issues("get_issue", number=812), _issues("get_issue", number=640))),
    Step(0.3, (_issues("get_issue", number=481, fails=True),)),
    Step(0.5, (_issues("get_issue", number=4711, fails=True),)),
    Step(0.4, (_issues("list_issues", state="closed", label="checkout", per_page=100),)),
    Step(0.6, (_documents("search", query="payment timeouts idempotency keys", limit=10),)),
    Step(0.3, (_documents("read", name="decisions/0007-idempotency-keys"),)),
    Step(0.4, (_documents("read", name="postmortems/2026-03-payment-timeouts"),)),
    Step(0.8, (_issues("export_issues", count=1000),)),
    # What is configured, and what would a fix touch?
    Step(
        0.6,
        (
            _documents("read", name="reference/configuration"),
            _documents("read", name="reference/database-schema"),
        ),
    ),
    Step(0.7, (_documents("read", name="reference/api"),)),
    Step(0.5, (_documents("read", name="decisions/0019-rate-limits"),)),
    Step(0.4, (_logs("grep", service="search", pattern="WARN", limit=100),)),
    Step(0.5, (_issues("list_issues", label="flaky-test", per_page=5),)),
    Step(0.4, (_issues("get_issue", number=77),)),
    Step(0.6, (_documents("read", name="runbooks/queue-backlog"),)),
    Step(0.5, (_logs("tail", service="orders", lines=500),)),
    Step(0.4, (_documents("read", name="handbook/incident-roles"),)),
    Step(0.5, (_logs("grep", service="gateway", pattern="ERROR", limit=20),)),
    Step(0.4, (_issues("list_issues", state="open", label="security", per_page=3),)),
)
"""The whole investigation."""

CALLS = sum(len(step.calls) for step in SCRIPT)
TOOL_ERRORS = sum(call.fails for step in SCRIPT for call in step.calls)
SECONDS = sum(step.pause_seconds for step in SCRIPT)
"""The pauses alone."""
