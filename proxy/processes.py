"""Start programs and leave none of them, nor their children, behind.

A program runs in a session of its own, so that its group can be signalled. A server that exits may
leave children: on Linux the station is their subreaper, finds them by a mark in their environment,
and ends them too.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

INHERITED = ("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER")
"""Variables that a program gets from ours. All else (keys, tokens) stays here unless configured."""

_MARK = "MMS_UPSTREAM"
_PR_SET_CHILD_SUBREAPER = 36
_SETPRIV = shutil.which("setpriv") if sys.platform == "linux" else None


class ProgramNotFound(Exception):
    """The command is not on the search path; ``str()`` names the path that was searched."""


def become_subreaper() -> None:
    """Have orphaned grandchildren become our children (Linux; elsewhere nothing happens)."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def program_environment(
    ours: Mapping[str, str], added: Mapping[str, str], mark: str
) -> dict[str, str]:
    """The environment of a program: the inherited few, what is configured, and our mark."""
    environment = {name: ours[name] for name in INHERITED if name in ours}
    environment.update(added)
    environment[_MARK] = mark
    return environment


def find_program(command: str, environment: Mapping[str, str], directory: str | None) -> str:
    """Resolve a command as a shell would. Raises `ProgramNotFound`."""
    if os.sep in command:
        path = Path(directory or ".", command)
        if not path.exists():
            raise ProgramNotFound(f"there is no program {command}")
        if not os.access(path, os.X_OK) or path.is_dir():
            raise ProgramNotFound(f"{command} is not executable")
        return str(path)
    found = shutil.which(command, path=environment.get("PATH"))
    if found is None:
        raise ProgramNotFound(
            f"{command} was not found; searched {environment.get('PATH') or 'an empty PATH'}"
        )
    return found


def start_program(
    argv: Sequence[str], environment: Mapping[str, str], directory: str | None
) -> subprocess.Popen[bytes]:
    """Start a program with three pipes in its own session.

    Where the system can, it is killed when the station dies without a chance to say so. Raises
    `ProgramNotFound` or `OSError`. Call it from the engine's thread, which lives as long as the station.
    """
    program = find_program(argv[0], environment, directory)
    if directory is not None and not Path(directory).is_dir():
        raise ProgramNotFound(f"the working directory {directory} does not exist")
    command = [program, *argv[1:]]
    if _SETPRIV is not None:
        command = [_SETPRIV, "--pdeathsig", "KILL", "--", *command]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        env=dict(environment),
        cwd=directory,
        start_new_session=True,
    )
    _programs.add(process.pid)
    return process


def describe_exit(returncode: int) -> str:
    """``exited with code 3`` or ``was ended by signal SIGKILL``."""
    if returncode >= 0:
        return f"exited with code {returncode}"
    try:
        name = signal.Signals(-returncode).name
    except ValueError:
        name = str(-returncode)
    return f"was ended by signal {name}"


def watch_exit(
    process: subprocess.Popen[bytes], loop: asyncio.AbstractEventLoop, ended: Callable[[], None]
) -> Callable[[], None]:
    """Call ``ended`` on the loop once the process has exited; returns how to stop watching."""
    if hasattr(os, "pidfd_open"):
        with contextlib.suppress(OSError):
            descriptor = os.pidfd_open(process.pid)

            def stop() -> None:
                nonlocal descriptor
                if descriptor >= 0:
                    loop.remove_reader(descriptor)
                    os.close(descriptor)
                    descriptor = -1

            def ready() -> None:
                stop()
                process.poll()
                ended()

            loop.add_reader(descriptor, ready)
            return stop

    def wait() -> None:
        process.wait()
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(ended)

    threading.Thread(target=wait, daemon=True, name=f"wait-{process.pid}").start()
    return lambda: None


async def end_program(process: subprocess.Popen[bytes], mark: str, *, grace: float = 2.0) -> None:
    """Wait ``grace`` seconds for an exit (its input is closed), then SIGTERM, then SIGKILL; sweep after.

    At most about ``2 * grace`` seconds.
    """
    for step in (None, signal.SIGTERM, signal.SIGKILL):
        if step is not None:
            _signal_group(process.pid, step)
        if await _exited(process, grace):
            break
    _signal_group(process.pid, signal.SIGKILL)
    if process.returncode is not None:
        _programs.discard(process.pid)
    await sweep(mark)


async def sweep(mark: str) -> int:
    """Kill and reap the orphans that a program with this mark left; returns how many there were."""
    found = 0
    for _ in range(20):
        orphans = _orphans(mark)
        if not orphans:
            break
        found = max(found, len(orphans))
        for pid in orphans:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        await asyncio.sleep(0.01)
        for pid in orphans:
            _reap(pid)
    return found


def _orphans(mark: str) -> list[int]:
    """Processes whose parent we became and whose environment holds the mark."""
    proc = Path("/proc")
    if sys.platform != "linux" or not proc.is_dir():
        return []
    wanted = f"{_MARK}={mark}".encode()
    ours = os.getpid()
    found: list[int] = []
    for entry in proc.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            status = (entry / "stat").read_bytes()
            fields = status[status.rindex(b")") + 2 :].split()
            if int(fields[1]) != ours:
                continue
            if fields[0] == b"Z":
                _reap_orphan(int(entry.name), session=int(fields[3]))
                continue
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except (OSError, ValueError):
            continue
    return found


_programs: set[int] = set()
"""Programs that were started and whose exit code nobody has read yet."""


def _reap_orphan(pid: int, *, session: int) -> None:
    """Reap a dead child that we did not start ourselves.

    A zombie has no environment left to tell whose it was. What we start runs in our session, except
    the programs, and those are known; anything else was handed to us when its parent died.
    """
    if pid not in _programs and session != os.getsid(0):
        _reap(pid)


def _reap(pid: int) -> None:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


async def _exited(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Poll, first often: most servers exit within milliseconds, and a pidfd is not everywhere."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    pause = 0.002
    while process.poll() is None:
        left = end - loop.time()
        if left <= 0:
            return False
        await asyncio.sleep(min(pause, left))
        pause = min(pause * 2, 0.05)
    return True


def _signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)
