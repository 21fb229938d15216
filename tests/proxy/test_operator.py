"""The channel from the client's side, byte by byte."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from proxy.commands import CommandResult, StopStation
from proxy.events import StationStopping, UpstreamRemoved
from proxy.model import Snapshot
from proxy.operator import MAX_QUESTIONS, serve_operator
from tests.support.fake_station import FakeStation
from tests.support.sample_data import CALLS, SNAPSHOT

pytestmark = pytest.mark.anyio


class Client:
    """Speaks lines of JSON."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def line(self) -> Any:
        async with asyncio.timeout(5):
            return json.loads(await self.reader.readline())

    def say(self, text: str) -> None:
        self.writer.write(text.encode() + b"\n")


@asynccontextmanager
async def _client(fake: FakeStation, *, limit: int = 1 << 24) -> AsyncIterator[Client]:
    """A client after the greeting; at the end the service must have ended too."""
    ended = asyncio.Event()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve_operator(reader, writer, fake, product="1.2.3")
        finally:
            ended.set()

    with tempfile.TemporaryDirectory(prefix="mms-") as directory:
        path = str(Path(directory) / "s")
        server = await asyncio.start_unix_server(accept, path)
        reader, writer = await asyncio.open_unix_connection(path, limit=limit)
        client = Client(reader, writer)
        welcome = await client.line()
        assert welcome.pop("pid") > 0
        assert welcome == {"mms": "station", "version": 1, "product": "1.2.3"}
        try:
            yield client
        finally:
            writer.close()
            async with asyncio.timeout(5):
                await ended.wait()
            server.close()
        assert fake.feed.readers == 0


async def test_a_question_is_answered_under_its_id() -> None:
    async with _client(FakeStation()) as client:
        client.say(json.dumps({"id": 7, "ask": "call", "with": {"id": CALLS[0].id}}))
        answer = await client.line()
        assert answer["id"] == 7
        assert answer["value"]["record"]["tool"] == CALLS[0].tool


async def test_a_query_without_arguments_is_the_default_one() -> None:
    async with _client(FakeStation()) as client:
        client.say('{"id":1,"ask":"calls"}')
        assert len((await client.line())["value"]) == len(CALLS)


@pytest.mark.parametrize("count", [0, 1, 99, 100, 101, 250])
async def test_any_number_of_calls_arrives_whole(count: int) -> None:
    fake = FakeStation()
    fake.records = (CALLS * 3)[:count]
    async with _client(fake) as client:
        client.say('{"id":1,"ask":"calls","with":{"limit":1000}}')
        ids = [call["id"] for call in (await client.line())["value"]]
        assert ids == [call.id for call in fake.records]


async def test_encoding_many_calls_lets_the_engine_work_in_between() -> None:
    fake = FakeStation()
    fake.records = CALLS * 80
    turns = 0

    async def work() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with _client(fake) as client, asyncio.TaskGroup() as group:
        working = group.create_task(work())
        client.say('{"id":1,"ask":"calls","with":{"limit":10000}}')
        assert len((await client.line())["value"]) == len(fake.records)
        working.cancel()
    assert turns >= len(fake.records) / 100


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("hello", "no question"),
        ('{"ask":"snapshot"}', "id"),
        ('{"id":1,"ask":"weather"}', "weather"),
        ('{"id":1,"ask":"upstream","with":{}}', "name"),
        ('{"id":1,"ask":"upstream"}', "upstream"),
        ('{"id":1,"ask":"execute","with":{"type":"Explode"}}', "Explode"),
    ],
)
async def test_a_wrong_line_is_answered_by_an_error_and_the_next_one_works(
    line: str, words: str
) -> None:
    async with _client(FakeStation()) as client:
        client.say(line)
        assert words in (await client.line())["error"]
        client.say('{"id":2,"ask":"settings"}')
        assert (await client.line())["id"] == 2


async def test_a_line_beyond_the_limit_is_said_and_ends_the_connection() -> None:
    async with _client(FakeStation()) as client:
        client.say("x" * 200_000)
        assert "too long" in (await client.line())["error"]
        assert await client.reader.read() == b""


async def test_a_fault_of_the_engine_is_an_error_of_that_question_only(
    caplog: pytest.LogCaptureFixture,
) -> None:
    fake = FakeStation()

    async def broken() -> Snapshot:
        raise ZeroDivisionError("division by zero")

    fake.snapshot = broken  # type: ignore[method-assign]  # a fault
    async with _client(fake) as client:
        client.say('{"id":1,"ask":"snapshot"}')
        assert await client.line() == {"id": 1, "error": "division by zero"}
        client.say('{"id":2,"ask":"settings"}')
        assert (await client.line())["id"] == 2
    assert "the question 'snapshot' failed" in caplog.text


async def test_a_quick_question_overtakes_a_slow_one() -> None:
    fake = FakeStation()
    go_on = asyncio.Event()

    async def slow() -> Snapshot:
        await go_on.wait()
        return SNAPSHOT

    fake.snapshot = slow  # type: ignore[method-assign]  # waits for the test
    async with _client(fake) as client:
        client.say('{"id":1,"ask":"snapshot"}')
        client.say('{"id":2,"ask":"settings"}')
        assert (await client.line())["id"] == 2
        go_on.set()
        assert (await client.line())["id"] == 1


async def test_a_command_is_carried_out_though_the_client_leaves_at_once() -> None:
    fake = FakeStation()
    go_on = asyncio.Event()
    done: list[str] = []

    async def slow(command: object) -> CommandResult:
        await go_on.wait()
        done.append(type(command).__name__)
        return CommandResult(ok=True, message="")

    fake.execute = slow  # type: ignore[method-assign]  # waits for the test
    async with _client(fake) as client:
        client.say('{"id":1,"ask":"execute","with":{"type":"StopStation"}}')
        client.say('{"id":2,"ask":"settings"}')
        await client.line()
        client.writer.close()
        await client.writer.wait_closed()
        go_on.set()
    assert done == [StopStation.__name__]


async def test_events_flow_only_after_they_were_asked_for_and_once() -> None:
    fake = FakeStation()
    async with _client(fake) as client:
        fake.push(UpstreamRemoved("early"))
        client.say('{"id":1,"ask":"events"}')
        assert await client.line() == {"id": 1, "value": True}
        client.say('{"id":2,"ask":"events"}')
        assert await client.line() == {"id": 2, "value": True}
        fake.push(UpstreamRemoved("x"))
        assert await client.line() == {"event": {"type": "UpstreamRemoved", "name": "x"}}
        fake.push(UpstreamRemoved("y"))
        assert (await client.line())["event"]["name"] == "y"


async def test_a_client_that_does_not_read_loses_events_and_the_engine_goes_on() -> None:
    fake = FakeStation()
    fake.event_capacity = 16
    async with _client(fake, limit=1 << 16) as client:
        client.say('{"id":1,"ask":"events"}')
        assert (await client.line())["value"] is True
        # 8 MB, of which socket and buffers hold a part; each round gives the channel its turn.
        rounds, filler = 400, "x" * 20_000
        for number in range(rounds):
            fake.push(UpstreamRemoved(f"{number} {filler}"))
            await asyncio.sleep(0)
        fake.push(StationStopping("end"))
        seen = lost = 0
        while (event := (await client.line())["event"])["type"] != "StationStopping":
            if event["type"] == "EventsLost":
                lost += event["count"]
            else:
                seen += 1
        assert lost > 0
        assert seen + lost == rounds


async def test_more_questions_than_are_worked_on_at_once_wait_and_are_all_answered() -> None:
    fake = FakeStation()
    go_on = asyncio.Event()
    full = asyncio.Event()
    running = highest = 0

    async def counted() -> Snapshot:
        nonlocal running, highest
        running += 1
        highest = max(highest, running)
        if running == MAX_QUESTIONS:
            full.set()
        await go_on.wait()
        running -= 1
        return SNAPSHOT

    fake.snapshot = counted  # type: ignore[method-assign]  # waits for the test
    async with _client(fake) as client:
        for number in range(3 * MAX_QUESTIONS):
            client.say(json.dumps({"id": number, "ask": "snapshot"}))
        async with asyncio.timeout(5):
            await full.wait()
        go_on.set()
        ids = {(await client.line())["id"] for _ in range(3 * MAX_QUESTIONS)}
        assert ids == set(range(3 * MAX_QUESTIONS))
        assert highest == MAX_QUESTIONS


async def test_cancelling_ends_the_connection() -> None:
    fake = FakeStation()
    with tempfile.TemporaryDirectory(prefix="mms-") as directory:
        path = str(Path(directory) / "s")
        serving: list[asyncio.Task[None] | None] = []
        ended: list[BaseException] = []

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            serving.append(asyncio.current_task())
            try:
                await serve_operator(reader, writer, fake)
            except BaseException as error:
                ended.append(error)

        server = await asyncio.start_unix_server(accept, path)
        reader, writer = await asyncio.open_unix_connection(path)
        writer.write(b'{"id":1,"ask":"events"}\n')
        async with asyncio.timeout(5):
            await reader.readline()
            await reader.readline()
            assert fake.feed.readers == 1
            task = serving[0]
            assert task is not None
            task.cancel()
            assert await reader.read() == b""
        assert fake.feed.readers == 0
        assert [type(error) for error in ended] == [asyncio.CancelledError]
        writer.close()
        server.close()
