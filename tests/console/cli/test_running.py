"""``serve``, ``connect``, ``stop``, ``demo`` and the bare command: what they hand over to whom."""

from __future__ import annotations

import asyncio
import fcntl
import os
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from console.cli import stop
from proxy.commands import CommandResult, StopStation
from tests.console.cli.conftest import Instance
from tests.support.fake_engine import Engine


def _module(monkeypatch: pytest.MonkeyPatch, name: str, **content: object) -> None:
    """Put a stand-in where a heavy module would be imported from."""
    module = types.ModuleType(name)
    for key, value in content.items():
        setattr(module, key, value)
    monkeypatch.setitem(sys.modules, name, module)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What ``console.wiring.serve`` was called with."""
    calls: list[dict[str, Any]] = []

    def serve(**options: Any) -> int:
        calls.append(options)
        return 7

    _module(monkeypatch, "console.wiring", serve=serve)
    return calls


def test_serve_hands_over_flags_and_the_project(
    mms: Instance, served: list[dict[str, Any]]
) -> None:
    ran = mms.run("serve", "--stdio", "--set", "proxy.max_queued=3", "--set", "console.theme=a=b")
    assert ran.code == 7
    assert served == [
        {
            "stdio": True,
            "background": False,
            "flags": {"proxy.max_queued": "3", "console.theme": "a=b"},
            "project_directory": Path.cwd(),
        }
    ]


def test_a_station_in_the_background_belongs_to_no_project(
    mms: Instance, served: list[dict[str, Any]]
) -> None:
    mms.run("serve", "--background")
    assert served[0]["project_directory"] is None
    assert served[0]["background"] is True


def test_a_flag_without_value_is_exit_code_2(mms: Instance, served: list[dict[str, Any]]) -> None:
    ran = mms.run("serve", "--set", "proxy.max_queued")
    assert ran.code == 2
    assert "KEY=VALUE" in ran.err
    assert served == []


def test_demo_runs_without_a_screen_outside_a_terminal(
    mms: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[dict[str, Any]] = []

    def run_demo(**options: Any) -> int:
        calls.append(options)
        return 0

    _module(monkeypatch, "console.demo", run_demo=run_demo)
    assert mms.run("demo").code == 0
    assert mms.run("demo", "--json").code == 0
    assert calls == [{"terminal": False, "json": False}, {"terminal": False, "json": True}]


def test_the_bare_command_on_a_terminal_opens_the_console(
    mms: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[dict[str, Any]] = []

    class Opened:
        LEFT = "left"
        DEMO = "demo"

    answers = [Opened.LEFT, Opened.DEMO]

    def open_console(environ: object, **options: Any) -> str:
        opened.append(options)
        return answers.pop(0)

    _module(monkeypatch, "console.opening", open_console=open_console, Opened=Opened)
    _module(monkeypatch, "console.demo", run_demo=lambda **options: 5 if options["terminal"] else 0)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert mms.run("--set", "proxy.max_queued=3").code == 0
    assert opened == [{"flags": {"proxy.max_queued": "3"}, "project_directory": Path.cwd()}]
    assert mms.run().code == 5, "leaving for the demo starts the demo"


def test_connect_prints_what_to_configure(mms: Instance) -> None:
    ran = mms.run("connect", "--print", "codex")
    assert ran.code == 0
    assert ran.out.startswith("[mcp_servers.mms]\n")
    assert f'MMS_HOME = "{mms.home}"' in ran.out
    assert "config.toml" in ran.err
    data = mms.run("connect", "--print", "cursor", "--json").json
    assert data["client"] == "cursor"
    assert len(data["snippets"]) == 1
    assert mms.run("connect", "--print", "nobody").code == 2


def test_connect_prints_the_http_way_when_the_endpoint_is_on(mms: Instance) -> None:
    mms.write("[proxy.http]\nenabled = true\nport = 7400\n")
    assert "http://127.0.0.1:7400/mcp" in mms.run("connect", "--print", "vscode").out


def test_connect_prints_the_address_of_the_running_station(mms: Instance, running: Engine) -> None:
    assert "http://127.0.0.1:7337/mcp" in mms.run("connect", "--print", "generic").out


def test_stop_without_a_station_is_exit_code_3(mms: Instance) -> None:
    assert mms.run("stop").code == 3


def test_stop_asks_the_station_and_says_which(mms: Instance, running: Engine) -> None:
    ran = mms.run("stop", "--json")
    assert ran.code == 0
    assert ran.json == {"stopped": True, "pid": os.getpid()}
    assert running.fake.executed == [StopStation()]


def test_stop_that_is_refused_is_exit_code_1(mms: Instance, running: Engine) -> None:
    async def refuse() -> None:
        running.fake.answer = lambda _: CommandResult(ok=False, message="Not now.")

    asyncio.run_coroutine_threadsafe(refuse(), running.loop).result(5)
    ran = mms.run("stop")
    assert ran.code == 1
    assert "Not now." in ran.err


def test_stop_waits_and_says_when_the_station_does_not_end(
    mms: Instance, running: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stop, "WAIT_SECONDS", 0.1)
    mms.paths.state_directory.mkdir()
    with mms.paths.lock_file.open("w") as lock:
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
        ran = mms.run("stop")
    assert ran.code == 1
    assert f"kill {os.getpid()}" in ran.err
