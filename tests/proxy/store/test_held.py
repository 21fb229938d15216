"""Held texts: back byte for byte, bounded, over restarts and kills, whatever the disk does."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proxy.store import held_memory, held_rows
from proxy.store.held import HeldStore, key_of, read_held, read_held_answer

ROOT = Path(__file__).resolve().parents[3]
WAIT = 10.0
PART = "ab" * 8
POINTER = "/content/0/text"


def body_of(number: int, size: int = 2_000) -> bytes:
    """A result whose compressed size is near ``size``, since nothing in it repeats."""
    noise = b"".join(key_of(b"%d %d" % (number, at)).encode() for at in range(size // 8 + 1))
    return b'{"content":[{"type":"text","text":"%b"}]}' % noise[: 2 * size]


def as_it_is(text: str) -> str:
    return text


class Bench:
    """Stores on one file, with a clock that rises by a second with every look."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.now = 1_000.0
        self.open: list[HeldStore] = []

    def clock(self) -> float:
        self.now += 1
        return self.now

    def store(self, max_bytes: int = 100_000_000, *, start: bool = True) -> HeldStore:
        store = HeldStore(self.file, max_bytes, self.clock)
        if start:
            store.start()
        self.open.append(store)
        return store

    def put(self, store: HeldStore, number: int, **options: object) -> str:
        body = body_of(number, **options)  # type: ignore[arg-type]  # sizes only
        key = key_of(body)
        store.put(key, body, [], "files", f"tool{number}")
        return key


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path / "state" / "held.db")
    yield bench
    for store in bench.open:
        assert store.stop(WAIT)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.002)


def on_disk(store: HeldStore) -> bool:
    return not store._memory.waiting()


def test_a_text_is_read_back_byte_for_byte_before_and_after_it_is_written(bench: Bench) -> None:
    store = bench.store(start=False)
    body = b'{"content":[],"odd":"\xff\x00\\ud800"}'
    store.put(key_of(body), body, [(PART, POINTER)], "files", "read")
    for _ in range(2):
        whole, part = store.get(key_of(body)), store.get(PART)
        assert whole is not None
        assert part is not None
        assert (whole.body, whole.pointer, whole.key) == (body, "", key_of(body))
        assert (part.body, part.pointer, part.key) == (body, POINTER, key_of(body))
        assert (part.upstream, part.tool) == ("files", "read")
        store.start()
        until(lambda: on_disk(store))


def test_texts_survive_a_restart(bench: Bench) -> None:
    first = bench.store()
    keys = [bench.put(first, number) for number in range(20)]
    assert first.stop(WAIT)
    second = bench.store(start=False)
    for number, key in enumerate(keys):
        found = second.get(key)
        assert found is not None
        assert found.body == body_of(number)


def test_what_was_never_held_is_not_there(bench: Bench) -> None:
    store = bench.store()
    for key in ("0" * 16, "", "zz", "\ud800" * 16, "0" * 15, "0" * 17, "0" * 16 + "\n"):
        assert store.get(key) is None
        assert store.detail(key, as_it_is) is None
        assert not store.drop(key)


def test_the_same_text_is_stored_once(bench: Bench) -> None:
    store = bench.store()
    key = bench.put(store, 1)
    until(lambda: on_disk(store))
    before = store.totals()
    store.put(key, body_of(1), [(PART, POINTER)], "files", "tool1")
    until(lambda: on_disk(store))
    assert store.totals() == before
    assert store.get(PART) is not None, "parts that came later are known too"


def test_parts_that_come_while_the_text_waits_are_not_lost(bench: Bench) -> None:
    store = bench.store(start=False)
    key = bench.put(store, 1)
    store.put(key, body_of(1), [(PART, POINTER)], "files", "tool1")
    assert store.get(PART) is not None
    store.start()
    until(lambda: on_disk(store))
    found = bench.store(start=False).get(PART)
    assert found is not None
    assert found.pointer == POINTER


def test_over_the_bound_what_was_used_longest_ago_goes(bench: Bench) -> None:
    store = bench.store(max_bytes=10_000)
    keys = []
    for number in range(4):
        keys.append(bench.put(store, number))
        until(lambda: on_disk(store))
    assert store.get(keys[0]) is not None
    for number in range(4, 7):
        keys.append(bench.put(store, number))
        until(lambda: on_disk(store))
    until(lambda: store.totals().stored_bytes <= 10_000)
    assert store.peek(keys[0]) is not None, "it was read lately"
    assert store.peek(keys[1]) is None
    assert store.peek(keys[-1]) is not None
    assert store.totals().evicted >= 1
    with sqlite3.connect(bench.file) as connection:
        sizes = connection.execute("SELECT sum(length(body)) FROM answers").fetchone()
    connection.close()
    assert sizes == (store.totals().stored_bytes,)


def test_what_a_live_session_was_given_is_never_evicted(bench: Bench) -> None:
    store = bench.store(max_bytes=5_000)
    keys = []
    for number in range(8):
        key = key_of(body_of(number))
        store.pin(number % 2, key)
        keys.append(bench.put(store, number))
    until(lambda: on_disk(store))
    assert all(store.peek(key) for key in keys)
    until(lambda: "proxy.held.max_bytes" in store.problem)
    assert all(one.pinned for one in store.list(100).answers)
    store.unpin_session(0)
    until(lambda: store.peek(keys[0]) is None)
    assert all(store.peek(key) for key in keys[1::2]), "the other session still needs them"
    store.unpin_session(1)
    until(lambda: store.totals().stored_bytes <= 5_000)
    until(lambda: store.problem == "")


def test_pinning_a_part_keeps_its_whole(bench: Bench) -> None:
    first = bench.store()
    body = body_of(1)
    first.put(key_of(body), body, [(PART, POINTER)], "files", "read")
    first.stop(WAIT)
    store = bench.store(max_bytes=3_000)
    assert store.get(PART) is not None
    store.pin(7, PART)
    for number in range(2, 6):
        bench.put(store, number)
        until(lambda: on_disk(store))
    assert store.peek(PART) is not None
    store.unpin_session(7)
    bench.put(store, 6)
    until(lambda: store.peek(PART) is None)


def test_a_smaller_bound_takes_effect_while_running_and_frees_the_disk(bench: Bench) -> None:
    store = bench.store()
    for number in range(60):
        bench.put(store, number, size=20_000)
    until(lambda: on_disk(store))
    store.resize(50_000)
    until(lambda: store.totals().stored_bytes <= 50_000)
    assert store.totals().capacity_bytes == 50_000
    store.stop(WAIT)
    assert bench.file.stat().st_size < 400_000


def test_the_list_shows_what_was_used_last_first_with_reads_and_pins(bench: Bench) -> None:
    store = bench.store(start=False)
    keys = [bench.put(store, number) for number in range(5)]
    for _ in range(2):
        store.start()
        until(lambda: on_disk(store))
        store.stop(WAIT)
    waiting = bench.put(store, 9)
    store.get(keys[1])
    store.get(keys[1])
    store.pin(1, keys[3])
    listed = store.list(100)
    assert [one.key for one in listed.answers] == [
        keys[1],
        waiting,
        *(keys[number] for number in (4, 3, 2, 0)),
    ]
    assert listed.answers[0].reads == 2
    assert [one.pinned for one in listed.answers] == [
        key == keys[3] for key in (one.key for one in listed.answers)
    ]
    assert listed.totals.answers == 6
    assert listed.totals.bytes == sum(one.bytes for one in listed.answers)
    assert listed.totals.stored_bytes == sum(one.stored_bytes for one in listed.answers)
    assert store.list(2).answers == listed.answers[:2]


def test_reads_and_uses_are_kept_over_a_restart(bench: Bench) -> None:
    first = bench.store()
    keys = [bench.put(first, number) for number in range(3)]
    until(lambda: on_disk(first))
    for _ in range(3):
        first.get(keys[0])
    used_at = first.list(1).answers[0].used_at
    first.stop(WAIT)
    (newest, *_) = read_held(bench.file, 10).answers
    assert (newest.key, newest.reads, newest.used_at) == (keys[0], 3, used_at)


def test_looking_at_a_text_is_no_read(bench: Bench) -> None:
    store = bench.store()
    key = bench.put(store, 1)
    assert store.detail(key, as_it_is) is not None
    assert store.peek(key) is not None
    assert store.list(1).answers[0].reads == 0


def test_a_person_sees_the_texts_laid_out_and_without_secrets(bench: Bench) -> None:
    store = bench.store()
    body = json.dumps(
        {
            "content": [{"type": "text", "text": "line one\nhunter-two"}],
            "structuredContent": {"a": 1},
        }
    ).encode()
    store.put(key_of(body), body, [(PART, POINTER)], "files", "read")
    detail = store.detail(PART, lambda text: text.replace("hunter-two", "***"))
    assert detail is not None
    assert detail.text == 'line one\n***\n\n{\n  "a": 1\n}'
    assert not detail.truncated
    assert detail.view.key == key_of(body)
    store.stop(WAIT)
    assert read_held_answer(bench.file, PART, as_it_is) is not None
    assert read_held_answer(bench.file, "nonsense", as_it_is) is None


def test_a_dropped_text_is_gone_with_its_parts(bench: Bench) -> None:
    store = bench.store()
    body = body_of(1)
    store.put(key_of(body), body, [(PART, POINTER)], "files", "read")
    until(lambda: on_disk(store))
    store.pin(1, key_of(body))
    assert store.drop(key_of(body))
    assert not store.drop(key_of(body))
    assert store.get(PART) is None
    assert store.totals().answers == 0
    store.stop(WAIT)
    late = bench.store(start=False)
    key = bench.put(late, 2)
    assert late.drop(key)
    assert late.get(key) is None


def test_an_unusable_disk_costs_nothing_but_memory_and_is_told(bench: Bench) -> None:
    bench.file.parent.write_text("in the way")
    store = bench.store()
    key = bench.put(store, 1)
    until(lambda: "cannot be used" in store.problem)
    assert store.get(key) is not None
    bench.file.parent.unlink()
    assert store.stop(WAIT)
    found = bench.store(start=False).get(key)
    assert found is not None
    assert found.body == body_of(1)


def test_what_waits_is_bounded_and_the_pinned_stay_longest(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held_memory, "MOST_WAITING_BYTES", 13_000)
    store = bench.store(start=False)
    store.pin(1, key_of(body_of(0)))
    keys = [bench.put(store, number) for number in range(6)]
    assert store.totals().bytes <= 13_000
    assert store.get(keys[0]) is not None
    assert store.get(keys[1]) is None
    assert store.get(keys[-1]) is not None
    assert "held answers were lost" in store.problem
    big = bench.put(store, 7, size=50_000)
    assert store.get(big) is not None, "one that is over the bound alone is kept alone"


def test_a_damaged_file_is_set_aside(bench: Bench) -> None:
    bench.file.parent.mkdir()
    bench.file.write_bytes(b"no database" * 1_000)
    store = bench.store()
    key = bench.put(store, 1)
    until(lambda: on_disk(store))
    assert "store of held texts" in store.problem
    assert "damaged-" in store.problem
    assert store.get(key) is not None


def test_a_torn_file_is_set_aside_while_running(bench: Bench) -> None:
    store = bench.store()
    for number in range(30):
        bench.put(store, number)
    store.stop(WAIT)
    with bench.file.open("r+b") as stream:
        stream.seek(4096)
        stream.write(b"\xee" * 4096 * 4)
    store.start()
    key = bench.put(store, 99)
    until(lambda: on_disk(store))
    assert store.get(key) is not None
    assert list(bench.file.parent.glob("damaged-*/held.db"))


def test_a_body_that_cannot_be_uncompressed_counts_as_gone(bench: Bench) -> None:
    store = bench.store()
    key = bench.put(store, 1)
    store.stop(WAIT)
    with sqlite3.connect(bench.file) as connection:
        connection.execute("UPDATE answers SET body = x'00'")
    connection.close()
    assert store.get(key) is None


def test_a_fault_inside_is_told_and_nothing_is_lost(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real = held_rows.compressed
    broken = True

    def compressed(body: bytes) -> bytes:
        if broken:
            raise ZeroDivisionError
        return real(body)

    monkeypatch.setattr(held_rows, "compressed", compressed)
    store = bench.store()
    key = bench.put(store, 1)
    until(lambda: "fault in mms" in store.problem)
    assert store.get(key) is not None
    broken = False
    bench.put(store, 2)
    until(lambda: on_disk(store))
    until(lambda: store.problem == "")
    assert caplog.records


def test_the_file_is_private(bench: Bench) -> None:
    store = bench.store()
    bench.put(store, 1)
    until(lambda: on_disk(store))
    modes = {path.stat().st_mode & 0o777 for path in bench.file.parent.iterdir()}
    assert modes == {0o600}


def test_putting_a_megabyte_costs_its_caller_next_to_nothing(bench: Bench) -> None:
    store = bench.store()
    bodies = [os.urandom(500_000).hex().encode() for _ in range(10)]
    keys = [key_of(body) for body in bodies]
    begin = time.thread_time()
    for key, body in zip(keys, bodies, strict=True):
        store.put(key, body, [], "files", "read")
    assert (time.thread_time() - begin) / len(bodies) < 0.001
    until(lambda: on_disk(store))
    assert [getattr(store.get(key), "body", b"") for key in keys] == bodies


def test_many_threads_read_and_write_at_once(bench: Bench) -> None:
    store = bench.store(max_bytes=200_000)
    failures: list[BaseException] = []

    def work(session: int) -> None:
        try:
            for number in range(session * 100, session * 100 + 40):
                key = key_of(body_of(number))
                store.pin(session, key)
                bench.put(store, number)
                found = store.get(key)
                assert found is not None
                assert found.body == body_of(number)
            store.list(10)
            store.unpin_session(session)
        except BaseException as error:  # handed to the test's own thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(session,)) for session in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(2 * WAIT)
    assert failures == []
    until(lambda: on_disk(store))


def test_a_kill_loses_nothing_that_was_committed(tmp_path: Path) -> None:
    file = tmp_path / "held.db"
    program = """
        import sys, time
        from pathlib import Path
        from proxy.store.held import HeldStore, key_of
        from tests.proxy.store.test_held import body_of
        store = HeldStore(Path(sys.argv[1]), 10**9)
        store.start()
        for number in range(100_000):
            body = body_of(number)
            store.put(key_of(body), body, [], "u", "t")
            while store._memory.waiting():
                time.sleep(0.001)
            print(number, flush=True)
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), str(file)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as writer:
        assert writer.stdout is not None
        for line in writer.stdout:
            if int(line) >= 10:
                os.kill(writer.pid, signal.SIGKILL)
                break
        committed = [int(line), *map(int, writer.stdout.read().split())][-1]
    store = HeldStore(file, 10**9)
    store.start()
    for number in range(committed + 1):
        found = store.get(key_of(body_of(number)))
        assert found is not None
        assert found.body == body_of(number)
    assert store.stop(WAIT)
    assert store.problem == ""


@given(
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from("pgduw"), st.integers(0, 1)), max_size=25)
)
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_whatever_happens_what_is_pinned_can_be_read_and_the_bound_holds(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, str, int]]
) -> None:
    bench = Bench(tmp_path_factory.mktemp("held") / "held.db")
    store = bench.store(max_bytes=7_000)
    pins: dict[int, set[int]] = {0: set(), 1: set()}
    held: set[int] = set()
    try:
        for number, step, session in steps:
            key = key_of(body_of(number))
            if step == "p":
                store.pin(session, key)
                bench.put(store, number)
                pins[session].add(number)
                held.add(number)
            elif step == "g":
                found = store.get(key)
                assert found is None or found.body == body_of(number)
            elif step == "d":
                store.drop(key)
                held.discard(number)
            elif step == "u":
                store.unpin_session(session)
                pins[session].clear()
            else:
                until(lambda: on_disk(store))
            for pinned in (pins[0] | pins[1]) & held:
                assert store.peek(key_of(body_of(pinned))) is not None
        store.unpin_session(0)
        store.unpin_session(1)
        until(lambda: on_disk(store))
        store.stop(WAIT)
        store.start()
        until(lambda: store.totals().stored_bytes <= 7_000)
    finally:
        assert store.stop(WAIT)


def test_what_was_written_lately_needs_no_disk_until_it_is_dropped(bench: Bench) -> None:
    store = bench.store()
    key = bench.put(store, 1)
    until(lambda: on_disk(store))
    assert store.at_hand(key)
    assert store.drop(key)
    assert not store.at_hand(key)
    assert store.get(key) is None
