"""``mms memory``: everything that can be done with the agent's memory."""

from __future__ import annotations

import argparse

from console.cli import (
    memory_decisions,
    memory_exchange,
    memory_forgetting,
    memory_records,
    memory_upkeep,
)
from console.cli.actions import add_actions
from console.cli.context import Context

_PARTS = (memory_records, memory_decisions, memory_forgetting, memory_exchange, memory_upkeep)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the actions."""
    plain = add_actions(parser, required=True)

    def action(name: str, summary: str) -> argparse.ArgumentParser:
        sub = plain(name, summary)
        sub.add_argument(
            "--space", metavar="NAME", default="", help="a space of the memory; else memory.space"
        )
        return sub

    for part in _PARTS:
        part.configure(action)


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Do the action."""
    return int(arguments.do(arguments, context))
