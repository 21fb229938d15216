"""``mms remove NAME``."""

from __future__ import annotations

import argparse

from console.cli.context import Context
from console.cli.editing import edit


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("name", metavar="NAME", help="the upstream")


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Take it out of the user's file."""
    from config.edit import remove_upstream

    file = context.paths.config_file
    return edit(
        context,
        lambda: remove_upstream(file, arguments.name, environ=context.environ),
        f"Upstream {arguments.name} was taken out of {file}.",
    )
