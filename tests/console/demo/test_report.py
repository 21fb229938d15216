"""The demo's report says what was recorded, readable for people and for programs."""

from __future__ import annotations

import json
from dataclasses import replace

from console.demo.report import Report, ReportedCall, as_json, as_text, brief_arguments
from proxy.model import CallRecord, Outcome, Sizes

RECORD = CallRecord(
    id=1,
    started_at=1_796_047_387.0,
    duration_ms=12.34,
    host="demo-agent",
    session=1,
    upstream="logs",
    tool="tail",
    outcome=Outcome.OK,
    error="",
    arguments=Sizes(34, 34, 9),
    text=Sizes(5_000, 5_000, 2_000),
    structured=Sizes(800, 800, 200),
    other_bytes=10,
)
FINE = ReportedCall(
    replace(RECORD, strategy="extract", before=Sizes(90_000, 90_000, 30_000)),
    '{"service":"checkout","lines":50}',
)
REFUSED = ReportedCall(
    replace(RECORD, tool="grep", outcome=Outcome.TOOL_ERROR, error="no \x1b[31mexpression"),
    '{"pattern":"\\u001b]52;c;aGk=\\u0007"}',
)


def test_the_table_has_a_line_per_call_and_the_sums() -> None:
    head, first, second, empty, sums = as_text(Report((FINE, REFUSED), 3.21, ())).splitlines()
    assert head.split() == ["tool", "arguments", "before", "tokens", "by", "ms", "outcome"]
    assert first.split() == [
        "logs__tail", "service=checkout", "lines=50", "30,000", "2,200", "extract", "12", "ok",
    ]  # fmt: skip
    assert second.endswith("tool error")
    assert empty == ""
    assert sums == (
        "2 calls (1 tool errors, as scripted), 32,200 tokens in answers, 4,400 of them sent; "
        "the rest can be read back, 3.2 s"
    )


def test_nothing_in_the_table_can_drive_a_terminal() -> None:
    text = as_text(Report((REFUSED,), 1.0, ("it said \x1b[2J",)))
    assert "\x1b" not in text
    assert "\x07" not in text


def test_problems_are_said_last_and_the_errors_are_not_called_scripted() -> None:
    text = as_text(Report((REFUSED,), 1.0, ("one call is missing",)))
    assert text.endswith("problem: one call is missing")
    assert "as scripted" not in text


def test_programs_get_the_numbers_unrounded_to_people() -> None:
    told = json.loads(as_json(Report((FINE, REFUSED), 3.21, ())))
    assert told["ok"] is True
    assert told["totals"] == {
        "calls": 2, "tool_errors": 1, "bytes": 11_620, "tokens": 4_400,
        "tokens_before": 32_200, "seconds": 3.21,
    }  # fmt: skip
    assert told["calls"][0] == {
        "upstream": "logs",
        "tool": "tail",
        "arguments": {"service": "checkout", "lines": 50},
        "bytes": 5_810,
        "tokens": 2_200,
        "tokens_before": 30_000,
        "strategy": "extract",
        "ms": 12.34,
        "outcome": "ok",
        "error": "",
    }


def test_arguments_that_are_no_object_are_shown_as_they_are() -> None:
    assert brief_arguments("") == ""
    assert brief_arguments("[1]") == "[1]"
    assert brief_arguments('{"a": "b"}') == "a=b"
