"""What the memory's process weighs, as the system counts it, and that it ends when nobody needs it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from config.paths import paths_for
from memory.api import AddRecord, GetOverview, Search
from memory.model import Actor, Kind, MemoryText, Origin
from memory.process.client import MemoryClient
from tests.bench.memory.corpus import Fact

_AGENT = Actor(Origin.AGENT, "bench", "session-1")
_PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Weights:
    """Resident memory of the process, in MB."""

    opened: float
    """After the first answer, before any text."""
    used: float
    """After storing and searching, with the model loaded."""
    left: float
    """After its last client left: 0, for it has ended."""


def measure(facts: list[Fact]) -> Weights:
    """Start the process as the product does, use it, leave it."""
    return asyncio.run(_measure(facts))


async def _measure(facts: list[Fact]) -> Weights:
    with tempfile.TemporaryDirectory(prefix="mms-bench-") as folder:
        environ = {**os.environ, "MMS_HOME": folder}
        async with MemoryClient(paths_for(environ), environ) as client:
            await client.ask(GetOverview(), _AGENT)
            process = client.process
            assert process is not None
            opened = resident_mb(process)
            for fact in facts:
                await client.ask(AddRecord(Kind.SEMANTIC, MemoryText(fact.text)), _AGENT)
            for fact in facts[:20]:
                await client.ask(Search(fact.text), _AGENT)
            used = resident_mb(process)
        left = await asyncio.to_thread(_ended, process)
        return Weights(opened, used, left)


def _ended(process: int) -> float:
    """What it still holds when it had time enough to end."""
    end = time.monotonic() + _PATIENCE
    while (left := resident_mb(process)) > 0 and time.monotonic() < end:
        time.sleep(0.05)
    return left


def resident_mb(process: int) -> float:
    """What a process holds in memory; 0 when there is none or it has ended."""
    status = Path(f"/proc/{process}/status")
    if Path("/proc").is_dir():
        try:
            lines = status.read_text("utf-8").splitlines()
        except (FileNotFoundError, ProcessLookupError):
            return 0.0
        return sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024
    told = subprocess.run(
        ["ps", "-o", "rss=", "-p", str(process)], capture_output=True, text=True, check=False
    )
    return int(told.stdout.strip() or 0) / 1024
