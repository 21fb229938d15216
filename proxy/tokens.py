"""Count tokens with the o200k vocabulary that ships in a package: exact, offline, off the hot path.

Loading the vocabulary takes 0.5 to 1 s during which the library holds the interpreter's lock
(measured with toktok 0.3), and every call of the engine would stand still. So counting is done by a
small child process; only when that cannot run is the vocabulary loaded into this process.
"""

from __future__ import annotations

import importlib.util
import re
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Protocol, cast

ENCODING = "o200k_base"
"""The vocabulary's name; stored beside the figures."""

SURROGATES = re.compile("[\ud800-\udfff]")


class TokenCounter(Protocol):
    """Counts the tokens of texts."""

    def __call__(self, texts: Sequence[str], /) -> Sequence[int]:
        """Tokens of each text, in order. Any text is taken; lone surrogates count as U+FFFD."""
        ...

    def close(self) -> None:
        """Free what counting needs. Counting again afterwards is allowed and starts anew."""
        ...


def o200k_counter() -> TokenCounter:
    """A counter that loads its vocabulary at its first use, in a process of its own."""
    return ChildCounter(InProcessCounter())


class InProcessCounter:
    """Counts in this process. The first count stops every thread for up to a second."""

    def __call__(self, texts: Sequence[str], /) -> Sequence[int]:
        # The package has inline types but no py.typed marker.
        from toktok import batch_count  # pyright: ignore[reportMissingTypeStubs]

        return batch_count([SURROGATES.sub("\ufffd", text) for text in texts], ENCODING, threads=1)

    def close(self) -> None:
        """Nothing to free: the vocabulary stays loaded."""


_PROGRAM = """
import os, struct, sys
sys.path.insert(0, sys.argv[1])
from toktok import batch_count
if hasattr(os, "nice"):
    os.nice(10)
while head := sys.stdin.buffer.read(4):
    count = struct.unpack("<I", head)[0]
    lengths = struct.unpack(f"<{count}Q", sys.stdin.buffer.read(8 * count))
    texts = [sys.stdin.buffer.read(length).decode() for length in lengths]
    tokens = batch_count(texts, sys.argv[2], threads=1)
    sys.stdout.buffer.write(struct.pack(f"<{count}Q", *tokens))
    sys.stdout.buffer.flush()
"""
"""The child: a number of texts, their lengths in bytes, the texts as UTF-8; back go the counts.

It ends when its input ends, so it never outlives this process.
"""


class ChildCounter:
    """Counts in a child process, and with ``fallback`` for good once the child failed.

    Not thread-safe: one thread counts.
    """

    def __init__(self, fallback: TokenCounter) -> None:
        self._fallback = fallback
        self._child: subprocess.Popen[bytes] | None = None
        self._failed = False

    @property
    def pid(self) -> int | None:
        """The child's process id while it runs."""
        return None if self._child is None else self._child.pid

    def __call__(self, texts: Sequence[str], /) -> Sequence[int]:
        if not texts:
            return []
        if not self._failed:
            try:
                return self._ask([_utf8(text) for text in texts])
            except (OSError, EOFError):
                self._failed = True
                self.close()
        return self._fallback(texts)

    def close(self) -> None:
        """End the child; waits for it."""
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        for stream in (child.stdin, child.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    continue  # what was still buffered for the dead child is of no use
        child.wait()

    def _ask(self, texts: list[bytes]) -> tuple[int, ...]:
        if self._child is None:
            self._child = _start()
        to_child = cast("IO[bytes]", self._child.stdin)
        from_child = cast("IO[bytes]", self._child.stdout)
        count = len(texts)
        to_child.write(struct.pack(f"<I{count}Q", count, *map(len, texts)))
        for text in texts:
            to_child.write(text)
        to_child.flush()
        answer = from_child.read(8 * count)
        if len(answer) != 8 * count:
            raise EOFError("the token counter's process ended")
        return struct.unpack(f"<{count}Q", answer)


def _start() -> subprocess.Popen[bytes]:
    """Start the child away from the terminal's signals. Raises `OSError` when it cannot start."""
    found = importlib.util.find_spec("toktok")
    if found is None or found.origin is None:
        raise OSError("toktok is not installed")
    directory = Path(found.origin).parent.parent
    return subprocess.Popen(
        [sys.executable, "-I", "-c", _PROGRAM, str(directory), ENCODING],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return SURROGATES.sub("\ufffd", text).encode()
