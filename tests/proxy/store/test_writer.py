"""The writer: a full disk, a blocked directory, a damaged or deleted file cost rows, never the rest."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from config.schema import HistorySettings
from proxy.ledger import Ledger, entry_of, summed
from proxy.model import CallQuery, CallRecord
from proxy.store import writer as writer_module
from proxy.store.calls import read_calls, read_totals
from proxy.store.savings import read_savings
from proxy.store.writer import BATCH, CallWriter, KeptSums
from proxy.sums import CallSums

Make = Callable[..., CallRecord]
NOW = 1_700_100_000.0


class Bench:
    """A writer with a clock that the test turns."""

    def __init__(self, file: Path, **limits: int) -> None:
        self.file = file
        self.now = NOW
        self.monotonic = 0.0
        self.sums = CallSums()
        self.ledger = Ledger()
        self.opened: list[KeptSums] = []
        self.writer = CallWriter(
            file,
            history=HistorySettings(**limits),
            known=lambda: KeptSums(self.sums.days(), self.ledger.sums()),
            on_opened=self._on_opened,
            clock=lambda: self.now,
            monotonic=lambda: self.monotonic,
        )

    def _on_opened(self, sums: KeptSums) -> None:
        self.opened.append(sums)
        self.sums.restore_days(sums.days)
        self.ledger.restore(sums.ledger)

    def write(self, *records: CallRecord) -> None:
        self.sums.include(records)
        ledger = summed(entry for record in records if (entry := entry_of(record)))
        self.ledger.include(ledger)
        self.writer.write(records, ledger)

    def ids(self) -> list[int]:
        return sorted(call.id for call in read_calls(self.file, CallQuery(limit=10_000)))

    def limit_pages(self, more: int) -> None:
        """Let the database grow by ``more`` pages, then say that the disk is full."""
        connection = self.writer._connection
        assert connection is not None
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count={pages + more}").fetchone()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "state" / "calls.db")


def test_batches_are_written_and_totals_with_them(bench: Bench, record: Make) -> None:
    assert bench.writer.open()
    bench.write(record(1), record(2))
    bench.write(record(3))
    assert bench.ids() == [1, 2, 3]
    assert read_totals(bench.file, now=NOW).all_time.calls == 3
    assert bench.writer.problem == ""
    assert bench.writer.unrecorded == 0
    bench.writer.close()


def test_a_full_disk_is_told_counted_and_survived(bench: Bench, record: Make) -> None:
    bench.writer.open()
    bench.write(record(1))
    bench.limit_pages(0)
    big = [record(number, error="x" * 400) for number in range(2, 102)]
    bench.write(*big)
    assert "the disk is full" in bench.writer.problem
    assert bench.writer.unrecorded == 100
    assert bench.writer.waiting == tuple(big)
    assert bench.ids() == [1]

    bench.write(record(102))
    assert bench.writer.unrecorded == 101
    retry = bench.writer.retry_in()
    assert retry is not None
    bench.limit_pages(10_000)
    bench.monotonic += retry
    bench.writer.tidy()
    assert bench.writer.problem == ""
    assert bench.writer.retry_in() is None
    assert bench.writer.unrecorded == 0
    assert bench.ids() == list(range(1, 103))
    assert read_totals(bench.file, now=NOW).all_time.calls == 102
    bench.writer.close()


def test_the_ledger_waits_for_the_disk_and_is_written_once(bench: Bench, record: Make) -> None:
    bench.writer.open()
    bench.write(record(1))
    bench.limit_pages(0)
    for number in range(2, 102):
        bench.write(record(number, error="x" * 400, tool=f"tool {number}" + "y" * 200))
    bench.writer.note_tool_list({}, 40)
    assert bench.writer.problem
    assert bench.ledger.lines(0, NOW) != read_savings(bench.file, 0, now=NOW).lines
    bench.limit_pages(10_000)
    bench.monotonic += 60
    bench.writer.tidy()
    view = read_savings(bench.file, 0, now=NOW)
    assert view.lines == bench.ledger.lines(0, NOW)
    assert view.total.calls == 101
    assert view.control_tools_tokens == 40
    bench.writer.close()


def test_the_ledger_outlives_the_calls(tmp_path: Path, record: Make) -> None:
    bench = Bench(tmp_path / "calls.db", max_days=1)
    bench.writer.open()
    bench.write(*(record(number, started_at=NOW - 90_000) for number in range(9)))
    while bench.writer.tidy():
        pass
    assert bench.ids() == []
    assert read_savings(bench.file, 0, now=NOW).total.calls == 9
    assert read_savings(bench.file, 1, now=NOW).total.calls == 0
    bench.writer.close()


def test_retries_come_further_and_further_apart(bench: Bench, record: Make) -> None:
    bench.file.parent.write_text("in the way")
    assert not bench.writer.open()
    waits = []
    for _ in range(8):
        wait = bench.writer.retry_in()
        assert wait is not None
        waits.append(wait)
        bench.monotonic += wait
        bench.writer.tidy()
    assert waits == [1, 2, 4, 8, 16, 30, 30, 30]


def test_what_waits_is_written_when_the_directory_can_be_used(bench: Bench, record: Make) -> None:
    bench.file.parent.write_text("in the way")
    assert not bench.writer.open()
    bench.write(record(1))
    assert "cannot be used" in bench.writer.problem
    assert bench.writer.unrecorded == 1
    bench.file.parent.unlink()
    bench.monotonic += 60
    bench.writer.tidy()
    assert bench.writer.problem == ""
    assert bench.ids() == [1]
    assert bench.sums.all_time().calls == 1
    bench.writer.close()


def test_the_oldest_are_dropped_when_too_many_wait(
    bench: Bench, record: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "MOST_WAITING", 5)
    bench.file.parent.write_text("in the way")
    bench.writer.open()
    bench.write(*(record(number) for number in range(8)))
    assert [call.id for call in bench.writer.waiting] == [3, 4, 5, 6, 7]
    assert bench.writer.unrecorded == 8
    bench.file.parent.unlink()
    bench.monotonic += 60
    bench.writer.tidy()
    assert bench.ids() == [3, 4, 5, 6, 7]
    assert bench.writer.unrecorded == 3
    assert read_totals(bench.file, now=NOW).all_time.calls == 8
    bench.writer.close()


def test_closing_tries_once_more_and_counts_what_is_lost(bench: Bench, record: Make) -> None:
    bench.file.parent.write_text("in the way")
    bench.writer.open()
    bench.write(record(1))
    bench.writer.close()
    assert bench.writer.unrecorded == 1
    assert bench.writer.waiting == ()

    bench.write(record(2))
    bench.file.parent.unlink()
    bench.writer.close()
    assert bench.ids() == [2]


def test_damage_while_running_starts_a_new_file_and_keeps_the_totals(
    bench: Bench, record: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.writer.open()
    bench.write(record(1), record(2))
    real = writer_module.insert_calls

    def damaged(connection: sqlite3.Connection, records: tuple[CallRecord, ...]) -> int:
        monkeypatch.setattr(writer_module, "insert_calls", real)
        error = sqlite3.DatabaseError("database disk image is malformed")
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error

    monkeypatch.setattr(writer_module, "insert_calls", damaged)
    # The check at the next opening has to find the damage that the error spoke of.
    bench.writer._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    with bench.file.open("r+b") as stream:
        stream.seek(4096)
        stream.write(b"\xee" * 3000)
    bench.write(record(3))
    assert bench.ids() == [3]
    assert "damaged-" in bench.writer.problem
    assert bench.writer.unrecorded == 0
    assert len(list(bench.file.parent.glob("damaged-*/calls.db"))) == 1
    assert read_totals(bench.file, now=NOW).all_time.calls == 3
    assert bench.sums.all_time().calls == 3
    assert read_savings(bench.file, 0, now=NOW).total.calls == 3
    assert bench.ledger.lines(0, NOW) == read_savings(bench.file, 0, now=NOW).lines
    bench.writer.close()


def test_an_error_that_speaks_of_damage_for_ever_does_not_loop(
    bench: Bench, record: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.writer.open()

    def damaged(connection: sqlite3.Connection, records: tuple[CallRecord, ...]) -> int:
        error = sqlite3.DatabaseError("database disk image is malformed")
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error

    monkeypatch.setattr(writer_module, "insert_calls", damaged)
    bench.write(record(1))
    assert "damaged" in bench.writer.problem
    assert bench.writer.unrecorded == 1
    bench.writer.close()


def test_a_deleted_file_is_begun_anew(bench: Bench, record: Make) -> None:
    bench.writer.open()
    bench.write(record(1))
    for path in bench.file.parent.iterdir():
        path.unlink()
    bench.write(record(2))
    assert bench.ids() == [2]
    assert bench.sums.all_time().calls == 1
    bench.writer.close()


def test_a_newer_file_is_not_touched(bench: Bench, record: Make) -> None:
    bench.writer.open()
    assert bench.writer._connection is not None
    bench.writer._connection.execute("PRAGMA user_version=99")
    bench.writer.close()
    before = bench.file.read_bytes()
    again = Bench(bench.file)
    assert not again.writer.open()
    again.write(record(1))
    again.writer.close()
    assert "newer mms" in again.writer.problem
    assert again.writer.unrecorded == 1
    assert bench.file.read_bytes() == before


def test_old_calls_go_by_count(tmp_path: Path, record: Make) -> None:
    bench = Bench(tmp_path / "calls.db", max_calls=100)
    bench.writer.open()
    bench.write(*(record(number) for number in range(1, 1201)))
    slices = 0
    while bench.writer.tidy():
        slices += 1
        assert slices < 10
    assert slices == 3
    assert bench.ids() == list(range(1101, 1201))
    assert read_totals(bench.file, now=NOW).all_time.calls == 1200
    bench.writer.close()


def test_old_calls_go_by_age_and_the_check_is_not_repeated_at_once(
    tmp_path: Path, record: Make
) -> None:
    bench = Bench(tmp_path / "calls.db", max_days=1)
    bench.writer.open()
    old, new = record(1, started_at=NOW - 90_000), record(2, started_at=NOW - 80_000)
    bench.write(old, new)
    while bench.writer.tidy():
        pass
    assert bench.ids() == [2]
    bench.now += 20_000
    assert not bench.writer.tidy()
    assert bench.ids() == [2]
    bench.monotonic += 61
    assert bench.writer.tidy()
    assert bench.ids() == []
    bench.writer.close()


def test_new_limits_are_checked_at_once(tmp_path: Path, record: Make) -> None:
    bench = Bench(tmp_path / "calls.db")
    bench.writer.open()
    bench.write(*(record(number) for number in range(1, 301)))
    assert not bench.writer.tidy()
    bench.writer.apply(HistorySettings(max_calls=100))
    assert bench.writer.tidy()
    assert bench.ids() == list(range(201, 301))
    bench.writer.close()


def test_a_long_wait_is_written_in_batches(bench: Bench, record: Make) -> None:
    bench.writer.open()
    bench.write(*(record(number) for number in range(2 * BATCH + 3)))
    assert bench.writer.waiting == ()
    assert len(bench.ids()) == 2 * BATCH + 3
    bench.writer.close()
