"""``mms demo``: on a screen until the person leaves, or once through with a report."""

from __future__ import annotations

import asyncio
import json as jsonlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from types import FrameType

from console.demo.instance import DemoInstance, demo_instance
from console.demo.report import Report, ReportedCall, as_json, as_text
from console.demo.script import CALLS
from console.station import Station, StationUnavailable
from proxy.model import CallQuery, CallRecord

_SCRIPT_SECONDS = 120.0
"""The script, back to back, takes about two seconds."""
_RECORDED_SECONDS = 10.0
"""How long the recorder may take to count and write the last calls."""


def run_on_screen() -> int:
    """Open the console on a temporary station with the agent at work; its exit code."""
    from console.cli import main as cli

    with demo_instance(os.environ) as demo, _environment(demo.environ):
        demo.start_agent("--pace", "1", "--forever")
        return cli([])


def run_to_report(*, json: bool) -> int:
    """Run the script once and print what was recorded; 1 when something was not as planned."""
    with _ending_on_signals(), demo_instance(os.environ) as demo:
        started = time.perf_counter()
        station = demo.start_station()
        agent = demo.start_agent()
        problems = _problems_of(agent, station, demo)
        seconds = time.perf_counter() - started
        calls: tuple[ReportedCall, ...] = ()
        try:
            calls = asyncio.run(_recorded(demo))
        except StationUnavailable as error:
            problems.append(str(error))
        if len(calls) != CALLS:
            problems.append(f"the station recorded {len(calls)} calls of {CALLS}")
        report = Report(calls, seconds, tuple(problems))
    sys.stdout.write((as_json(report) if json else as_text(report)) + "\n")
    return 1 if report.problems else 0


def _problems_of(
    agent: subprocess.Popen[bytes], station: subprocess.Popen[bytes], demo: DemoInstance
) -> list[str]:
    """Wait for the agent to finish; what went wrong, in sentences."""
    try:
        output, _ = agent.communicate(timeout=_SCRIPT_SECONDS)
    except subprocess.TimeoutExpired:
        return [f"the agent did not finish within {_SCRIPT_SECONDS:.0f} s"]
    problems: list[str] = []
    try:
        told = jsonlib.loads(output)
    except ValueError:
        words = demo.agent_words.read_text(errors="replace").strip()
        problems.append(f"the agent ended with code {agent.returncode}: {words[-400:]}")
    else:
        if told["failure"]:
            problems.append(str(told["failure"]))
        problems += [
            f"{call['tool']} {call['surprise']}" for call in told["calls"] if call["surprise"]
        ]
    if station.poll() is not None:
        words = demo.station_words.read_text(errors="replace").strip()
        problems.append(f"the station ended with code {station.returncode}: {words[-400:]}")
    return problems


async def _recorded(demo: DemoInstance) -> tuple[ReportedCall, ...]:
    """All calls of the station, oldest first. Raises `StationUnavailable`."""
    from console.stations.attached import AttachedStation

    station = await AttachedStation.connect(demo.paths.socket)
    try:
        records = await _all_records(station)
        return tuple([await _with_arguments(station, record) for record in reversed(records)])
    finally:
        await station.aclose()


async def _all_records(station: Station) -> tuple[CallRecord, ...]:
    """The recorded calls, once the recorder has caught up with the script or is given up."""
    records: tuple[CallRecord, ...] = ()
    try:
        async with asyncio.timeout(_RECORDED_SECONDS):
            while len(records) < CALLS:
                records = await station.calls(CallQuery(limit=10 * CALLS))
                await asyncio.sleep(0.05)
    except TimeoutError:
        pass
    return records


async def _with_arguments(station: Station, record: CallRecord) -> ReportedCall:
    detail = await station.call(record.id)
    return ReportedCall(record, (detail.arguments if detail else None) or "")


@contextmanager
def _environment(environ: Mapping[str, str]) -> Generator[None]:
    """Run with exactly these variables."""
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(environ)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _ending_on_signals() -> Generator[None]:
    """SIGTERM and SIGHUP leave through the clean-up, as ctrl+c does."""

    def leave(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    signals = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(one, leave) for one in signals]
    try:
        yield
    finally:
        for one, handler in zip(signals, before, strict=True):
            signal.signal(one, handler)
