"""The store of reads of progressive answers."""

from __future__ import annotations

from pathlib import Path

from proxy.progressive_reads import ProgressiveRead
from proxy.store.progressive import KEPT_SECONDS, ProgressiveStore, read_progressive

READ = ProgressiveRead(1000.0, "0123456789abcdef", "fs", "read", 0, 100, 1000, True)


def test_a_read_is_seen_at_once_and_kept(tmp_path: Path) -> None:
    file = tmp_path / "progressive.sqlite3"
    store = ProgressiveStore(file, clock=lambda: 2000.0)
    store.note(READ)
    assert store.reads() == [READ]
    store.start()
    assert store.stop(10)
    assert store.problem == ""
    assert read_progressive(file, now=2000.0) == [READ]
    assert read_progressive(file, now=1000.0 + KEPT_SECONDS + 1) == []


def test_without_a_file_there_are_no_reads(tmp_path: Path) -> None:
    assert read_progressive(tmp_path / "none.sqlite3", now=0.0) == []
