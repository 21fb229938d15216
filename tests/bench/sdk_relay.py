"""The least relay that the official SDK allows, as a second line to compare with: python -m … COMMAND ARGS

Typed models in both directions, tools only.
"""

from __future__ import annotations

import sys

import anyio
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server


async def relay(command: list[str]) -> None:
    """Serve on our own input and output what the command serves."""
    upstream = StdioServerParameters(command=command[0], args=command[1:])
    async with stdio_client(upstream) as (read, write), ClientSession(read, write) as session:
        await session.initialize()

        async def list_tools(
            context: ServerRequestContext, params: types.PaginatedRequestParams | None
        ) -> types.ListToolsResult:
            return await session.list_tools(params=params)

        async def call_tool(
            context: ServerRequestContext, params: types.CallToolRequestParams
        ) -> types.CallToolResult:
            return await session.call_tool(params.name, params.arguments)

        server = Server("relay", on_list_tools=list_tools, on_call_tool=call_tool)
        async with stdio_server() as (front_read, front_write):
            await server.run(front_read, front_write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(relay, sys.argv[1:])
