"""The demo's servers answer the same bytes every time, in the sizes that they promise."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from console.demo.script import SCRIPT, PlannedCall
from console.demo.servers import documents, issues, logs
from console.demo.servers.serving import DemoServer, ToolRefused

ROOT = Path(__file__).resolve().parents[3]
SERVERS: dict[str, DemoServer] = {
    "documents": documents.SERVER,
    "logs": logs.SERVER,
    "issues": issues.SERVER,
}
PLANNED = [call for step in SCRIPT for call in step.calls]
_DIGEST = """
import hashlib, json, sys
from tests.console.demo.test_servers import PLANNED, outcome
digest = hashlib.sha256()
for call in PLANNED:
    digest.update(json.dumps(outcome(call)).encode())
print(digest.hexdigest())
"""


def outcome(call: PlannedCall) -> tuple[str, str, dict[str, Any] | None]:
    """What the tool of a planned call answers: how, text, structured content."""
    tool = SERVERS[call.upstream].tool(call.tool)
    assert tool is not None
    try:
        answer = tool.run(call.arguments)
    except ToolRefused as refusal:
        return ("refused", str(refusal), None)
    return ("ok", answer.text, answer.structured)


def test_the_answers_are_the_same_in_every_process() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", _DIGEST],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


@pytest.mark.parametrize("call", PLANNED, ids=lambda call: call.advertised_name)
def test_every_planned_call_is_valid_and_ends_as_planned(call: PlannedCall) -> None:
    tool = SERVERS[call.upstream].tool(call.tool)
    assert tool is not None
    Draft202012Validator(tool.input_schema).validate(dict(call.arguments))
    kind, text, structured = outcome(call)
    assert (kind == "refused") == call.fails
    assert text
    if tool.output_schema is not None and not call.fails:
        Draft202012Validator(tool.output_schema).validate(structured)


def test_the_sizes_go_from_some_hundred_bytes_to_a_megabyte() -> None:
    sizes = sorted(
        len(text) + (len(json.dumps(structured)) if structured else 0)
        for kind, text, structured in map(outcome, PLANNED)
        if kind == "ok"
    )
    assert sizes[0] < 300
    assert 900_000 < sizes[-1] <= 1_100_000
    assert sum(1_000 < size < 100_000 for size in sizes) > 20


def test_documents_have_the_size_that_the_shelf_says() -> None:
    for name, wanted in (("handbook/glossary", 300), ("reference/api", 100_000)):
        size = len(documents.documents()[name].text.encode())
        assert wanted - 250 < size <= wanted


def test_a_search_finds_what_its_title_says_first() -> None:
    kind, text, _ = outcome(PlannedCall("documents", "search", {"query": "slow checkout"}))
    assert kind == "ok"
    assert text.startswith(("runbooks/checkout-latency", "postmortems/2026-10-slow-checkout"))


def test_a_log_answer_never_exceeds_its_limit_and_keeps_the_newest_lines() -> None:
    for service in logs.SERVICES:
        _, text, _ = outcome(PlannedCall("logs", "tail", {"service": service, "lines": 10_000}))
        assert len(text) <= logs.LARGEST_ANSWER
        assert text.splitlines()[-1] == logs.log_of(service)[-1]


def test_pages_of_issues_do_not_overlap_and_cover_all() -> None:
    seen: list[int] = []
    page: int | None = 1
    while page is not None:
        call = PlannedCall("issues", "list_issues", {"state": "all", "page": page, "per_page": 100})
        _, _, listing = outcome(call)
        assert listing is not None
        seen += [issue["number"] for issue in listing["issues"]]
        page = listing["next_page"]
    assert seen == list(range(issues.COUNT, 0, -1))


@pytest.mark.parametrize(
    ("upstream", "tool", "arguments", "reason"),
    [
        ("documents", "read", {"name": "nowhere"}, "no document is called"),
        ("documents", "read", {}, "must be a string"),
        ("documents", "search", {"query": "?!"}, "holds no word"),
        ("logs", "tail", {"service": "nobody"}, "no service is called"),
        ("logs", "tail", {"service": "search", "lines": 0}, "whole number from 1"),
        ("logs", "grep", {"service": "search", "pattern": "("}, "no regular expression"),
        ("issues", "get_issue", {"number": 13}, "429"),
        ("issues", "get_issue", {"number": True}, "whole number from 1"),
        ("issues", "list_issues", {"state": "maybe"}, "422"),
    ],
)
def test_a_wrong_argument_is_refused_with_its_reason(
    upstream: str, tool: str, arguments: dict[str, Any], reason: str
) -> None:
    kind, text, _ = outcome(PlannedCall(upstream, tool, arguments))
    assert kind == "refused"
    assert reason in text
