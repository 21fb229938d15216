"""Where the other programs keep their lists of MCP servers, per platform. Pure but for the paths."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path

from console.importing import readers
from console.importing.entries import shell_like
from console.importing.servers import Findings

Reader = Callable[[str, str], Findings]
"""Text and file name to findings."""


class Source(Enum):
    """A program whose servers can be taken over; the value is its name on the command line."""

    CLAUDE_CODE = "claude-code"
    CLAUDE_DESKTOP = "claude-desktop"
    CURSOR = "cursor"
    VSCODE = "vscode"
    CODEX = "codex"
    MCP_JSON = "mcp-json"
    """``.mcp.json`` in the current directory."""
    STM = "stm"
    """memtomem-stm."""
    FILE = "file"
    """A file that the person named."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file that may exist, and how to read it."""

    source: Source
    path: Path
    read: Reader


@dataclass(frozen=True, slots=True)
class Machine:
    """What decides where the files are."""

    environ: Mapping[str, str]
    directory: Path
    """The current project."""
    platform: str = sys.platform

    @property
    def home(self) -> Path:
        """The user's home."""
        return Path(self.environ.get("HOME") or "~").expanduser()

    @property
    def application_support(self) -> Path:
        """Where desktop programs keep their settings."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        if self.platform == "win32" and self.environ.get("APPDATA"):
            return Path(self.environ["APPDATA"])
        return Path(self.environ.get("XDG_CONFIG_HOME") or self.home / ".config")


def candidates(machine: Machine, *, all_projects: bool) -> tuple[Candidate, ...]:
    """Every known file, the user's own before the project's."""
    home, project = machine.home, machine.directory
    environ = machine.environ
    claude = Path(environ["CLAUDE_CONFIG_DIR"]) if environ.get("CLAUDE_CONFIG_DIR") else home
    codex = Path(environ["CODEX_HOME"]) if environ.get("CODEX_HOME") else home / ".codex"
    here = str(project)
    cursor = partial(readers.read_cursor, home=str(home))
    vscode = partial(readers.read_vscode, home=str(home))
    claude_code = partial(readers.read_claude_code, project=here, all_projects=all_projects)
    return (
        Candidate(Source.CLAUDE_CODE, claude / ".claude.json", claude_code),
        Candidate(
            Source.CLAUDE_DESKTOP,
            machine.application_support / "Claude" / "claude_desktop_config.json",
            readers.read_mcp_servers,
        ),
        Candidate(Source.CURSOR, home / ".cursor" / "mcp.json", partial(cursor, directory="")),
        Candidate(Source.CURSOR, project / ".cursor" / "mcp.json", partial(cursor, directory=here)),
        Candidate(
            Source.VSCODE,
            machine.application_support / "Code" / "User" / "mcp.json",
            partial(vscode, directory=""),
        ),
        Candidate(Source.VSCODE, project / ".vscode" / "mcp.json", partial(vscode, directory=here)),
        Candidate(Source.CODEX, codex / "config.toml", readers.read_codex),
        Candidate(
            Source.MCP_JSON,
            project / ".mcp.json",
            partial(readers.read_mcp_servers, translate=shell_like),
        ),
        Candidate(Source.STM, home / ".memtomem" / "stm_proxy.json", readers.read_stm),
    )


def named_file(machine: Machine, path: Path) -> Candidate:
    """A file that a person named."""
    read = partial(readers.read_any, project=str(machine.directory), home=str(machine.home))
    return Candidate(Source.FILE, path, read)
