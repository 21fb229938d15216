"""Pictures that do not move: no animation, no blinking cursor; and painting that does not wait."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

_REPORT = "TEXTUAL_SNAPSHOT_TEMPDIR"


@pytest.fixture(scope="session")
def report_directory() -> str:
    """Where the snapshot plugin collects its report; read before any test's environment is cleared."""
    return os.environ.get(_REPORT, "")


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch, report_directory: str) -> None:
    """Take away what changes by itself. Textual reads its constants when it is imported."""
    import textual.constants
    from textual.widgets import Input

    if report_directory:
        monkeypatch.setenv(_REPORT, report_directory)
    monkeypatch.setattr(textual.constants, "TEXTUAL_ANIMATIONS", "none")
    nothing: Callable[[object], None] = lambda _self: None  # noqa: E731  # a method for a patch
    monkeypatch.setattr(Input, "_toggle_cursor", nothing)
    monkeypatch.setattr("console.app.PAINTS_PER_SECOND", 500.0)
