"""What only a socket can do: be missing, be somebody else's, speak nonsense, break."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from console.station import StationUnavailable
from console.stations import attached
from console.stations.attached import AttachedStation
from proxy.events import EventsLost, StationStopping, UpstreamRemoved
from tests.support.fake_engine import engine
from tests.support.sample_data import SNAPSHOT

pytestmark = pytest.mark.anyio

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

WELCOME = b'{"mms":"station","version":1,"pid":7,"product":"9.9"}\n'


@asynccontextmanager
async def _server(talk: Talk, tmp_path: Path) -> AsyncIterator[Path]:
    """A socket that says what the test wants."""

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await talk(reader, writer)
            await reader.read()
        except (ConnectionError, asyncio.CancelledError):
            pass  # the client or the test has ended
        finally:
            writer.close()

    path = Path("/tmp") / f"mms-{abs(hash(tmp_path)):x}"
    server = await asyncio.start_unix_server(accept, str(path))
    try:
        yield path
    finally:
        server.close()
        path.unlink(missing_ok=True)


async def _refusal(path: Path, **options: float) -> str:
    with pytest.raises(StationUnavailable) as caught:
        async with asyncio.timeout(5):
            await AttachedStation.connect(path, **options)
    return str(caught.value)


async def test_it_knows_whom_it_is_attached_to() -> None:
    with engine(on_socket=True) as (_, path):
        async with await AttachedStation.connect(path) as station:
            assert station.attached is True
            assert station.product == "0.1.0"
            assert station.pid > 0


async def test_no_socket_means_no_station_and_says_how_to_start_one(tmp_path: Path) -> None:
    text = await _refusal(tmp_path / "none.sock")
    assert "No station is running" in text
    assert "mms serve" in text


async def test_a_station_that_does_not_greet_is_given_up(tmp_path: Path) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()

    async with _server(silent, tmp_path) as path:
        assert "did not greet within 0.1 s" in await _refusal(path, timeout_seconds=0.1)


async def test_another_version_of_the_channel_is_refused_by_name(tmp_path: Path) -> None:
    async def newer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(WELCOME.replace(b'"version":1', b'"version":2'))

    async with _server(newer, tmp_path) as path:
        text = await _refusal(path)
        assert "mms 9.9" in text
        assert "another version" in text


async def test_something_else_on_the_socket_is_no_station(tmp_path: Path) -> None:
    async def http(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async with _server(http, tmp_path) as path:
        assert "not a station" in await _refusal(path)


async def test_a_socket_of_another_user_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with engine(on_socket=True) as (running, path):
        monkeypatch.setattr(attached.os, "getuid", lambda: 999_999)
        assert "another user" in await _refusal(path)
        assert await asyncio.to_thread(running.left.wait, 5)


async def test_a_lost_connection_fails_open_questions_and_ends_events(tmp_path: Path) -> None:
    async def dies(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(WELCOME)
        assert b'"events"' in await reader.readline()
        writer.write(b'{"id":1,"value":true}\n')
        await reader.readline()
        writer.close()

    async with _server(dies, tmp_path) as path, asyncio.timeout(5):
        station = await AttachedStation.connect(path)
        async with station.events() as events:
            with pytest.raises(StationUnavailable, match="was lost"):
                await station.snapshot()
            (last,) = [event async for event in events]
            assert isinstance(last, StationStopping)
            assert "was lost" in last.reason
        with pytest.raises(StationUnavailable, match="was lost"):
            await station.snapshot()
        with pytest.raises(StationUnavailable, match="was lost"):
            async with station.events():
                pass


async def test_nonsense_in_the_middle_ends_the_connection(tmp_path: Path) -> None:
    async def rambles(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(WELCOME)
        await reader.readline()
        await reader.readline()
        writer.write(b"{]\n")

    async with _server(rambles, tmp_path) as path, asyncio.timeout(5):
        station = await AttachedStation.connect(path)
        with pytest.raises(StationUnavailable, match="not a station"):
            await station.snapshot()


async def test_an_endless_line_ends_the_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attached, "MAX_LINE_BYTES", 1 << 20)

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(WELCOME)
        while True:
            writer.write(b"x" * 65536)
            await writer.drain()

    async with _server(endless, tmp_path) as path, asyncio.timeout(5):
        station = await AttachedStation.connect(path)
        with pytest.raises(StationUnavailable, match="more than 1 MiB"):
            await station.snapshot()


async def test_an_answer_of_another_shape_is_unavailable_not_a_crash(tmp_path: Path) -> None:
    async def other(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(WELCOME)
        await reader.readline()
        await reader.readline()
        writer.write(b'{"id":1,"value":{"taken_at":"yesterday"}}\n')

    async with (
        _server(other, tmp_path) as path,
        asyncio.timeout(5),
        await AttachedStation.connect(path) as station,
    ):
        with pytest.raises(StationUnavailable, match=r"mms 9\.9.*does not understand"):
            await station.snapshot()


async def test_lines_may_arrive_in_any_pieces(tmp_path: Path) -> None:
    async def drips(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        for byte in WELCOME:
            writer.write(bytes([byte]))
            await writer.drain()
        await reader.readline()
        line = b'{"id":1,"value":true}\n{"event":{"type":"UpstreamRemoved","name":"x"}}\n'
        for cut in range(0, len(line), 7):
            writer.write(line[cut : cut + 7])
            await writer.drain()

    async with (
        _server(drips, tmp_path) as path,
        asyncio.timeout(5),
        await AttachedStation.connect(path) as station,
        station.events() as events,
    ):
        assert await anext(events) == UpstreamRemoved("x")


async def test_an_event_of_an_unknown_kind_asks_for_a_fresh_look(tmp_path: Path) -> None:
    async def newer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(WELCOME)
        await reader.readline()
        await reader.readline()
        writer.write(b'{"id":1,"value":true}\n{"event":{"type":"SunRose"}}\n')

    async with (
        _server(newer, tmp_path) as path,
        asyncio.timeout(5),
        await AttachedStation.connect(path) as station,
        station.events() as events,
    ):
        assert await anext(events) == EventsLost(1)


async def test_leaving_ends_the_connection_but_not_the_station() -> None:
    with engine(on_socket=True) as (running, path):
        async with asyncio.timeout(5):
            station = await AttachedStation.connect(path)
            async with station.events() as events:
                await station.aclose()
                assert [type(event) async for event in events] == [StationStopping]
            with pytest.raises(StationUnavailable, match="was closed"):
                await station.snapshot()
            assert await asyncio.to_thread(running.left.wait, 5)
            assert await running.do(lambda: running.fake.feed.readers) == 0
            async with await AttachedStation.connect(path) as second:
                assert await second.snapshot() == SNAPSHOT
