"""The command line as a whole: verbs, exit codes, faults, pipes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from console.cli import version
from console.cli.arguments import VERBS
from tests.console.cli.conftest import Instance
from tests.support.fake_engine import Engine
from tests.support.sample_data import CALLS

ROOT = Path(__file__).parents[3]


def test_the_help_names_every_verb_and_the_exit_codes(mms: Instance) -> None:
    ran = mms.run("--help")
    assert ran.code == 0
    for verb in VERBS:
        assert re.search(rf"^    {verb}\s", ran.out, re.MULTILINE), verb
    assert "3 no station" in ran.out


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_and_json(mms: Instance, verb: str) -> None:
    ran = mms.run(verb, "--help")
    assert ran.code == 0
    assert "--json" in ran.out


@pytest.mark.parametrize("words", [("nonsense",), ("list", "--nonsense"), ("calls", "x")])
def test_a_wrong_command_line_is_exit_code_2(mms: Instance, words: tuple[str, ...]) -> None:
    ran = mms.run(*words)
    assert ran.code == 2
    assert ran.out == ""
    assert "usage: mms" in ran.err


def test_the_console_without_a_terminal_says_what_to_do(mms: Instance) -> None:
    ran = mms.run()
    assert ran.code == 2
    assert "needs a terminal" in ran.err


def test_the_version_is_told_both_ways(mms: Instance) -> None:
    assert re.match(r"mms \S+ \(Python 3\.\d+\.\d+", mms.run("version").out)
    assert mms.run("--version").out == mms.run("version").out
    assert set(mms.run("version", "--json").json) == {"version", "python"}


def test_ctrl_c_is_exit_code_130_without_words(
    mms: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(version, "run", interrupt)
    ran = mms.run("version")
    assert (ran.code, ran.out, ran.err) == (130, "", "")


def test_a_fault_is_one_sentence_and_exit_code_1(
    mms: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(version, "run", fail)
    ran = mms.run("version")
    assert ran.code == 1
    assert ran.err.count("\n") == 1
    assert "a fault in mms: ZeroDivisionError" in ran.err
    monkeypatch.setenv("MMS_TRACEBACK", "1")
    assert "Traceback" in mms.run("version").err


def test_with_json_an_error_is_an_object_too(mms: Instance) -> None:
    ran = mms.run("health", "--json")
    assert ran.code == 3
    assert ran.json["exit_code"] == 3
    assert "No station is running" in ran.json["error"]


def test_an_error_text_cannot_act_on_the_terminal(
    mms: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        raise OSError(5, "bad\x1b[2J", "file\x9b")

    monkeypatch.setattr(version, "run", fail)
    ran = mms.run("version")
    assert "bad" in ran.err
    assert "\x1b" not in ran.err
    assert "\x9b" not in ran.err


def test_a_reader_that_has_enough_is_no_error(mms: Instance, running: Engine) -> None:
    async def fill() -> None:
        running.fake.records = CALLS * 80

    import asyncio

    asyncio.run_coroutine_threadsafe(fill(), running.loop).result(5)
    process = subprocess.Popen(
        [sys.executable, "-c", "import sys; from console.cli import main; sys.exit(main())",
         "calls", "--limit", "9600"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env=dict(os.environ),
    )  # fmt: skip
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert b"UPSTREAM" in process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(20) == 0


def test_finding_the_verb_loads_nothing_heavy() -> None:
    code = (
        "import sys; from console.cli import main; main(['status'])\n"
        "heavy = ('mcp', 'textual', 'rich', 'pydantic', 'tomlkit', 'watchfiles', 'toktok')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"
