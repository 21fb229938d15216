"""Looking at the files of a machine."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from console.importing import find
from console.importing.find import ImportPlan, plan_import
from console.importing.sources import Machine, Source, candidates


@dataclass(frozen=True)
class Place:
    """A home and a project."""

    home: Path
    project: Path

    def write(self, path: str, content: Any) -> Path:
        """Write a file below the home, or below the project with ``./``."""
        base = self.project if path.startswith("./") else self.home
        file = base / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content))
        return file

    def plan(self, **options: Any) -> ImportPlan:
        """The import from here."""
        environ = {"HOME": str(self.home)}
        return plan_import(environ, self.project, self.home / "config.toml", **options)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    return Place(home, project)


def _servers(**commands: str) -> dict[str, Any]:
    return {"mcpServers": {name: {"command": command} for name, command in commands.items()}}


def test_an_empty_machine_has_nothing_and_no_problem(place: Place) -> None:
    assert place.plan() == ImportPlan((), (), ())


def test_every_known_place_is_found(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    place.write(".claude.json", _servers(a="1"))
    place.write(".config/Claude/claude_desktop_config.json", _servers(b="2"))
    place.write(".cursor/mcp.json", _servers(c="3"))
    place.write("./.cursor/mcp.json", _servers(d="4"))
    place.write(".config/Code/User/mcp.json", {"servers": {"e": {"command": "5"}}})
    place.write("./.vscode/mcp.json", {"servers": {"f": {"command": "6"}}})
    place.write(".codex/config.toml", '[mcp_servers.g]\ncommand = "7"\n')
    place.write("./.mcp.json", _servers(h="8"))
    place.write(".memtomem/stm_proxy.json", {"upstream_servers": {"i": {"command": "9"}}})
    plan = place.plan()
    assert plan.problems == ()
    assert "".join(one.name for one in plan.servers) == "abcdefghi"
    assert len(plan.files) == 9
    only = place.plan(sources=[Source.CODEX, Source.STM])
    assert "".join(one.name for one in only.servers) == "gi"


def test_the_places_of_each_platform() -> None:
    def desktop(platform: str, environ: dict[str, str]) -> str:
        machine = Machine({"HOME": "/home/ada", **environ}, Path("/p"), platform)
        return next(
            str(one.path)
            for one in candidates(machine, all_projects=False)
            if one.source is Source.CLAUDE_DESKTOP
        )

    end = "Claude/claude_desktop_config.json"
    assert desktop("darwin", {}) == f"/home/ada/Library/Application Support/{end}"
    assert desktop("linux", {}) == f"/home/ada/.config/{end}"
    assert desktop("linux", {"XDG_CONFIG_HOME": "/x"}) == f"/x/{end}"
    assert desktop("win32", {"APPDATA": "/app"}) == f"/app/{end}"


def test_the_programs_own_variables_move_their_files(place: Place) -> None:
    place.write("elsewhere/.claude.json", _servers(a="1"))
    place.write("codex/config.toml", '[mcp_servers.b]\ncommand = "2"\n')
    environ = {
        "HOME": str(place.home),
        "CLAUDE_CONFIG_DIR": str(place.home / "elsewhere"),
        "CODEX_HOME": str(place.home / "codex"),
    }
    plan = plan_import(environ, place.project, place.home / "config.toml")
    assert [one.name for one in plan.servers] == ["a", "b"]


def test_a_bad_file_is_named_with_its_line_and_the_others_count(place: Place) -> None:
    bad = place.write(".cursor/mcp.json", "{\n oops\n}")
    place.write("./.mcp.json", _servers(h="8"))
    binary = place.write(".codex/config.toml", "")
    binary.write_bytes(b"a = 1\n\xff\xfe\n")
    plan = place.plan()
    assert [one.name for one in plan.servers] == ["h"]
    assert [(one.file, one.line) for one in plan.problems] == [(str(bad), 2), (str(binary), 2)]
    assert str(plan.problems[0]).startswith(f"{bad}:2: not valid JSON")


def test_a_directory_where_a_file_should_be_is_a_problem(place: Place) -> None:
    (place.project / ".mcp.json").mkdir()
    assert len(place.plan().problems) == 1


def test_a_huge_file_is_not_read(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find, "LARGEST_FILE", 10)
    place.write("./.mcp.json", _servers(h="8"))
    assert "larger than" in place.plan().problems[0].reason


def test_only_named_files_are_read_and_must_exist(place: Place) -> None:
    place.write("./.mcp.json", _servers(h="8"))
    named = place.write("mine.json", _servers(x="1"))
    plan = place.plan(named=[named, place.home / "none.json"])
    assert [(one.name, one.source) for one in plan.servers] == [("x", Source.FILE)]
    assert [str(one) for one in plan.problems] == [
        f"{place.home / 'none.json'}: there is no such file"
    ]


def test_what_is_in_our_own_file_counts_as_here(place: Place) -> None:
    place.write("config.toml", '[upstreams.here]\ncommand = "8"\n')
    place.write("./.mcp.json", _servers(h="8"))
    assert place.plan().servers[0].status.value == "already here"


def test_a_broken_file_of_ours_does_not_keep_from_looking(place: Place) -> None:
    place.write("config.toml", "upstreams = 3\n= =")
    place.write("./.mcp.json", _servers(h="8"))
    assert place.plan().servers[0].importable


def test_looking_changes_nothing(place: Place) -> None:
    place.write(".claude.json", _servers(a="1"))
    before = {path: path.stat().st_mtime_ns for path in place.home.rglob("*")}
    place.plan(all_projects=True)
    assert {path: path.stat().st_mtime_ns for path in place.home.rglob("*")} == before
