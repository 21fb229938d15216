"""A program that reports outcomes of procedures, all at once, when it is told to go.

Arguments: the checkout, ids of a procedure for reports without a key and of one for reports with keys, how
many of each. It writes a line when it is ready and one with how many reports were answered.
"""

from __future__ import annotations

import asyncio
import os
import sys

from config.paths import paths_for
from memory import api
from memory.process.client import MemoryClient
from tests.memory.process.processes import AGENT


async def report(plain: str, keyed: str, count: int) -> int:
    """Ask for all of them together; how many were answered."""
    async with MemoryClient(paths_for(os.environ), os.environ) as client:
        await client.ask(api.GetPosition(), AGENT)
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        requests = [
            request
            for number in range(count)
            for request in (
                api.RecordOutcome(plain, success=number % 3 != 0),
                api.RecordOutcome(keyed, success=number % 3 != 0, key=f"run-{number}"),
            )
        ]
        answers = await asyncio.gather(*(client.ask(request, AGENT) for request in requests))
        return len(answers)


def main() -> None:
    """Be the program."""
    plain, keyed, count = sys.argv[2:]
    print(asyncio.run(report(plain, keyed, int(count))), flush=True)
