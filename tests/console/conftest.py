"""Pictures that do not move: no animation, no blinking cursor; and painting that does not wait."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from textual.css.model import RuleSet
    from textual.css.stylesheet import Stylesheet
    from textual.css.types import CSSLocation

_REPORT = "TEXTUAL_SNAPSHOT_TEMPDIR"
_PARSED: dict[tuple[object, ...], list[RuleSet]] = {}
"""Rules of style sheets, which no app changes: parsing them again was a quarter of an app's start."""


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
    _parse_once(monkeypatch)


def _parse_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from textual.css.stylesheet import Stylesheet

    parse = Stylesheet._parse_rules

    def parse_or_recall(
        sheet: Stylesheet,
        css: str,
        read_from: CSSLocation,
        is_default_rules: bool = False,
        tie_breaker: int = 0,
        scope: str = "",
    ) -> list[RuleSet]:
        variables = frozenset(sheet._variables.items())
        key = (variables, css, read_from, is_default_rules, tie_breaker, scope)
        if key not in _PARSED:
            _PARSED[key] = parse(sheet, css, read_from, is_default_rules, tie_breaker, scope)
        return _PARSED[key]

    monkeypatch.setattr(Stylesheet, "_parse_rules", parse_or_recall)
