"""Several writers at once, and writers that are killed."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from memory.model import Actor, Origin, State
from memory.store import check
from memory.store.database import Store
from memory.store.selection import Selection
from tests.memory.store.making import AGENT, SPACE, START, new, put

ROOT = Path(__file__).resolve().parents[3]
ROUNDS = int(os.environ.get("MMS_TEST_KILL_ROUNDS") or 3)
"""How often a writer is killed; set it for a long run."""


def start(url: str, name: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.memory.store.writer", url, name, str(count)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def test_threads_lose_nothing(store: Store) -> None:
    threads, each = 6, 8
    (record,) = put(store, "counted")

    def write(thread: int) -> None:
        for number in range(each):
            with store.writing(Actor(Origin.AGENT, f"t{thread}"), SPACE, START) as writing:
                writing.outcome(record.id, success=True)
                writing.add(new(f"{thread} {number}"))
            with store.reading() as reading:
                found = reading.record(record.id)
                assert found is not None
                assert found.successes >= number + 1
                assert reading.position == 1 + 2 * found.successes

    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(write, thread) for thread in range(threads)]:
            done.result(timeout=120)
    with store.reading() as reading:
        found = reading.record(record.id)
        assert found is not None
        assert found.successes == found.use_count == threads * each
        assert reading.position == 1 + 2 * threads * each
        assert sorted(row.num for row in reading.columns()) == list(range(1, 2 + threads * each))
        assert check.verify(reading) == ()


def test_two_processes_lose_nothing(url: str) -> None:
    each = 10
    store = Store.open(url)
    (record,) = put(store, "counted")
    writers = [start(url, name, each) for name in ("ada", "bob")]
    said = [writer.communicate(timeout=120)[0].split() for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0]
    assert [len(lines) for lines in said] == [each, each]
    with store.reading() as reading:
        found = reading.record(record.id)
        assert found is not None
        assert found.successes == 2 * each
        archived = 2 * len(range(0, each, 3))
        assert reading.position == 1 + 2 * each * 3 + archived * 2
        assert reading.vector_count("m") == 2 * each - archived
        assert check.verify(reading) == ()
    store.close()


def test_a_reader_that_asks_for_what_is_new_misses_nothing(store: Store) -> None:
    seen: list[int] = []
    position = 0

    def look() -> None:
        nonlocal position
        with store.reading() as reading:
            rows = reading.columns(position)
            seen.extend(row.num for row in rows)
            position = max([position, *(row.changed_seq for row in rows)])

    def write(thread: int) -> None:
        for number in range(10):
            put(store, f"{thread} {number}")

    with ThreadPoolExecutor(4) as pool:
        writers = [pool.submit(write, thread) for thread in range(3)]
        while not all(writer.done() for writer in writers):
            look()
        for writer in writers:
            writer.result(timeout=60)
    look()
    assert sorted(seen) == list(range(1, 31))


def test_a_killed_writer_leaves_what_it_committed_and_nothing_half(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    store = Store.open(url)
    put(store, "counted")
    store.close()
    chance = random.Random(7)
    committed = 1
    for number in range(ROUNDS):
        writer = start(url, f"w{number}", 1_000_000)
        assert writer.stdout is not None
        for _ in range(chance.randint(1, 12)):
            committed = int(writer.stdout.readline())
        writer.kill()
        rest = writer.communicate(timeout=60)[0].split()
        committed = max([committed, *map(int, rest[:-1])])
        store = Store.open(url)
        with store.reading() as reading:
            assert reading.position >= committed
            assert check.verify(reading) == ()
            hits = reading.words(["says", "changed"], Selection(SPACE), 10_000)
            found = reading.by_nums([num for num, _ in hits])
            assert all(record.state is State.ACTIVE for record in found.values())
            waiting = {one.num for one in reading.pending("m", 10_000)}
            with_vector = {row.num for row in reading.vectors("m", 0, 10_000)}
            assert not waiting & with_vector
            assert waiting | with_vector == {row.num for row in reading.columns()}
        put(store, f"after {number}", by=AGENT)
        store.close()
