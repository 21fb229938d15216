"""An upstream that misbehaves hurts only itself: its callers get an answer or a clear error, its
neighbours notice nothing, and it comes back.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.chaos_upstream import CALL_FAULTS
from tests.support.mcp_client import connect_host
from tests.support.stations import (
    Station,
    chaos,
    events,
    running_station,
    wait_until,
)

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("chaos")]

EXPECTED = {
    "crash": r"exited with code 7 .*whether the call had an effect is not known.*has crashed",
    "crash_mid_frame": r"exited with code 0",
    "close_stdout": r"closed its output",
    "hang": r"did not answer within 1 s",
    "late_answer": r"did not answer within 1 s",
    "wrong_id": "right",
    "guessed_ids": "right",
    "duplicate_answer": "first",
    "garbage_lines": "right",
    "invalid_utf8": r"cannot be read: byte \d+ is not valid UTF-8",
    "nan": r"cannot be read: not JSON",
    "deep_nesting": r"cannot be read: nested deeper than",
    "huge_line": r"sent too much at once: a line is longer than 1,048,576 bytes",
    "batch": r"cannot be read: batches are not part of the protocol",
    "bad_result": r"no valid result",
    "progress_for_ever": r"did not answer within [23] s",
    "notification_flood": "right",
}
"""The answer, or what the error must say."""
LIMITS = """
[proxy]
compression = "none"
max_upstream_frame_bytes = 1048576
max_result_bytes = 524288
call_timeout_max_seconds = 2
"""


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Station, Path]]:
    """A station with one upstream per kind of fault, and a good one."""
    home = tmp_path_factory.mktemp("h")
    config = LIMITS + chaos("good")
    for kind in CALL_FAULTS:
        journal = home.with_name(f"{home.name}-{kind}")
        limit = {"call_timeout_seconds": 1} if "did not answer" in EXPECTED[kind] else {}
        config += chaos(kind, journal=journal, **limit)
    with running_station(home, config) as station:
        yield station, home


@pytest.mark.parametrize("kind", CALL_FAULTS)
async def test_a_fault_in_a_call_hurts_only_that_call(
    faulty: tuple[Station, Path], kind: str
) -> None:
    station, home = faulty
    async with connect_host(station.socket) as host, connect_host(station.socket) as other:
        pid = json.loads(await host.text(f"{kind}__process"))["pid"]
        arguments = {"kind": kind, "bytes": 2_000_000, "seconds": 1.5}
        meta = {"progressToken": "t"} if kind == "progress_for_ever" else None
        id, answer = host.begin(
            "tools/call", {"name": f"{kind}__fault", "arguments": arguments, **_meta(meta)}
        )
        assert await other.text("good__echo", {"text": "unaffected"}) == "unaffected"
        async with asyncio.timeout(20):
            result = (await answer)["result"]
        text = result["content"][0]["text"]
        if result.get("isError"):
            assert re.search(EXPECTED[kind], text), text
            assert kind in text, "the error names the upstream"
            assert "Traceback (most" not in text
        else:
            assert text == EXPECTED[kind]
        assert await host.text(f"{kind}__echo", {"text": "back"}) == "back"
        assert [m for m in host.received if m.get("id") == id] == [{**(await answer)}]
        now = json.loads(await host.text(f"{kind}__process"))["pid"]
        survives = kind not in ("crash", "crash_mid_frame", "close_stdout", "huge_line")
        assert (now == pid) is survives
    journal = home.with_name(f"{home.name}-{kind}")
    assert len(events(journal, "fault")) == 1, "the call was made once and never repeated"


def _meta(meta: dict[str, str] | None) -> dict[str, object]:
    return {} if meta is None else {"_meta": meta}


async def test_an_upstream_that_hangs_is_told_of_the_deadline(
    faulty: tuple[Station, Path],
) -> None:
    station, home = faulty
    async with connect_host(station.socket) as host:
        await host.failure("hang__wait", {"seconds": 100})
    journal = home.with_name(f"{home.name}-hang")
    wait_until(lambda: events(journal, "cancelled"), "the call is cancelled upstream")


async def test_a_late_answer_reaches_nobody(faulty: tuple[Station, Path]) -> None:
    station, home = faulty
    journal = home.with_name(f"{home.name}-late_answer")
    before = len(events(journal, "late_answer_sent"))
    async with connect_host(station.socket) as host:
        await host.failure("late_answer__fault", {"kind": "late_answer", "seconds": 1.3})
        wait_until(
            lambda: len(events(journal, "late_answer_sent")) > before, "the late answer is sent"
        )
        assert await host.text("late_answer__echo", {"text": "next"}) == "next"
        assert not [line for line in host.lines if b"much too late" in line]


async def test_the_last_words_of_an_earlier_life_are_not_blamed_for_a_later_death(
    faulty: tuple[Station, Path],
) -> None:
    station, _ = faulty
    async with connect_host(station.socket) as host:
        assert "has crashed" in await host.failure("crash__fault", {"kind": "crash"})
        assert await host.text("crash__echo", {"text": "back"}) == "back"
        silent = await host.failure("crash__fault", {"kind": "crash_mid_frame"})
        assert "exited with code 0" in silent
        assert "has crashed" not in silent


async def test_an_answer_that_hosts_would_not_read_becomes_an_error_that_says_so(
    faulty: tuple[Station, Path],
) -> None:
    station, _ = faulty
    async with connect_host(station.socket) as host:
        pid = json.loads(await host.text("hang__process"))["pid"]
        text = await host.failure("hang__fault", {"kind": "huge_line", "bytes": 700_000})
        assert "700," in text
        assert "proxy.max_result_bytes = 524,288" in text
        assert json.loads(await host.text("hang__process"))["pid"] == pid
