"""A real host: Claude Code's command line finds mms connected, over the bridge and over HTTP."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from proxy.http.token import read_token
from tests.e2e.conformance import http_port_of
from tests.support.node_packages import Unavailable, find_node, install
from tests.support.stations import CHAOS, MMS, program, running_station

pytestmark = pytest.mark.npm

PACKAGE = "@anthropic-ai/claude-code"
VERSION = "2.1.332"
SECONDS = 90


@pytest.fixture(scope="session")
def claude() -> Path:
    try:
        found = install(find_node(), PACKAGE, VERSION) / "bin" / "claude.exe"
    except Unavailable as reason:
        pytest.skip(f"Claude Code cannot be had: {reason}")
    return found  # so named on every system


def test_claude_code_says_connected_over_the_bridge_and_over_http(claude: Path, home: Path) -> None:
    user = home / "user"
    user.mkdir()

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [claude, "mcp", *arguments],
            cwd=user,
            env={"HOME": str(user), "PATH": os.environ["PATH"]},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    upstream = program("docs", [sys.executable, str(CHAOS), "--name", "docs"])
    config = f"[proxy.http]\nenabled = true\nport = 0\n{upstream}"
    with running_station(home / "mms", config) as station:
        url = f"http://127.0.0.1:{asyncio.run(http_port_of(station))}/mcp"
        token = read_token(station.paths.http_token_file)
        run("add", "bridge", "-e", f"MMS_HOME={home / 'mms'}", "--", MMS, "connect")
        run("add", "--transport", "http", "http", url, "-H", f"Authorization: Bearer {token}")
        run("add", "--transport", "http", "stranger", url, "-H", "Authorization: Bearer wrong")
        listed = run("list").splitlines()
    found = {line.partition(":")[0]: line.rpartition(" - ")[2] for line in listed if " - " in line}
    assert "Connected" in found["bridge"], listed
    assert "Connected" in found["http"], listed
    assert "Connected" not in found["stranger"], listed
