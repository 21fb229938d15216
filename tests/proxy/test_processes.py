"""Programs are started with little and end without leaving anything behind."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from proxy.processes import (
    ProgramNotFound,
    become_subreaper,
    describe_exit,
    end_program,
    find_program,
    program_environment,
    start_program,
)

pytestmark = pytest.mark.anyio

_ENVIRONMENT = {"PATH": os.environ["PATH"]}


def _python(code: str, mark: str) -> subprocess.Popen[bytes]:
    environment = program_environment(_ENVIRONMENT, {}, mark)
    return start_program([sys.executable, "-c", code], environment, None)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _close(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def test_a_program_gets_the_inherited_few_what_is_configured_and_nothing_else() -> None:
    ours = {"PATH": "/bin", "HOME": "/h", "AWS_SECRET_ACCESS_KEY": "x", "MMS_HOME": "/m"}

    environment = program_environment(ours, {"TOKEN": "t", "PATH": "/usr/bin"}, "up:1:1")

    assert environment == {
        "PATH": "/usr/bin",
        "HOME": "/h",
        "TOKEN": "t",
        "MMS_UPSTREAM": "up:1:1",
    }


def test_a_missing_program_is_named_with_the_path_that_was_searched(tmp_path: Path) -> None:
    with pytest.raises(ProgramNotFound, match="no-such was not found; searched /one:/two"):
        find_program("no-such", {"PATH": "/one:/two"}, None)
    with pytest.raises(ProgramNotFound, match="there is no program"):
        find_program("./no-such", {}, str(tmp_path))
    (tmp_path / "plain").write_text("x")
    with pytest.raises(ProgramNotFound, match="is not executable"):
        find_program("./plain", {}, str(tmp_path))


def test_a_missing_working_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(ProgramNotFound, match="gone does not exist"):
        start_program([sys.executable], _ENVIRONMENT, str(tmp_path / "gone"))


def test_arguments_are_not_seen_by_any_shell(tmp_path: Path) -> None:
    code = "import sys; sys.stdout.write(sys.argv[1])"
    argument = f"$(touch {tmp_path}/made); `id` > x"
    process = start_program([sys.executable, "-c", code, argument], _ENVIRONMENT, None)

    assert process.communicate(timeout=20)[0].decode() == argument
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("code", "text"),
    [(0, "exited with code 0"), (3, "exited with code 3"), (-9, "was ended by signal SIGKILL")],
)
def test_an_exit_is_told_in_words(code: int, text: str) -> None:
    assert describe_exit(code) == text


async def test_a_program_that_exits_when_its_input_closes_is_left_to_do_so() -> None:
    process = _python("import sys; sys.stdin.read(); sys.exit(7)", "a:1")
    assert process.stdin is not None
    process.stdin.close()

    await end_program(process, "a:1", grace=10)

    assert process.returncode == 7
    _close(process)


async def test_a_program_that_ignores_everything_is_killed() -> None:
    process = _python(
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "print('up', flush=True); time.sleep(60)",
        "b:1",
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"

    await end_program(process, "b:1", grace=0.1)

    assert process.returncode == -9
    _close(process)


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's subreaper")
async def test_children_in_sessions_of_their_own_end_with_the_program() -> None:
    become_subreaper()
    process = _python(
        "import subprocess, sys;"
        "child = [sys.executable, '-c', 'import time; time.sleep(60)'];"
        "for_own = subprocess.Popen(child, start_new_session=True);"
        "same = subprocess.Popen(child);"
        "print(for_own.pid, same.pid, flush=True)",
        "c:1",
    )
    assert process.stdout is not None
    children = [int(pid) for pid in process.stdout.readline().split()]
    assert len(children) == 2

    await asyncio.to_thread(process.wait, 20)
    await end_program(process, "c:1", grace=0.5)

    assert [pid for pid in children if _alive(pid)] == []
    _close(process)
