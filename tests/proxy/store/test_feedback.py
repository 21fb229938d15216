"""Reports of agents: noted at once, kept over restarts, bounded, counted by tool and kind."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import pytest

from proxy.store import feedback as feedback_module
from proxy.store.feedback import KEPT_SECONDS, FeedbackStore, read_feedback

WAIT = 10.0
NOW = 1_700_000_000.0


class Kind(Enum):
    TRUNCATED = "truncated"
    OTHER = "other"


@dataclass(frozen=True)
class Report:
    server: str = "files"
    tool: str = "read"
    missing: str = "the last line"
    kind: Kind = Kind.TRUNCATED
    trace_id: str = ""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "feedback.db"


@pytest.fixture
def make(file: Path) -> Iterator[Callable[..., FeedbackStore]]:
    stores: list[FeedbackStore] = []

    def make(**options: object) -> FeedbackStore:
        options.setdefault("clock", lambda: NOW)
        stores.append(FeedbackStore(file, **options))  # type: ignore[arg-type]  # named options
        return stores[-1]

    yield make
    for store in stores:
        assert store.stop(WAIT)


def test_reports_are_counted_by_tool_and_kind(make: Callable[..., FeedbackStore]) -> None:
    store = make()
    for number in range(5):
        store.report(Report(missing=f"line {number}"), NOW + number)
    store.report(Report(kind=Kind.OTHER), NOW)
    store.report(Report(server="web", tool="get"), NOW)
    report = store.counts()
    assert [(one.upstream, one.tool, one.kind, one.reports) for one in report.lines] == [
        ("files", "read", "other", 1),
        ("files", "read", "truncated", 5),
        ("web", "get", "truncated", 1),
    ]
    assert report.reports == 7
    assert report.lines[1].latest == ("line 4", "line 3", "line 2")
    assert report.lines[1].last_at == NOW + 4
    assert store.counts(tool="get").reports == 1
    assert store.counts(upstream="files", tool="read").reports == 6
    assert store.counts(upstream="nobody").lines == ()


def test_reports_are_the_same_before_and_after_they_are_written_and_without_a_station(
    make: Callable[..., FeedbackStore], file: Path
) -> None:
    store = make()
    for number in range(3):
        store.report(Report(missing=f"line {number}"), NOW + number)
    before = store.counts()
    store.start()
    assert store.stop(WAIT)
    assert store.counts() == before
    assert read_feedback(file, now=NOW) == before
    assert make().counts() == before


def test_nothing_reported_reads_as_nothing(file: Path) -> None:
    assert read_feedback(file, now=NOW).lines == ()


def test_old_reports_and_those_over_the_bound_go(
    make: Callable[..., FeedbackStore], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feedback_module, "KEPT_REPORTS", 5)
    store = make()
    store.report(Report(missing="too old"), NOW - KEPT_SECONDS - 1)
    assert store.counts().reports == 0
    for number in range(8):
        store.report(Report(missing=f"line {number}"), NOW + number)
    store.start()
    assert store.stop(WAIT)
    (line,) = read_feedback(file, now=NOW).lines
    assert line.reports == 5
    assert line.latest[0] == "line 7"


def test_secrets_and_odd_texts_are_stored_as_near_as_possible(
    make: Callable[..., FeedbackStore], file: Path
) -> None:
    store = make(redact=lambda text: text.replace("hunter-two", "***"))
    store.report(Report(missing="hunter-two \0\ud800" + "x" * 90_000, tool="t" * 9_000), NOW)
    store.start()
    assert store.stop(WAIT)
    (line,) = read_feedback(file, now=NOW).lines
    assert line.latest[0].startswith("*** \ufffd\ufffdxx")
    assert len(line.latest[0]) == 4_000
    assert len(line.tool) == 256
    assert b"hunter-two" not in file.read_bytes()


def test_an_unusable_disk_is_told_and_the_reports_wait(
    make: Callable[..., FeedbackStore], file: Path
) -> None:
    file.parent.write_text("in the way")
    store = make()
    store.start()
    for _ in range(feedback_module.MOST_WAITING + 5):
        store.report(Report(), NOW)
    file.parent.unlink()
    assert store.stop(WAIT)
    (line,) = read_feedback(file, now=NOW).lines
    assert line.reports >= feedback_module.MOST_WAITING


def test_many_threads_report_at_once(make: Callable[..., FeedbackStore], file: Path) -> None:
    store = make()
    store.start()

    def work(start: int) -> None:
        for number in range(start, start + 100):
            store.report(Report(missing=str(number)), NOW + number)

    threads = [threading.Thread(target=work, args=(start,)) for start in (0, 100, 200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    assert store.counts().reports == 300
    assert store.stop(WAIT)
    assert read_feedback(file, now=NOW).reports == 300
