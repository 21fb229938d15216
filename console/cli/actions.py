"""Verbs with actions of their own: ``mms held show KEY``."""

from __future__ import annotations

import argparse
from collections.abc import Callable

AddAction = Callable[[str, str], argparse.ArgumentParser]


def add_actions(parser: argparse.ArgumentParser, *, required: bool) -> AddAction:
    """A function that adds an action by name and summary; the chosen one is ``arguments.action``."""
    actions = parser.add_subparsers(
        title="actions", metavar="ACTION", dest="action", required=required
    )

    def action(name: str, summary: str) -> argparse.ArgumentParser:
        sub = actions.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            allow_abbrev=False,
        )
        # Also after the action; kept from undoing the one before it.
        sub.add_argument(
            "--json", action="store_true", default=argparse.SUPPRESS, help="print JSON"
        )
        return sub

    return action
