"""What hosts are told to configure parses in their formats and names the right command."""

from __future__ import annotations

import json
import shlex
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.connect_snippets import CLIENTS, snippets_for

PROGRAM = "/opt/my tools/mms"
URL = "http://127.0.0.1:7337/mcp"
TOKEN_FILE = "/home/ada/.local/state/mms/http-token"
_PATHS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)


@pytest.mark.parametrize("client", CLIENTS)
def test_every_client_has_a_stdio_way_with_the_absolute_command(client: str) -> None:
    (first, *_) = snippets_for(client, PROGRAM)
    assert PROGRAM in first.text
    assert "connect" in first.text
    assert first.where


@pytest.mark.parametrize(
    ("client", "section"),
    [("claude-desktop", "mcpServers"), ("cursor", "mcpServers"), ("vscode", "servers"),
     ("generic", "mcpServers")],
)  # fmt: skip
def test_json_clients_get_a_whole_document(client: str, section: str) -> None:
    entry = json.loads(snippets_for(client, PROGRAM)[0].text)[section]["mms"]
    assert entry["command"] == PROGRAM
    assert entry["args"] == ["connect"]
    assert "env" not in entry


def test_claude_code_gets_a_command_and_a_file() -> None:
    command, file = snippets_for("claude-code", PROGRAM, home="/tmp/my home")
    assert shlex.split(command.text) == [
        "claude", "mcp", "add", "--scope", "user", "mms", "-e", "MMS_HOME=/tmp/my home",
        "--", PROGRAM, "connect",
    ]  # fmt: skip
    assert json.loads(file.text)["mcpServers"]["mms"]["env"] == {"MMS_HOME": "/tmp/my home"}


def test_codex_gets_toml() -> None:
    (only,) = snippets_for("codex", PROGRAM, home="/tmp/x")
    assert tomllib.loads(only.text) == {
        "mcp_servers": {
            "mms": {"command": PROGRAM, "args": ["connect"], "env": {"MMS_HOME": "/tmp/x"}}
        }
    }


@pytest.mark.parametrize("client", sorted(set(CLIENTS) - {"claude-desktop"}))
def test_the_http_way_is_shown_where_the_client_can_use_it(client: str) -> None:
    text = "\n".join(
        one.text for one in snippets_for(client, PROGRAM, http_url=URL, token_file=TOKEN_FILE)
    )
    assert URL in text


def test_claude_desktop_cannot_reach_loopback() -> None:
    assert len(snippets_for("claude-desktop", PROGRAM, http_url=URL, token_file=TOKEN_FILE)) == 1


def test_claude_code_over_http_reads_the_token_from_its_file() -> None:
    text = snippets_for("claude-code", PROGRAM, http_url=URL, token_file=TOKEN_FILE)[-1].text
    assert text.index("-H") > text.index(URL)
    assert f"$(cat {TOKEN_FILE})" in text


def test_an_unknown_client_is_an_error() -> None:
    with pytest.raises(ValueError, match="nobody"):
        snippets_for("nobody", PROGRAM)


@given(_PATHS, _PATHS)
def test_any_path_survives_the_formats(program: str, home: str) -> None:
    (codex,) = snippets_for("codex", program, home=home)
    assert tomllib.loads(codex.text)["mcp_servers"]["mms"]["command"] == program
    (desktop,) = snippets_for("claude-desktop", program, home=home)
    assert json.loads(desktop.text)["mcpServers"]["mms"]["env"]["MMS_HOME"] == home
    (command, _) = snippets_for("claude-code", program, home=home)
    assert shlex.split(command.text)[-2] == program
