"""Measure the recorded calls: exact, offline, and not in the way of the calls that run meanwhile.

Loading the vocabulary takes 0.5 to 1 s during which the library holds the interpreter's lock
(measured with toktok 0.3), and reading and counting an answer of a megabyte takes 10 ms of a processor.
So a small child process with the lowest priority does both, and gets the bytes as they were relayed; only
when that cannot run is the vocabulary loaded into this process.
"""

from __future__ import annotations

import os
import struct
import subprocess
from collections.abc import Sequence
from typing import IO, Protocol, cast

from proxy.measure import Call, Measured, measure_all
from proxy.measure_child import CALLS, FIGURES, HEAD, TEXTS, measured_of
from proxy.pipes import widen
from proxy.tokens import SURROGATES, InProcessCounter, TokenCounter
from proxy.worker.program import child_program

_JOINED = 64 * 1024
"""Bytes of small payloads that are written at once."""


class Measurer(Protocol):
    """Measures calls and texts. One thread uses it."""

    def measure(self, calls: Sequence[Call], /) -> Sequence[Measured]:
        """Sizes of each call, in order. Any bytes are taken."""
        ...

    def count(self, texts: Sequence[str], /) -> Sequence[int]:
        """Tokens of each text, in order. Any text is taken; lone surrogates count as U+FFFD."""
        ...

    def close(self) -> None:
        """Free what measuring needs. Measuring again afterwards is allowed and starts anew."""
        ...


def o200k_measurer() -> Measurer:
    """A measurer that loads its vocabulary at its first use, in a process of its own."""
    return ChildMeasurer(MeasurerHere(InProcessCounter()))


class MeasurerHere:
    """Measures in this process, with a counter of tokens."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter

    def measure(self, calls: Sequence[Call], /) -> Sequence[Measured]:
        return measure_all(calls, self._counter)

    def count(self, texts: Sequence[str], /) -> Sequence[int]:
        return self._counter(texts)

    def close(self) -> None:
        self._counter.close()


class ChildMeasurer:
    """Measures in a child process, and with ``fallback`` for good once the child failed."""

    def __init__(self, fallback: Measurer) -> None:
        self._fallback = fallback
        self._child: subprocess.Popen[bytes] | None = None
        self._failed = False

    @property
    def pid(self) -> int | None:
        """The child's process id while it runs."""
        return None if self._child is None else self._child.pid

    def measure(self, calls: Sequence[Call], /) -> Sequence[Measured]:
        payloads = [payload for call in calls for payload in call]
        figures = self._ask(CALLS, len(calls), payloads, FIGURES * len(calls))
        if figures is None:
            return self._fallback.measure(calls)
        starts = range(0, len(figures), FIGURES)
        return [measured_of(figures[start : start + FIGURES]) for start in starts]

    def count(self, texts: Sequence[str], /) -> Sequence[int]:
        figures = self._ask(TEXTS, len(texts), [_utf8(text) for text in texts], len(texts))
        return self._fallback.count(texts) if figures is None else figures

    def close(self) -> None:
        """End the child; waits for it."""
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        for stream in (child.stdin, child.stdout):
            if stream is not None:
                stream.close()
        child.wait()

    def _ask(
        self, kind: int, number: int, payloads: Sequence[bytes], figures: int
    ) -> tuple[int, ...] | None:
        """The child's answer; ``None`` once it has failed."""
        if not number:
            return ()
        if self._failed:
            return None
        try:
            if self._child is None:
                self._child = _start()
            to_child = cast("IO[bytes]", self._child.stdin)
            lengths = struct.pack(f"<{len(payloads)}Q", *map(len, payloads))
            _write(to_child.fileno(), (HEAD.pack(kind, number) + lengths, *payloads))
            answer = cast("IO[bytes]", self._child.stdout).read(8 * figures)
            if len(answer) != 8 * figures:
                raise EOFError("the process that measures ended")
            return struct.unpack(f"<{figures}Q", answer)
        except (OSError, EOFError):
            self._failed = True
            self.close()
            return None


def _start() -> subprocess.Popen[bytes]:
    """Start the child away from the terminal's signals. Raises `OSError` when it cannot start."""
    child = subprocess.Popen(
        child_program("proxy.measure_child"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    widen(cast("IO[bytes]", child.stdin).fileno())
    return child


def _write(descriptor: int, parts: Sequence[bytes]) -> None:
    """Write all parts; the large ones as they are, the small ones together."""
    small: list[bytes] = []
    size = 0
    for part in parts:
        if len(part) < _JOINED:
            small.append(part)
            size += len(part)
        if size >= _JOINED or len(part) >= _JOINED:
            _write_whole(descriptor, b"".join(small))
            small.clear()
            size = 0
        if len(part) >= _JOINED:
            _write_whole(descriptor, part)
    _write_whole(descriptor, b"".join(small))


def _write_whole(descriptor: int, part: bytes) -> None:
    view = memoryview(part)
    while view:
        view = view[os.write(descriptor, view) :]


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return SURROGATES.sub("\ufffd", text).encode()
