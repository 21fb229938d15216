"""``mms memory serve``: the memory alone as an MCP server on standard input and output.

For hosts that want the memory and no proxy. This process holds nothing: it forwards every call to the
memory's process. Nothing but JSON-RPC reaches standard output. The ``mcp`` package is imported on use.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from config.load import load_settings
from config.paths import paths_for
from memory.api import CallTool, MemoryPort
from memory.errors import MemoryFault
from memory.model import Actor, Origin
from memory.process.client import MemoryClient
from memory.tools.answers import failure
from memory.tools.definitions import INSTRUCTIONS, TOOLS

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server


def main(
    environ: Mapping[str, str],
    *,
    version: str,
    space: str = "",
    project_directory: Path | None = None,
    program: Sequence[str] | None = None,
) -> int:
    """Serve the host that started this process until it closes our input; returns the exit code.

    ``version``: of the product. ``space``: instead of the settings' ``memory.space``. ``program``: what
    to start instead of the memory's process.
    """
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    paths = paths_for(environ)
    settings = load_settings(paths, environ, project_directory=project_directory).settings.memory
    # A thread waits for input and can't be interrupted; there is nothing here that must be put away.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

    async def serve() -> None:
        client = MemoryClient(paths, environ, idle_seconds=settings.idle_seconds, program=program)
        async with client:
            await _serve(server_of(client, space or settings.space, version))

    asyncio.run(serve())
    return 0


def server_of(memory: MemoryPort, space: str, version: str) -> Server[Any]:
    """An MCP server with the twelve tools over ``memory``."""
    import mcp_types as types
    from mcp.server.lowlevel import Server

    tools = types.ListToolsResult(
        tools=[types.Tool.model_validate_json(definition) for definition in TOOLS]
    )
    session = os.urandom(8).hex()

    async def list_tools(
        _context: ServerRequestContext[Any, Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return tools

    async def call_tool(
        context: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        host = context.session.client_params
        actor = Actor(Origin.AGENT, "" if host is None else host.client_info.name, session)
        arguments = msgspec.json.encode(params.arguments or {}).decode()
        try:
            answer = await memory.ask(CallTool(params.name, arguments, space), actor)
        except MemoryFault as fault:
            answer = failure(fault)
        return types.CallToolResult.model_validate_json(answer.body)

    return Server(
        "mms-memory",
        version=version,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def _serve(server: Server[Any]) -> None:
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (from_host, to_host):
        await server.run(from_host, to_host, server.create_initialization_options())
