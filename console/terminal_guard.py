"""Notice when there is nobody to draw for: a signal, or a terminal that went away without one.

Textual would die of SIGTERM and SIGHUP with the terminal in raw mode, and its reader would spin on
the end-of-file of a terminal that is gone.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable

CHECK_SECONDS = 5.0
"""How often to look whether the terminal is still there."""


def end_on_signals(end: Callable[[str], None]) -> None:
    """Call ``end`` with the reason instead of dying. Does nothing where signals cannot be handled."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGHUP):
        try:
            loop.add_signal_handler(number, end, f"signal {number.name}")
        except (NotImplementedError, RuntimeError, ValueError):
            return


def terminal_is_there() -> bool:
    """Whether the standard input is (still) a terminal."""
    if sys.__stdin__ is None:
        return False
    try:
        return os.isatty(sys.__stdin__.fileno())
    except (OSError, ValueError):
        return False
