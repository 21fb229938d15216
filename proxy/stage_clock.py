"""How long the stages of one job took."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(slots=True)
class StageClock:
    """Adds up, in milliseconds."""

    clean_ms: float = 0.0
    compress_ms: float = 0.0
    """Without the cleaning within it."""

    @contextmanager
    def cleaning(self) -> Generator[None]:
        """What is done in here is CLEAN."""
        begun = time.perf_counter()
        yield
        self.clean_ms += (time.perf_counter() - begun) * 1000

    @contextmanager
    def compressing(self) -> Generator[None]:
        """What is done in here is COMPRESS, but for `cleaning` within it."""
        begun, cleaned = time.perf_counter(), self.clean_ms
        yield
        self.compress_ms += (time.perf_counter() - begun) * 1000 - (self.clean_ms - cleaned)
