"""``mms enable NAME`` and ``mms disable NAME``."""

from __future__ import annotations

import argparse

from console.cli.context import Context
from console.cli.editing import edit


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("name", metavar="NAME", help="the upstream")


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Write ``enabled`` to the user's file."""
    from config.edit import set_upstream_enabled

    on = arguments.verb == "enable"
    file = context.paths.config_file
    return edit(
        context,
        lambda: set_upstream_enabled(file, arguments.name, on, environ=context.environ),
        f"Upstream {arguments.name} is switched {'on' if on else 'off'} in {file}.",
    )
