"""``mms version``."""

from __future__ import annotations

import argparse
import platform

from console.cli.context import Context
from console.cli.errors import ExitCode


def configure(parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def run(_arguments: argparse.Namespace, context: Context) -> int:
    """Print it."""
    from console.version import product_version

    version = product_version()
    context.out.line(f"mms {version} (Python {platform.python_version()})")
    if context.out.as_json:
        context.out.json({"version": version, "python": platform.python_version()})
    return ExitCode.OK
