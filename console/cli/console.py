"""``mms``: open the console, on a station of its own or attached to the one that runs."""

from __future__ import annotations

import argparse
import sys

from console.cli.arguments import add_flags, flags_of
from console.cli.context import Context
from console.cli.errors import ExitCode, UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the bare command."""
    parser.add_argument("--version", action="store_true", help="print the version")
    add_flags(parser)


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Open the console until the person leaves."""
    if arguments.version:
        from console.cli import version

        return version.run(arguments, context)
    flags = flags_of(arguments)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            "The console needs a terminal. Without one: mms serve, mms status, mms calls --follow."
        )
    from console.opening import Opened, open_console

    opened = open_console(context.environ, flags=flags, project_directory=context.directory)
    if opened is Opened.DEMO:
        from console.demo import run_demo

        return run_demo(terminal=True, json=False)
    return ExitCode.OK
