"""A program on a terminal of its own: keys go in, every byte that it draws is kept."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager

_SEQUENCE = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """The far end of a pseudo terminal."""

    def __init__(self, process: subprocess.Popen[bytes], master: int, slave: int) -> None:
        self.process = process
        self.drawn = b""
        self._master = master
        self._slave = slave
        self.modes_before = termios.tcgetattr(slave)

    def press(self, keys: str) -> None:
        """Type."""
        os.write(self._master, keys.encode())

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size and tell the program."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.kill(self.process.pid, signal.SIGWINCH)

    def wait_for(self, text: str, seconds: float = 30.0) -> None:
        """Read until ``text`` has been drawn since the last call, or fail."""
        start = len(self.drawn)
        end = time.monotonic() + seconds
        while text not in (shown := _text(self.drawn[start:])):
            if not self._read(end - time.monotonic()):
                raise AssertionError(f"{text!r} was not drawn, but: {shown[-1500:]}")

    def wait_for_exit(self, seconds: float = 30.0) -> int:
        """Read until the program has ended; its exit code."""
        end = time.monotonic() + seconds
        while self.process.poll() is None:
            if time.monotonic() > end:
                raise AssertionError("the program did not end")
            self._read(0.05)
        while self._read(0.05):
            pass
        return self.process.returncode

    def modes(self) -> list[object]:
        """The terminal's modes now."""
        return list(termios.tcgetattr(self._slave))

    def hang_up(self) -> None:
        """Close the far end, as a terminal window does."""
        os.close(self._slave)
        self._slave = -1
        os.close(self._master)
        self._master = -1

    def close(self) -> None:
        """Close what is still open."""
        for descriptor in (self._master, self._slave):
            if descriptor >= 0:
                os.close(descriptor)

    def _read(self, seconds: float) -> bool:
        if self._master < 0:
            time.sleep(min(max(seconds, 0), 0.05))
            return False
        ready, _, _ = select.select([self._master], [], [], max(seconds, 0))
        if not ready:
            return False
        with contextlib.suppress(OSError):
            self.drawn += os.read(self._master, 1 << 16)
            return True
        return False


@contextmanager
def on_terminal(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    columns: int = 100,
    rows: int = 30,
) -> Generator[Terminal]:
    """Run a program on a terminal of its own; it is killed at the end if it still runs."""
    master, slave = pty.openpty()
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    process = subprocess.Popen(
        command,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**environment, "TERM": "xterm-256color", "COLORTERM": "truecolor"},
        start_new_session=True,
        preexec_fn=_take_terminal,
    )
    terminal = Terminal(process, master, slave)
    try:
        yield terminal
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(10)
        terminal.close()


def _text(drawn: bytes) -> str:
    """What was drawn without colours and movements."""
    return _SEQUENCE.sub(b"", drawn).decode("utf-8", "replace")


def _take_terminal() -> None:
    """Make standard input the controlling terminal, so that closing it hangs the program up."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
