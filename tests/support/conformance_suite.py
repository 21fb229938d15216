"""The official conformance suite: how to run it, and what it said."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.support.node_packages import find_node, install

PACKAGE = "@modelcontextprotocol/conformance"
VERSION = "0.1.16"
NAMED_TOOL = "json_schema_2020_12_tool"
"""The one tool that the suite looks for in the list by its whole name."""
RUN_SECONDS = 240.0


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


def get_suite(version: str = VERSION) -> Suite:
    """Get the suite, or find it where an earlier call put it. Raises `Unavailable`."""
    node = find_node()
    package = install(node, PACKAGE, version)
    return Suite(node.program, package / "dist" / "index.js")


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


async def run_client(suite: Suite, scenario: str, command: str) -> str:
    """Let the suite play a server for ``command URL``; what it printed when that was right, else raises."""
    process = await asyncio.create_subprocess_exec(
        suite.node,
        suite.entry,
        *("client", "--command", command, "--scenario", scenario, "--timeout", "90000"),
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
    text = printed.decode(errors="replace")
    if process.returncode != 0 or "PASSED" not in text:
        raise AssertionError(text)
    return text


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
