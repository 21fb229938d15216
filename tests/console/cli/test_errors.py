"""One place maps exceptions to texts and codes."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.edit import EditRefusedError
from config.paths import UnsafeDirectoryError
from config.problem import Problem
from console.cli.errors import CliError, ExitCode, UsageError, explain
from console.station import StationUnavailable
from console.stations.attached import NoStation
from proxy.lock import StationRunning
from proxy.store.database import StoreUnavailable

_PROBLEM = Problem("config.toml", 3, 1, "proxy.x", "no such key", "")


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (CliError("why"), ExitCode.FAILED, "why"),
        (UsageError("how"), ExitCode.USAGE, "how"),
        (StationUnavailable("gone"), ExitCode.NO_STATION, "gone"),
        (NoStation("none"), ExitCode.NO_STATION, "none"),
        (EditRefusedError("no upstream x"), ExitCode.FAILED, "no upstream x"),
        (EditRefusedError("", (_PROBLEM,)), ExitCode.CONFIGURATION, "config.toml:3"),
        (StationRunning(7, Path("/x")), ExitCode.FAILED, "process 7"),
        (StoreUnavailable("disk"), ExitCode.FAILED, "disk"),
        (UnsafeDirectoryError(Path("/x"), "open", "Fix"), ExitCode.FAILED, "/x: open. Fix"),
        (FileNotFoundError(2, "No such file", "/y"), ExitCode.FAILED, "/y: No such file"),
        (ExceptionGroup("", [StationUnavailable("in")]), ExitCode.NO_STATION, "in"),
        (KeyError("x"), ExitCode.FAILED, "fault in mms: KeyError"),
    ],
)
def test_each_kind_of_error_has_its_code_and_says_why(
    error: BaseException, code: ExitCode, words: str
) -> None:
    got, text = explain(error)
    assert got is code
    assert words in text
