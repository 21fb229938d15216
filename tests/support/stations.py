"""Real stations for end-to-end tests: a process of its own, on an instance of its own, gone at the end.

`running_station` fails a test that leaves a process or a socket behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from config.paths import Paths, paths_for
from console.stations.attached import AttachedStation
from proxy.model import UpstreamState, UpstreamView

PATIENCE = 30.0
"""Seconds that any wait may take."""
CHAOS = Path(__file__).with_name("chaos_upstream.py")
MMS = str(Path(sys.executable).with_name("mms"))
"""The program as it is installed beside the interpreter that runs the tests."""


@dataclass
class Station:
    """An instance, and the process that serves it while it runs."""

    environment: dict[str, str]
    paths: Paths
    process: subprocess.Popen[bytes] | None = None
    seen: set[int] = field(default_factory=set[int])
    """Every process that belonged to the instance when somebody looked."""

    @property
    def socket(self) -> Path:
        """Where hosts connect."""
        return self.paths.socket

    @property
    def pid(self) -> int:
        """Of the station."""
        assert self.process is not None
        return self.process.pid

    def write(self, config: str) -> None:
        """Replace the settings file as editors do: a new file, moved over the old one."""
        new = self.paths.config_file.with_suffix(".new")
        new.write_text(config, encoding="utf-8")
        new.replace(self.paths.config_file)

    def start(self, *, ready: bool = True) -> None:
        """Start ``mms serve``; with ``ready`` wait until its socket answers."""
        with self.errors_file.open("ab") as errors:
            self.process = subprocess.Popen(
                [MMS, "serve"],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
            )
        if ready:
            wait_until(self.answers, "the station's socket answers")

    def answers(self) -> bool:
        """Whether somebody accepts connections on the socket."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            try:
                probe.connect(str(self.socket))
            except OSError:
                return False
            return True

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal and wait for the end; returns the exit code."""
        self.look()
        assert self.process is not None
        self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        self.process = None
        return code

    def look(self) -> set[int]:
        """Note which processes belong to the instance now, and return them."""
        found = processes_of(self.environment["MMS_HOME"])
        self.seen |= found
        return found

    @property
    def errors_file(self) -> Path:
        """What the station printed on its error output."""
        return Path(self.environment["MMS_HOME"], "errors")

    def log(self) -> str:
        """The station's log file, and what it printed."""
        files = (self.paths.log_file, self.errors_file)
        return "".join(file.read_text(encoding="utf-8") for file in files if file.exists())


def new_station(home: Path, config: str, **variables: str) -> Station:
    """An instance with these settings; nothing runs yet."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "MMS_HOME": str(home),
        "LANG": "C.UTF-8",
        **variables,
    }
    station = Station(environment, paths_for(environment))
    station.paths.config_file.write_text(config, encoding="utf-8")
    station.paths.config_file.chmod(0o600)
    return station


@contextlib.contextmanager
def running_station(home: Path, config: str, **variables: str) -> Iterator[Station]:
    """A station that answers. At the end it is stopped, and nothing of it may be left."""
    station = new_station(home, config, **variables)
    with cleaned_up(station):
        station.start()
        yield station


@contextlib.contextmanager
def cleaned_up(station: Station) -> Iterator[Station]:
    """Stop whatever serves the instance at the end; nothing of it may be left."""
    try:
        yield station
        station.look()
        if station.process is not None:
            code = station.stop()
            assert code == 0, f"the station ended with {code}; its log:\n{station.log()}"
        wait_until(
            lambda: not station.look(), "no process is left", lambda: describe(station.look())
        )
        assert not os.path.lexists(station.socket), "the socket file was left"
        assert "Traceback" not in station.log(), station.log()
    finally:
        for pid in station.look():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if station.process is not None:
            station.process.kill()
            station.process.wait(PATIENCE)


RELAY_ONLY = (
    '[memory]\nadvertise = false\n[proxy]\ncompression = "none"\nadvertise_control_tools = false\n'
)
"""Settings under which hosts get what upstreams send, whatever its size."""


def chaos(name: str, *, mode: str = "", journal: Path | None = None, **extra: Any) -> str:
    """A settings table for the misbehaving upstream. ``extra``: its own settings, or keys of mms.

    A key that the settings of mms have (``call_timeout_seconds`` …) goes there, the rest to the upstream.
    """
    args = [str(CHAOS), "--name", name]
    if mode:
        args += ["--mode", mode]
    if journal is not None:
        args += ["--journal", str(journal)]
    keys: dict[str, Any] = {}
    for key, value in extra.items():
        if key in _OURS:
            keys[key] = value
        else:
            args += ["--set", f"{key}={value}"]
    return program(name, [sys.executable, *args], **keys)


_OURS = (
    "prefix",
    "enabled",
    "cwd",
    "env",
    "call_timeout_seconds",
    "connect_timeout_seconds",
    "max_in_flight",
)


def program(name: str, command: Sequence[str], **keys: Any) -> str:
    """A settings table for a program."""
    lines = [
        f"[upstreams.{name}]",
        f"command = {json.dumps(command[0])}",
        f"args = {json.dumps(list(command[1:]))}",
    ]
    for key, value in keys.items():
        if isinstance(value, Mapping):
            pairs = ", ".join(f"{k} = {json.dumps(v)}" for k, v in value.items())
            lines.append(f"{key} = {{ {pairs} }}")
        else:
            lines.append(f"{key} = {json.dumps(value)}")
    return "\n".join(lines) + "\n"


def journal_of(file: Path) -> list[dict[str, Any]]:
    """What a misbehaving upstream noted, so far."""
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in text.splitlines() if line.endswith("}")]


def events(file: Path, event: str, **fields: Any) -> list[dict[str, Any]]:
    """The journal's lines of one kind."""
    return [
        line
        for line in journal_of(file)
        if line["event"] == event and all(line.get(key) == fields[key] for key in fields)
    ]


def processes_of(home: str) -> set[int]:
    """Living processes whose environment names the instance or a mark of its upstreams."""
    wanted = f"MMS_HOME={home}".encode()
    as_home = f"HOME={home}".encode()
    found: set[int] = set()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            variables = (entry / "environ").read_bytes().split(b"\0")
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if (wanted in variables or as_home in variables) and state != "Z":
            found.add(int(entry.name))
    return found


def children_of(pid: int) -> list[tuple[int, str]]:
    """Direct children and their state letters, zombies included."""
    found: list[tuple[int, str]] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[1]) == pid:
                    found.append((int(entry.name), fields[0]))
    return found


def alive(pid: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(holds: Any, what: str, more: Any = lambda: "", *, seconds: float = PATIENCE) -> None:
    """Wait for something that another process does; fails with ``what`` after ``seconds``."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"waited {seconds:.0f} s in vain until {what} {more()}"
        time.sleep(0.02)


def describe(pids: set[int]) -> str:
    """Command lines, for a message."""
    lines: list[str] = []
    for pid in pids:
        with contextlib.suppress(OSError):
            command = (Path("/proc") / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ")
            lines.append(f"{pid}: {command.decode(errors='replace')}")
    return "; ".join(lines)


@contextlib.asynccontextmanager
async def operator(station: Station) -> AsyncIterator[AttachedStation]:
    """A look at the station from inside, as the console has it."""
    attached = await AttachedStation.connect(station.socket)
    try:
        yield attached
    finally:
        await attached.aclose()


async def view_of(station: Station, name: str) -> UpstreamView:
    """One upstream as the console shows it."""
    async with operator(station) as attached:
        snapshot = await attached.snapshot()
    return next(view for view in snapshot.upstreams if view.name == name)


async def until_state(
    station: Station, name: str, *states: UpstreamState, seconds: float = PATIENCE
) -> UpstreamView:
    """Wait until an upstream is in one of the states."""
    async with asyncio.timeout(seconds):
        while (view := await view_of(station, name)).state not in states:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return view
