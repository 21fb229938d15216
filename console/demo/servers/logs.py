"""A log source: four services, some ten thousand lines each, up to 1 MB in one answer."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import cache
from random import Random
from typing import Any

from console.demo.servers.serving import (
    Answer,
    DemoServer,
    DemoTool,
    ToolRefused,
    count_argument,
    serve,
    text_argument,
)

SERVICES = ("gateway", "checkout", "orders", "search")
LINES_PER_SERVICE = 10_000
LARGEST_ANSWER = 1_000_000
"""Bytes; the lines are ASCII."""
_CLOSED = "billing"

_PATHS = ("/v1/orders", "/v1/carts", "/v1/search", "/v1/customers", "/v1/payments", "/healthz")
_FAULTS = (
    "upstream timed out after 3000 ms host=payments-2",
    "connection pool exhausted size=32 waiting=118",
    "deadlock detected retry=1 table=order_lines",
    "circuit open host=payments-2 failures=20",
)


def _line(service: str, second: float, dice: Random) -> str:
    whole = int(second)
    clock = f"{9 + whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}.{int(second * 1000) % 1000:03}"
    head = f"2026-11-30T{clock}Z"
    trace = f"{dice.getrandbits(48):012x}"
    chance = dice.random()
    if chance < 0.02:
        return f"{head} ERROR {service} trace={trace} {dice.choice(_FAULTS)}"
    if chance < 0.08:
        return f"{head} WARN  {service} trace={trace} slow request duration_ms={dice.randint(900, 4000)}"
    status = 200 if chance < 0.95 else dice.choice((201, 304, 404, 429))
    return (
        f"{head} INFO  {service} trace={trace} GET {dice.choice(_PATHS)} status={status} "
        f"duration_ms={dice.randint(3, 240)} bytes={dice.randint(180, 64_000)}"
    )


@cache
def log_of(service: str) -> tuple[str, ...]:
    """All lines of one service, oldest first."""
    dice = Random(service)
    second = 0.0
    lines: list[str] = []
    for _ in range(LINES_PER_SERVICE):
        second += dice.random() * 0.8
        lines.append(_line(service, second, dice))
    return tuple(lines)


def _lines(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    service = text_argument(arguments, "service")
    if service == _CLOSED:
        raise ToolRefused("permission denied: the logs of billing need the role auditor")
    if service not in SERVICES:
        raise ToolRefused(f"no service is called {service!r}; there are {', '.join(SERVICES)}")
    return log_of(service)


def _newest(lines: tuple[str, ...] | list[str]) -> str:
    """As many of the last lines as fit into the largest answer."""
    size = 0
    first = len(lines)
    while first > 0 and size + len(lines[first - 1]) + 1 <= LARGEST_ANSWER:
        first -= 1
        size += len(lines[first]) + 1
    return "\n".join(lines[first:])


def _tail(arguments: Mapping[str, Any]) -> Answer:
    wanted = count_argument(arguments, "lines", default=100, largest=LINES_PER_SERVICE)
    return Answer(_newest(_lines(arguments)[-wanted:]))


def _grep(arguments: Mapping[str, Any]) -> Answer:
    try:
        pattern = re.compile(text_argument(arguments, "pattern"))
    except re.error as error:
        raise ToolRefused(f"the pattern is no regular expression: {error}") from None
    limit = count_argument(arguments, "limit", default=200, largest=LINES_PER_SERVICE)
    found = [line for line in _lines(arguments) if pattern.search(line)]
    if not found:
        return Answer("no line matches")
    return Answer(_newest(found[-limit:]))


def _latency(arguments: Mapping[str, Any]) -> float:
    return 4.0 + min(int(arguments.get("lines", 100)), LINES_PER_SERVICE) / 200


def _services(_arguments: Mapping[str, Any]) -> Answer:
    return Answer("\n".join(f"{service}: {LINES_PER_SERVICE} lines" for service in SERVICES))


_SERVICE = {"type": "string", "description": f"One of {', '.join(SERVICES)}."}

SERVER = DemoServer(
    name="demo-logs",
    instructions="Logs of the running services, newest last.",
    tools=(
        DemoTool(
            name="services",
            title="List services",
            description="Which services write logs.",
            properties={},
            required=(),
            run=_services,
        ),
        DemoTool(
            name="tail",
            title="Last lines",
            description="The newest lines of a service's log, at most 1 MB.",
            properties={
                "service": _SERVICE,
                "lines": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": LINES_PER_SERVICE,
                    "default": 100,
                },
            },
            required=("service",),
            run=_tail,
            latency_ms=_latency,
        ),
        DemoTool(
            name="grep",
            title="Search a log",
            description="The newest lines of a service's log that match a regular expression.",
            properties={
                "service": _SERVICE,
                "pattern": {"type": "string", "description": "A regular expression."},
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": LINES_PER_SERVICE,
                    "default": 200,
                },
            },
            required=("service", "pattern"),
            run=_grep,
            latency_ms=_latency,
        ),
    ),
)


def main() -> int:
    """Serve on standard input and output."""
    return serve(SERVER)


if __name__ == "__main__":
    sys.exit(main())
