"""The demo's servers as configuration, and how any program of the demo is started."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from console.demo.child import SERVERS

_CHILD = Path(__file__).with_name("child.py")


def program(name: str, *arguments: str, helper: Path | None = None) -> list[str]:
    """The command line of one program of the demo; see `console.demo.child`.

    ``-P`` keeps the script's own folder, and whatever it holds, off the import path.
    """
    front = ["--helper", str(helper)] if helper else []
    return [sys.executable, "-P", str(_CHILD), *front, name, *arguments]


def upstream_tables(helper: Path | None = None) -> Mapping[str, Mapping[str, Any]]:
    """One table per server, by its name, which is its prefix, too."""
    tables: dict[str, Mapping[str, Any]] = {}
    for name in SERVERS:
        command, *arguments = program(name, helper=helper)
        tables[name] = {"command": command, "args": arguments}
    return tables
