"""What is said between a client and a server, both in this process."""

from __future__ import annotations

import asyncio
import os
import socket
from pathlib import Path

import pytest

from config.schema import MemorySettings
from memory import api
from memory.errors import FaultCode, MemoryFault
from memory.process import client as client_module
from memory.process import server as server_module
from memory.process import wire
from tests.memory.process.processes import AGENT, PATIENCE, instance, remember, until
from tests.memory.process.serving import GatedService, client_of_served, serving
from tests.memory.support import NOW, make_record


@pytest.mark.anyio
async def test_requests_in_flight_together_are_done_one_after_another_in_their_order(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path, GatedService()), client_of_served(tmp_path) as client:
        results = await asyncio.gather(
            *(client.ask(remember(f"fact {letter}"), AGENT) for letter in "abcdefgh" * 20)
        )
        assert [one.record.num for one in results] == list(range(1, 9)) * 20
        assert [one.repeated for one in results] == [False] * 8 + [True] * 152
        assert results[0].record.recorded_at == NOW


@pytest.mark.anyio
async def test_faults_come_back_as_faults_and_cost_only_their_request(tmp_path: Path) -> None:
    async with serving(tmp_path, GatedService()), client_of_served(tmp_path) as client:
        with pytest.raises(MemoryFault, match="There is no record nothing") as caught:
            await client.ask(api.GetRecord("nothing"), AGENT)
        assert caught.value.code is FaultCode.NOT_FOUND
        assert caught.value.hint == "Query for it."
        with pytest.raises(MemoryFault, match="failed \\(ValueError\\)") as caught:
            await client.ask(remember("raise"), AGENT)
        assert caught.value.code is FaultCode.INTERNAL
        assert "a fault of ours" not in str(caught.value)
        assert (await client.ask(api.GetPosition(), AGENT)).position == 0


@pytest.mark.anyio
async def test_a_memory_that_cannot_be_opened_is_told_and_tried_again(tmp_path: Path) -> None:
    service = GatedService()
    async with serving(tmp_path, service) as server, client_of_served(tmp_path) as client:

        def broken() -> GatedService:
            server._open_service = lambda: service
            raise MemoryFault(FaultCode.UNAVAILABLE, "The file is no database.")

        server._open_service = broken
        with pytest.raises(MemoryFault, match="no database"):
            await client.ask(api.GetPosition(), AGENT)
        assert (await client.ask(api.GetPosition(), AGENT)).position == 0


@pytest.mark.anyio
async def test_a_text_with_half_a_surrogate_pair_is_refused_before_it_is_sent(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path, GatedService()), client_of_served(tmp_path) as client:
        with pytest.raises(MemoryFault, match="surrogate") as caught:
            await client.ask(remember("\ud800"), AGENT)
        assert caught.value.code is FaultCode.INVALID


@pytest.mark.anyio
async def test_a_megabyte_goes_there_and_back(tmp_path: Path) -> None:
    async with serving(tmp_path, GatedService()), client_of_served(tmp_path) as client:
        text = "ü" * 500_000 + "\n\u2028\x00"
        stored = await client.ask(remember(text), AGENT)
        assert stored.record.text.content == text


@pytest.mark.anyio
async def test_what_is_too_long_for_a_line_is_refused_on_either_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(tmp_path, GatedService()), client_of_served(tmp_path) as client:
        await client.ask(remember("x" * 3_000), AGENT)
        monkeypatch.setattr(wire, "FRAME_LIMIT", 2_000)
        with pytest.raises(MemoryFault, match="2,000 are possible") as caught:
            await client.ask(remember("y" * 3_000), AGENT)
        assert caught.value.code is FaultCode.INVALID
        with pytest.raises(MemoryFault, match="Ask for a smaller page"):
            await client.ask(api.ListRecords(), AGENT)


@pytest.mark.anyio
async def test_a_request_that_is_given_up_leaves_the_connection_usable(tmp_path: Path) -> None:
    service = GatedService()
    async with serving(tmp_path, service), client_of_served(tmp_path) as client:
        async with asyncio.TaskGroup() as group:
            asking = group.create_task(client.ask(remember("wait"), AGENT))
            await until(service.waiting.is_set)
            asking.cancel()
        service.gate.set()
        assert (await client.ask(api.GetPosition(), AGENT)).position == 1


@pytest.mark.anyio
async def test_what_a_client_that_left_had_queued_is_not_begun(tmp_path: Path) -> None:
    service = GatedService()
    async with (
        serving(tmp_path, service) as server,
        client_of_served(tmp_path) as stays,
        asyncio.TaskGroup() as group,
    ):
        running = group.create_task(stays.ask(remember("wait"), AGENT))
        await until(service.waiting.is_set)
        async with client_of_served(tmp_path) as leaves:
            queued = group.create_task(leaves.ask(remember("queued"), AGENT))
            await until(lambda: server._jobs.qsize() == 1)
            queued.cancel()
        service.gate.set()
        await running
        assert (await stays.ask(api.GetPosition(), AGENT)).position == 1


@pytest.mark.anyio
async def test_a_request_has_a_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "ASK_SECONDS", 0.02)
    async with serving(tmp_path, GatedService()), client_of_served(tmp_path) as client:
        with pytest.raises(MemoryFault, match="did not answer within") as caught:
            await client.ask(remember("wait"), AGENT)
        assert caught.value.code is FaultCode.UNAVAILABLE
        assert "may have been done" in caught.value.hint


@pytest.mark.anyio
async def test_a_server_that_ends_finishes_what_runs_and_says_what_it_did_not_begin(
    tmp_path: Path,
) -> None:
    service = GatedService()
    async with (
        serving(tmp_path, service) as server,
        client_of_served(tmp_path) as client,
        asyncio.TaskGroup() as group,
    ):
        running = group.create_task(client.ask(remember("wait"), AGENT))
        await until(service.waiting.is_set)
        queued = group.create_task(_fault_of(client.ask(remember("queued"), AGENT)))
        await asyncio.sleep(0)
        server.stop()
        # It looks for another process, which can't be started here.
        assert "could not be started" in (await queued).message
        service.gate.set()
        assert (await running).record.text.content == "wait"


async def _fault_of(asking: object) -> MemoryFault:
    with pytest.raises(MemoryFault) as caught:
        await asking  # type: ignore[misc]
    return caught.value


@pytest.mark.anyio
async def test_a_connection_that_asks_much_at_once_is_read_on_as_it_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "WAITING_CALLS", 2)
    async with serving(tmp_path, GatedService()), client_of_served(tmp_path) as client:
        results = await asyncio.gather(
            *(client.ask(api.Search(f"{number} {'x' * 20_000}"), AGENT) for number in range(40))
        )
        assert len(results) == 40


@pytest.mark.anyio
async def test_a_server_of_another_version_is_told_clearly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = iter(["ours", "theirs", "theirs", "ours"])
    monkeypatch.setattr(wire, "version", lambda: next(versions))
    async with serving(tmp_path, GatedService()), client_of_served(tmp_path) as client:
        with pytest.raises(MemoryFault, match="another version of mms") as caught:
            await client.ask(api.GetPosition(), AGENT)
        assert caught.value.code is FaultCode.UNAVAILABLE
        assert "mms stop" in caught.value.hint


def test_the_version_follows_the_shape_of_what_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    before = wire.version()
    monkeypatch.delattr(api, "GetPosition")
    wire.version.cache_clear()
    try:
        assert wire.version() != before
    finally:
        wire.version.cache_clear()


@pytest.mark.anyio
@pytest.mark.parametrize(
    "garbage",
    [b"GET / HTTP/1.1\r\n\r\n", b"\x00\xff" * 500 + b"\n", b"[]\n", b"[" * 50_000 + b"\n"],
)
@pytest.mark.parametrize("greets", [False, True])
async def test_garbage_costs_its_connection_and_nothing_else(
    tmp_path: Path, garbage: bytes, greets: bool
) -> None:
    paths, _ = instance(tmp_path)
    async with serving(tmp_path, GatedService()), client_of_served(tmp_path) as client:
        await client.ask(api.GetPosition(), AGENT)
        reader, writer = await asyncio.open_unix_connection(str(paths.memory_socket))
        writer.write(wire.greeting_frame() + garbage if greets else garbage)
        answers = (await reader.read()).splitlines()
        assert len(answers) == 1 + greets
        assert b'"invalid_argument"' in answers[-1]
        writer.close()
        await writer.wait_closed()
        await client.ask(api.GetPosition(), AGENT)


@pytest.mark.anyio
async def test_a_line_without_an_end_is_not_kept_without_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths, _ = instance(tmp_path)
    monkeypatch.setattr(wire.Lines.__init__, "__defaults__", (1_000,))
    async with serving(tmp_path, GatedService()):
        reader, writer = await asyncio.open_unix_connection(str(paths.memory_socket))
        writer.write(b"x" * 5_000)
        assert b"longer than 1,000 bytes" in await reader.read()
        writer.close()
        await writer.wait_closed()


@pytest.mark.anyio
async def test_wrong_calls_are_answered_and_the_connection_goes_on(tmp_path: Path) -> None:
    paths, _ = instance(tmp_path)
    async with serving(tmp_path, GatedService()):
        reader, writer = await asyncio.open_unix_connection(str(paths.memory_socket))
        writer.write(wire.greeting_frame())
        actor = b'"actor":{"origin":"agent"}'
        writer.write(b'{"id":1,"method":"Nothing","params":{},%b}\n' % actor)
        writer.write(b'{"id":2,"method":"Search","params":{"query":7},%b}\n' % actor)
        writer.write(b'{"id":3,"method":"GetPosition","params":{},%b}\n' % actor)
        await reader.readline()
        replies = [wire.read_reply(await reader.readline()) for _ in range(3)]
        writer.close()
        await writer.wait_closed()
        faults = [one.fault for one in replies if isinstance(one, wire.Answer)]
        assert [fault.code if fault else None for fault in faults] == [
            FaultCode.INVALID,
            FaultCode.INVALID,
            None,
        ]
        assert "no request 'Nothing'" in str(faults[0])
        assert "query" in str(faults[1])


@pytest.mark.anyio
async def test_a_server_leaves_after_its_last_client_and_not_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "LINGER_SECONDS", 0.0)
    async with serving(tmp_path, GatedService()) as server:
        async with client_of_served(tmp_path) as first:
            await first.ask(api.GetPosition(), AGENT)
            async with client_of_served(tmp_path) as second:
                await second.ask(api.GetPosition(), AGENT)
            await first.ask(api.GetPosition(), AGENT)
            assert not server.is_ending
        async with asyncio.timeout(PATIENCE):
            await until(lambda: server.is_ending)


@pytest.mark.anyio
async def test_a_client_that_reads_no_answers_is_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "UNREAD_LIMIT", 1_000)
    service = GatedService()
    record = make_record(1, content="x" * 4_000_000)
    service.records[record.id] = record
    paths, _ = instance(tmp_path)
    async with serving(tmp_path, service) as server, client_of_served(tmp_path) as client:
        await client.ask(api.GetPosition(), AGENT)
        raw = socket.socket(socket.AF_UNIX)
        raw.connect(str(paths.memory_socket))
        raw.sendall(wire.greeting_frame() + wire.call_frame(1, api.ListRecords(), AGENT))
        await until(lambda: len(server._connections) == 2)
        await until(lambda: len(server._connections) == 1)
        raw.close()
        await client.ask(api.GetPosition(), AGENT)


@pytest.mark.anyio
async def test_a_connection_of_another_user_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "_peer_user", lambda connection: os.getuid() + 1)
    async with serving(tmp_path, GatedService()), client_of_served(tmp_path) as client:
        with pytest.raises(MemoryFault, match="could not be started"):
            await client.ask(api.GetPosition(), AGENT)


@pytest.mark.anyio
async def test_faults_of_configuring_and_closing_stay_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    service = GatedService()

    def fail(*_: object) -> None:
        raise RuntimeError("a fault of ours")

    async with serving(tmp_path, service) as server, client_of_served(tmp_path) as client:
        await server.configure(MemorySettings())  # nothing is open yet
        await client.ask(api.GetPosition(), AGENT)
        await server.configure(MemorySettings(space="other"))
        assert service.settings.space == "other"
        monkeypatch.setattr(service, "configure", fail)
        await server.configure(MemorySettings())
        await client.ask(api.GetPosition(), AGENT)
        monkeypatch.setattr(service, "close", fail)
        service.closed = True
    assert "new settings could not be applied" in caplog.text
    assert "closing the memory failed" in caplog.text


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("says", "message"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "does not speak to a memory"),
        (b'{"mms":"other","version":"1"}\n', "does not speak to a memory"),
        (None, "could not be read"),
    ],
)
async def test_a_process_that_speaks_something_else_is_a_fault(
    tmp_path: Path, says: bytes | None, message: str
) -> None:
    paths, _ = instance(tmp_path)
    paths.runtime_directory.mkdir(parents=True)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(wire.greeting_frame() if says is None else says)
        await reader.readline()
        if says is None and await reader.readline():
            writer.write(b"[]\n")
        await reader.read()
        writer.close()

    server = await asyncio.start_unix_server(serve, str(paths.memory_socket))
    async with server, client_of_served(tmp_path) as client:
        with pytest.raises(MemoryFault, match=message) as caught:
            await client.ask(remember("a fact"), AGENT)
        assert caught.value.code is FaultCode.UNAVAILABLE


@pytest.mark.parametrize(
    ("request_", "is_repeatable"),
    [
        (api.Search("x"), True),
        (remember("x"), False),
        (remember("x", key="k"), True),
        (api.RecordOutcome("x", success=True), False),
        (api.RecordOutcome("x", success=True, key="k"), True),
        (api.CallTool("memory_query", "{}"), True),
        (api.CallTool("memory_store_semantic", "{}"), False),
        (api.RunForgetting(), False),
        (api.Resolve("a", "b"), False),
    ],
)
def test_only_what_is_as_good_done_twice_is_repeated(
    request_: api.Request[object], is_repeatable: bool
) -> None:
    assert client_module._is_repeatable(request_) == is_repeatable
