"""The demo's temporary home is valid, private, and gone afterwards with everything in it."""

from __future__ import annotations

import os
import stat
import subprocess
import time
from pathlib import Path

import pytest

from config.load import load_settings
from console.demo import demo_agent_command, demo_upstreams
from console.demo.child import SERVERS
from console.demo.instance import configuration, demo_instance
from console.demo.script import CALLS, SCRIPT, SECONDS


def has_ended(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def helpers() -> set[int]:
    """Our children that run the demo's program. Waits: a process just started has no arguments yet.

    ``-ww``: otherwise ps may cut the arguments at 80 columns, before the name that we look for.
    """
    end = time.monotonic() + 20
    while not (found := children()):
        assert time.monotonic() < end, "no helper was started"
    return found


def children() -> set[int]:
    me = os.getpid()
    told = subprocess.run(
        ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(me)],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line.split(None, 1) for line in told.stdout.splitlines()]
    return {int(pid) for pid, command in lines if "child.py" in command}


def test_the_configuration_is_valid_and_names_every_server() -> None:
    with demo_instance(os.environ) as demo:
        loaded = load_settings(demo.paths, demo.environ, project_directory=None)
        assert loaded.problems == ()
        assert set(loaded.settings.upstreams) == set(SERVERS)
        assert {one.prefix for one in loaded.settings.upstreams.values()} == set(SERVERS)


def test_the_home_is_private_and_settings_of_the_person_do_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MMS_HOME", "/nowhere")
    monkeypatch.setenv("MEMTOMEM_STM_PROXY__MAX_IN_FLIGHT", "1")
    with demo_instance(os.environ) as demo:
        assert demo.environ["MMS_HOME"] == str(demo.home)
        assert not any(name.startswith("MEMTOMEM_STM_") for name in demo.environ)
        assert stat.S_IMODE(demo.home.stat().st_mode) == 0o700
        assert stat.S_IMODE(demo.paths.config_file.stat().st_mode) == 0o600


def test_leaving_ends_the_helper_and_removes_the_home_even_after_a_failure() -> None:
    seen: list[tuple[Path, set[int]]] = []

    def fail_inside() -> None:
        with demo_instance(os.environ) as demo:
            seen.append((demo.home, helpers()))
            raise RuntimeError("inside")

    with pytest.raises(RuntimeError, match="inside"):
        fail_inside()
    ((home, processes),) = seen
    assert processes
    assert all(has_ended(pid) for pid in processes)
    assert not home.exists()


def test_a_station_whose_starter_is_gone_ends_by_itself() -> None:
    with demo_instance(os.environ) as demo:
        station = demo.start_station()
        end = time.monotonic() + 20
        while not demo.paths.socket.exists():
            assert time.monotonic() < end, demo.words_of_station()
            assert station.poll() is None, demo.words_of_station()
            time.sleep(0.01)
    assert station.returncode == 0


def test_texts_with_quotes_and_letters_of_any_language_survive_in_the_configuration() -> None:
    import tomllib

    tables = {"a": {"command": '/opt/"q"\\é/py', "args": ["-P", "ünï"]}}
    assert tomllib.loads(configuration(tables)) == {"upstreams": tables}


def test_the_upstreams_for_a_persons_own_file_need_no_helper() -> None:
    tables = demo_upstreams()
    assert set(tables) == set(SERVERS)
    assert not any("--helper" in table["args"] for table in tables.values())
    assert all(Path(table["args"][1]).is_file() for table in tables.values())


def test_the_agents_command_names_the_socket() -> None:
    command = demo_agent_command(Path("/run/mms.sock"))
    assert command[command.index("--socket") + 1] == "/run/mms.sock"


def test_the_script_is_forty_calls_in_a_quarter_of_a_minute() -> None:
    assert CALLS == 40
    assert 15 <= SECONDS <= 20
    assert SCRIPT[0].pause_seconds == 0
