"""Pictures that do not move: no animation, no blinking cursor."""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away what changes by itself. Textual reads its constants when it is imported."""
    import textual.constants
    from textual.widgets import Input

    monkeypatch.setattr(textual.constants, "TEXTUAL_ANIMATIONS", "none")
    nothing: Callable[[object], None] = lambda _self: None  # noqa: E731  # a method for a patch
    monkeypatch.setattr(Input, "_toggle_cursor", nothing)
