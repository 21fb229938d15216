"""What an import would do with each server."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.load import problems_in
from config.upstreams import default_prefix
from console.importing.plan import PlannedServer, Status, fit_name, make_plan
from console.importing.servers import FoundServer
from console.importing.sources import Source

A = {"command": "a", "args": ["1"]}
B = {"command": "b"}


def _found(
    name: str, table: dict[str, Any], source: Source = Source.CURSOR
) -> tuple[Source, FoundServer]:
    return source, FoundServer(name, "f.json", "", table)


def _plan(
    *found: tuple[Source, FoundServer], existing: dict[str, dict[str, Any]] | None = None
) -> tuple[PlannedServer, ...]:
    return make_plan(found, existing or {}, {"HOME": "/home/ada"})


def test_a_new_server_keeps_its_name() -> None:
    (one,) = _plan(_found("git", A))
    assert (one.name, one.status, one.target, one.notes) == ("git", Status.NEW, "a 1", ())
    assert one.importable


def test_the_same_server_under_any_name_is_already_here() -> None:
    (one,) = _plan(_found("other", {**A, "args": ("1",)}), existing={"git": A})
    assert one.status is Status.ALREADY_HERE
    assert one.name == "git"
    assert not one.importable


def test_another_environment_makes_another_server() -> None:
    (one,) = _plan(_found("git", {**A, "env": {"TOKEN": "x"}}), existing={"git": A})
    assert one.status is Status.NEW
    assert one.name == "git-cursor"
    assert one.notes == ("git is another server here; named git-cursor",)


def test_the_same_server_in_two_files_is_taken_over_once() -> None:
    one, two = _plan(_found("git", A), _found("git", A, Source.CODEX))
    assert one.status is Status.NEW
    assert two.status is Status.SAME_AS_ANOTHER
    assert two.notes == ("same as git",)


def test_two_servers_of_one_name_get_two_names() -> None:
    names = [
        one.name
        for one in _plan(_found("x", A), _found("x", B), _found("x", {"command": "c"}),
                         _found("x", {"command": "d"}))
    ]  # fmt: skip
    assert names == ["x", "x-cursor", "x-2", "x-3"]


def test_an_invalid_name_is_repaired_and_said() -> None:
    (one,) = _plan(_found("My Server (new)!", A))
    assert one.name == "My-Server-new"
    assert one.original_name == "My Server (new)!"
    assert "renamed from My Server (new)!" in one.notes[0]


def test_names_whose_tools_could_be_confused_are_kept_apart() -> None:
    (one,) = _plan(_found("a__b", A), existing={"a_b": B})
    assert one.name == "a__b-cursor"


def test_a_prefix_is_kept_unless_taken() -> None:
    one, two = _plan(
        _found("one", {**A, "prefix": "files"}), _found("two", {**B, "prefix": "files"})
    )
    assert one.table["prefix"] == "files"
    assert "prefix" not in two.table
    assert any("prefix files is taken" in note for note in two.notes)


@pytest.mark.parametrize(
    "table",
    [
        {"command": "/opt/mms", "args": ["connect"]},
        {"command": "mms", "args": ["serve", "--stdio"]},
        {"command": "/usr/bin/python3", "args": ["/x/mms.py", "connect"]},
        {"command": "uvx", "args": ["mms", "connect"]},
        {"command": "memtomem-stm"},
    ],
)
def test_mms_itself_is_skipped(table: dict[str, Any]) -> None:
    (one,) = _plan(_found("mms", table))
    assert one.status is Status.OURSELVES
    assert one.notes


def test_another_program_called_mms_is_not_mms() -> None:
    (one,) = _plan(_found("mms", {"command": "mms-server"}))
    assert one.status is Status.NEW


def test_an_unusable_server_says_why() -> None:
    server = FoundServer("x", "f", "", problem="it has neither command nor url")
    (one,) = make_plan([(Source.CURSOR, server)], {}, {})
    assert one.status is Status.UNUSABLE
    assert one.notes == ("it has neither command nor url",)


def test_a_server_whose_variables_are_missing_comes_switched_off() -> None:
    (one,) = _plan(_found("x", {**A, "env": {"A": "${NOPE}", "B": "${HOME}", "C": "${D:-d}"}}))
    assert one.table["enabled"] is False
    assert one.notes == ("switched off until these are set: NOPE",)


def test_secrets_are_in_the_table_but_not_in_what_is_shown() -> None:
    table = {
        "url": "https://ada:pass-word-1@x.example/mcp?key=pass-word-2",
        "headers": {"Authorization": "Bearer pass-word-3"},
    }
    (one,) = _plan(_found("x", table))
    shown = f"{one.target} {one.variables} {one.notes}"
    assert "pass-word" not in shown
    assert one.variables == ("Authorization",)
    assert one.table["headers"] == table["headers"]


@given(st.text(max_size=60))
def test_any_name_is_repaired_to_a_valid_one(name: str) -> None:
    fit = fit_name(name)
    text = f'[upstreams."{fit}"]\ncommand = "x"\n'
    from pathlib import Path

    assert problems_in(text, Path("config.toml"), {}) == ()
    assert fit_name(fit) == fit


@given(
    st.lists(
        st.tuples(
            st.text(alphabet="ab_- !", max_size=40),
            st.sampled_from("wxyz"),
            st.sampled_from([None, "p", "p__q", "a"]),
        ),
        max_size=12,
    )
)
def test_planned_names_and_prefixes_are_unique(found: list[tuple[str, str, str | None]]) -> None:
    existing = {"a": {"command": "here"}, "b": {"command": "there", "prefix": "p_q"}}
    plan = _plan(
        *(
            _found(name, {"command": command} | ({"prefix": prefix} if prefix else {}))
            for name, command, prefix in found
        ),
        existing=existing,
    )
    new = [one for one in plan if one.importable]
    names = [*existing, *(one.name for one in new)]
    prefixes = ["a", "p_q", *(one.table.get("prefix") or default_prefix(one.name) for one in new)]
    assert len(set(names)) == len(names)
    assert len(set(prefixes)) == len(prefixes)
    assert len(new) == len({command for _, command, _ in found})
