"""``mms rate``: say what a memory was worth that was shown with an answer, as the person."""

from __future__ import annotations

import argparse

from console.cli.commanding import execute
from console.cli.context import Context
from console.cli.errors import UsageError
from proxy.commands import RateMemory
from proxy.surface.model import Rating

_RATINGS = tuple(rating.value for rating in Rating)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "surfacing_id", metavar="SURFACING", help="its id, as mms surfacing lists it"
    )
    parser.add_argument(
        "memory_id", metavar="MEMORY", nargs="?", default="", help="without it: all of its memories"
    )
    parser.add_argument("rating", metavar="RATING", help=", ".join(_RATINGS))


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Do it. Ratings act at once, so a station must run: else exit code 3."""
    try:
        rating = Rating(arguments.rating)
    except ValueError:
        raise UsageError(
            f"{arguments.rating}: no such rating; one of {', '.join(_RATINGS)}."
        ) from None
    return execute(context, RateMemory(arguments.surfacing_id, arguments.memory_id, rating))
