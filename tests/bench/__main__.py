"""The measurements: ``python -m tests.bench [relay|answers|startup|reload|console|all] [--json]``."""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import sys
from collections.abc import Awaitable, Callable

from tests.bench import answers, console_open, relay, reload, startup
from tests.bench.report import Table, as_json, as_markdown

SUITES: dict[str, Callable[[int], Awaitable[list[Table]]]] = {
    "relay": relay.run,
    "answers": answers.run,
    "startup": startup.run,
    "reload": reload.run,
    "console": console_open.run,
}


async def _run(chosen: list[str], rounds: int) -> list[Table]:
    tables: list[Table] = []
    for name in chosen:
        print(f"measuring {name} …", file=sys.stderr, flush=True)
        tables += await SUITES[name](rounds)
    return tables


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("suite", nargs="?", default="all", choices=[*SUITES, "all"])
    parser.add_argument("--json", action="store_true", help="for a script")
    parser.add_argument("--rounds", type=int, default=5, help="more rounds, less noise (5)")
    options = parser.parse_args()
    chosen = list(SUITES) if options.suite == "all" else [options.suite]
    tables = asyncio.run(_run(chosen, options.rounds))
    if options.json:
        print(as_json(tables))
        return 0
    load = os.getloadavg()[0]
    python = platform.python_version()
    print(f"Python {python}, {os.cpu_count()} cores, load average {load:.1f}\n")
    for table in tables:
        print(as_markdown(table))
    return 0


if __name__ == "__main__":
    sys.exit(main())
