"""A bar on the error output, while a person waits at a terminal. Elsewhere it is silent."""

from __future__ import annotations

import sys

_CELLS = 30


class Progress:
    """How far something is. `show` as often as you like, `end` once."""

    def __init__(self) -> None:
        self._shown = ""

    def show(self, done: int, whole: int) -> None:
        """``done`` of ``whole`` things, 0 to ``whole``."""
        full = _CELLS * done // max(whole, 1)
        bar = f"[{'#' * full}{'.' * (_CELLS - full)}] {done:,} of {whole:,}"
        if bar == self._shown or not sys.stderr.isatty():
            return
        self._shown = bar
        sys.stderr.write(f"\r{bar} ")
        sys.stderr.flush()

    def end(self) -> None:
        """Leave the line, so that what follows begins on its own."""
        if self._shown:
            sys.stderr.write("\n")
            self._shown = ""
