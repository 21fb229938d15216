"""The console in a real pseudo-terminal: what it writes, how it leaves, and that it leaves."""

from __future__ import annotations

import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fcntl import ioctl
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")

_ROOT = Path(__file__).parents[2]
_PATIENCE = 60.0
"""Seconds for a start on a busy machine."""


@dataclass
class Terminal:
    """The program and our side of its terminal."""

    process: subprocess.Popen[bytes]
    master: int
    before: list[object]
    output: bytearray = field(default_factory=bytearray)

    def read_until(self, wanted: bytes) -> None:
        """Collect output until it has these bytes (beyond what was there); fails after a while."""
        start = len(self.output)
        deadline = time.monotonic() + _PATIENCE
        while wanted not in self.output[start:]:
            assert time.monotonic() < deadline, (wanted, bytes(self.output[-2000:]))
            self._read(0.5)

    def read_to_the_end(self) -> int:
        """Collect output until the program ends; gives its exit code."""
        deadline = time.monotonic() + _PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < deadline, bytes(self.output[-2000:])
            self._read(0.2)
        while self._read(0.2):
            pass
        return self.process.returncode

    def send(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def _read(self, wait: float) -> bool:
        ready, _, _ = select.select([self.master], [], [], wait)
        if not ready:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.output += data
        return bool(data)


@contextmanager
def terminal(*options: str) -> Iterator[Terminal]:
    """Run the console on the fake station in an 80x24 terminal."""
    master, slave = pty.openpty()
    ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    before = termios.tcgetattr(slave)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.run_fake_console", "--fixed", *options],
        cwd=_ROOT,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**os.environ, "TERM": "xterm-256color", "TEXTUAL_ANIMATIONS": "none"},
        start_new_session=True,
    )
    try:
        yield Terminal(process, master, before)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        for descriptor in (master, slave):
            with suppress(OSError):
                os.close(descriptor)


def clean(shown: bytes) -> bool:
    """The alternate screen was left, the cursor is shown, the mouse is free."""
    return (
        shown.rfind(b"\x1b[?1049l") > shown.rfind(b"\x1b[?1049h")
        and shown.rfind(b"\x1b[?25h") > shown.rfind(b"\x1b[?25l")
        and shown.rfind(b"\x1b[?1000l") > shown.rfind(b"\x1b[?1000h")
    )


def test_keys_work_and_leaving_restores_the_terminal() -> None:
    with terminal("--attached") as console:
        console.read_until(b"filesystem")
        console.send(b"3")
        console.read_until(b"FOLLOWING")
        console.send(b"q")
        assert console.read_to_the_end() == 0
        assert clean(bytes(console.output))
        assert b"chosen: QuitChoice.LEAVE" in console.output
        assert termios.tcgetattr(console.master)[3] == console.before[3]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_with_a_clean_terminal(number: signal.Signals) -> None:
    with terminal() as console:
        console.read_until(b"filesystem")
        console.process.send_signal(number)
        assert console.read_to_the_end() == 0
        assert clean(bytes(console.output))
        assert b"chosen: QuitChoice.STOP" in console.output


def test_it_ends_when_its_terminal_goes_away_without_a_signal() -> None:
    with terminal() as console:
        console.read_until(b"filesystem")
        os.close(console.master)
        console.process.wait(timeout=_PATIENCE)


def test_hostile_text_sends_no_control_sequence_of_its_own() -> None:
    with terminal("--hostile", "--attached") as console:
        console.read_until(b"jira")
        for key, seen in (
            (b"2", b"failed"),
            (b"3", b"FOLLOWING"),
            (b"\r", b"arguments"),
            (b"4", b"live"),
        ):
            console.send(key)
            console.read_until(seen)
        console.send(b"q")
        assert console.read_to_the_end() == 0
        shown = bytes(console.output)
        for sequence in (
            b"\x1b]52",
            b"\x1b]0;",
            b"\x1b[31mred",
            b"\xc2\x9b",
            b"\x00",
            b"\x08",
            b"\x7f",
        ):
            assert sequence not in shown, sequence
        for character in ("\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\U000e0041"):
            assert character.encode() not in shown, character
