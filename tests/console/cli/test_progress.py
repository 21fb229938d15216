"""A bar for people who wait."""

from __future__ import annotations

import io

import pytest

from console.cli.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_bar_that_is_drawn_anew_only_when_it_differs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    bar = Progress()
    for done in (0, 1, 1, 2):
        bar.show(done, 2)
    bar.end()
    bar.end()
    half = "#" * 15 + "." * 15
    assert stream.getvalue() == (
        f"\r[{'.' * 30}] 0 of 2 \r[{half}] 1 of 2 \r[{'#' * 30}] 2 of 2 \n"
    )


def test_nothing_is_drawn_where_nobody_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    bar = Progress()
    bar.show(1, 2)
    bar.show(0, 0)
    bar.end()
    assert stream.getvalue() == ""
