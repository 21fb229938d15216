"""``mms import``: preview, then write."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from proxy.commands import ReloadSettings
from tests.console.cli.conftest import Instance
from tests.support.fake_engine import Engine

SECRET = "very-secret-value"


@pytest.fixture
def hosts(mms: Instance) -> Path:
    """Cursor and a project file with some servers; the home is the test's own."""
    cursor = Path.home() / ".cursor" / "mcp.json"
    cursor.parent.mkdir()
    cursor.write_text(
        json.dumps(
            {
                "mcpServers": {
                    "git hub": {"command": "gh-mcp", "env": {"TOKEN": SECRET}},
                    "mms": {"command": "/opt/mms", "args": ["connect"]},
                    "old": {"type": "sse", "url": "https://x"},
                }
            }
        )
    )
    project = Path(".mcp.json")
    project.write_text(
        json.dumps(
            {
                "mcpServers": {
                    "docs": {
                        "type": "http",
                        "url": "https://docs.example.com/mcp",
                        "headers": {"Authorization": "Bearer ${DOCS_TOKEN}"},
                    }
                }
            }
        )
    )
    return cursor


def test_without_write_it_is_a_preview_and_nothing_is_written(mms: Instance, hosts: Path) -> None:
    ran = mms.run("import")
    assert ran.code == 0
    assert SECRET not in ran.out
    for words in (
        "git-hub", "renamed from git hub", "mms itself", "unusable",
        "switched off until these are set: DOCS_TOKEN", "Nothing was written", "these 2 servers",
    ):  # fmt: skip
        assert words in ran.out
    assert not mms.paths.config_file.exists()
    servers = {one["name"]: one for one in mms.run("import", "--json").json["servers"]}
    assert servers["git-hub"]["status"] == "new"
    assert servers["git-hub"]["variables"] == ["TOKEN"]
    assert servers["git-hub"]["written"] is False
    assert servers["mms"]["status"] == "mms_itself"


def test_with_write_the_new_ones_are_taken_over_with_their_secrets(
    mms: Instance, hosts: Path
) -> None:
    before = hosts.read_bytes()
    ran = mms.run("import", "--write")
    assert ran.code == 0, ran.err
    assert SECRET not in ran.out
    upstreams = tomllib.loads(mms.config)["upstreams"]
    assert upstreams == {
        "git-hub": {"command": "gh-mcp", "env": {"TOKEN": SECRET}},
        "docs": {
            "url": "https://docs.example.com/mcp",
            "headers": {"Authorization": "Bearer ${DOCS_TOKEN}"},
            "enabled": False,
        },
    }
    assert mms.paths.config_file.stat().st_mode & 0o777 == 0o600
    assert hosts.read_bytes() == before
    again = mms.run("import", "--write")
    assert again.code == 0
    assert "nothing new" in again.out
    assert tomllib.loads(mms.config)["upstreams"] == upstreams


def test_only_some_can_be_taken_over(mms: Instance, hosts: Path) -> None:
    assert mms.run("import", "--write", "--only", "git hub").code == 0
    assert list(tomllib.loads(mms.config)["upstreams"]) == ["git-hub"]
    ran = mms.run("import", "--write", "--only", "nobody")
    assert ran.code == 2
    assert "--only nobody" in ran.err


def test_a_running_station_is_told(mms: Instance, hosts: Path, running: Engine) -> None:
    data = mms.run("import", "cursor", "--write", "--json").json
    assert data["station"] == "applied"
    assert [one["name"] for one in data["servers"] if one["written"]] == ["git-hub"]
    assert running.fake.executed == [ReloadSettings()]


def test_a_source_can_be_named(mms: Instance, hosts: Path) -> None:
    names = [one["name"] for one in mms.run("import", "mcp-json", "--json").json["servers"]]
    assert names == ["docs"]
    ran = mms.run("import", "netscape")
    assert ran.code == 2
    assert "claude-desktop" in ran.err


def test_a_bad_named_file_is_exit_code_1_and_names_file_and_line(mms: Instance) -> None:
    bad = mms.home / "bad.json"
    bad.write_text("{\n oops")
    ran = mms.run("import", "--from", str(bad))
    assert ran.code == 1
    assert f"{bad}:2: not valid JSON" in ran.err


def test_a_machine_without_servers_says_so(mms: Instance) -> None:
    ran = mms.run("import")
    assert ran.code == 0
    assert ran.out == "No MCP servers were found.\n"


def test_a_server_that_our_rules_refuse_does_not_keep_the_others_out(mms: Instance) -> None:
    file = mms.home / "f.json"
    file.write_text(
        json.dumps({"mcpServers": {"bad": {"command": "a\0b"}, "good": {"command": "sh"}}})
    )
    ran = mms.run("import", "--write", "--from", str(file))
    assert ran.code == 1
    assert "bad was not taken over" in ran.err
    assert list(tomllib.loads(mms.config)["upstreams"]) == ["good"]
