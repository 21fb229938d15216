"""``mms serve``: a station without a screen."""

from __future__ import annotations

import argparse

from console.cli.arguments import add_flags, flags_of
from console.cli.context import Context


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--stdio",
        action="store_true",
        help="serve exactly one host, on standard input and output (containers, CI)",
    )
    parser.add_argument("--background", action="store_true", help=argparse.SUPPRESS)
    add_flags(parser)


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Serve until a signal, ``mms stop``, or the host's leaving."""
    flags = flags_of(arguments)
    from console.wiring import serve

    # A station that a bridge starts belongs to no project.
    project = None if arguments.background else context.directory
    return serve(
        stdio=arguments.stdio,
        background=arguments.background,
        flags=flags,
        project_directory=project,
    )
