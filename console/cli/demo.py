"""``mms demo``: on a terminal the console over bundled servers, elsewhere a table of the calls."""

from __future__ import annotations

import argparse
import sys

from console.cli.context import Context


def configure(parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def run(arguments: argparse.Namespace, _context: Context) -> int:
    """Run it."""
    from console.demo import run_demo

    terminal = sys.stdin.isatty() and sys.stdout.isatty() and not arguments.json
    return run_demo(terminal=terminal, json=arguments.json)
