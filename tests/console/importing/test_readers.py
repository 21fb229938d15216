"""Each format becomes our tables; what cannot is said, entry by entry."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.importing.readers import (
    read_any,
    read_claude_code,
    read_codex,
    read_cursor,
    read_mcp_servers,
    read_stm,
    read_vscode,
)
from console.importing.servers import Findings, FoundServer, UnreadableError


def _one(findings: Findings) -> FoundServer:
    (server,) = findings.servers
    return server


def _desktop(entry: Any) -> FoundServer:
    return _one(read_mcp_servers(json.dumps({"mcpServers": {"x": entry}}), "f.json"))


def _cursor(entry: Any, directory: str = "/code") -> FoundServer:
    text = json.dumps({"mcpServers": {"x": entry}})
    return _one(read_cursor(text, "f.json", directory=directory, home="/home/ada"))


def _vscode(document: Any) -> FoundServer:
    return _one(read_vscode(json.dumps(document), "f.json", directory="/code", home="/home/ada"))


# -- entries ----------------------------------------------------------------------------------


def test_a_program_is_taken_over_with_arguments_variables_and_directory() -> None:
    server = _desktop({"command": "npx", "args": ["-y", 3, True], "env": {"A": "1"}, "cwd": "/x"})
    assert server.table == {
        "command": "npx",
        "args": ["-y", "3", "true"],
        "env": {"A": "1"},
        "cwd": "/x",
    }
    assert server.notes == ()
    assert server.problem == ""


@pytest.mark.parametrize("kind", ["http", "streamable-http", "streamable_http", "streamableHttp"])
def test_an_address_is_taken_over_with_headers(kind: str) -> None:
    server = _desktop({"type": kind, "url": "https://x/mcp", "headers": {"A": "b"}})
    assert server.table == {"url": "https://x/mcp", "headers": {"A": "b"}}


def test_an_address_without_type_is_http() -> None:
    assert _desktop({"url": "https://x/mcp"}).table == {"url": "https://x/mcp"}


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("npx", "not an object"),
        ({}, "neither command nor url"),
        ({"command": 3}, "command is not a text"),
        ({"command": "x", "args": "-y"}, "args is not a list"),
        ({"command": "x", "args": [{}]}, "args holds something"),
        ({"command": "x", "env": ["A=1"]}, "env is not an object"),
        ({"type": "sse", "url": "https://x"}, "SSE"),
        ({"type": "http"}, "has no url"),
        ({"type": "stdio", "url": "https://x"}, "has no command"),
        ({"type": "carrier-pigeon", "command": "x"}, "carrier-pigeon"),
    ],
)
def test_an_entry_that_cannot_be_used_says_why(entry: Any, words: str) -> None:
    server = _desktop(entry)
    assert words in server.problem


def test_a_bad_entry_does_not_spoil_the_others() -> None:
    text = json.dumps({"mcpServers": {"bad": 3, "good": {"command": "x"}}})
    found = {one.name: one.problem for one in read_mcp_servers(text, "f").servers}
    assert found["good"] == ""
    assert found["bad"]


def test_what_is_switched_off_there_stays_off_and_unknown_keys_are_named() -> None:
    server = _desktop({"command": "x", "disabled": True, "autoApprove": [], "timeout": 3})
    assert server.table["enabled"] is False
    assert "not taken over: autoApprove, timeout" in server.notes


# -- variables --------------------------------------------------------------------------------


def test_claude_desktop_replaces_nothing_so_neither_do_we() -> None:
    assert _desktop({"command": "x", "args": ["${HOME}"]}).table["args"] == ["$${HOME}"]


def test_claude_code_and_mcp_json_write_variables_as_we_do() -> None:
    text = json.dumps({"mcpServers": {"x": {"command": "x", "args": ["${A:-b}"]}}})
    server = _one(read_claude_code(text, "f", project="/p", all_projects=False))
    assert server.table["args"] == ["${A:-b}"]


def test_cursors_variables_are_translated() -> None:
    server = _cursor(
        {
            "command": "${userHome}/bin/x",
            "args": ["${workspaceFolder}/a", "${workspaceFolderBasename}", "b${/}c"],
            "env": {"T": "${env:TOKEN}"},
        }
    )
    assert server.table == {
        "command": "/home/ada/bin/x",
        "args": ["/code/a", "code", "b/c"],
        "env": {"T": "${TOKEN}"},
    }


def test_a_project_variable_outside_a_project_stays_literal_with_a_note() -> None:
    server = _cursor({"command": "x", "args": ["${workspaceFolder}"]}, directory="")
    assert server.table["args"] == ["$${workspaceFolder}"]
    assert any("workspaceFolder" in note for note in server.notes)


def test_vscode_asks_for_inputs_and_we_read_a_variable() -> None:
    server = _vscode(
        {
            "inputs": [{"id": "api-key", "type": "promptString", "description": "The key"}, 3],
            "servers": {"x": {"type": "stdio", "command": "x", "env": {"K": "${input:api-key}"}}},
        }
    )
    assert server.table["env"] == {"K": "${API_KEY}"}
    assert "asked for there (The key): set the variable API_KEY" in server.notes


# -- whole files ------------------------------------------------------------------------------


def test_claude_code_has_servers_for_everywhere_and_for_projects() -> None:
    text = json.dumps(
        {
            "mcpServers": {"everywhere": {"command": "a"}},
            "projects": {
                "/here": {"mcpServers": {"mine": {"command": "b"}}},
                "/there": {"mcpServers": {"other": {"command": "c"}}},
                "/odd": 3,
            },
        }
    )
    here = read_claude_code(text, "f", project="/here", all_projects=False)
    assert [(one.name, one.scope) for one in here.servers] == [
        ("everywhere", ""),
        ("mine", "/here"),
    ]
    everything = read_claude_code(text, "f", project="/here", all_projects=True)
    assert [one.name for one in everything.servers] == ["everywhere", "mine", "other"]


def test_codex_is_toml_with_keys_of_its_own() -> None:
    server = _one(
        read_codex(
            """
            [mcp_servers.x]
            command = "x"
            args = ["${A}"]
            env = { B = "2" }
            env_vars = ["PATH", "B"]
            startup_timeout_sec = 20
            tool_timeout_sec = 90.5
            disabled_tools = ["rm"]
            enabled_tools = ["ls"]
            """,
            "config.toml",
        )
    )
    assert server.table == {
        "command": "x",
        "args": ["$${A}"],
        "env": {"PATH": "${PATH}", "B": "2"},
        "connect_timeout_seconds": 20.0,
        "call_timeout_seconds": 90.5,
        "tools": {"rm": {"enabled": False}},
    }
    assert any("only some tools" in note for note in server.notes)


def test_codex_takes_tokens_from_variables() -> None:
    server = _one(
        read_codex(
            '[mcp_servers.x]\nurl = "https://x"\nbearer_token_env_var = "T"\n'
            'http_headers = { A = "1" }\nenv_http_headers = { B = "V" }\nstartup_timeout_ms = 1500\n',
            "config.toml",
        )
    )
    assert server.table["headers"] == {"A": "1", "B": "${V}", "Authorization": "Bearer ${T}"}
    assert server.table["connect_timeout_seconds"] == 1.5


def test_codex_without_servers_has_none() -> None:
    assert read_codex('model = "x"\n', "config.toml") == Findings()


def test_stm_has_prefixes_and_hidden_tools() -> None:
    server = _one(
        read_stm(
            json.dumps(
                {
                    "enabled": True,
                    "upstream_servers": {
                        "fs": {
                            "prefix": "files",
                            "command": "npx",
                            "args": [],
                            "env": None,
                            "transport": "stdio",
                            "call_timeout_seconds": 90,
                            "compression": "auto",
                            "tool_overrides": {"rm": {"hidden": True}, "ls": {}},
                            "origin": {"kind": "cursor"},
                        }
                    },
                }
            ),
            "stm_proxy.json",
        )
    )
    assert server.table == {
        "command": "npx",
        "prefix": "files",
        "call_timeout_seconds": 90.0,
        "tools": {"rm": {"enabled": False}},
    }
    assert server.notes == ("not taken over: compression",)


@pytest.mark.parametrize(
    ("text", "file", "names"),
    [
        ('{"mcpServers": {"a": {"command": "x"}}}', "f.json", ["a"]),
        ('{"servers": {"b": {"command": "x"}}}', "f.json", ["b"]),
        ('{"upstream_servers": {"c": {"command": "x"}}}', "f.json", ["c"]),
        ('[mcp_servers.d]\ncommand = "x"', "f.toml", ["d"]),
        ('{"projects": {"/p": {"mcpServers": {"e": {"command": "x"}}}}}', "f.json", ["e"]),
    ],
)
def test_the_format_of_a_named_file_is_told_by_its_content(
    text: str, file: str, names: list[str]
) -> None:
    found = read_any(text, file, project="/p", home="/home/ada")
    assert [one.name for one in found.servers] == names


@pytest.mark.parametrize("text", ["{}", "[]", '{"other": 1}'])
def test_a_file_without_servers_is_unreadable(text: str) -> None:
    with pytest.raises(UnreadableError):
        read_any(text, "f.json", project="/p", home="/h")


def test_a_section_of_the_wrong_shape_is_a_problem() -> None:
    found = read_mcp_servers('{"mcpServers": []}', "f.json")
    assert [str(one) for one in found.problems] == ["f.json: mcpServers is not an object"]


def test_a_broken_toml_file_has_its_line() -> None:
    with pytest.raises(UnreadableError) as caught:
        read_codex("a = 1\nb = = 2\n", "config.toml")
    assert caught.value.line == 2


_ANY = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["mcpServers", "servers", "inputs", "projects", "upstream_servers", "command", "args",
             "env", "url", "headers", "type", "id", "tool_overrides", "x"]
        ),
        inner,
        max_size=5,
    ),
    max_leaves=25,
)  # fmt: skip
_READERS: list[Callable[[str, str], Findings]] = [
    lambda text, file: read_claude_code(text, file, project="x", all_projects=True),
    read_mcp_servers,
    lambda text, file: read_cursor(text, file, directory="/d", home="/h"),
    lambda text, file: read_vscode(text, file, directory="/d", home="/h"),
    read_stm,
]


@given(_ANY, st.sampled_from(_READERS))
def test_no_document_crashes_a_reader(value: Any, read: Callable[[str, str], Findings]) -> None:
    with suppress(UnreadableError):
        for server in read(json.dumps(value), "f").servers:
            assert server.problem or server.table
