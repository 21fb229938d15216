"""``mms add``, ``remove``, ``enable``, ``disable``: the file, and what a running station makes of it."""

from __future__ import annotations

import asyncio
import tomllib
from pathlib import Path
from typing import Any

import pytest

from proxy.commands import CommandResult, ReloadSettings
from tests.console.cli.conftest import Instance
from tests.support.fake_engine import Engine


def _upstreams(mms: Instance) -> dict[str, Any]:
    return tomllib.loads(mms.config)["upstreams"]


def test_arguments_are_split_as_a_shell_would(mms: Instance) -> None:
    ran = mms.run(
        "add", "fs", "--command", "npx", "--args", "-y pkg '~/my dir'", "--args", "--verbose",
        "--prefix", "files", "--env", "A=1", "--env", "B=x=y", "--cwd", "~/here",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert _upstreams(mms) == {
        "fs": {
            "prefix": "files",
            "command": "npx",
            "args": ["-y", "pkg", "~/my dir", "--verbose"],
            "env": {"A": "1", "B": "x=y"},
            "cwd": "~/here",
        }
    }
    assert mms.paths.config_file.stat().st_mode & 0o777 == 0o600


def test_a_single_dashed_argument_is_a_value_not_an_option(mms: Instance) -> None:
    assert mms.run("add", "x", "--command", "sh", "--args", "-c").code == 0
    assert _upstreams(mms)["x"]["args"] == ["-c"]


def test_everything_after_two_dashes_is_the_command_line(mms: Instance) -> None:
    ran = mms.run(
        "add", "git", "--env", "A=1", "--", "uvx", "server", "--json", "--", "--prefix=a b"
    )
    assert ran.code == 0, ran.err
    assert _upstreams(mms)["git"] == {
        "command": "uvx",
        "args": ["server", "--json", "--", "--prefix=a b"],
        "env": {"A": "1"},
    }


def test_an_address_takes_headers(mms: Instance) -> None:
    ran = mms.run(
        "add", "docs", "--url", "https://docs.example.com/mcp", "--transport", "streamable_http",
        "--header", "Authorization: Bearer abc:def", "--header", "X-Team:blue",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert _upstreams(mms)["docs"] == {
        "url": "https://docs.example.com/mcp",
        "transport": "http",
        "headers": {"Authorization": "Bearer abc:def", "X-Team": "blue"},
    }


def test_a_variable_without_value_is_passed_on_by_reference(
    mms: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "s3cr3t")
    assert mms.run("add", "x", "--env", "SOME_TOKEN", "--", "sh").code == 0
    assert _upstreams(mms)["x"]["env"] == {"SOME_TOKEN": "${SOME_TOKEN}"}
    assert "s3cr3t" not in mms.config


def test_a_variable_that_is_not_set_is_refused_and_nothing_written(mms: Instance) -> None:
    ran = mms.run("add", "x", "--env", "SOME_TOKEN", "--", "sh")
    assert ran.code == 4
    assert "SOME_TOKEN is not set" in ran.err
    assert not mms.paths.config_file.exists()


def test_a_relative_directory_is_meant_from_here(mms: Instance) -> None:
    assert mms.run("add", "x", "--cwd", "sub/../data", "--", "sh").code == 0
    assert _upstreams(mms)["x"]["cwd"] == str(Path.cwd() / "data")


def test_it_can_be_added_switched_off(mms: Instance) -> None:
    assert mms.run("add", "x", "--disabled", "--", "sh").code == 0
    assert _upstreams(mms)["x"]["enabled"] is False


def test_a_program_that_is_not_found_is_added_with_a_note(mms: Instance) -> None:
    ran = mms.run("add", "x", "--command", "no-such-program")
    assert ran.code == 0
    assert "no-such-program was not found on PATH" in ran.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("x",), "Say what x is"),
        (("x", "--command", "a", "--url", "https://b"), "Say what x is"),
        (("x", "--command", "a", "--", "b"), "not both"),
        (("x", "--url", "https://b", "--env", "A=1"), "belong to --command"),
        (("x", "--command", "a", "--header", "A: b"), "belongs to --url"),
        (("x", "--command", "a", "--env", "1A=2"), "NAME=VALUE"),
        (("x", "--url", "https://b", "--header", "nonsense"), "NAME: VALUE"),
        (("x", "--command", "a", "--args", "'open"), "cannot be split"),
        (("x", "--command", "a", "--transport", "sse"), "invalid choice"),
        ((), "NAME"),
    ],
)
def test_a_line_without_sense_is_exit_code_2(
    mms: Instance, words: tuple[str, ...], message: str
) -> None:
    ran = mms.run("add", *words)
    assert ran.code == 2
    assert message in ran.err
    assert not mms.paths.config_file.exists()


def test_what_the_settings_do_not_allow_is_exit_code_4(mms: Instance) -> None:
    ran = mms.run("add", "bad name", "--", "sh")
    assert ran.code == 4
    assert "bad name" in ran.err
    assert not mms.paths.config_file.exists()


def test_a_name_that_is_taken_is_refused(mms: Instance) -> None:
    mms.run("add", "x", "--", "sh")
    before = mms.config
    ran = mms.run("add", "x", "--", "bash")
    assert ran.code == 1
    assert "x exists already" in ran.err
    assert mms.config == before


def test_without_a_station_it_is_for_the_next_one(mms: Instance) -> None:
    assert "No station is running" in mms.run("add", "x", "--", "sh").out
    data = mms.run("add", "y", "--json", "--", "sh").json
    assert data["ok"] is True
    assert data["station"] == "none"
    assert data["file"] == str(mms.paths.config_file)


def test_a_running_station_is_told_and_its_answer_shown(mms: Instance, running: Engine) -> None:
    ran = mms.run("add", "x", "--", "sh")
    assert ran.code == 0
    assert "has taken it over" in ran.out
    assert running.fake.executed == [ReloadSettings()]
    assert mms.run("disable", "x", "--json").json["station"] == "applied"


def test_a_station_that_refuses_is_exit_code_1(mms: Instance, running: Engine) -> None:
    async def refuse() -> None:
        running.fake.answer = lambda _: CommandResult(ok=False, message="The port is taken.")

    asyncio.run_coroutine_threadsafe(refuse(), running.loop).result(5)
    ran = mms.run("add", "x", "--", "sh")
    assert ran.code == 1
    assert "did not take it over: The port is taken." in ran.out
    assert "x" in _upstreams(mms)


def test_enable_disable_and_remove_leave_the_rest_as_it_is(mms: Instance) -> None:
    mms.write('# mine\n[upstreams.a]\ncommand = "sh" # shell\n\n[upstreams.b]\ncommand = "sh"\n')
    assert mms.run("disable", "a").code == 0
    assert _upstreams(mms)["a"]["enabled"] is False
    assert mms.run("enable", "a").code == 0
    assert _upstreams(mms)["a"].get("enabled", True) is True
    assert mms.run("remove", "b").code == 0
    assert list(_upstreams(mms)) == ["a"]
    assert "# mine" in mms.config
    assert "# shell" in mms.config


@pytest.mark.parametrize("verb", ["remove", "enable", "disable"])
def test_an_unknown_upstream_is_exit_code_1_and_names_the_known_ones(
    mms: Instance, verb: str
) -> None:
    mms.run("add", "git", "--", "sh")
    ran = mms.run(verb, "nobody")
    assert ran.code == 1
    assert "There are git." in ran.err
