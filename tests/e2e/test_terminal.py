"""The real program on a real terminal: keys, hostile servers, and a clean terminal afterwards."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sys
from pathlib import Path

import pytest

from config.paths import paths_for
from tests.support.stations import MMS, wait_until
from tests.support.terminal import Terminal, on_terminal

_ENTER, _LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"
_HOSTILE = """
import json, sys
BAD = "\\x1b]52;c;aGVsbG8=\\x07\\x1b]2;owned\\x1b\\\\ \\x9b31m [/b] \\u202e"
sys.stderr.write(BAD + "stderr-canary\\n"); sys.stderr.flush()
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = {}
    if message["method"] == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                  "instructions": BAD, "serverInfo": {"name": BAD, "version": BAD}}
    if message["method"] == "tools/list":
        result = {"tools": [{"name": "echo", "title": BAD, "description": BAD + "tool-canary",
                             "inputSchema": {"type": "object"}}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def _environment(home: Path) -> dict[str, str]:
    return {
        "HOME": str(home),
        "MMS_HOME": str(home),
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "TZ": "UTC",
    }


def _configure(home: Path, text: str = "") -> None:
    file = home / "config.toml"
    file.write_text(text, encoding="utf-8")
    file.chmod(0o600)


def _assert_clean(terminal: Terminal, home: Path) -> None:
    """The alternate screen was left, the cursor shown, the mouse and the modes given back."""
    drawn = terminal.drawn
    assert drawn.count(_ENTER) == drawn.count(_LEAVE) == 1
    assert drawn.rindex(_LEAVE) > drawn.rindex(_ENTER)
    assert drawn.rindex(b"\x1b[?25h") > drawn.rindex(b"\x1b[?25l")
    for mode in (b"?1000", b"?1003", b"?2004"):
        if b"\x1b[" + mode + b"h" in drawn:
            assert drawn.rindex(b"\x1b[" + mode + b"l") > drawn.rindex(b"\x1b[" + mode + b"h")
    assert terminal.modes() == terminal.modes_before
    assert b"Traceback" not in drawn
    assert not paths_for(_environment(home)).socket.exists()


def test_keys_drive_the_screens_and_q_leaves_the_terminal_clean(tmp_path: Path) -> None:
    _configure(tmp_path, '[upstreams.gone]\ncommand = "no-such-program"\n')
    with on_terminal([MMS], _environment(tmp_path)) as terminal:
        terminal.wait_for("attention")
        terminal.press("2")
        terminal.wait_for("no-such-program")
        terminal.press("3")
        terminal.wait_for("No calls yet")
        terminal.press("4")
        terminal.wait_for("first_list_wait_seconds")
        terminal.press("?")
        terminal.wait_for("Esc")
        terminal.press("\x1b")
        terminal.resize(50, 12)
        terminal.wait_for("needs 60")
        terminal.resize(80, 24)
        terminal.press("1")
        terminal.wait_for("attention")
        terminal.press("q")

        assert terminal.wait_for_exit() == 0
        _assert_clean(terminal, tmp_path)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=lambda one: one.name)
def test_a_signal_leaves_the_terminal_clean(tmp_path: Path, number: signal.Signals) -> None:
    _configure(tmp_path)
    with on_terminal([MMS], _environment(tmp_path)) as terminal:
        terminal.wait_for("Three ways")
        terminal.process.send_signal(number)

        terminal.wait_for_exit()
        _assert_clean(terminal, tmp_path)


def test_closing_the_terminal_ends_the_program_and_its_upstreams(tmp_path: Path) -> None:
    _configure(
        tmp_path, f'[upstreams.up]\ncommand = "{sys.executable}"\nargs = ["-c", {_quoted()}]\n'
    )
    with on_terminal([MMS], _environment(tmp_path)) as terminal:
        terminal.wait_for("1/1 upstreams ready")
        terminal.hang_up()

        terminal.process.wait(30)
        wait_until(lambda: not _left_in(tmp_path), "every process of the instance is gone")
        assert not paths_for(_environment(tmp_path)).socket.exists()


def test_no_byte_of_an_upstream_controls_the_terminal(tmp_path: Path) -> None:
    _configure(
        tmp_path, f'[upstreams.up]\ncommand = "{sys.executable}"\nargs = ["-c", {_quoted()}]\n'
    )
    with on_terminal([MMS], _environment(tmp_path), columns=120, rows=40) as terminal:
        terminal.wait_for("1/1 upstreams ready")
        terminal.press("2")
        terminal.wait_for("canary")
        terminal.press("\r")
        terminal.wait_for("canary")
        terminal.press("q")
        terminal.wait_for_exit()

        drawn = terminal.drawn
        assert not re.search(rb"\x1b\](52|0|1|2);", drawn)
        assert b"\xc2\x9b" not in drawn
        assert "\u202e".encode() not in drawn
        _assert_clean(terminal, tmp_path)


def _quoted() -> str:
    """The hostile server as a TOML string."""
    return json.dumps(_HOSTILE)


def _left_in(home: Path) -> list[int]:
    """Processes that were started for this instance."""
    wanted = {f"MMS_HOME={home}".encode(), f"HOME={home}".encode()}
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            if wanted & set((entry / "environ").read_bytes().split(b"\0")):
                found.append(int(entry.name))
    return found
