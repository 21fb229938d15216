"""``docs/cli.md`` says what the command line does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from console.cli.arguments import VERBS
from console.cli.errors import ExitCode
from tests.console.cli.conftest import Instance
from tests.support.fake_engine import Engine

TEXT = (Path(__file__).parents[3] / "docs" / "cli.md").read_text()
ROWS = {
    verb: [cell.strip() for cell in row]
    for names, *row in re.findall(r"^\| (`[^|]+) \| ([^|]+) \| ([^|]*?) ?\|$", TEXT, re.MULTILINE)
    for verb in re.findall(r"`([a-z ]+)`", names)
}


def test_every_verb_is_described() -> None:
    assert {verb.split()[0] for verb in ROWS} == set(VERBS)


def test_every_exit_code_is_described() -> None:
    assert re.findall(r"^\| (\d+) \|", TEXT, re.MULTILINE) == [str(int(code)) for code in ExitCode]


def _keys(verb: str) -> set[str]:
    return set(re.findall(r"`([a-z_]+)`", ROWS[verb][1].partition("with `--write`")[0]))


@pytest.mark.parametrize(
    "line",
    [
        "status", "list", "health", "stats", "config show", "config get proxy.max_queued",
        "config path", "config validate", "import", "version", "connect --print codex",
        "surfacing", "tune", "rate a91e77c0de55 helpful", "stop",
    ],
)  # fmt: skip
def test_the_top_level_of_the_json_is_as_described(
    mms: Instance, running: Engine, line: str
) -> None:
    verb = next(name for name in sorted(ROWS, key=len, reverse=True) if line.startswith(name))
    assert set(mms.run(*line.split(), "--json").json) == _keys(verb)


def test_the_json_of_a_change_is_as_described(mms: Instance) -> None:
    def change(*words: str) -> set[str]:
        return set(mms.run(*words, "--json").json)

    assert change("add", "x", "--command", "sh") == _keys("add")
    assert change("config", "set", "proxy.max_queued", "3") == _keys("add")
    assert change("disable", "x") == _keys("add")
    assert change("remove", "x") == _keys("add")


def test_the_examples_of_add_work(mms: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    import shlex

    monkeypatch.setenv("DOCS_TOKEN", "t")
    lines = re.findall(r"^mms (add .*)$", TEXT, re.MULTILINE)
    assert len(lines) == 3
    for line in lines:
        ran = mms.run(*shlex.split(line))
        assert ran.code == 0, ran.err
