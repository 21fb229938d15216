"""The log of tool selections: what is in it, what never is, and how large it gets."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.schema import SelectionTelemetrySettings
from proxy.catalogue import Catalogue, Offer, OfferedUpstream, build
from proxy.telemetry import aggregate as adding
from proxy.telemetry import selection_log
from proxy.telemetry.aggregate import aggregate
from proxy.telemetry.model import NamedCount, Percentiles
from proxy.telemetry.rotation import append, backups, rotate
from proxy.telemetry.selection_log import SelectionLog
from proxy.wire_values import decode, encode

ON = SelectionTelemetrySettings(enabled=True)
SECRET = "ghp_9fQ2xLmT7vRw3KzB8cYd5NjH4sGu6PaE1iXo"


def _catalogue(*names: str) -> Catalogue:
    tools = [
        json.dumps({"name": name, "inputSchema": {"type": "object"}}).encode() for name in names
    ]
    upstream = OfferedUpstream("files", "fs", Offer(tools=(*tools, b'{"name":"bad"}')))
    return build([upstream], lambda _: False)


OFFERED = _catalogue("read", "write")


@contextmanager
def _running(
    file: Path, settings: SelectionTelemetrySettings = ON, **more: Any
) -> Iterator[SelectionLog]:
    log = SelectionLog(file, settings, **more)
    log.start()
    try:
        yield log
    finally:
        assert log.stop(10)


def _call(log: SelectionLog, arguments: bytes = b"{}", tool: str = "read", **end: Any) -> None:
    found = log.note_selection("files", tool, OFFERED, arguments)
    log.note_execution(found, **({"ok": True, "latency_ms": 2.5} | end))


def _records(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_bytes().splitlines()]


def test_a_call_leaves_two_lines_without_its_arguments_behind_what_was_offered(
    tmp_path: Path,
) -> None:
    file = tmp_path / "selection.jsonl"
    with _running(file) as log:
        _call(log, b'{"path": "/home/me", "n": 1}')
        _call(log, b'{"n":1,"path":"/home/me"}', ok=False, error_type="timeout")
        assert log.flush(10)
        assert log.counters.written == 5
    candidates, first, ended, second, failed = _records(file)
    assert candidates["event"] == "candidates"
    assert candidates["candidate_tools"] == ["fs__read", "fs__write"]
    assert candidates["reject_reasons"] == {"invalid_schema": 1}
    assert first["event"] == "selection"
    assert (first["server"], first["selected_tool"]) == ("files", "read")
    assert (first["candidate_count"], first["args_chars"]) == (2, 28)
    assert first["candidates_sha256"] == candidates["candidates_sha256"]
    assert (first["schema_version"], first["ranker_version"]) == (1, "v0-passthrough")
    assert first["args_sha256"] == second["args_sha256"]
    assert ended["event"] == "execution"
    assert ended["selection_id"] == first["selection_id"] != second["selection_id"]
    assert (ended["ok"], ended["latency_ms"], ended["error_type"]) == (True, 2.5, "")
    assert (failed["ok"], failed["error_type"], failed["cache_hit"]) == (False, "timeout", False)
    assert b"/home/me" not in file.read_bytes()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_what_is_offered_is_written_again_only_when_it_changes(tmp_path: Path) -> None:
    file = tmp_path / "selection.jsonl"
    with _running(file) as log:
        for catalogue in (OFFERED, OFFERED, _catalogue("read", "write"), _catalogue("read")):
            log.note_selection("files", "read", catalogue, b"")
    names = [record.get("candidate_tools") for record in _records(file) if "ts" in record]
    assert names == [["fs__read", "fs__write"], None, None, None, ["fs__read"], None]


def test_nothing_is_logged_when_it_is_off_and_it_follows_the_settings(tmp_path: Path) -> None:
    file = tmp_path / "selection.jsonl"
    off = SelectionTelemetrySettings()
    with _running(file, off) as log:
        assert log.note_selection("files", "read", OFFERED, b"{}") is None
        log.note_execution(None, ok=True, latency_ms=1.0)
        assert not log.enabled
        log.applied(ON)
        assert log.enabled
        _call(log)
        log.applied(off)
        _call(log)
    assert len(_records(file)) == 3
    assert log.view().written == 3
    assert log.note_selection("files", "read", OFFERED, b"{}") is None


def test_sampling_takes_both_lines_of_a_call_or_none(tmp_path: Path) -> None:
    file = tmp_path / "selection.jsonl"
    chances = iter([0.1, 0.9, 0.49, 0.5])
    with _running(file, replace(ON, sampling=0.5), chance=lambda: next(chances)) as log:
        for _ in range(4):
            _call(log)
        assert log.flush(10)
        assert log.counters.sampled_out == 2
    view = log.view()
    assert (view.selections, view.executions, view.sampled_out) == (2, 2, 2)


def test_a_line_with_a_secret_is_dropped_with_the_other_line_of_its_call(tmp_path: Path) -> None:
    file = tmp_path / "selection.jsonl"
    with _running(file) as log:
        _call(log, tool=SECRET)
        _call(log, error_type=SECRET)
        _call(log)
    kinds = [record["event"] for record in _records(file)]
    assert kinds == ["candidates", "selection", "selection", "execution"]
    assert SECRET.encode() not in file.read_bytes()
    assert log.counters.redaction_drops == 3


def test_the_log_is_rotated_at_its_size_and_each_file_says_what_was_offered(
    tmp_path: Path,
) -> None:
    file = tmp_path / "selection.jsonl"
    with _running(file, replace(ON, max_bytes=2_000, backups=2)) as log:
        for _ in range(30):
            _call(log)
        assert log.flush(10)
        assert log.counters.written > 60
        assert log.view().rotated_files == 2
    files = (file, *backups(file))
    assert len(files) == 3
    for one in files:
        assert one.stat().st_size <= 2_000
        assert _records(one)[0]["event"] in ("candidates", "execution")
    log = SelectionLog(file, ON)
    assert log.view().selections == sum(record["event"] == "selection" for record in _records(file))


def test_a_full_queue_and_a_folder_that_refuses_are_told_and_calls_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "gone" / "selection.jsonl"
    with _running(file) as log:
        _call(log)
        assert log.flush(10)
        assert log.counters.write_errors == 3
        assert "is not written" in log.problem
        assert str(file) in log.view().problem
        file.parent.mkdir()
        _call(log)
        assert log.flush(10)
        assert log.problem == ""
        monkeypatch.setattr(selection_log, "MOST_WAITING_BYTES", 10)
        assert log.note_selection("files", "read", OFFERED, b" " * 11) is None
        assert "faster than" in log.problem
        assert log.counters.write_errors == 5
    assert [record["event"] for record in _records(file)] == [
        "candidates",
        "selection",
        "execution",
    ]


def test_a_line_that_a_crash_cut_costs_no_other_line(tmp_path: Path) -> None:
    file = tmp_path / "selection.jsonl"
    file.write_bytes(b'{"event":"selec')
    with _running(file) as log:
        _call(log)
    view = log.view()
    assert (view.unreadable, view.selections, view.executions, view.events) == (1, 1, 1, 3)


def test_backups_move_on_and_the_oldest_go(tmp_path: Path) -> None:
    file = tmp_path / "log"
    for number in range(5):
        append(file, b"%d\n" % number)
        rotate(file, 2)
    assert [path.read_bytes() for path in backups(file)] == [b"4\n", b"3\n"]
    append(file, b"5\n")
    rotate(file, 0)
    assert backups(file) == ()
    assert not file.exists()


def test_a_log_is_added_up(tmp_path: Path) -> None:
    file = tmp_path / "selection.jsonl"
    with _running(file) as log:
        for number in range(1, 101):
            _call(
                log,
                tool="read" if number > 10 else "write",
                latency_ms=float(number),
                ok=number > 4,
                error_type="" if number > 4 else "timeout" if number > 1 else "upstream_lost",
                cache_hit=number > 90,
            )
    view = log.view()
    assert (view.events, view.selections, view.executions, view.unreadable) == (201, 100, 100, 0)
    assert view.by_ranker == (NamedCount("v0-passthrough", 100),)
    assert view.by_server == (NamedCount("files", 100),)
    assert view.by_tool == (NamedCount("files/read", 90), NamedCount("files/write", 10))
    assert (view.ok, view.errors, view.cache_hits) == (96, 4, 10)
    assert view.latency == Percentiles(50.0, 95.0, 99.0)
    assert view.error_types == (NamedCount("timeout", 3), NamedCount("upstream_lost", 1))
    assert view.reject_reasons == (NamedCount("invalid_schema", 100),)
    assert (view.enabled, view.file, view.written) == (True, str(file), 201)
    assert decode(encode(view), type(view)) == view


def test_no_file_is_an_empty_log_and_an_unreadable_one_says_so(tmp_path: Path) -> None:
    empty = aggregate(tmp_path / "none.jsonl")
    assert (empty.events, empty.latency, empty.problem) == (0, None, "")
    assert "cannot be read" in aggregate(tmp_path).problem


@settings(max_examples=25)
@given(
    st.lists(
        st.binary(max_size=40) | st.sampled_from([b"[]", b'{"event":5}', b'{"event":"execution"}'])
    )
)
def test_no_content_of_a_file_breaks_the_sums(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    file = tmp_path_factory.mktemp("log") / "selection.jsonl"
    data = b"\n".join(lines)
    file.write_bytes(data)
    view = aggregate(file)
    assert view.events + view.unreadable == sum(bool(line.strip()) for line in data.split(b"\n"))


def test_sums_stay_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adding, "MOST_NAMES", 3)
    monkeypatch.setattr(adding, "MOST_LATENCIES", 20)
    monkeypatch.setattr(adding, "LONGEST_LINE", 400)
    file = tmp_path / "selection.jsonl"
    with file.open("wb") as stream:
        for number in range(64):
            name = f"tool{number}"
            stream.write(
                json.dumps({"event": "selection", "server": "s", "selected_tool": name}).encode()
                + b"\n"
            )
            stream.write(
                json.dumps({"event": "execution", "ok": True, "latency_ms": number}).encode()
                + b"\n"
            )
        stream.write(b'{"event":"selection","server":"' + b"x" * 1000 + b'"}\n')
    view = aggregate(file)
    assert (view.selections, view.executions, view.unreadable) == (64, 64, 1)
    assert view.by_tool[0] == NamedCount(adding.REST, 61)
    assert len(view.by_tool) == 4
    assert view.latency is not None
    assert 20 <= view.latency.p50 <= 44
