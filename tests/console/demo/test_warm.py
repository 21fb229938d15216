"""One process imports, its forks run: programs behave as if they had been started directly."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from console.demo.warm import listen

ROOT = Path(__file__).resolve().parents[3]
SECONDS = 20

_HELPER = """
import os, sys
sys.path.insert(0, sys.argv[1])
from console.demo.warm import serve_forks

def run(argv):
    if argv[0] == "echo":
        sys.stderr.write("heard\\n")
        for line in sys.stdin:
            sys.stdout.write(argv[1] + line)
            sys.stdout.flush()
        return 0
    if argv[0] == "pid":
        sys.stdout.write(str(os.getppid()))
        return 0
    if argv[0] == "crash":
        raise RuntimeError("on purpose")
    return int(argv[1])

sys.exit(serve_forks(int(sys.argv[2]), lambda: None, run))
"""
_FRONT = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from console.demo.warm import run_in_helper
code = run_in_helper(Path(sys.argv[2]), sys.argv[3:])
sys.exit(99 if code is None else code)
"""


@dataclass(frozen=True)
class Helper:
    socket: Path
    process: subprocess.Popen[bytes]

    def front(self, *argv: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-c", _FRONT, str(ROOT), str(self.socket), *argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )


@pytest.fixture
def helper(tmp_path: Path) -> Iterator[Helper]:
    socket = tmp_path / "helper"
    with listen(socket) as listener:
        process = subprocess.Popen(
            [sys.executable, "-c", _HELPER, str(ROOT), str(listener.fileno())],
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=(listener.fileno(),),
        )
    yield Helper(socket, process)
    assert process.stdin is not None
    process.stdin.close()
    process.wait(SECONDS)


def test_a_program_has_the_streams_and_arguments_of_its_front(helper: Helper) -> None:
    output, words = helper.front("echo", "you said ").communicate(b"one\ntwo\n", SECONDS)
    assert output == b"you said one\nyou said two\n"
    assert words == b"heard\n"


def test_a_program_is_a_fork_of_the_helper(helper: Helper) -> None:
    output, _ = helper.front("pid").communicate(timeout=SECONDS)
    assert int(output) == helper.process.pid


def test_the_exit_code_of_a_program_is_that_of_its_front(helper: Helper) -> None:
    front = helper.front("exit", "7")
    front.communicate(timeout=SECONDS)
    assert front.returncode == 7


def test_a_crash_ends_the_front_and_the_helper_goes_on(helper: Helper) -> None:
    front = helper.front("crash")
    _, words = front.communicate(timeout=SECONDS)
    assert front.returncode == 1
    assert b"on purpose" in words
    output, _ = helper.front("echo", "still ").communicate(b"here\n", SECONDS)
    assert output == b"still here\n"


def test_programs_run_side_by_side(helper: Helper) -> None:
    first, second = helper.front("echo", "1"), helper.front("echo", "2")
    assert second.communicate(b"b\n", SECONDS)[0] == b"2b\n"
    assert first.communicate(b"a\n", SECONDS)[0] == b"1a\n"


def test_killing_a_front_closes_the_streams_for_its_program(helper: Helper) -> None:
    front = helper.front("echo", "")
    assert front.stdin is not None
    assert front.stdout is not None
    front.stdin.write(b"running\n")
    front.stdin.flush()
    assert front.stdout.readline() == b"running\n"
    os.kill(front.pid, signal.SIGKILL)
    front.stdin.close()
    assert front.stdout.read() == b""  # the fork saw the end of input and left, too
    front.wait(SECONDS)
    front.stdout.close()
    assert front.stderr is not None
    front.stderr.close()


def test_without_a_helper_the_front_is_told_so(tmp_path: Path) -> None:
    gone = Helper(tmp_path / "nobody", None)  # type: ignore[arg-type]  # no process is the point
    front = gone.front("echo")
    front.communicate(timeout=SECONDS)
    assert front.returncode == 99
