"""A temporary instance of mms for the demo: its home, its configuration and the processes around it.

Whatever happens inside, leaving ends every process and removes the home. All children watch their
standard input, so even a killed demo leaves none behind.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from config.paths import Paths, paths_for
from console.demo.upstreams import program, upstream_tables
from console.demo.warm import listen

_END_SECONDS = 5.0
"""How long a child may take to end by itself; then it is killed."""
_STATION_OUTPUT = "station.out"
_AGENT_OUTPUT = "agent.err"
_WORDS = 400
"""Characters of a child's output that a message quotes."""
_HEADER = "# Written by mms demo; removed with it.\n"


@dataclass(frozen=True, slots=True)
class DemoInstance:
    """A temporary home, ready to be started, and where its parts are."""

    home: Path
    paths: Paths
    environ: Mapping[str, str]
    """The environment of a station in this home."""
    helper: Path
    """Socket of the process that has imported the SDK already."""
    _processes: ExitStack

    def start_station(self) -> subprocess.Popen[bytes]:
        """A station without a screen; see `words_of_station`."""
        with (self.home / _STATION_OUTPUT).open("wb") as words:
            return self._start(program("station"), stdout=words, stderr=words)

    def start_agent(self, *arguments: str) -> subprocess.Popen[bytes]:
        """The agent on the station's socket; its report comes on ``stdout``."""
        command = program(
            "agent", "--socket", str(self.paths.socket), *arguments, helper=self.helper
        )
        with (self.home / _AGENT_OUTPUT).open("wb") as words:
            return self._start(command, stdout=subprocess.PIPE, stderr=words)

    def words_of_station(self) -> str:
        """The end of what the station printed."""
        return _last_words(self.home / _STATION_OUTPUT)

    def words_of_agent(self) -> str:
        """The end of what the agent printed on standard error."""
        return _last_words(self.home / _AGENT_OUTPUT)

    def _start(
        self, command: list[str], *, stdout: IO[bytes] | int, stderr: IO[bytes] | int
    ) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=stdout,
            stderr=stderr,
            env=dict(self.environ),
            start_new_session=True,  # ctrl+c in the terminal is for the demo alone
        )
        self._processes.callback(end, process, _lifeline_of(process))
        return process


@contextmanager
def demo_instance(environ: Mapping[str, str]) -> Generator[DemoInstance]:
    """A temporary instance with its helper running; on leaving everything is ended and removed.

    ``environ`` is the caller's environment; settings of mms in it do not count.
    """
    home = Path(tempfile.mkdtemp(prefix="mms-demo-"))
    try:
        inner = {
            name: value
            for name, value in environ.items()
            if not name.startswith(("MMS_", "MEMTOMEM_STM_"))
        }
        inner["MMS_HOME"] = str(home)
        paths = paths_for(inner)
        helper = home / "helper.sock"
        paths.config_file.touch(mode=0o600)
        paths.config_file.write_text(configuration(upstream_tables(helper)), encoding="utf-8")
        with ExitStack() as processes:
            process = _start_helper(helper, inner)
            processes.callback(end, process, _lifeline_of(process))
            yield DemoInstance(home, paths, inner, helper, processes)
    finally:
        _remove(home)


def _remove(home: Path) -> None:
    """Take the home away, also while the last process of a killed station still writes into it."""
    end = time.monotonic() + _END_SECONDS
    while home.exists():
        shutil.rmtree(home, ignore_errors=True)
        if time.monotonic() >= end:
            return
        time.sleep(0.02)


def configuration(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """The text of a configuration file with these upstreams."""
    lines = [_HEADER]
    for name, table in tables.items():
        lines.append(f"[upstreams.{name}]")
        # A JSON string or list of strings is one in TOML, too.
        lines += [
            f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in table.items()
        ]
        lines.append("")
    return "\n".join(lines)


def _last_words(file: Path) -> str:
    try:
        text = file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        text = ""
    return text[-_WORDS:] or "it said nothing"


def _start_helper(helper: Path, environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
    with listen(helper) as listener:
        return subprocess.Popen(
            program("helper", str(listener.fileno())),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(listener.fileno(),),
            env=dict(environ),
            start_new_session=True,
        )


def _lifeline_of(process: subprocess.Popen[bytes]) -> IO[bytes]:
    """Take a child's input out of the hands of `subprocess`, whose ``communicate`` would close it."""
    lifeline = process.stdin
    assert lifeline is not None, "every child of the demo is started with a pipe"
    process.stdin = None
    return lifeline


def end(process: subprocess.Popen[bytes], lifeline: IO[bytes]) -> None:
    """End a child: first its input, on which it ends by itself, then by force."""
    lifeline.close()
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout:
        process.stdout.close()
