"""Servers and clients that others wrote, in exact versions, installed once into a folder of the checkout.

They live in ``.venv/servers-…`` (``make clean`` removes it) or where the variable ``E2E_SERVERS`` points,
and never touch the development environment. Registries are asked by npm and pip as they are configured.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
FROM_NPM = (
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "@modelcontextprotocol/server-memory@2026.8.31",
    "@modelcontextprotocol/inspector@0.15.0",
)
FROM_PYPI = ("mcp-server-git==2026.10.19", "mcp-server-time==2026.10.19")
INSTALL_SECONDS = 240


class NotAvailable(Exception):
    """They cannot be had here; ``str()`` says why."""


@dataclass(frozen=True)
class RealServers:
    """Commands of what is installed."""

    folder: Path

    def npm(self, package: str, script: str = "dist/index.js") -> list[str]:
        """A program of a package from npm."""
        node = shutil.which("node") or "node"
        return [
            node,
            str(self.folder / "node_modules" / "@modelcontextprotocol" / package / script),
        ]

    def pypi(self, program: str) -> list[str]:
        """A program of a package from PyPI."""
        return [str(self.folder / "python" / "bin" / program)]

    @property
    def inspector(self) -> list[str]:
        """The inspector's command line."""
        return [*self.npm("inspector-cli", "build/cli.js"), "--cli"]


def install() -> RealServers:
    """Install what is not there yet. Raises `NotAvailable`."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        raise NotAvailable("node and npm are not installed")
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder / "lock"):
        done = folder / "done"
        if not done.exists():
            _run(
                ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", *FROM_NPM], folder
            )
            _run([sys.executable, "-m", "venv", "python"], folder)
            _run([str(folder / "python/bin/pip"), "install", "--quiet", *FROM_PYPI], folder)
            done.touch()
    return RealServers(folder)


def _folder() -> Path:
    chosen = os.environ.get("E2E_SERVERS")
    if chosen:
        return Path(chosen)
    key = "\n".join((*FROM_NPM, *FROM_PYPI, sys.version))
    return CHECKOUT / ".venv" / f"servers-{hashlib.sha256(key.encode()).hexdigest()[:12]}"


@contextlib.contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Only one of several test processes installs; the others wait for it."""
    with file.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _run(command: list[str], folder: Path) -> None:
    # npm looks for the settings and the cache of whoever runs the tests.
    home = {"HOME": _real_home()}
    try:
        ended = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **home},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=INSTALL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NotAvailable(f"{command[0]} took more than {INSTALL_SECONDS} s") from None
    if ended.returncode != 0:
        last = " ".join(ended.stdout.splitlines()[-3:])
        raise NotAvailable(f"{Path(command[0]).name} could not install: {last[:300]}")


def _real_home() -> str:
    import pwd

    return pwd.getpwuid(os.getuid()).pw_dir
