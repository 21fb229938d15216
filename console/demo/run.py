"""``mms demo``: on a screen until the person leaves, or once through with a report."""

from __future__ import annotations

import asyncio
import json as jsonlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType

from console.demo.instance import DemoInstance, demo_instance
from console.demo.report import Report, ReportedCall, as_json, as_text
from console.demo.script import CALLS, TOOL_ERRORS
from console.station import Station, StationUnavailable
from proxy.model import CallQuery, CallRecord

_SCRIPT_SECONDS = 120.0
"""The script, back to back, takes about two seconds."""
_START_SECONDS = 20.0
_RECORDED_SECONDS = 10.0
"""How long the recorder may take to count and write the last calls."""


def run_on_screen() -> int:
    """Open the console on a station of the demo's with the agent at work; its exit code.

    The station is a process of its own and the console attaches to it. So both start at the same time,
    and leaving just leaves: a demo is never kept running behind the person's back.
    """
    with _ending_on_signals(), demo_instance(os.environ) as demo:
        station = demo.start_station()
        demo.start_agent("--pace", "1", "--forever")
        from console.opening import open_console  # takes as long as the station's start

        if not _answers(demo, station):
            sys.stderr.write(f"mms: the demo cannot start: {demo.words_of_station()}\n")
            return 1
        open_console(demo.environ)
    return 0


def _answers(demo: DemoInstance, station: subprocess.Popen[bytes]) -> bool:
    """Wait until the station accepts connections; false when it ended or takes too long."""
    end = time.monotonic() + _START_SECONDS
    while station.poll() is None and time.monotonic() < end:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            if line.connect_ex(str(demo.paths.socket)) == 0:
                return True
        time.sleep(0.01)
    return False


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
        if not problems and report.tool_errors != TOOL_ERRORS:
            wrong = f"{report.tool_errors} recorded tool errors instead of {TOOL_ERRORS}"
            report = replace(report, problems=(wrong,))
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
        problems.append(f"the agent ended with code {agent.returncode}: {demo.words_of_agent()}")
    else:
        if told["failure"]:
            problems.append(str(told["failure"]))
        problems += [
            f"{call['tool']} {call['surprise']}" for call in told["calls"] if call["surprise"]
        ]
    if station.poll() is not None:
        problems.append(
            f"the station ended with code {station.returncode}: {demo.words_of_station()}"
        )
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
