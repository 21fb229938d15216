"""``mms demo`` end to end, with real processes: it works, says so, and leaves nothing behind."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from console.demo import run_demo

pytestmark = pytest.mark.xdist_group("demo")

ROOT = Path(__file__).resolve().parents[3]
SECONDS = 60
_PROGRAM = (
    "import sys; from console.demo import run_demo; sys.exit(run_demo(terminal={}, json=False))"
)


@pytest.fixture(autouse=True)
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for temporary homes that only this test uses. Short, for the sake of sockets."""
    with tempfile.TemporaryDirectory(prefix="d-", dir="/tmp") as folder:
        monkeypatch.setenv("TMPDIR", folder)
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)


def commands_with(text: str) -> list[str]:
    """Children of a demo whose arguments or environment name ``text``, as its home does."""
    told = subprocess.run(
        ["ps", "axeww", "-o", "args="], capture_output=True, text=True, check=True
    )
    return [line for line in told.stdout.splitlines() if text in line and "child.py" in line]


def assert_nothing_is_left(temporary: Path, *, home_too: bool = True) -> None:
    end = time.monotonic() + 20
    while commands_with(str(temporary)):
        assert time.monotonic() < end, commands_with(str(temporary))
        time.sleep(0.05)
    if home_too:
        assert list(temporary.iterdir()) == []


def start(*, terminal: bool, stdout: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", _PROGRAM.format(terminal)],
        cwd=ROOT,
        stdin=stdout if terminal else subprocess.DEVNULL,
        stdout=stdout,
        stderr=stdout if terminal else subprocess.PIPE,
    )


def wait_for_home(temporary: Path) -> Path:
    end = time.monotonic() + 20
    while True:
        for socket in temporary.glob("mms-demo-*/run/mms.sock"):
            return socket.parents[1]
        assert time.monotonic() < end
        time.sleep(0.02)


def test_without_a_terminal_it_prints_what_was_recorded(
    temporary: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run_demo(terminal=False, json=True)
    told = json.loads(capsys.readouterr().out)
    assert told["problems"] == []
    assert code == 0
    assert told["totals"]["calls"] == 40
    assert told["totals"]["tool_errors"] == 4
    by_size = sorted(told["calls"], key=lambda call: call["tokens_before"])
    assert by_size[-1]["tool"] == "tail"
    assert by_size[-1]["tokens_before"] > 300_000
    assert by_size[-1]["strategy"] == "extract"
    assert by_size[-1]["arguments"] == {"service": "checkout", "lines": 10_000}
    assert all(call["tokens"] <= 4_000 for call in told["calls"])
    assert_nothing_is_left(temporary)


@pytest.mark.parametrize(
    ("number", "cleans_up"),
    [(signal.SIGTERM, True), (signal.SIGINT, True), (signal.SIGKILL, False)],
)
def test_however_it_is_ended_no_process_outlives_it(
    temporary: Path, number: signal.Signals, cleans_up: bool
) -> None:
    with start(terminal=False, stdout=subprocess.DEVNULL) as demo:
        wait_for_home(temporary)
        running = "\n".join(commands_with(str(temporary)))
        assert "child.py helper" in running
        assert "child.py station" in running
        demo.send_signal(number)
        demo.wait(SECONDS)
    assert demo.returncode != 0
    assert_nothing_is_left(temporary, home_too=cleans_up)


def test_with_a_terminal_the_console_shows_the_agent_and_leaves_cleanly(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    monkeypatch.setenv("TERM", "xterm-256color")
    drawn = b""
    asked = False
    with start(terminal=True, stdout=theirs) as demo:
        os.close(theirs)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            if not select.select([ours], [], [], 0.2)[0]:
                continue
            try:
                data = os.read(ours, 65536)
            except OSError:  # the other side was closed: the program has ended
                break
            if not data:
                break
            drawn += data
            if not asked and b"demo-agent" in drawn:
                asked = True
                os.write(ours, b"q")
        demo.wait(SECONDS)
    os.close(ours)
    assert asked, drawn[-2000:]
    assert demo.returncode == 0, drawn[-2000:]
    assert b"\x1b[?1049l" in drawn  # the terminal's own screen is back
    assert_nothing_is_left(temporary)
