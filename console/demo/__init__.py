"""The demo: bundled upstream servers, and an agent that works with them through a real station.

`upstreams` says what to configure, `instance` is a temporary home with the processes around it, `run`
is ``mms demo``, `script` what the agent does, `report` what is printed without a terminal. The programs
that run as children (`servers`, `agent`) are started through `child`, and with one import of the SDK by
`warm`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any


def demo_upstreams() -> Mapping[str, Mapping[str, Any]]:
    """The demo's servers as tables for ``[upstreams.NAME]``; they need nothing else to run."""
    from console.demo.upstreams import upstream_tables

    return upstream_tables()


def demo_agent_command(socket: Path) -> list[str]:
    """The command line of the agent, at work on the station at ``socket`` until one of them ends.

    It wants a pipe as standard input and ends with it.
    """
    from console.demo.upstreams import program

    return program("agent", "--socket", str(socket), "--pace", "1", "--forever")


def run_demo(*, terminal: bool, json: bool) -> int:
    """Run ``mms demo``; its exit code.

    With a terminal the console opens on a station of its own, in a temporary home, and the agent works
    until the person leaves. Without one the agent's script runs once, and what was recorded is printed,
    as a table or as JSON.
    """
    from console.demo.run import run_on_screen, run_to_report

    return run_on_screen() if terminal else run_to_report(json=json)
