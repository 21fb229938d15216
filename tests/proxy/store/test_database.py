"""Opening a database: created privately, migrated in steps, set aside when it cannot be trusted."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path

import pytest

from proxy.store.database import (
    APPLICATION_ID,
    Migration,
    StoreTooNew,
    StoreUnavailable,
    close_writer,
    open_for_reading,
    open_for_writing,
    transaction,
)

ROOT = Path(__file__).resolve().parents[3]
FIRST = Migration("notes", ("CREATE TABLE notes (text TEXT NOT NULL)",))
SECOND = Migration("stars", ("ALTER TABLE notes ADD COLUMN stars INTEGER NOT NULL DEFAULT 0",))


def note(file: Path, text: str) -> None:
    opened = open_for_writing(file, [FIRST])
    with transaction(opened.connection):
        opened.connection.execute("INSERT INTO notes (text) VALUES (?)", (text,))
    close_writer(file, opened.connection)


def notes(file: Path) -> list[str]:
    with open_for_reading(file, [FIRST]) as connection:
        assert connection is not None
        return [text for (text,) in connection.execute("SELECT text FROM notes")]


def test_a_new_database_is_private_durable_and_ours(tmp_path: Path) -> None:
    file = tmp_path / "state" / "a.db"
    opened = open_for_writing(file, [FIRST])
    try:
        assert opened.damaged is None
        assert opened.notice == ""
        values = {
            name: opened.connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in (
                *("journal_mode", "synchronous", "application_id", "user_version", "mmap_size"),
                *("trusted_schema", "auto_vacuum", "busy_timeout"),
            )
        }
        assert values == {
            "journal_mode": "wal",
            "synchronous": 2,
            "application_id": APPLICATION_ID,
            "user_version": 1,
            "mmap_size": 0,
            "trusted_schema": 0,
            "auto_vacuum": 2,
            "busy_timeout": 5000,
        }
        for path in file.parent.iterdir():
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    finally:
        close_writer(file, opened.connection)
    assert [path.name for path in file.parent.iterdir()] == ["a.db"]


def test_a_file_that_others_could_read_becomes_private(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    note(file, "x")
    file.chmod(0o644)
    note(file, "y")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert notes(file) == ["x", "y"]


def test_an_older_file_is_migrated_step_by_step_and_keeps_its_rows(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    note(file, "kept")
    opened = open_for_writing(file, [FIRST, SECOND])
    assert opened.connection.execute("SELECT text, stars FROM notes").fetchall() == [("kept", 0)]
    close_writer(file, opened.connection)


def test_a_step_that_fails_leaves_the_version_before_it(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    note(file, "kept")
    half = Migration("half", ("CREATE TABLE other (x)", "INSERT INTO nowhere VALUES (1)"))
    with pytest.raises(StoreUnavailable, match="nowhere"):
        open_for_writing(file, [FIRST, half])
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
        assert connection.execute("SELECT name FROM sqlite_schema").fetchall() == [("notes",)]
    note(file, "again")
    assert notes(file) == ["kept", "again"]


def test_a_file_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    close_writer(file, open_for_writing(file, [FIRST, SECOND]).connection)
    before = file.read_bytes()
    with pytest.raises(StoreTooNew, match=r"schema 2, this one knows 1.*Update mms"):
        open_for_writing(file, [FIRST])
    with pytest.raises(StoreTooNew), open_for_reading(file, [FIRST]):
        pass
    assert file.read_bytes() == before


def test_a_reader_says_that_an_older_file_needs_a_station(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    note(file, "x")
    with (
        pytest.raises(StoreUnavailable, match="mms serve"),
        open_for_reading(file, [FIRST, SECOND]),
    ):
        pass


@pytest.mark.parametrize(
    "content", [b"no database at all" * 500, b"SQLite format 3\0" + b"\xff" * 4000]
)
def test_a_damaged_file_is_set_aside_and_a_new_one_begun(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "a.db"
    file.write_bytes(content)
    opened = open_for_writing(file, [FIRST])
    close_writer(file, opened.connection)
    assert opened.damaged is not None
    assert (opened.damaged / "a.db").read_bytes() == content
    assert str(opened.damaged) in opened.notice
    assert notes(file) == []


def test_a_database_of_another_program_is_set_aside_unchanged(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    before = file.read_bytes()
    opened = open_for_writing(file, [FIRST])
    close_writer(file, opened.connection)
    assert opened.damaged is not None
    assert (opened.damaged / "a.db").read_bytes() == before
    assert "belongs to another program" in opened.notice


def damage_a_page(file: Path) -> None:
    with file.open("r+b") as stream:
        stream.seek(4096 + 8)
        stream.write(b"\xee" * 2000)


def fill(file: Path) -> None:
    opened = open_for_writing(file, [FIRST])
    with transaction(opened.connection):
        opened.connection.executemany("INSERT INTO notes (text) VALUES (?)", [("x" * 500,)] * 200)
    close_writer(file, opened.connection)


def test_damage_inside_is_found_after_an_unclean_stop(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    fill(file)
    damage_a_page(file)
    (tmp_path / "a.db.writing").touch()
    opened = open_for_writing(file, [FIRST])
    close_writer(file, opened.connection)
    assert opened.damaged is not None
    assert notes(file) == []


def test_an_intact_file_stays_after_an_unclean_stop(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    note(file, "x")
    (tmp_path / "a.db.writing").touch()
    note(file, "y")
    assert notes(file) == ["x", "y"]
    assert not (tmp_path / "a.db.writing").exists()


def test_nothing_written_yet_is_nothing_to_read(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    with open_for_reading(file, [FIRST]) as connection:
        assert connection is None
    file.touch()
    with open_for_reading(file, [FIRST]) as connection:
        assert connection is None


def test_readers_refuse_what_is_damaged_or_not_ours_with_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    file.write_bytes(b"nonsense" * 1000)
    with pytest.raises(StoreUnavailable, match="no database"), open_for_reading(file, [FIRST]):
        pass
    file.unlink()
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    with (
        pytest.raises(StoreUnavailable, match=r"no file of mms \(call history\)"),
        open_for_reading(file, [FIRST]),
    ):
        pass


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    note(file, "x")

    def delete() -> None:
        with open_for_reading(file, [FIRST]) as connection:
            assert connection is not None
            connection.execute("DELETE FROM notes")

    with pytest.raises(StoreUnavailable, match="read-only"):
        delete()
    assert notes(file) == ["x"]


def test_a_directory_that_cannot_be_made_is_said_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    with pytest.raises(StoreUnavailable, match="cannot be used"):
        open_for_writing(tmp_path / "state" / "a.db", [FIRST])


def test_rows_survive_a_kill_between_two_batches(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    program = """
        import sys
        from pathlib import Path
        from proxy.store.database import Migration, open_for_writing, transaction
        first = Migration("notes", ("CREATE TABLE notes (text TEXT NOT NULL)",))
        connection = open_for_writing(Path(sys.argv[1]), [first]).connection
        for number in range(1_000_000):
            with transaction(connection):
                connection.executemany("INSERT INTO notes VALUES (?)", [(str(number),)] * 3)
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
            if int(line) >= 20:
                os.kill(writer.pid, signal.SIGKILL)
                break
        committed = [int(line), *map(int, writer.stdout.read().split())][-1]
    assert len(notes(file)) >= 3 * (committed + 1)
    note(file, "after")
    kept = notes(file)
    assert kept[-1] == "after"
    assert kept[:-1] == [str(number) for number in range((len(kept) - 1) // 3) for _ in range(3)]
    assert len(kept) - 1 in (3 * (committed + 1), 3 * (committed + 2))
