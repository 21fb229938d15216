"""The recorder: cheap for the engine, complete for the person, unharmed by whatever goes wrong."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from config.schema import HistorySettings
from proxy import recorder as recorder_module
from proxy.answer_model import Savings
from proxy.measure import Measured
from proxy.model import CallQuery, CallRecord, Outcome, Sizes
from proxy.recorder import CallObservation, Recorder
from proxy.redact import Redactor
from proxy.store.call_schema import MIGRATIONS
from proxy.store.calls import COLUMNS, read_calls, read_totals
from proxy.store.database import close_writer, open_for_writing
from proxy.store.savings import read_savings

ROOT = Path(__file__).resolve().parents[2]
WAIT = 10.0
"""Seconds after which a test gives up."""

RESULT = b'{"content":[{"type":"text","text":"one two three"}],"structuredContent":{"n":1}}'


class Words:
    """Counts words; can be held up, and remembers that it was closed."""

    def __init__(self) -> None:
        self.free = threading.Event()
        self.free.set()
        self.entered = threading.Event()
        self.closed = False

    def __call__(self, texts: Sequence[str], /) -> Sequence[int]:
        self.entered.set()
        assert self.free.wait(WAIT)
        return [len(text.split()) for text in texts]

    def close(self) -> None:
        self.closed = True


class Bench:
    """A recorder on a file, with a clock that the test sets."""

    def __init__(self, database: Path) -> None:
        self.database = database
        self.now = 1_700_049_630.0
        self.count = Words()
        self.batches: queue.Queue[tuple[CallRecord, ...]] = queue.Queue()
        self.running: list[Recorder] = []

    def recorder(self, history: HistorySettings | None = None, **options: Any) -> Recorder:
        options.setdefault("count", self.count)
        options.setdefault("on_recorded", self.batches.put)
        recorder = Recorder(
            self.database,
            history=history or HistorySettings(),
            clock=lambda: self.now,
            **options,
        )
        recorder.start()
        self.running.append(recorder)
        return recorder

    def observe(self, recorder: Recorder, count: int = 1, **changes: Any) -> list[int]:
        ids = []
        for _ in range(count):
            fields: dict[str, Any] = {
                "id": recorder.next_call_id(),
                "started_at": self.now,
                "duration_ms": 12.5,
                "host": "claude-code",
                "session": 3,
                "upstream": "files",
                "tool": "read_file",
                "outcome": Outcome.OK,
                "error": "",
                "arguments": b'{"path": "a b"}',
                "result": RESULT,
            }
            recorder.observe(CallObservation(**{**fields, **changes}))
            ids.append(fields["id"])
        return ids

    def recorded(self, count: int) -> list[CallRecord]:
        """The next ``count`` records."""
        records: list[CallRecord] = []
        while len(records) < count:
            records += self.batches.get(timeout=WAIT)
        assert len(records) == count
        return records


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path / "state" / "calls.db")
    yield bench
    bench.count.free.set()
    for recorder in bench.running:
        assert recorder.stop(WAIT)


def test_a_call_is_measured_stored_summed_and_reported(bench: Bench) -> None:
    recorder = bench.recorder()
    bench.observe(recorder)
    (record,) = bench.recorded(1)
    assert record == CallRecord(
        id=1,
        started_at=bench.now,
        duration_ms=12.5,
        host="claude-code",
        session=3,
        upstream="files",
        tool="read_file",
        outcome=Outcome.OK,
        error="",
        arguments=Sizes(14, 14, 2),
        text=Sizes(13, 13, 3),
        structured=Sizes(7, 7, 1),
        other_bytes=0,
    )
    assert recorder.calls(CallQuery()) == (record,)
    today = recorder.totals_today()
    assert (today.calls, today.tokens_in, today.tokens_out, today.bytes_out) == (1, 2, 4, 20)
    assert recorder.totals_all_time() == today
    minutes = recorder.minutes()
    assert len(minutes) == 60
    assert [minute.start for minute in minutes] == [
        1_700_049_600.0 - 60 * n for n in range(59, -1, -1)
    ]
    assert [minute.calls for minute in minutes[-2:]] == [0, 1]
    assert recorder.unrecorded == 0
    assert recorder.problem == ""


def test_a_call_made_smaller_is_recorded_with_both_sizes_and_its_saving(bench: Bench) -> None:
    recorder = bench.recorder()
    before = b'{"content":[{"type":"text","text":"one two three four five six"}]}'
    (call,) = bench.observe(
        recorder,
        result=b'{"content":[{"type":"text","text":"one two"}]}',
        before=before,
        strategy="extract",
        overhead_tokens=1,
        held_key="0123456789abcdef",
        query="four",
        query_source="arguments",
        fault="no summary:\n slow",
    )
    (record,) = bench.recorded(1)
    assert record.before == Sizes(27, 27, 6)
    assert record.text.tokens == 2
    assert (record.strategy, record.overhead_tokens) == ("extract", 1)
    assert (record.held_key, record.fault) == ("0123456789abcdef", "no summary: slow")
    (line,) = recorder.savings(1).lines
    assert (line.upstream, line.tool) == ("files", "read_file")
    assert line.savings == Savings(calls=1, reduced=1, before=6, sent=2, notices=1)
    detail = recorder.detail(call)
    assert detail is not None
    assert detail.original is not None
    assert "five six" in detail.original
    assert (detail.query, detail.query_source) == ("four", "arguments")
    kept = recorder.original(call)
    assert kept is not None
    assert (kept.before, kept.query) == (before, "four")
    assert recorder.stop(WAIT)
    assert read_calls(bench.database, CallQuery()) == (record,)


def test_the_original_of_a_call_is_empty_once_it_is_gone(bench: Bench) -> None:
    recorder = bench.recorder(HistorySettings(payload_memory_bytes=0))
    (call,) = bench.observe(recorder, before=RESULT, strategy="extract")
    (record,) = bench.recorded(1)
    kept = recorder.original(call)
    assert kept is not None
    assert (kept.record, kept.before, kept.result) == (record, b"", b"")
    assert recorder.original(99) is None


def test_fetches_lists_and_cached_answers_stand_in_the_ledger(bench: Bench) -> None:
    recorder = bench.recorder()
    bench.observe(recorder, cache="hit", cache_age_seconds=2.5)
    bench.observe(
        recorder,
        upstream="mms",
        tool="stm_proxy_read_more",
        fetched_upstream="files",
        fetched_tool="read_file",
    )
    (first, second) = bench.recorded(2)
    assert (first.cache, first.cache_age_seconds) == ("hit", 2.5)
    assert (second.fetched_upstream, second.fetched_tool) == ("files", "read_file")
    recorder.tool_list_sent(b'{"name": "stm_proxy_read_more"}')
    recorder.tool_list_sent(b'{"name": "stm_proxy_read_more"}')
    recorder.tool_list_sent(7)
    assert recorder.stop(WAIT)
    view = recorder.savings(0)
    assert view == read_savings(bench.database, 0, now=bench.now)
    assert view.control_tools_tokens == 7
    assert view.by_tool() == {
        ("files", "read_file"): Savings(calls=1, before=4, sent=4, fetched=4, cache_hits=1),
        ("mms", ""): Savings(control_tools=2 * 2 + 7),
    }


def test_where_the_host_cuts_bounds_what_a_call_saves(bench: Bench) -> None:
    recorder = bench.recorder()
    before = b'{"content":[{"type":"text","text":"' + b"word " * 500 + b'"}]}'
    bench.observe(recorder, before=before, strategy="extract", host_cut_tokens=10)
    bench.recorded(1)
    (line,) = recorder.savings(1).lines
    assert (line.savings.before, line.savings.sent) == (10, 4)


def test_a_restart_keeps_the_ledger(bench: Bench) -> None:
    first = bench.recorder()
    bench.observe(first, 3, before=RESULT + RESULT, strategy="extract")
    first.tool_list_sent(5)
    first.stop(WAIT)
    before = first.savings(0)
    assert before.total.calls == 3
    second = bench.recorder()
    assert second.savings(0) == before
    bench.now += 86_400
    assert second.savings(1).lines == ()
    bench.observe(second)
    second.stop(WAIT)
    assert len(second.savings(0).by_day()) == 2
    assert second.savings(2).total == before.total + second.savings(1).total


def test_a_history_of_the_last_version_is_brought_up_to_date_at_the_start(bench: Bench) -> None:
    bench.database.parent.mkdir()
    connection = open_for_writing(bench.database, MIGRATIONS[:1]).connection
    old = ", ".join(COLUMNS.split(", ")[:19])
    rows = [
        (number, bench.now, 1.0, "h", 1, "files", tool, outcome, "", *[5] * 10)
        for number, tool, outcome in ((1, "read", "ok"), (2, "read", "ok"), (3, "get", "timeout"))
    ]
    marks = ", ".join("?" * 19)
    connection.executemany(f"INSERT INTO calls ({old}) VALUES ({marks})", rows)
    close_writer(bench.database, connection)

    recorder = bench.recorder()
    assert recorder.next_call_id() == 4
    (line,) = recorder.savings(1).lines
    assert (line.upstream, line.tool) == ("files", "read")
    assert line.savings == Savings(calls=2, before=20, sent=20)
    assert [call.id for call in recorder.calls(CallQuery())] == [3, 2, 1]
    bench.observe(recorder)
    bench.recorded(1)
    recorder.stop(WAIT)
    assert recorder.problem == ""
    assert read_savings(bench.database, 0, now=bench.now).total.calls == 3


def test_damage_loses_calls_but_not_the_ledger(bench: Bench) -> None:
    first = bench.recorder()
    bench.observe(first, 200)
    bench.recorded(200)
    for path in bench.database.parent.iterdir():
        path.unlink()
    bench.observe(first)
    bench.recorded(1)
    first.stop(WAIT)
    # A file that somebody deleted is begun anew: what it held was meant to go.
    assert first.savings(0).total.calls == 1
    second = bench.recorder()
    bench.observe(second, 3)
    bench.recorded(3)
    second.stop(WAIT)
    with bench.database.open("r+b") as stream:
        stream.seek(4096)
        stream.write(b"\xee" * 4096)
    (bench.database.parent / "calls.db.writing").touch()
    third = bench.recorder()
    bench.observe(third)
    bench.recorded(1)
    third.stop(WAIT)
    assert "damaged-" in third.problem
    assert third.savings(0) == read_savings(bench.database, 0, now=bench.now)


def test_a_restart_keeps_totals_minutes_and_rising_ids(bench: Bench) -> None:
    first = bench.recorder()
    ids = bench.observe(first, 3)
    first.stop(WAIT)
    bench.now += 120
    second = bench.recorder()
    assert second.totals_all_time().calls == 3
    assert second.totals_today().calls == 3
    assert [minute.calls for minute in second.minutes(4)] == [0, 3, 0, 0]
    assert bench.observe(second, 2) == [ids[-1] + 1, ids[-1] + 2]
    second.stop(WAIT)
    assert second.totals_all_time().calls == 5
    assert read_totals(bench.database, now=bench.now).all_time.calls == 5


def test_a_new_day_begins_at_midnight_and_old_days_stay(bench: Bench) -> None:
    recorder = bench.recorder()
    bench.observe(recorder, 2)
    bench.recorded(2)
    bench.now += 86_400
    assert recorder.totals_today().calls == 0
    bench.observe(recorder)
    bench.recorded(1)
    assert recorder.totals_today().calls == 1
    bench.now -= 2 * 86_400
    assert recorder.totals_today().calls == 0
    assert recorder.totals_all_time().calls == 3


def test_stopping_writes_everything_that_was_observed(bench: Bench) -> None:
    recorder = bench.recorder()
    ids = bench.observe(recorder, 2_000)
    assert recorder.stop(WAIT)
    assert bench.count.closed
    stored = read_calls(bench.database, CallQuery(limit=10_000))
    assert [call.id for call in stored] == ids[::-1]
    bench.observe(recorder)
    assert recorder.unrecorded == 1


def test_stopping_twice_and_before_the_start_is_harmless(bench: Bench, tmp_path: Path) -> None:
    recorder = bench.recorder()
    assert recorder.stop(WAIT)
    assert recorder.stop(WAIT)
    assert Recorder(tmp_path / "x.db", history=HistorySettings(), count=Words()).stop(WAIT)


def test_observing_costs_the_engine_microseconds_and_batches_are_bounded(bench: Bench) -> None:
    recorder = bench.recorder()
    calls = [
        CallObservation(
            recorder.next_call_id(), bench.now, 1.0, "h", 1, "u", "t", Outcome.OK, "", b"{}", RESULT
        )
        for _ in range(5_000)
    ]
    begin = time.thread_time()
    for call in calls:
        recorder.observe(call)
    each = (time.thread_time() - begin) / len(calls)
    assert each < 30e-6
    seen = 0
    while seen < 5_000:
        batch = bench.batches.get(timeout=WAIT)
        assert len(batch) <= 512
        seen += len(batch)
    assert recorder.unrecorded == 0


def test_over_the_bound_calls_are_counted_and_nothing_waits(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder_module, "MOST_WAITING_CALLS", 10)
    recorder = bench.recorder()
    bench.count.free.clear()
    bench.observe(recorder)
    assert bench.count.entered.wait(WAIT)
    bench.observe(recorder, 15)
    assert recorder.unrecorded == 5
    bench.count.free.set()
    bench.recorded(11)


def test_over_the_bound_in_bytes_calls_are_counted_too(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder_module, "MOST_WAITING_BYTES", 10_000)
    recorder = bench.recorder()
    bench.count.free.clear()
    bench.observe(recorder)
    assert bench.count.entered.wait(WAIT)
    bench.observe(recorder, 4, result=b"x" * 4_000)
    assert recorder.unrecorded == 2
    bench.count.free.set()
    bench.recorded(3)
    bench.observe(recorder, 1, result=b"x" * 50_000)
    assert bench.recorded(1)[0].text.bytes == 50_000


def test_texts_of_recent_calls_are_shown_redacted(bench: Bench) -> None:
    recorder = bench.recorder(redact=Redactor(frozenset({"hunter-two"})).redact)
    (call,) = bench.observe(
        recorder, arguments=b'{"q":"hunter-two"}', result=b'{"content":[],"x":"hunter-two"}'
    )
    (record,) = bench.recorded(1)
    detail = recorder.detail(call)
    assert detail is not None
    assert detail.record == record
    assert "hunter-two" not in f"{detail.arguments}{detail.result}"
    recorder.apply_redaction(lambda text: text.upper())
    detail = recorder.detail(call)
    assert detail is not None
    assert detail.arguments == '{\n  "Q": "HUNTER-TWO"\n}'


def test_texts_are_gone_after_a_restart_and_over_the_bound_but_the_call_stays(bench: Bench) -> None:
    recorder = bench.recorder(HistorySettings(payload_memory_bytes=3_000))
    ids = bench.observe(recorder, 5)
    bench.recorded(5)
    oldest, newest = recorder.detail(ids[0]), recorder.detail(ids[-1])
    assert oldest is not None
    assert newest is not None
    assert oldest.result is None
    assert oldest.arguments is None
    assert newest.result is not None
    assert recorder.detail(999) is None
    recorder.apply_history(HistorySettings(payload_memory_bytes=0))
    newest = recorder.detail(ids[-1])
    assert newest is not None
    assert newest.result is None


def test_errors_are_stored_in_one_line_without_secrets(bench: Bench) -> None:
    recorder = bench.recorder(redact=Redactor(frozenset({"hunter-two"})).redact)
    bench.observe(
        recorder,
        outcome=Outcome.ERROR,
        error="no\n  entry for hunter-two \x00\ud800" + "x" * 9_000,
        tool="t" * 5_000,
    )
    recorder.stop(WAIT)
    (stored,) = read_calls(bench.database, CallQuery())
    assert stored.error.startswith("no entry for ")
    assert "hunter" not in stored.error
    assert "\n" not in stored.error
    assert len(stored.error) == 500
    assert len(stored.tool) == 256
    assert b"hunter-two" not in bench.database.read_bytes()


def test_calls_that_wait_for_the_disk_are_seen_like_the_others(bench: Bench) -> None:
    bench.database.parent.write_text("in the way")
    recorder = bench.recorder()
    ids = bench.observe(recorder, 3)
    bench.observe(recorder, tool="other")
    bench.recorded(4)
    assert recorder.unrecorded == 4
    assert "cannot be used" in recorder.problem
    assert [call.id for call in recorder.calls(CallQuery(tool="read*", limit=2))] == ids[:0:-1]
    assert recorder.totals_today().calls == 4
    assert recorder.detail(ids[0]) is not None
    bench.database.parent.unlink()
    assert recorder.stop(WAIT)
    assert recorder.unrecorded == 0
    assert len(read_calls(bench.database, CallQuery())) == 4


def test_recording_resumes_by_itself(bench: Bench) -> None:
    bench.database.parent.write_text("in the way")
    recorder = bench.recorder()
    bench.observe(recorder)
    bench.recorded(1)
    bench.database.parent.unlink()
    deadline = time.monotonic() + WAIT
    while recorder.problem and time.monotonic() < deadline:
        bench.observe(recorder)
        bench.batches.get(timeout=WAIT)
    assert recorder.problem == ""
    assert recorder.unrecorded == 0


def test_ids_stay_unique_when_the_old_history_could_not_be_read_at_the_start(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = bench.recorder()
    bench.observe(first, 5)
    first.stop(WAIT)

    def busy(*_: object, **__: object) -> None:
        raise recorder_module.StoreUnavailable("locked")

    monkeypatch.setattr(recorder_module, "read_history", busy)
    second = bench.recorder()
    bench.observe(second, 5)
    second.stop(WAIT)
    assert len(read_calls(bench.database, CallQuery())) == 10
    assert second.unrecorded == 0
    assert second.totals_all_time().calls == 10


def test_a_damaged_history_is_set_aside_and_recording_goes_on(bench: Bench) -> None:
    bench.database.parent.mkdir()
    bench.database.write_bytes(b"no database" * 1_000)
    recorder = bench.recorder()
    bench.observe(recorder)
    bench.recorded(1)
    assert "damaged-" in recorder.problem
    assert recorder.unrecorded == 0
    assert len(recorder.calls(CallQuery())) == 1


def test_a_listener_that_fails_does_not_end_the_recording(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    seen: queue.Queue[int] = queue.Queue()

    def listener(records: tuple[CallRecord, ...]) -> None:
        seen.put(len(records))
        raise RuntimeError("the loop is closed")

    recorder = bench.recorder(on_recorded=listener)
    for _ in range(2):
        bench.observe(recorder)
        assert seen.get(timeout=WAIT) == 1
    recorder.stop(WAIT)
    assert len(read_calls(bench.database, CallQuery())) == 2
    assert "listener" in caplog.text


def test_a_fault_inside_costs_one_batch_and_is_told(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    class BrokenOnce(Words):
        def __call__(self, texts: Sequence[str], /) -> Sequence[int]:
            if not self.entered.is_set():
                self.entered.set()
                raise ZeroDivisionError
            assert self.free.wait(WAIT)
            return super().__call__(texts)

    count = BrokenOnce()
    count.free.clear()
    recorder = bench.recorder(count=count)
    bench.observe(recorder)
    assert count.entered.wait(WAIT)
    bench.observe(recorder)
    count.free.set()
    bench.recorded(1)
    assert recorder.unrecorded == 1
    assert "ZeroDivisionError" in caplog.text


def test_a_fault_that_stays_is_told_and_does_not_keep_the_thread_alive(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(Words):
        def __call__(self, texts: Sequence[str], /) -> Sequence[int]:
            raise ZeroDivisionError

    recorder = bench.recorder(count=Broken())
    bench.observe(recorder, 3)
    assert recorder.stop(WAIT)
    assert "fault in mms" in recorder.problem
    assert recorder.unrecorded == 3
    assert caplog.records


def test_new_limits_delete_old_calls_while_running(bench: Bench) -> None:
    recorder = bench.recorder()
    bench.observe(recorder, 300)
    bench.recorded(300)
    recorder.apply_history(HistorySettings(max_calls=100))
    deadline = time.monotonic() + WAIT
    while len(recorder.calls(CallQuery(limit=1_000))) > 100 and time.monotonic() < deadline:
        bench.observe(recorder)
        bench.recorded(1)
    assert len(recorder.calls(CallQuery(limit=1_000))) <= 100
    assert recorder.totals_all_time().calls > 300


@pytest.mark.parametrize(
    "odd",
    [
        b"",
        b"\xff\xfe",
        b"{",
        b"[" * 50_000,
        b'{"content":[{"type":"text","text":"\\ud800"}]}',
        b"NaN",
    ],
)
def test_odd_answers_are_recorded(bench: Bench, odd: bytes) -> None:
    recorder = bench.recorder()
    (call,) = bench.observe(recorder, arguments=odd, result=odd)
    bench.recorded(1)
    assert recorder.detail(call) is not None
    assert recorder.problem == ""


def test_the_real_count_is_the_default(bench: Bench) -> None:
    recorder = bench.recorder(count=None)
    bench.observe(
        recorder, result=json.dumps({"content": [{"type": "text", "text": "hello world"}]}).encode()
    )
    (record,) = bench.recorded(1)
    assert record.text == Sizes(11, 11, 2)


def test_a_kill_between_batches_loses_no_reported_call(tmp_path: Path) -> None:
    database = tmp_path / "calls.db"
    program = """
        import sys, time
        from pathlib import Path
        from config.schema import HistorySettings
        from proxy.model import Outcome
        from proxy.recorder import CallObservation, Recorder
        from tests.proxy.test_recorder import RESULT, Words

        def told(records):
            print(records[-1].id, flush=True)

        recorder = Recorder(
            Path(sys.argv[1]), history=HistorySettings(), count=Words(), on_recorded=told
        )
        recorder.start()
        while True:
            for _ in range(100):
                recorder.observe(CallObservation(
                    recorder.next_call_id(), time.time(), 1.0, "h", 1, "u", "t", Outcome.OK, "",
                    b"{}", RESULT,
                ))
            time.sleep(0.01)
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), str(database)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as writer:
        assert writer.stdout is not None
        for line in writer.stdout:
            if int(line) > 1_000:
                os.kill(writer.pid, signal.SIGKILL)
                break
        told = [int(line), *map(int, writer.stdout.read().split())][-1]

    recorder = Recorder(database, history=HistorySettings(), count=Words())
    recorder.start()
    after = recorder.next_call_id()
    recorder.stop(WAIT)
    assert recorder.problem == ""
    stored = {call.id for call in read_calls(database, CallQuery(limit=10_000))}
    assert set(range(1, told + 1)) <= stored
    assert after == max(stored) + 1
    assert read_totals(database, now=time.time()).all_time.calls == len(stored)


def test_readers_work_beside_the_running_recorder(bench: Bench) -> None:
    recorder = bench.recorder()
    done = threading.Event()
    failures: list[BaseException] = []

    def read(what: Callable[[], object]) -> None:
        try:
            while not done.is_set():
                what()
        except BaseException as error:  # handed to the test's own thread
            failures.append(error)

    threads = [
        threading.Thread(target=read, args=(what,))
        for what in (
            lambda: read_calls(bench.database, CallQuery()),
            lambda: recorder.calls(CallQuery(text="files")),
            lambda: recorder.minutes(),
        )
    ]
    for thread in threads:
        thread.start()
    bench.observe(recorder, 1_000)
    bench.recorded(1_000)
    done.set()
    for thread in threads:
        thread.join(WAIT)
    assert failures == []
    assert recorder.unrecorded == 0


def test_large_answers_wait_together_for_a_pause_of_the_calls(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder_module, "_BATCH_SECONDS", 0.0)
    monkeypatch.setattr(recorder_module, "_QUIET_SECONDS", WAIT)
    monkeypatch.setattr(recorder_module, "_DELAY_SECONDS", WAIT)
    monkeypatch.setattr(recorder_module, "_DELAY_BYTES", 1_000_000)
    recorder = bench.recorder()
    large = RESULT.replace(b"three", b"x" * 400_000)
    ids = bench.observe(recorder, 3, result=large)
    assert [record.id for record in bench.batches.get(timeout=WAIT)] == ids


@pytest.mark.parametrize("bound", ["_QUIET_SECONDS", "_DELAY_SECONDS"])
def test_large_answers_do_not_wait_for_ever(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    other = "_DELAY_SECONDS" if bound == "_QUIET_SECONDS" else "_QUIET_SECONDS"
    monkeypatch.setattr(recorder_module, bound, 0.0)
    monkeypatch.setattr(recorder_module, other, WAIT / 10)
    recorder = bench.recorder()
    ids = bench.observe(recorder, result=RESULT.replace(b"three", b"x" * 400_000))
    assert [record.id for record in bench.recorded(1)] == ids


def test_stopping_does_not_wait_for_a_pause(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder_module, "_QUIET_SECONDS", 10 * WAIT)
    monkeypatch.setattr(recorder_module, "_DELAY_SECONDS", 10 * WAIT)
    recorder = bench.recorder()
    ids = bench.observe(recorder, result=RESULT.replace(b"three", b"x" * 400_000))
    assert recorder.stop(WAIT)
    assert [record.id for record in bench.recorded(1)] == ids


def test_what_is_measured_already_is_not_counted_again(bench: Bench) -> None:
    known = Measured(Sizes(), Sizes(7, 6, 5), Sizes(4, 3, 2), 1)
    recorder = bench.recorder()
    bench.observe(
        recorder, before=RESULT, strategy="extract", measured=known, measured_before=known
    )
    (record,) = bench.recorded(1)
    sizes = (record.text, record.structured, record.other_bytes)
    assert sizes == (Sizes(7, 6, 5), Sizes(4, 3, 2), 1)
    assert record.before == Sizes(11, 9, 7)
    assert record.arguments.tokens == 2
