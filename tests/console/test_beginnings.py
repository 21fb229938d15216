"""What the welcome panel does to the user's file."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from console.beginnings import Beginnings

pytestmark = pytest.mark.anyio


def _steps(tmp_path: Path) -> tuple[Beginnings, Path]:
    file = tmp_path / "config.toml"
    environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    return Beginnings(file, environ), file


async def test_a_typed_command_line_is_split_as_a_shell_would(tmp_path: Path) -> None:
    steps, file = _steps(tmp_path)

    result = await steps.add_upstream("fs", {"command": "npx -y pkg 'my docs'", "prefix": "f"})

    assert result.ok
    text = file.read_text()
    assert 'command = "npx"' in text
    assert 'args = ["-y", "pkg", "my docs"]' in text
    assert 'prefix = "f"' in text


async def test_a_url_is_taken_as_it_is(tmp_path: Path) -> None:
    steps, file = _steps(tmp_path)

    assert (await steps.add_upstream("web", {"url": " http://localhost:1/mcp "})).ok
    assert 'url = "http://localhost:1/mcp"' in file.read_text()


@pytest.mark.parametrize("command", ["npx 'open", ""])
async def test_a_command_line_that_is_none_is_refused_and_nothing_is_written(
    tmp_path: Path, command: str
) -> None:
    steps, file = _steps(tmp_path)

    result = await steps.add_upstream("fs", {"command": command})

    assert not result.ok
    assert not file.exists()


async def test_an_import_is_previewed_and_only_what_was_chosen_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    servers = {"one": {"command": "sh", "args": ["-c", "x"]}, "two": {"command": "cat"}}
    (tmp_path / ".claude.json").write_text(json.dumps({"mcpServers": servers}))
    steps, file = _steps(tmp_path)

    found = await steps.preview_import()
    assert [(one.name, one.importable) for one in found] == [("one", True), ("two", True)]
    assert not file.exists()
    result = await steps.apply_import(["two"])

    assert result.ok
    assert "[upstreams.two]" in file.read_text()
    assert "[upstreams.one]" not in file.read_text()
    again = await steps.preview_import()
    assert [one.importable for one in again] == [True, False]


async def test_the_demo_closes_the_screen_and_is_remembered(tmp_path: Path) -> None:
    steps, _ = _steps(tmp_path)
    assert not steps.has_demo
    left: list[bool] = []
    steps.leave = lambda: left.append(True)

    assert (await steps.start_demo()).ok
    assert left == [True]
    assert steps.demo_wanted
