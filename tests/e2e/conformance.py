"""The official conformance suite against a server directly, and against mms in front of it.

``python -m tests.e2e.conformance`` prints the table; `test_conformance` asserts it.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
import tempfile
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from subprocess import DEVNULL

from proxy.http.token import read_token
from proxy.model import UpstreamState
from tests.support.conformance_suite import Outcome, Suite, expecting_prefix, get_suite, run
from tests.support.node_packages import Unavailable
from tests.support.stations import (
    PATIENCE,
    Station,
    operator,
    running_station,
    until_state,
    wait_until,
)
from tests.support.token_door import token_door

ROOT = Path(__file__).parents[2]
FIXTURE = [sys.executable, "-m", "tests.support.conformance_server"]
Results = dict[str, Outcome]


@contextlib.asynccontextmanager
async def direct_server() -> AsyncGenerator[str]:
    """The fixture over streamable HTTP."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        *(*FIXTURE, "http", str(port)), cwd=ROOT, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL
    )
    try:
        await wait_for_port(port)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        async with asyncio.timeout(PATIENCE):
            await process.wait()


@contextlib.asynccontextmanager
async def behind_mms(home: Path, upstream: str) -> AsyncGenerator[str]:
    """An address of mms, token included, with one upstream given as a settings table."""
    config = f"[proxy.http]\nenabled = true\nport = 0\n{upstream}"
    with running_station(home, config) as station:
        await until_state(station, "fixture", UpstreamState.READY)
        port = await http_port_of(station)
        token = read_token(station.paths.http_token_file)
        async with token_door(port, token) as door:
            yield door


def over_stdio() -> str:
    """The fixture as a program of mms's own."""
    arguments = ", ".join(f'"{part}"' for part in [*FIXTURE[1:], "stdio"])
    return f'[upstreams.fixture]\ncommand = "{FIXTURE[0]}"\nargs = [{arguments}]\ncwd = "{ROOT}"\n'


async def compare(suite: Suite, home: Path, *options: str) -> tuple[Results, Results, Results]:
    """The suite's results: directly, through mms over stdio, through mms over HTTP."""
    prefixed = expecting_prefix(suite, "fixture")
    async with direct_server() as url:
        direct = await run(suite, url, *options)
        async with behind_mms(home / "a", over_stdio()) as door:
            stdio = await run(prefixed, door, *options)
        async with behind_mms(home / "b", f'[upstreams.fixture]\nurl = "{url}"\n') as door:
            http = await run(prefixed, door, *options)
    return direct, stdio, http


def table(direct: Results, stdio: Results, http: Results) -> str:
    """Scenarios as rows; checks passed, failed and warned about as cells."""

    def cell(outcome: Outcome | None) -> str:
        if outcome is None:
            return "-"
        mark = "ok" if outcome.ok else "FAILS"
        warned = f" {outcome.warned} warned" if outcome.warned else ""
        return f"{mark} {outcome.passed}/{outcome.passed + outcome.failed}{warned}"

    columns = (direct, stdio, http)
    heads = ("direct", "mms, stdio behind", "mms, HTTP behind")
    lines = [f"{'scenario':<32}" + "".join(f"{head:<20}" for head in heads)]
    lines += [
        f"{name:<32}" + "".join(f"{cell(column.get(name)):<20}" for column in columns)
        for name in direct
    ]
    sums = "".join(f"{f'{sum(o.ok for o in c.values())} of {len(c)} pass':<20}" for c in columns)
    reasons = [
        f"{head}: {name}: {reason}"
        for head, column in zip(heads, columns, strict=True)
        for name, outcome in column.items()
        for reason in outcome.reasons
    ]
    return "\n".join([*lines, f"{'':<32}{sums}", *reasons])


def free_port() -> int:
    """A port that nobody uses right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


async def wait_for_port(port: int) -> None:
    """Wait until somebody listens."""

    def answers() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    await asyncio.to_thread(wait_until, answers, f"port {port} answers")


async def http_port_of(station: Station) -> int:
    """Where the endpoint for hosts listens."""
    async with operator(station) as attached, asyncio.timeout(PATIENCE):
        while not (url := (await attached.snapshot()).station.http):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return int(url.rpartition(":")[2].partition("/")[0])


def main(arguments: Sequence[str]) -> int:
    """Print the table; 1 when something that passes directly fails through mms.

    ``arguments``: a version of the suite and options for it; the defaults are what the test runs.
    """
    try:
        suite = get_suite(*arguments[:1])
    except Unavailable as reason:
        print(f"the conformance suite cannot be had: {reason}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as home:
        direct, stdio, http = asyncio.run(compare(suite, Path(home), *arguments[1:]))
    print(table(direct, stdio, http))
    worse = [name for name, o in direct.items() if o.ok and not (stdio[name].ok and http[name].ok)]
    return 1 if worse else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
