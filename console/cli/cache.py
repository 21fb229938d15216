"""``mms cache clear``: forget answers that are kept to be given again."""

from __future__ import annotations

import argparse

from console.cli.actions import add_actions
from console.cli.commanding import execute
from console.cli.context import Context
from proxy.commands import ClearCache


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the action."""
    action = add_actions(parser, required=True)
    clear = action(
        "clear", "forget kept answers of a running station: all, or a server's or tool's"
    )
    clear.add_argument("--server", metavar="NAME", default="", help="only answers of this one")
    clear.add_argument("--tool", metavar="NAME", default="", help="only answers of this tool")


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Do it. Without a station there is no cache: exit code 3."""
    return execute(context, ClearCache(arguments.server, arguments.tool))
