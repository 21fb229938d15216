"""What the demo's servers share: tools as values, and the official SDK serving them on stdio.

The data and the tools are plain functions; the SDK is imported by `serve` only, since it takes most of a
second to load.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server
    from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult

JsonObject = dict[str, Any]


class ToolRefused(Exception):
    """The tool cannot do what was asked; ``str()`` is what the agent reads."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool gives back."""

    text: str
    structured: JsonObject | None = None


def _at_once(_arguments: Mapping[str, Any]) -> float:
    return 0.0


@dataclass(frozen=True, slots=True)
class DemoTool:
    """One tool: its description and what it does."""

    name: str
    title: str
    description: str
    properties: Mapping[str, JsonObject]
    required: tuple[str, ...]
    run: Callable[[Mapping[str, Any]], Answer]
    """Raises `ToolRefused`."""
    output_schema: JsonObject | None = None
    latency_ms: Callable[[Mapping[str, Any]], float] = _at_once
    """How long the pretended backend takes for these arguments."""

    @property
    def input_schema(self) -> JsonObject:
        """JSON schema of the arguments."""
        return {
            "type": "object",
            "properties": dict(self.properties),
            "required": list(self.required),
            "additionalProperties": False,
        }


@dataclass(frozen=True, slots=True)
class DemoServer:
    """One server: who it says it is, and its tools."""

    name: str
    instructions: str
    tools: tuple[DemoTool, ...]

    def tool(self, name: str) -> DemoTool | None:
        """The tool of that name, if there is one."""
        return next((tool for tool in self.tools if tool.name == name), None)


def text_argument(arguments: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """A string argument; raises `ToolRefused` when it is missing or something else."""
    value = arguments.get(name, default)
    if not isinstance(value, str):
        raise ToolRefused(f"argument {name!r} must be a string")
    return value


def count_argument(arguments: Mapping[str, Any], name: str, default: int, largest: int) -> int:
    """A whole number from 1 to ``largest``; raises `ToolRefused` otherwise."""
    value = arguments.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= largest:
        raise ToolRefused(f"argument {name!r} must be a whole number from 1 to {largest}")
    return value


def build(demo: DemoServer) -> Server[Any]:
    """The SDK's server for ``demo``."""
    import anyio
    from mcp import types
    from mcp.server.lowlevel import Server
    from mcp.shared.exceptions import MCPError

    async def list_tools(
        _context: ServerRequestContext[Any], _params: object | None
    ) -> ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool.name,
                    title=tool.title,
                    description=tool.description,
                    input_schema=tool.input_schema,
                    output_schema=tool.output_schema,
                    annotations=types.ToolAnnotations(read_only_hint=True),
                )
                for tool in demo.tools
            ]
        )

    async def call_tool(
        _context: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult:
        tool = demo.tool(params.name)
        if tool is None:
            raise MCPError(code=types.INVALID_PARAMS, message=f"unknown tool: {params.name}")
        arguments = params.arguments or {}
        await anyio.sleep(tool.latency_ms(arguments) / 1000)
        try:
            answer = tool.run(arguments)
        except ToolRefused as refusal:
            _say(f"{demo.name}: {tool.name} refused: {refusal}")
            return types.CallToolResult(
                content=[types.TextContent(type="text", text=str(refusal))], is_error=True
            )
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=answer.text)],
            structured_content=answer.structured,
        )

    return Server(
        demo.name,
        version="1.0.0",
        instructions=demo.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _say(line: str) -> None:
    """A line for whoever watches the server's standard error."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def serve(demo: DemoServer) -> int:
    """Serve ``demo`` on standard input and output until the input ends."""
    import anyio
    from mcp.server.stdio import stdio_server

    server = build(demo)

    async def run() -> None:
        async with stdio_server() as (incoming, outgoing):
            _say(f"{demo.name}: {len(demo.tools)} tools ready")
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(run)
    return 0
