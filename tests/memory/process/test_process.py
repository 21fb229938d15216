"""The memory's process and its client, as two real processes."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from memory import api
from memory.errors import FaultCode, MemoryFault
from memory.process import client as client_module
from memory.process import program as program_module
from memory.process import server as server_module
from memory.process.client import MemoryClient
from memory.process.program import last_complaint, memory_program
from tests.memory.process.processes import (
    AGENT,
    PATIENCE,
    PROGRAM,
    ROOT,
    START,
    client_of,
    instance,
    is_running,
    notes,
    openers,
    remember,
    until,
)

Loop = Callable[[Coroutine[Any, Any, None]], None]


def on_asyncio(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


def on_uvloop(work: Coroutine[Any, Any, None]) -> None:
    uvloop = pytest.importorskip("uvloop")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(work)


@pytest.mark.parametrize("run", [on_asyncio, on_uvloop])
def test_the_first_request_starts_the_process_and_the_last_client_ends_it(
    tmp_path: Path, run: Loop
) -> None:
    async def work() -> None:
        async with client_of(tmp_path) as client:
            assert not client.is_connected
            stored = await client.ask(remember("the port is 8080"), AGENT)
            assert stored.record.text.content == "the port is 8080"
            assert stored.record.actor == "test-host"
            pid = client.process
            assert pid is not None
            assert is_running(pid)
        await until(lambda: not is_running(pid))
        assert notes(tmp_path) == ["opened", "answered AddRecord the port is 8080", "closed"]

    run(work())


@pytest.mark.anyio
async def test_the_process_is_private_logs_what_is_printed_and_lets_no_second_owner_in(
    tmp_path: Path,
) -> None:
    paths, environ = instance(tmp_path)
    async with client_of(tmp_path) as client:
        await client.ask(remember("print"), AGENT)
        assert client.process is not None
        assert os.getsid(client.process) == client.process  # a terminal's ctrl+c does not reach it
        log = paths.memory_directory / "memory.log"
        assert stat.S_IMODE(paths.memory_directory.stat().st_mode) == 0o700
        assert stat.S_IMODE(paths.memory_socket.stat().st_mode) == 0o600
        assert stat.S_IMODE(log.stat().st_mode) == 0o600
        assert "words of a library" in log.read_text("utf-8")
        second = await asyncio.to_thread(
            subprocess.run, PROGRAM, env=environ, capture_output=True, timeout=PATIENCE, check=False
        )
        assert (second.returncode, second.stdout, second.stderr) == (3, b"", b"")
        await client.ask(api.GetPosition(), AGENT)


@pytest.mark.anyio
async def test_after_a_process_died_only_what_can_be_repeated_is_asked_again(
    tmp_path: Path,
) -> None:
    died = instance(tmp_path)[0].memory_directory / "died"
    async with client_of(tmp_path) as client:
        with pytest.raises(MemoryFault, match="It may have been done") as caught:
            await client.ask(remember("die-once"), AGENT)
        assert caught.value.code is FaultCode.UNAVAILABLE
        assert len(openers(tmp_path)) == 1
        died.unlink()
        await client.ask(api.Search("die-once"), AGENT)
        assert len(openers(tmp_path)) == 3
        with pytest.raises(MemoryFault, match="Nothing was changed; ask again") as caught:
            await client.ask(api.Search("die"), AGENT)
        assert caught.value.code is FaultCode.UNAVAILABLE
        assert len(openers(tmp_path)) == 4


@pytest.mark.anyio
async def test_settings_are_read_at_the_start_and_followed_while_it_runs(tmp_path: Path) -> None:
    paths, _ = instance(tmp_path)
    for directory in (paths.runtime_directory, paths.state_directory):
        directory.mkdir(parents=True, mode=0o700, exist_ok=True)
    with socket.socket(
        socket.AF_UNIX
    ) as dead:  # a socket that a killed process left is no obstacle
        dead.bind(str(paths.memory_socket))
    async with client_of(tmp_path) as client:
        assert (await client.ask(api.Search("approval"), AGENT)).degraded == "operator"
        paths.config_file.write_text('[memory]\napproval = "auto"\n', encoding="utf-8")
        found = ""
        async with asyncio.timeout(PATIENCE):
            while found != "auto":
                found = (await client.ask(api.Search("approval"), AGENT)).degraded


@pytest.mark.anyio
async def test_many_clients_that_start_at_once_share_one_process(tmp_path: Path) -> None:
    async with contextlib.AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(client_of(tmp_path)) for _ in range(5)]
        await asyncio.gather(*(client.ask(api.GetPosition(), AGENT) for client in clients))
        assert len({client.process for client in clients}) == 1
        assert len(openers(tmp_path)) == 1


@pytest.mark.anyio
async def test_a_signal_lets_the_running_request_finish_and_the_others_go_to_a_new_process(
    tmp_path: Path,
) -> None:
    directory = instance(tmp_path)[0].memory_directory
    async with client_of(tmp_path) as client, asyncio.TaskGroup() as group:
        await client.ask(api.GetPosition(), AGENT)
        first = client.process
        assert first is not None
        running = group.create_task(client.ask(remember("wait go"), AGENT))
        await until((directory / "waiting").exists)
        queued = group.create_task(client.ask(remember("queued"), AGENT))
        await asyncio.sleep(0)
        os.kill(first, signal.SIGTERM)
        await until(lambda: not client.is_connected)
        (directory / "go").touch()
        assert (await running).record.text.content == "wait go"
        assert (await queued).record.text.content == "queued"
        assert client.process not in (None, first)
    assert [note for note in notes(tmp_path) if "queued" in note] == ["answered AddRecord queued"]
    await until(lambda: notes(tmp_path).count("closed") == 2)


@pytest.mark.anyio
async def test_an_idle_client_leaves_and_comes_back(tmp_path: Path) -> None:
    async with client_of(tmp_path, idle_seconds=0.01) as client:
        await client.ask(api.GetPosition(), AGENT)
        await until(lambda: not client.is_connected)
        await until(lambda: notes(tmp_path)[-1] == "closed")
        await client.ask(api.GetPosition(), AGENT)
    assert len(openers(tmp_path)) == 2


@pytest.mark.anyio
async def test_a_closed_client_refuses(tmp_path: Path) -> None:
    client = client_of(tmp_path)
    await client.aclose()
    with pytest.raises(MemoryFault, match="was closed"):
        await client.ask(api.GetPosition(), AGENT)


@pytest.mark.anyio
async def test_a_program_that_fails_is_told_with_its_last_words_at_once(tmp_path: Path) -> None:
    paths, environ = instance(tmp_path)
    program = ("/bin/sh", "-c", "echo a library is missing >&2; exit 7")
    async with MemoryClient(paths, environ, program=program) as client:
        with pytest.raises(MemoryFault, match="exited with code 7: a library is missing") as caught:
            await client.ask(api.GetPosition(), AGENT)
    assert caught.value.code is FaultCode.UNAVAILABLE
    assert "memory.log" in caught.value.hint


@pytest.mark.anyio
async def test_a_program_that_does_not_exist_is_told(tmp_path: Path) -> None:
    paths, environ = instance(tmp_path)
    async with MemoryClient(paths, environ, program=("/no/such/program",)) as client:
        with pytest.raises(MemoryFault, match="could not be started"):
            await client.ask(api.GetPosition(), AGENT)


@pytest.mark.anyio
async def test_starting_has_a_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "START_SECONDS", 0.05)
    paths, environ = instance(tmp_path)
    program = ("/bin/sh", "-c", "exec sleep 600")
    async with MemoryClient(paths, environ, program=program) as client:
        with pytest.raises(MemoryFault, match="did not answer within"):
            await client.ask(api.GetPosition(), AGENT)
    for process in program_module._started:
        process.kill()
        process.wait(PATIENCE)
    program_module.reap()


@pytest.mark.anyio
async def test_a_client_waits_for_an_owner_that_is_ending(tmp_path: Path) -> None:
    paths, _ = instance(tmp_path)
    paths.memory_directory.mkdir(parents=True, mode=0o700)
    for directory in (paths.state_directory, paths.state_directory.parent):
        directory.chmod(0o700)
    lock = os.open(paths.memory_directory / "owner.lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        async with client_of(tmp_path) as client, asyncio.TaskGroup() as group:
            asked = group.create_task(client.ask(api.GetPosition(), AGENT))
            await until(
                lambda: (
                    any(one.poll() is not None for one in program_module._started) or asked.done()
                )
            )
            assert not asked.done()
            os.close(lock)
            lock = -1
            assert (await asked).position == 0
    finally:
        if lock >= 0:
            os.close(lock)


@pytest.mark.anyio
async def test_a_process_that_nobody_visits_ends(tmp_path: Path) -> None:
    _, environ = instance(tmp_path)
    script = START.replace(
        "from tests", "import memory.process.server as s; s.FIRST_CLIENT_SECONDS = 0.05; from tests"
    )
    program = (sys.executable, "-P", "-c", script, str(ROOT))
    ended = await asyncio.to_thread(
        subprocess.run, program, env=environ, capture_output=True, timeout=PATIENCE, check=False
    )
    assert (ended.returncode, ended.stdout) == (0, b"ready\n")
    assert notes(tmp_path) == []
    assert server_module.FIRST_CLIENT_SECONDS == 10.0


def test_the_real_program_starts_our_own_packages() -> None:
    program = memory_program()
    assert Path(program[-1], "memory", "process", "child.py").exists()


def test_the_last_complaint_of_no_log_is_empty(tmp_path: Path) -> None:
    assert last_complaint(instance(tmp_path)[0]) == ""
