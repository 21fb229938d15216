"""A week on a real station: ``mms serve``, the memory's own process, a scripted upstream, real hosts.

An agent's part is played by what is known: it rates every memory that it gets, ``helpful`` where it matters
for the call and ``not_relevant`` where it does not. The week takes seconds, so the gates that look at the
clock are wide open, and nothing found is used again; nothing else differs from what is shipped.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from proxy.store.surfacing import SurfacingStore
from proxy.surface.model import SurfacingEvent
from tests.bench.surfacing import scripted
from tests.bench.surfacing.figures import Outcome
from tests.bench.surfacing.replay import search_of
from tests.bench.surfacing.week import Call, Memory, Week
from tests.support.mcp_client import RawClient, connect_host
from tests.support.stations import Station, program, running_station

OPEN_GATES = {
    "timeout_seconds": "10.0",
    "max_per_minute": "6000",
    "cooldown_seconds": "0.0",
    "cache_seconds": "0.0",
}
_ID = re.compile(r"\b(?:surfacing_id=)?([0-9a-f]{12})\b")
_MEMORY = re.compile(r"^(\S+) \d+%", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class WeekOnStation:
    """What came of it."""

    outcomes: list[Outcome]
    thresholds: dict[int, dict[str, float]]
    """By day, in its evening: the threshold of each tool that was shown memories so far."""


def settings(surfacing: Mapping[str, str], memory: str = "", **upstream: Any) -> str:
    """A settings file. ``surfacing``: keys and values as TOML."""
    keys = ", ".join(f"{key} = {value}" for key, value in surfacing.items())
    command = [sys.executable, str(Path(scripted.__file__))]
    return f"surfacing = {{ {keys} }}\n{memory}\n" + program(
        scripted.UPSTREAM, command + list(upstream.pop("args", ())), **upstream
    )


@contextmanager
def station(home: Path, config: str) -> Generator[Station]:
    """A running station."""
    with running_station(home, config) as running:
        yield running


class Player:
    """Plays weeks on one station, one after another."""

    def __init__(self, running: Station) -> None:
        self.running = running
        self.keys: dict[str, int] = {}
        """From a memory's id to its key."""
        self._sessions = 0

    async def play(self, the_week: Week) -> WeekOnStation:
        """Store, call and rate as the week says. What is stored already is not stored again."""
        done: list[Outcome] = []
        thresholds: dict[int, dict[str, float]] = {}
        day = -2
        for number, session in enumerate(the_week.sessions):
            while day < session.day:
                day += 1
                async with connect_host(self.running.socket, "store") as host:
                    for memory in the_week.stored_on(day):
                        await self.store(host, memory)
            known = the_week.known(session.day)
            async with connect_host(self.running.socket, f"agent-{number}") as host:
                for call in session.calls:
                    outcome = await self._call(
                        host, session.day, self._sessions, call, call.matter & known
                    )
                    done.append(outcome)
            self._sessions += 1
        events = self._events(done)
        latest: dict[str, float] = {}
        finished: list[Outcome] = []
        for outcome, event in zip(done, events, strict=True):
            if event is not None:
                latest[event.tool] = event.threshold
            thresholds[outcome.day] = dict(latest)
            tokens = 0 if event is None else event.tokens
            finished.append(replace(outcome, tokens=tokens, surfacing_id=""))
        return WeekOnStation(finished, thresholds)

    async def store(self, host: RawClient, memory: Memory) -> None:
        """Store one memory as an agent does."""
        if memory.key in self.keys.values():
            return
        kind, _, rest = memory.text.partition(": ")
        if kind == "episode":
            tool = "memory_store_episodic"
            arguments: dict[str, Any] = {
                "text": rest,
                "session_id": "earlier",
                "turn_number": memory.key,
            }
        elif kind == "procedure":
            name, *steps = rest.split("; ")
            tool, arguments = "memory_store_procedural", {"content": name, "steps": steps}
        else:
            tool, arguments = "memory_store_semantic", {"content": memory.text}
        result = await host.call(tool, arguments)
        self.keys[result["structuredContent"]["record"]["id"]] = memory.key

    async def _call(
        self, host: RawClient, day: int, session: int, call: Call, matter: frozenset[int]
    ) -> Outcome:
        result = await host.call(f"{scripted.UPSTREAM}__{call.tool}", call.arguments)
        surfacing_id, ids = shown_in(result)
        shown = tuple(self.keys[id] for id in ids)
        if ids:
            ratings = [
                {"memory_id": id, "rating": "helpful" if key in matter else "not_relevant"}
                for id, key in zip(ids, shown, strict=True)
            ]
            await host.text(
                "stm_surfacing_feedback", {"surfacing_id": surfacing_id, "ratings": ratings}
            )
        level = search_of(call).level
        return Outcome(day, session, call.tool, shown, matter, level, surfacing_id=surfacing_id)

    def _events(self, outcomes: Sequence[Outcome]) -> list[SurfacingEvent | None]:
        store = SurfacingStore(self.running.paths.surfacing_database)
        return [
            store.read_event(one.surfacing_id) if one.surfacing_id else None for one in outcomes
        ]


def shown_in(result: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """The surfacing id of an answer and the ids of its memories; empty when it brought none."""
    texts = [block["text"] for block in result["content"] if block["type"] == "text"]
    if not texts or "stm_surfacing_feedback" not in texts[-1]:
        return "", ()
    first, _, rest = texts[-1].partition("\n")
    (surfacing_id,) = _ID.findall(first)
    return surfacing_id, tuple(_MEMORY.findall(rest))
