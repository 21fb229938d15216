"""A JSON API: a thousand issues as structured content, up to 1 MB in one answer.

It behaves like an API far away: some calls take a tenth of a second, and a few are refused by its rate
limit, always the same ones.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from functools import cache
from random import Random
from typing import Any

from console.demo.servers.prose import paragraph
from console.demo.servers.serving import (
    Answer,
    DemoServer,
    DemoTool,
    JsonObject,
    ToolRefused,
    count_argument,
    serve,
    text_argument,
)

COUNT = 1000
_STATES = ("open", "closed")
_LABELS = ("bug", "latency", "checkout", "search", "billing", "docs", "flaky-test", "security")
_PEOPLE = ("ada", "grace", "edsger", "barbara", "tony", "radia")
_SUBJECTS = (
    "Checkout waits for the payment provider",
    "Search shows deleted products",
    "Order worker stops after a deadlock",
    "Export holds the wrong time zone",
    "Gateway answers 502 during a release",
    "Cart is empty after signing in",
)


@cache
def issue(number: int) -> JsonObject:
    """Issue ``number``, from 1 to `COUNT`."""
    dice = Random(f"issue {number}")
    month, day = dice.randint(1, 11), dice.randint(1, 28)
    return {
        "number": number,
        "title": f"{dice.choice(_SUBJECTS)} ({number})",
        "state": dice.choice(_STATES),
        "labels": sorted(dice.sample(_LABELS, dice.randint(1, 3))),
        "author": dice.choice(_PEOPLE),
        "assignee": dice.choice((*_PEOPLE, None)),
        "comments": dice.randint(0, 30),
        "created_at": f"2026-{month:02}-{day:02}T{dice.randint(0, 23):02}:{dice.randint(0, 59):02}:00Z",
        "url": f"https://issues.example/shop/{number}",
        "body": paragraph(dice.randint(4, 11), seed=f"body {number}"),
    }


_ISSUE_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "number": {"type": "integer"},
        "title": {"type": "string"},
        "state": {"enum": list(_STATES)},
        "labels": {"type": "array", "items": {"type": "string"}},
        "author": {"type": "string"},
        "assignee": {"type": ["string", "null"]},
        "comments": {"type": "integer"},
        "created_at": {"type": "string"},
        "url": {"type": "string"},
        "body": {"type": "string"},
    },
    "required": ["number", "title", "state", "labels"],
}


def _list(arguments: Mapping[str, Any]) -> Answer:
    state = text_argument(arguments, "state", default="open")
    label = text_argument(arguments, "label", default="")
    page = count_argument(arguments, "page", default=1, largest=COUNT)
    size = count_argument(arguments, "per_page", default=30, largest=100)
    if state not in (*_STATES, "all"):
        raise ToolRefused("422: state must be open, closed or all")
    found = [
        one
        for one in map(issue, range(COUNT, 0, -1))
        if state in ("all", one["state"]) and (not label or label in one["labels"])
    ]
    start = (page - 1) * size
    listing: JsonObject = {
        "total": len(found),
        "page": page,
        "next_page": page + 1 if start + size < len(found) else None,
        "issues": found[start : start + size],
    }
    return Answer(json.dumps(listing), listing)


def _get(arguments: Mapping[str, Any]) -> Answer:
    number = count_argument(arguments, "number", default=0, largest=1_000_000)
    if number > COUNT:
        raise ToolRefused(f"404: issue {number} does not exist")
    if number % 13 == 0:
        raise ToolRefused("429: rate limit exceeded, try again in 2 seconds")
    found = issue(number)
    return Answer(json.dumps(found), found)


def _export(arguments: Mapping[str, Any]) -> Answer:
    count = count_argument(arguments, "count", default=COUNT, largest=COUNT)
    rows = [issue(number) for number in range(1, count + 1)]
    return Answer(f"{len(rows)} issues exported as structured content", {"rows": rows})


def _latency(arguments: Mapping[str, Any]) -> float:
    key = json.dumps(dict(arguments), sort_keys=True, default=str)
    return Random(key).uniform(15.0, 110.0)


SERVER = DemoServer(
    name="demo-issues",
    instructions="The shop's issue tracker. Lists are paged; export gives everything at once.",
    tools=(
        DemoTool(
            name="list_issues",
            title="List issues",
            description="Issues, newest first, by state and label, one page at a time.",
            properties={
                "state": {"type": "string", "enum": [*_STATES, "all"], "default": "open"},
                "label": {"type": "string", "description": "Only issues with this label."},
                "page": {"type": "integer", "minimum": 1, "default": 1},
                "per_page": {"type": "integer", "minimum": 1, "maximum": 100, "default": 30},
            },
            required=(),
            run=_list,
            latency_ms=_latency,
            output_schema={
                "type": "object",
                "properties": {
                    "total": {"type": "integer"},
                    "page": {"type": "integer"},
                    "next_page": {"type": ["integer", "null"]},
                    "issues": {"type": "array", "items": _ISSUE_SCHEMA},
                },
                "required": ["total", "page", "next_page", "issues"],
            },
        ),
        DemoTool(
            name="get_issue",
            title="Get an issue",
            description="One issue by its number.",
            properties={"number": {"type": "integer", "minimum": 1}},
            required=("number",),
            run=_get,
            latency_ms=_latency,
            output_schema=_ISSUE_SCHEMA,
        ),
        DemoTool(
            name="export_issues",
            title="Export issues",
            description="The first so many issues with all their fields, up to 1 MB.",
            properties={
                "count": {"type": "integer", "minimum": 1, "maximum": COUNT, "default": COUNT}
            },
            required=(),
            run=_export,
            latency_ms=_latency,
            output_schema={
                "type": "object",
                "properties": {"rows": {"type": "array", "items": _ISSUE_SCHEMA}},
                "required": ["rows"],
            },
        ),
    ),
)


def main() -> int:
    """Serve on standard input and output."""
    return serve(SERVER)


if __name__ == "__main__":
    sys.exit(main())
