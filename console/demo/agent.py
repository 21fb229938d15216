"""The demo's agent: a real MCP client, with the official SDK's session, on the station's real socket.

It plays `console.demo.script` and reports how each call ended. It runs as a process of its own, as a host
would, so that it takes nothing from the console's.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from console.demo.lifeline import end_with_input
from console.demo.script import SCRIPT, PlannedCall, Step

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp import ClientSession
    from mcp.shared.message import SessionMessage

NAME = "demo-agent"
START_SECONDS = 20.0
"""How long the station and its upstreams may take until every tool of the script is listed."""
CALL_SECONDS = 60.0
_ROUND_PAUSE_SECONDS = 6.0
_CHUNK = 256 * 1024
_CLOSED = "the station closed the connection"


class DemoFailed(Exception):
    """The demo cannot go on; ``str()`` says why."""


@dataclass(frozen=True, slots=True)
class PlayedCall:
    """How one call of the script went, as the agent saw it."""

    tool: str
    """The advertised name."""
    milliseconds: float
    failed: bool
    """The tool answered with an error of its own."""
    surprise: str
    """What was not as planned; empty when all was."""


async def play(session: ClientSession, steps: Sequence[Step], *, pace: float) -> list[PlayedCall]:
    """Make the calls of ``steps``; calls of one step run at the same time.

    ``pace`` stretches the pauses: 0 is back to back, 1 as written.
    """
    import anyio

    played: list[PlayedCall] = []
    for step in steps:
        await anyio.sleep(step.pause_seconds * pace)
        async with anyio.create_task_group() as group:
            for call in step.calls:
                group.start_soon(_play_call, session, call, played)
    return played


async def _play_call(session: ClientSession, call: PlannedCall, played: list[PlayedCall]) -> None:
    from mcp.shared.exceptions import MCPError

    started = time.perf_counter()
    failed, surprise = False, ""
    try:
        result = await session.call_tool(
            call.advertised_name, dict(call.arguments), read_timeout_seconds=CALL_SECONDS
        )
    except MCPError as error:
        surprise = f"answered with error {error.code}: {error.message}"
    else:
        failed = bool(result.is_error)
        if failed != call.fails:
            surprise = "failed, but should not" if failed else "did not fail, but should"
    milliseconds = (time.perf_counter() - started) * 1000
    played.append(PlayedCall(call.advertised_name, milliseconds, failed, surprise))


async def wait_for_tools(session: ClientSession, wanted: frozenset[str]) -> None:
    """Return when ``wanted`` are all listed. Raises `DemoFailed` after `START_SECONDS`."""
    import anyio

    missing = wanted
    with anyio.move_on_after(START_SECONDS):
        while True:
            listed = await session.list_tools()
            missing = wanted - {tool.name for tool in listed.tools}
            if not missing:
                return
            await anyio.sleep(0.1)
    raise DemoFailed(f"after {START_SECONDS:.0f} s these tools are missing: {', '.join(missing)}")


@asynccontextmanager
async def connected(socket: Path) -> AsyncGenerator[ClientSession]:
    """An initialised session with the station at ``socket``, which may still be starting.

    Raises `DemoFailed` when there is no station after `START_SECONDS`.
    """
    import anyio
    from mcp import ClientSession
    from mcp.shared.message import SessionMessage
    from mcp.types import Implementation

    stream = None
    with anyio.move_on_after(START_SECONDS):
        while stream is None:
            try:
                stream = await anyio.connect_unix(socket)
            except OSError:
                await anyio.sleep(0.05)
    if stream is None:
        raise DemoFailed(f"no station answers at {socket}")
    to_session, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    async with (
        stream,
        to_session,
        incoming,
        outgoing,
        from_session,
        anyio.create_task_group() as group,
    ):
        group.start_soon(_read, stream.receive, to_session)
        group.start_soon(_write, stream.send, from_session)
        client = Implementation(name=NAME, title="Demo agent", version="1.0.0")
        async with ClientSession(incoming, outgoing, client_info=client) as session:
            await session.initialize()
            yield session
        group.cancel_scope.cancel()


async def _read(
    receive: Callable[[int], Awaitable[bytes]],
    session: MemoryObjectSendStream[SessionMessage | Exception],
) -> None:
    """Lines from the socket become messages for the session.

    Raises `DemoFailed` when the station closes the connection.
    """
    import anyio
    from mcp.shared.message import SessionMessage
    from mcp.types import jsonrpc_message_adapter

    buffer = bytearray()
    scanned = 0
    while True:
        try:
            buffer += await receive(_CHUNK)
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            raise DemoFailed(_CLOSED) from None
        while (end := buffer.find(b"\n", scanned)) >= 0:
            line = bytes(buffer[:end])
            del buffer[: end + 1]
            scanned = 0
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            await session.send(SessionMessage(message))
        scanned = len(buffer)


async def _write(
    send: Callable[[bytes], Awaitable[None]], session: MemoryObjectReceiveStream[SessionMessage]
) -> None:
    import anyio

    async for item in session:
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        try:
            await send(text.encode() + b"\n")
        except anyio.BrokenResourceError:
            raise DemoFailed(_CLOSED) from None


async def investigate(socket: Path, *, pace: float, forever: bool) -> list[PlayedCall]:
    """Play the script once, or again and again until cancelled; what the first round gave."""
    import anyio

    wanted = frozenset(call.advertised_name for step in SCRIPT for call in step.calls)
    async with connected(socket) as session:
        await wait_for_tools(session, wanted)
        played = await play(session, SCRIPT, pace=pace)
        while forever:
            await anyio.sleep(_ROUND_PAUSE_SECONDS)
            await play(session, SCRIPT, pace=pace * 2)
    return played


def main(argv: list[str]) -> int:
    """Play the script; print what happened as JSON; 1 when something was not as planned.

    Ends with standard input at the latest.
    """
    import anyio
    from mcp.shared.exceptions import MCPError

    end_with_input()
    parser = argparse.ArgumentParser(prog="demo agent")
    parser.add_argument("--socket", required=True, type=Path)
    parser.add_argument("--pace", type=float, default=0.0)
    parser.add_argument("--forever", action="store_true")
    chosen = parser.parse_args(argv)
    failure = ""
    played: list[PlayedCall] = []

    async def run() -> None:
        nonlocal played
        played = await investigate(chosen.socket, pace=chosen.pace, forever=chosen.forever)

    try:
        anyio.run(run)
    except* (DemoFailed, MCPError, OSError) as problems:
        failure = "; ".join(str(problem) for problem in leaves_of(problems))
    json.dump({"failure": failure, "calls": [asdict(call) for call in played]}, sys.stdout)
    sys.stdout.write("\n")
    sys.stdout.flush()
    return 1 if failure or any(call.surprise for call in played) else 0


def leaves_of(group: BaseExceptionGroup[Exception]) -> list[BaseException]:
    return [
        leaf
        for problem in group.exceptions
        for leaf in (
            leaves_of(problem) if isinstance(problem, BaseExceptionGroup) else [problem]  # pyright: ignore[reportUnknownArgumentType]  # narrowing loses the parameter
        )
    ]
