"""A change of the file is noticed whatever way it was written, and only a change is."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import threading
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest

import config.watch
from config.watch import changes

pytestmark = pytest.mark.anyio


@contextlib.asynccontextmanager
async def _watching(*files: Path) -> AsyncGenerator[AsyncGenerator[None]]:
    """Changes with a bound on every wait."""
    async with asyncio.timeout(20), contextlib.aclosing(changes(files)) as seen:
        yield seen


def _rename_over(file: Path) -> None:
    beside = file.with_name("config.toml.swp")
    beside.write_text("renamed")
    beside.replace(file)


def _truncate(file: Path) -> None:
    with file.open("w") as stream:
        stream.write("longer than before")


def _delete_and_create(file: Path) -> None:
    file.unlink()
    file.write_text("again")


def _same_size_and_time(file: Path) -> None:
    before = file.stat()
    file.write_text(file.read_text().upper())
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize(
    "write", [_rename_over, _truncate, _delete_and_create, _same_size_and_time, Path.unlink]
)
async def test_every_way_of_writing_is_noticed_once(
    tmp_path: Path, write: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without the poll, so that only events can tell.
    monkeypatch.setattr(config.watch, "POLL_SECONDS", 60.0)
    file = tmp_path / "config.toml"
    file.write_text("old")
    async with _watching(file) as seen, asyncio.TaskGroup() as group:
        await _until_watched(file, seen)
        first = await _waiting(group, seen)
        write(file)
        await first
        second = await _waiting(group, seen)
        done, _ = await asyncio.wait([second], timeout=0.5)
        assert not done
        second.cancel()


async def test_the_poll_alone_notices_a_change_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config.watch, "POLL_SECONDS", 0.05)
    monkeypatch.setattr(config.watch, "_directories", lambda _: frozenset())
    file = tmp_path / "config.toml"
    async with _watching(file) as seen, asyncio.TaskGroup() as group:
        first = await _waiting(group, seen)
        file.write_text("new")
        await first


async def test_a_directory_that_is_made_later_is_noticed_and_then_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config.watch, "POLL_SECONDS", 0.2)
    file = tmp_path / "later" / "config.toml"
    async with _watching(file) as seen:
        file.parent.mkdir()
        file.write_text("1")
        await anext(seen)
        file.write_text("22")
        await anext(seen)


async def test_a_directory_that_is_made_anew_is_watched_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config.watch, "POLL_SECONDS", 0.2)
    file = tmp_path / "mms" / "config.toml"
    file.parent.mkdir()
    async with _watching(file) as seen, asyncio.TaskGroup() as group:
        await _until_watched(file, seen)
        # Both at once, so that the directory is never seen missing.
        first = await _waiting(group, seen)
        shutil.rmtree(file.parent)
        file.parent.mkdir()
        _write(file, "new")
        await first
        second = await _waiting(group, seen)
        _write(file, "found by the poll, since the old watch is deaf")
        await second
        monkeypatch.setattr(config.watch, "POLL_SECONDS", 60.0)
        await _until_watched(file, seen)


async def test_a_change_between_the_call_and_the_first_wait_is_not_missed(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    async with _watching(file) as seen:
        file.write_text("new")
        await anext(seen)


async def test_a_write_through_a_link_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config.watch, "POLL_SECONDS", 60.0)
    target = tmp_path / "dotfiles" / "mms.toml"
    target.parent.mkdir()
    target.write_text("old")
    link = tmp_path / "config" / "config.toml"
    link.parent.mkdir()
    link.symlink_to(target)
    async with _watching(link) as seen, asyncio.TaskGroup() as group:
        await _until_watched(target, seen)
        first = await _waiting(group, seen)
        _rename_over(target)
        await first


async def test_other_files_of_the_directory_do_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config.watch, "POLL_SECONDS", 60.0)
    file = tmp_path / "config.toml"
    file.write_text("old")
    async with _watching(file) as seen, asyncio.TaskGroup() as group:
        await _until_watched(file, seen)
        first = await _waiting(group, seen)
        for n in range(20):
            (tmp_path / f"calls.sqlite3-{n}").write_text("x")
        done, _ = await asyncio.wait([first], timeout=0.5)
        assert not done
        file.write_text("new")
        await first


async def test_a_burst_of_writes_is_one_change_with_the_last_content(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("old")
    async with _watching(file) as seen, asyncio.TaskGroup() as group:
        first = await _waiting(group, seen)
        for n in range(30):
            file.write_text(f"{n}")
            await asyncio.sleep(0)
        await first
        assert file.read_text() == "29"
        second = await _waiting(group, seen)
        done, _ = await asyncio.wait([second], timeout=0.5)
        assert not done
        second.cancel()


async def test_cancelling_ends_the_watching_thread(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    seen = changes([file])
    earlier = _watch_threads()
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        await _until_watched(file, seen)
        [thread] = _watch_threads() - earlier
        waiting = await _waiting(group, seen)
        waiting.cancel()
    await asyncio.to_thread(thread.join, 5)
    assert not thread.is_alive()


async def _waiting(group: asyncio.TaskGroup, seen: AsyncGenerator[None]) -> asyncio.Task[None]:
    """A task that got as far as waiting: what changes from now on, it has to be told."""
    task = group.create_task(_next(seen))
    await asyncio.sleep(0)
    return task


async def _next(seen: AsyncGenerator[None]) -> None:
    await anext(seen)


async def _until_watched(file: Path, seen: AsyncGenerator[None]) -> None:
    """Change the file until a change is told of: from then on the directory is watched.

    A new attempt comes only after a time in which a told change would have settled.
    """
    async with asyncio.TaskGroup() as group:
        told = await _waiting(group, seen)
        attempts = 0
        while not told.done():
            _write(file, f"attempt {attempts}")
            attempts += 1
            await asyncio.wait([told], timeout=1.0)


def _write(file: Path, text: str) -> None:
    file.write_text(text)


def _watch_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "settings-watch"}
