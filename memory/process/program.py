"""The command and the environment that start the memory's process, from a checkout or from the wheel."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from config.paths import Paths, ensure_private_directory

OWNED_ELSEWHERE = 3
"""Exit code of a process that found another one owning the memory."""
READY = b"ready\n"
"""What the process writes to its standard output once its socket answers; after that it lets go of it."""

_START = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); "
    "from memory.process.child import main; sys.exit(main())"
)
_NOT_HANDED_ON = ("MMS_UPSTREAM",)
"""Marks a program as belonging to one station, which ends what it left behind; this one is everybody's."""

_started: list[subprocess.Popen[bytes]] = []


def memory_program() -> tuple[str, ...]:
    """Program and arguments. Ours come before packages of others with the same names."""
    root = Path(__file__).resolve().parents[2]
    return (sys.executable, "-P", "-c", _START, str(root))


def memory_environment(environ: Mapping[str, str], paths: Paths) -> dict[str, str]:
    """``environ`` as the process gets it: it runs in another directory, so paths become absolute."""
    environment = {name: value for name, value in environ.items() if name not in _NOT_HANDED_ON}
    if environment.get("MMS_HOME"):
        environment["MMS_HOME"] = str(paths.config_file.parent)
    # Threads that wait for each other cost more than they save.
    environment.setdefault("OPENBLAS_NUM_THREADS", "1")
    return environment


def start_memory(
    paths: Paths, environ: Mapping[str, str], program: Sequence[str] | None = None
) -> subprocess.Popen[bytes]:
    """Start the process in a session of its own: a terminal's ctrl+c does not reach it. Takes milliseconds.

    Its standard output says `READY` or ends. Raises `OSError`.
    """
    ensure_private_directory(paths.memory_directory)
    ensure_private_directory(paths.runtime_directory)
    log = os.open(log_file(paths), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    try:
        process = subprocess.Popen(
            program or memory_program(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            bufsize=0,
            env=memory_environment(environ, paths),
            cwd=paths.memory_directory,
            start_new_session=True,
        )
    finally:
        os.close(log)
    _started.append(process)
    return process


def reap() -> None:
    """Read the exits of processes that were started here: they may outlive the client that did it."""
    _started[:] = [process for process in _started if process.poll() is None]


def log_file(paths: Paths) -> Path:
    """What the process and the libraries in it complain about."""
    return paths.memory_directory / "memory.log"


def last_complaint(paths: Paths) -> str:
    """The last line of the log, at most 300 characters; empty when there is none."""
    try:
        with log_file(paths).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 4096))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return ""
    return text.strip().rpartition("\n")[2][:300]
