"""``docs/cli.md`` says what ``mms memory`` does."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from console.cli.memory import configure
from memory.api import ListProposals, PreviewForgetting
from tests.console.cli.conftest import Instance
from tests.console.cli.memory_port import connect
from tests.memory.opening import PERSON, Opened, opened

TEXT = (Path(__file__).parents[3] / "docs" / "cli.md").read_text()
ROWS = {
    name: (what, keys)
    for name, what, keys in re.findall(
        r"^\| `memory ([a-z-]+)[^`]*` \| (.+?) \| ([^|]*?) ?\|$", TEXT, re.MULTILINE
    )
}


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opened]:
    with opened(tmp_path) as memory:
        connect(monkeypatch, memory)
        yield memory


def actions() -> dict[str, argparse.ArgumentParser]:
    parser = argparse.ArgumentParser()
    configure(parser)
    (chosen,) = (one for one in parser._actions if isinstance(one.choices, dict))
    return dict(chosen.choices or {})


def test_every_action_is_described_with_all_its_options() -> None:
    described = set(ROWS) | {"keep-both"}
    assert described == set(actions())
    for name, (what, _) in ROWS.items():
        told = set(re.findall(r"(?<![\w-])(--?[a-z][a-z-]*)", what)) - {"-old-"}
        options = [
            set(one.option_strings)
            for one in actions()[name]._actions  # pyright: ignore[reportPrivateUsage]
            if one.option_strings
        ]
        assert told <= set().union(*options), name
        for one in options:
            assert one & (told | {"--help", "--json", "--space", "--reason", "--limit"}), name


def test_the_top_level_of_the_json_is_as_described(
    mms: Instance, memory: Opened, tmp_path: Path
) -> None:
    def keys(action: str) -> set[str]:
        return set(re.findall(r"`([a-z_]+)`", ROWS[action][1].partition("; or")[0]))

    id = memory.fact("The staging port is 5432.").record.id
    memory.fact("The staging port is 6432.")
    (view,) = memory.ask(ListProposals(), PERSON).items
    memory.ask(PreviewForgetting(), PERSON)
    file = str(tmp_path / "x.jsonl")
    for action, words in (
        ("add", ("Tea is in the kitchen.",)),
        ("query", ("port",)),
        ("list", ()),
        ("show", (id,)),
        ("history", (id,)),
        ("proposals", ()),
        ("approve", (view.proposal.id,)),
        ("archive", (id,)),
        ("restore", (id,)),
        ("preview", ()),
        ("run", ("--yes",)),
        ("runs", ()),
        ("export", (file,)),
        ("import", (file,)),
        ("reindex", ()),
        ("stats", ()),
        ("verify", ()),
        ("expunge", (id, "--yes")),
    ):
        ran = mms.run("memory", action, *words, "--json")
        assert ran.code == 0, (action, ran.err)
        assert set(ran.json) == keys(action), action
