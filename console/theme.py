"""The console's own colour themes. Textual's built-in ones work too, the ``ansi-`` ones included."""

from __future__ import annotations

from collections.abc import Iterable

from textual.theme import Theme

DARK = Theme(
    name="mms-dark",
    primary="#6cb6ff",
    secondary="#8b9bb4",
    accent="#6cb6ff",
    success="#7ee2a8",
    warning="#f2c26b",
    error="#ff8b85",
    foreground="#d5dce8",
    background="#10141b",
    surface="#171c26",
    panel="#222a38",
    dark=True,
    variables={
        "border": "#3a465a",
        "block-cursor-blurred-background": "#222a38",
        "input-cursor-background": "#d5dce8",
    },
)

LIGHT = Theme(
    name="mms-light",
    primary="#0b5cad",
    secondary="#4a5a70",
    accent="#0b5cad",
    success="#1a7f4b",
    warning="#8a5a00",
    error="#b3261e",
    foreground="#1d2530",
    background="#fbfcfe",
    surface="#f0f3f8",
    panel="#e1e7f0",
    dark=False,
    variables={"border": "#9aa7b8", "block-cursor-blurred-background": "#e1e7f0"},
)

DEFAULT = DARK.name


def choose(wanted: str, available: Iterable[str]) -> tuple[str, str]:
    """The theme to use, and a sentence when it is not the wanted one (else empty)."""
    names = sorted(available)
    if wanted in names:
        return wanted, ""
    return DEFAULT, f"console.theme: there is no theme {wanted!r}; there are {', '.join(names)}."
