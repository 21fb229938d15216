"""Opening databases that are new, damaged, foreign, locked, or made by another version."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import Connection, Integer, column, event, select, table

from memory.errors import FaultCode, MemoryFault
from memory.store import backend as backends
from memory.store import check
from memory.store.database import Store
from memory.store.sqlite import fault_of
from tests.memory.store.making import AGENT, SPACE, START, put

STEPPED = select(column("x", Integer())).select_from(table("first_step"))


def refused(url: str) -> MemoryFault:
    with pytest.raises(MemoryFault) as fault:
        Store.open(url, busy_seconds=0.1)
    return fault.value


@pytest.mark.parametrize(
    "url",
    ["", "sqlite://", "sqlite:///:memory:", "mysql://host/db", "nonsense", "postgresql+x://h/d"],
)
def test_other_urls_are_refused(url: str) -> None:
    assert refused(url).code is FaultCode.INVALID


def test_a_new_file_belongs_to_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "down" / "memory.db"
    store = Store.open(f"sqlite:///{file}")
    put(store, "one")
    for path in (file.parent, *file.parent.iterdir()):
        assert path.stat().st_mode & 0o077 == 0, path
    assert store.bytes_on_disk > 4_096
    assert store.damaged_copies == ()
    store.close()


def test_a_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    file.touch(mode=0o644)
    Store.open(f"sqlite:///{file}").close()
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_file_that_is_no_database_is_set_aside_and_told_of_once(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    file.write_bytes(b"this is no database " * 500)
    fault = refused(f"sqlite:///{file}")
    assert fault.code is FaultCode.UNAVAILABLE
    assert "damaged" in str(fault)
    store = Store.open(f"sqlite:///{file}")
    (copy,) = store.damaged_copies
    assert str(copy.parent) in str(fault)
    assert copy.read_bytes() == b"this is no database " * 500
    store.close()


def damage(file: Path) -> None:
    """A memory some of whose pages with texts are damaged."""
    store = Store.open(f"sqlite:///{file}")
    put(store, *(f"text number {place} " * 20 for place in range(30)))
    store.close()
    data = bytearray(file.read_bytes())
    for start in range(0, len(data), 4_096):
        if b"text number" in data[start : start + 4_096]:
            data[start : start + 200] = b"\xff" * 200
    file.write_bytes(data)


def test_a_damaged_page_is_found_after_an_unclean_end(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    damage(file)
    (tmp_path / "memory.db-wal").write_bytes(b"left over")
    fault = refused(f"sqlite:///{file}")
    assert fault.code is FaultCode.UNAVAILABLE
    assert list(tmp_path.glob("damaged-*/memory.db"))
    assert not file.exists()


def test_damage_that_is_found_while_reading_is_told_and_set_aside_by_the_next_opening(
    tmp_path: Path,
) -> None:
    file = tmp_path / "memory.db"
    damage(file)
    with pytest.raises(MemoryFault) as fault:
        read_all(file)
    assert fault.value.code is FaultCode.UNAVAILABLE
    assert "Restart" in str(fault.value)
    assert "was moved to" in str(refused(f"sqlite:///{file}"))
    Store.open(f"sqlite:///{file}").close()
    assert sorted(path.name for path in tmp_path.glob("memory*")) == ["memory.db"]


def read_all(file: Path) -> None:
    store = Store.open(f"sqlite:///{file}")
    try:
        with store.reading() as reading:
            check.verify(reading)
    finally:
        store.close()


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE theirs (x)")
    connection.commit()
    connection.close()
    before = file.read_bytes()
    fault = refused(f"sqlite:///{file}")
    assert fault.code is FaultCode.UNAVAILABLE
    assert "another program" in str(fault)
    assert file.read_bytes() == before


def test_a_folder_in_place_of_the_file_is_told(tmp_path: Path) -> None:
    assert refused(f"sqlite:///{tmp_path}").code is FaultCode.UNAVAILABLE
    (tmp_path / "file").touch()
    assert refused(f"sqlite:///{tmp_path}/file/memory.db").code is FaultCode.UNAVAILABLE


def test_a_newer_versions_database_is_left_alone(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as newer:
        newer.setattr(backends, "VERSION", backends.VERSION + 1)
        Store.open(url).close()
    fault = refused(url)
    assert fault.code is FaultCode.UNAVAILABLE
    assert "newer" in str(fault)


def create_table(connection: Connection) -> None:
    connection.exec_driver_sql("CREATE TABLE first_step (x INTEGER)")


def test_an_older_database_is_brought_up_to_date_step_by_step(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store.open(url)
    (record,) = put(store, "one")
    store.close()

    def fill(connection: Connection) -> None:
        connection.exec_driver_sql("INSERT INTO first_step VALUES (7)")

    monkeypatch.setattr(backends, "STEPS", (create_table, fill))
    monkeypatch.setattr(backends, "VERSION", 3)
    for _ in range(2):
        store = Store.open(url)
        with store.reading() as reading:
            rows = reading.rows(STEPPED)
            assert [row.x for row in rows] == [7]
            assert reading.record(record.id) == record
        store.close()


def test_a_step_that_fails_changes_nothing(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Store.open(url).close()

    def fail(connection: Connection) -> None:
        raise RuntimeError("halfway")

    with monkeypatch.context() as newer:
        newer.setattr(backends, "STEPS", (create_table, fail))
        newer.setattr(backends, "VERSION", 3)
        with pytest.raises(RuntimeError, match="halfway"):
            Store.open(url)
    store = Store.open(url)
    with pytest.raises(MemoryFault), store.reading() as reading:
        reading.rows(STEPPED)
    store.close()


def test_a_writer_that_waits_too_long_is_told_that_others_are_busy(url: str) -> None:
    first, second = Store.open(url), Store.open(url, busy_seconds=0.05)
    put(first, "one")
    with first.writing(AGENT, SPACE, START) as writing:
        assert writing.position == 1
        with pytest.raises(MemoryFault) as fault:
            put(second, "two")
        assert fault.value.code is FaultCode.BUSY
        with second.reading() as reading:
            assert reading.position == 1
    put(second, "two")
    with first.reading() as reading:
        assert reading.position == 2
    first.close()
    second.close()


def test_a_thread_that_waits_too_long_is_told_that_others_are_busy(url: str) -> None:
    store = Store.open(url, busy_seconds=0.05)
    with store.writing(AGENT, SPACE, START):
        with pytest.raises(MemoryFault) as fault:
            put(store, "two")
        assert fault.value.code is FaultCode.BUSY
    store.close()


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (sqlite3.SQLITE_FULL, FaultCode.UNAVAILABLE),
        (sqlite3.SQLITE_READONLY, FaultCode.UNAVAILABLE),
        (sqlite3.SQLITE_IOERR, FaultCode.UNAVAILABLE),
        (sqlite3.SQLITE_BUSY, FaultCode.BUSY),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, FaultCode.BUSY),
        (sqlite3.SQLITE_LOCKED, FaultCode.BUSY),
        (sqlite3.SQLITE_CONSTRAINT_UNIQUE, FaultCode.INVALID),
        (sqlite3.SQLITE_ERROR, FaultCode.INTERNAL),
    ],
)
def test_errors_of_sqlite_become_faults(code: int, expected: FaultCode) -> None:
    error = sqlite3.OperationalError("said so")
    error.sqlite_errorcode = code
    assert fault_of(Path("memory.db"), error).code is expected


def test_a_full_disk_is_told_and_what_was_there_stays(tmp_path: Path) -> None:
    store = Store.open(f"sqlite:///{tmp_path / 'memory.db'}")
    (record,) = put(store, "one")

    def bound(connection: sqlite3.Connection, *_: object) -> None:
        connection.execute("PRAGMA max_page_count=1")  # SQLite takes it as "no page more than now"

    engine = store.backend.engine
    event.listen(engine, "checkout", bound)
    with pytest.raises(MemoryFault) as fault:
        put(store, "x" * 500_000)
    assert fault.value.code is FaultCode.UNAVAILABLE
    assert "disk is full" in str(fault.value)
    with store.reading() as reading:
        assert check.projection(reading) == (record,)
        assert check.verify(reading) == ()
    store.close()


def test_a_server_that_is_not_there_is_told(tmp_path: Path) -> None:
    fault = refused(f"postgresql://nobody@/nothing?host={tmp_path}")
    assert fault.code is FaultCode.UNAVAILABLE


def test_nothing_of_the_database_library_is_loaded_with_the_package() -> None:
    program = (
        "import sys, memory.store, memory.store.journal; "
        "print([name for name in sys.modules if name.partition('.')[0] in ('sqlalchemy', 'psycopg')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
