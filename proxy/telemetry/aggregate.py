"""Adds up a log of tool selections, in bounded memory whatever the file holds."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import msgspec

from proxy.telemetry.model import NamedCount, Percentiles, SelectionView
from proxy.tool_sums import nearest_rank

LONGEST_LINE = 8 * 1024 * 1024
"""Bytes; a longer line counts as one that cannot be read."""
MOST_NAMES = 2_000
"""Different names that are counted apart; further ones are added up under `REST`."""
REST = "(others)"
MOST_LATENCIES = 100_000
"""Kept for the percentiles; of more, every second, fourth … one."""
_LONGEST_NAME = 300


def aggregate(file: Path) -> SelectionView:
    """The active log added up; all counters of the write path are 0. Blocking.

    A file that is not there has no events. One that cannot be read says why in ``problem``.
    """
    tally = _Tally()
    problem = ""
    try:
        for line in _lines(file):
            tally.take(line)
    except FileNotFoundError:
        pass
    except OSError as error:
        problem = f"The log of tool selections cannot be read ({error.strerror or error}): {file}."
    return tally.view(file, problem)


def _lines(file: Path) -> Iterator[bytes]:
    """Lines without their ends; ``b""`` for one that is too long, blank ones are skipped."""
    with file.open("rb") as stream:
        skipping = False
        while True:
            line = stream.readline(LONGEST_LINE)
            if not line:
                return
            whole = line.endswith(b"\n") or len(line) < LONGEST_LINE
            if skipping:
                skipping = not whole
            elif not whole:
                skipping = True
                yield b""
            elif line.strip():
                yield line


class _Tally:
    def __init__(self) -> None:
        self.unreadable = 0
        self.candidates = 0
        self.selections = 0
        self.ok = 0
        self.errors = 0
        self.cache_hits = 0
        self.by_ranker: Counter[str] = Counter()
        self.by_server: Counter[str] = Counter()
        self.by_tool: Counter[str] = Counter()
        self.error_types: Counter[str] = Counter()
        self.rejects: Counter[str] = Counter()
        self._latencies = array("d")
        self._stride = 1
        self._executions = 0

    def take(self, line: bytes) -> None:
        """One line."""
        try:
            decoded: object = msgspec.json.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            decoded = None
        record = cast("dict[str, Any]", decoded) if isinstance(decoded, dict) else {}
        match record.get("event"):
            case "selection":
                self._selection(record)
            case "execution":
                self._execution(record)
            case "candidates":
                self.candidates += 1
            case _:
                self.unreadable += 1

    def view(self, file: Path, problem: str) -> SelectionView:
        """All of it."""
        return SelectionView(
            False,
            str(file),
            self.candidates + self.selections + self._executions,
            self.unreadable,
            self.selections,
            self._executions,
            _named(self.by_ranker),
            _named(self.by_server),
            _named(self.by_tool),
            self.ok,
            self.errors,
            self._percentiles(),
            self.cache_hits,
            _named(self.error_types),
            _named(self.rejects),
            0,
            0,
            0,
            0,
            0,
            problem,
        )

    def _selection(self, record: dict[str, Any]) -> None:
        self.selections += 1
        server, tool = _name(record.get("server")), _name(record.get("selected_tool"))
        _add(self.by_ranker, _name(record.get("ranker_version")))
        _add(self.by_server, server)
        _add(self.by_tool, f"{server}/{tool}")
        rejects = record.get("reject_reasons")
        if isinstance(rejects, dict):
            for code, count in cast("dict[str, Any]", rejects).items():
                if isinstance(count, int) and not isinstance(count, bool) and 0 < count < 2**31:
                    _add(self.rejects, _name(code), count)

    def _execution(self, record: dict[str, Any]) -> None:
        if record.get("ok") is True:
            self.ok += 1
        else:
            self.errors += 1
            _add(self.error_types, _name(record.get("error_type")) or "unknown")
        self.cache_hits += record.get("cache_hit") is True
        latency = record.get("latency_ms")
        if isinstance(latency, int | float) and not isinstance(latency, bool):
            self._note_latency(float(latency))
        self._executions += 1

    def _note_latency(self, latency: float) -> None:
        if self._executions % self._stride:
            return
        self._latencies.append(latency)
        if len(self._latencies) >= MOST_LATENCIES:
            self._latencies = self._latencies[::2]
            self._stride *= 2

    def _percentiles(self) -> Percentiles | None:
        """By nearest rank."""
        found = sorted(self._latencies)
        if not found:
            return None
        p50, p95, p99 = (nearest_rank(found, percent) for percent in (50, 95, 99))
        return Percentiles(p50, p95, p99)


def _add(counts: Counter[str], name: str, count: int = 1) -> None:
    if name not in counts and len(counts) >= MOST_NAMES:
        name = REST
    counts[name] += count


def _name(value: object) -> str:
    return value[:_LONGEST_NAME] if isinstance(value, str) else ""


def _named(counts: Counter[str]) -> tuple[NamedCount, ...]:
    return tuple(
        NamedCount(name, count)
        for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    )
