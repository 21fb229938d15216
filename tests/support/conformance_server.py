"""A server with exactly what the official conformance suite asks servers for, on the official SDK.

``python -m tests.support.conformance_server stdio`` or ``… http PORT``.
"""

from __future__ import annotations

import asyncio
import base64
import json
import struct
import sys
import warnings
import zlib
from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore

Context = Any
Tool = Callable[[Context, dict[str, Any]], Awaitable[list[Any]]]
_PAUSE = 0.05
"""Seconds between two reports; the suite asks for about 50 ms."""


def _png() -> str:
    """One red pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\x00\xff\x00\x00")
    image = (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    )
    return base64.b64encode(image).decode()


def _wav() -> str:
    """A hundredth of a second of silence."""
    samples = bytes(160)
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 8000, 16000, 2, 16)
    data = struct.pack("<4sI", b"data", len(samples)) + samples
    whole = b"WAVE" + form + data
    return base64.b64encode(struct.pack("<4sI", b"RIFF", len(whole)) + whole).decode()


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


def _image() -> types.ImageContent:
    return types.ImageContent(type="image", data=_png(), mime_type="image/png")


def _embedded(uri: str, mime: str, text: str) -> types.EmbeddedResource:
    contents = types.TextResourceContents(uri=uri, mime_type=mime, text=text)
    return types.EmbeddedResource(type="resource", resource=contents)


# tools


async def _simple(ctx: Context, arguments: dict[str, Any]) -> list[Any]:
    return [_text("This is a simple text response for testing.")]


async def _image_only(ctx: Context, arguments: dict[str, Any]) -> list[Any]:
    return [_image()]


async def _audio(ctx: Context, arguments: dict[str, Any]) -> list[Any]:
    return [types.AudioContent(type="audio", data=_wav(), mime_type="audio/wav")]


async def _resource(ctx: Context, arguments: dict[str, Any]) -> list[Any]:
    text = "This is an embedded resource content."
    return [_embedded("test://embedded-resource", "text/plain", text)]


async def _mixed(ctx: Context, arguments: dict[str, Any]) -> list[Any]:
    data = json.dumps({"test": "data", "value": 123})
    return [
        _text("Multiple content types test:"),
        _image(),
        _embedded("test://mixed-content-resource", "application/json", data),
    ]


async def _logging(ctx: Context, arguments: dict[str, Any]) -> list[Any]:
    for n, line in enumerate(("execution started", "processing data", "execution completed")):
        await asyncio.sleep(_PAUSE if n else 0)
        await ctx.session.send_log_message(
            "info", f"Tool {line}", related_request_id=ctx.request_id
        )
    return [_text("Three lines were logged.")]


async def _progress(ctx: Context, arguments: dict[str, Any]) -> list[Any]:
    for n in (0, 50, 100):
        await asyncio.sleep(_PAUSE if n else 0)
        await ctx.session.report_progress(n, 100)
    return [_text("Progress was reported three times.")]


async def _sampling(ctx: Context, arguments: dict[str, Any]) -> list[Any]:
    question = types.SamplingMessage(role="user", content=_text(arguments["prompt"]))
    answer = await ctx.session.create_message(
        [question], max_tokens=100, related_request_id=ctx.request_id
    )
    return [_text(f"LLM response: {getattr(answer.content, 'text', answer.content)}")]


async def _ask(ctx: Context, message: str, **properties: Any) -> str:
    required = [name for name, field in properties.items() if "description" in field]
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
    answer = await ctx.session.elicit_form(message, schema, related_request_id=ctx.request_id)
    return f"action={answer.action}, content={json.dumps(answer.content)}"


async def _elicitation(ctx: Context, arguments: dict[str, Any]) -> list[Any]:
    said = await _ask(
        ctx,
        arguments["message"],
        username={"type": "string", "description": "User's response"},
        email={"type": "string", "description": "User's email address"},
    )
    return [_text(f"User response: {said}")]


async def _defaults(ctx: Context, arguments: dict[str, Any]) -> list[Any]:
    states = ["active", "inactive", "pending"]
    said = await _ask(
        ctx,
        "Check these values",
        name={"type": "string", "default": "John Doe"},
        age={"type": "integer", "default": 30},
        score={"type": "number", "default": 95.5},
        status={"type": "string", "enum": states, "default": states[0]},
        verified={"type": "boolean", "default": True},
    )
    return [_text(f"Elicitation completed: {said}")]


async def _choices(ctx: Context, arguments: dict[str, Any]) -> list[Any]:
    def titled(noun: str) -> list[dict[str, str]]:
        ordinals = ("First", "Second", "Third")
        return [
            {"const": f"value{n}", "title": f"{ordinal} {noun}"}
            for n, ordinal in enumerate(ordinals, 1)
        ]

    plain = [f"option{n}" for n in (1, 2, 3)]
    said = await _ask(
        ctx,
        "Choose",
        untitledSingle={"type": "string", "enum": plain},
        titledSingle={"type": "string", "oneOf": titled("Option")},
        legacyEnum={
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        untitledMulti={"type": "array", "items": {"type": "string", "enum": plain}},
        titledMulti={"type": "array", "items": {"anyOf": titled("Choice")}},
    )
    return [_text(f"Elicitation completed: {said}")]


async def _reconnection(ctx: Context, arguments: dict[str, Any]) -> list[Any]:
    """Close the answer's stream in the middle of the call, where there is one."""
    if ctx.close_sse_stream is not None:
        await ctx.close_sse_stream()
        await asyncio.sleep(2 * _PAUSE)
    return [_text("The call went on without its stream.")]


async def _fails(ctx: Context, arguments: dict[str, Any]) -> list[Any]:
    raise ValueError("This tool intentionally returns an error for testing")


async def _schema(ctx: Context, arguments: dict[str, Any]) -> list[Any]:
    return [_text("The schema is the point.")]


_TOOLS: dict[str, Tool] = {
    "test_simple_text": _simple,
    "test_image_content": _image_only,
    "test_audio_content": _audio,
    "test_embedded_resource": _resource,
    "test_multiple_content_types": _mixed,
    "test_tool_with_logging": _logging,
    "test_tool_with_progress": _progress,
    "test_error_handling": _fails,
    "test_sampling": _sampling,
    "test_elicitation": _elicitation,
    "test_elicitation_sep1034_defaults": _defaults,
    "test_elicitation_sep1330_enums": _choices,
    "test_reconnection": _reconnection,
    "json_schema_2020_12_tool": _schema,
}
_TAKES = {"test_sampling": "prompt", "test_elicitation": "message"}
_SCHEMA_2020 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
    "additionalProperties": False,
}


async def _list_tools(ctx: Context, params: Any) -> types.ListToolsResult:
    tools: list[types.Tool] = []
    for name in _TOOLS:
        schema: dict[str, Any] = {"type": "object", "properties": {}}
        if name in _TAKES:
            schema = {**schema, "properties": {_TAKES[name]: {"type": "string"}}}
            schema["required"] = [_TAKES[name]]
        if name == "json_schema_2020_12_tool":
            schema = _SCHEMA_2020
        tools.append(types.Tool(name=name, description=f"For {name}.", input_schema=schema))
    return types.ListToolsResult(tools=tools)


async def _call_tool(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    try:
        return types.CallToolResult(content=await _TOOLS[params.name](ctx, params.arguments or {}))
    except ValueError as error:
        return types.CallToolResult(content=[_text(str(error))], is_error=True)


# resources and prompts


async def _list_resources(ctx: Context, params: Any) -> types.ListResourcesResult:
    known = {
        "test://static-text": "text/plain",
        "test://static-binary": "image/png",
        "test://watched-resource": "text/plain",
    }
    return types.ListResourcesResult(
        resources=[
            types.Resource(uri=uri, name=uri[7:], description=f"At {uri}.", mime_type=mime)
            for uri, mime in known.items()
        ]
    )


async def _list_templates(ctx: Context, params: Any) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(
        uri_template="test://template/{id}/data",
        name="data by id",
        description="Data for one id.",
        mime_type="application/json",
    )
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def _read(ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    uri = str(params.uri)
    if uri == "test://static-binary":
        blob = types.BlobResourceContents(uri=uri, mime_type="image/png", blob=_png())
        return types.ReadResourceResult(contents=[blob])
    mime = "text/plain"
    text = "This is the content of the static text resource."
    if uri.startswith("test://template/"):
        id = uri.split("/")[3]
        mime = "application/json"
        text = json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})
    contents = types.TextResourceContents(uri=uri, mime_type=mime, text=text)
    return types.ReadResourceResult(contents=[contents])


async def _accept(ctx: Context, params: Any) -> types.EmptyResult:
    return types.EmptyResult()


async def _list_prompts(ctx: Context, params: Any) -> types.ListPromptsResult:
    takes = {
        "test_simple_prompt": (),
        "test_prompt_with_arguments": ("arg1", "arg2"),
        "test_prompt_with_embedded_resource": ("resourceUri",),
        "test_prompt_with_image": (),
    }
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(
                name=name,
                description=f"For {name}.",
                arguments=[types.PromptArgument(name=one, required=True) for one in arguments],
            )
            for name, arguments in takes.items()
        ]
    )


async def _get_prompt(ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    given = params.arguments or {}
    parts: list[Any]
    if params.name == "test_prompt_with_arguments":
        parts = [_text(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'")]
    elif params.name == "test_prompt_with_embedded_resource":
        text = "Embedded resource content for testing."
        embedded = _embedded(given["resourceUri"], "text/plain", text)
        parts = [embedded, _text("Please process the embedded resource above.")]
    elif params.name == "test_prompt_with_image":
        parts = [_image(), _text("Please analyze the image above.")]
    else:
        parts = [_text("This is a simple prompt for testing.")]
    messages = [types.PromptMessage(role="user", content=part) for part in parts]
    return types.GetPromptResult(messages=messages)


async def _complete(ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    towns = [town for town in ("paris", "park", "party") if town.startswith(params.argument.value)]
    return types.CompleteResult(completion=types.Completion(values=towns, total=len(towns)))


class _Events(EventStore):
    """All events of one run, for clients that come back."""

    def __init__(self) -> None:
        self._events: list[tuple[str, Any]] = []

    async def store_event(self, stream_id: str, message: Any) -> str:
        self._events.append((stream_id, message))
        return str(len(self._events))

    async def replay_events_after(
        self, last_event_id: str, send_callback: EventCallback
    ) -> str | None:
        seen = int(last_event_id)
        stream = self._events[seen - 1][0]
        for n, (of, message) in enumerate(self._events[seen:], seen + 1):
            if of == stream and message is not None:
                await send_callback(EventMessage(message, str(n)))
        return stream


def _server() -> Server[Any]:
    return Server(
        "conformance-fixture",
        version="1",
        on_list_tools=_list_tools,
        on_call_tool=_call_tool,
        on_list_resources=_list_resources,
        on_list_resource_templates=_list_templates,
        on_read_resource=_read,
        on_subscribe_resource=_accept,
        on_unsubscribe_resource=_accept,
        on_list_prompts=_list_prompts,
        on_get_prompt=_get_prompt,
        on_completion=_complete,
        on_set_logging_level=_accept,
    )


async def _over_stdio() -> None:
    from mcp.server.stdio import stdio_server

    server = _server()
    options = server.create_initialization_options(NotificationOptions(tools_changed=True))
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, options)


def main(arguments: list[str]) -> None:
    """Serve until the input or the process ends."""
    warnings.simplefilter("ignore")  # logging, sampling and roots are deprecated, and wanted here
    if arguments[0] == "stdio":
        asyncio.run(_over_stdio())
    else:
        import uvicorn

        app = _server().streamable_http_app(event_store=_Events(), retry_interval=100)
        uvicorn.run(app, host="127.0.0.1", port=int(arguments[1]), log_level="error")


if __name__ == "__main__":
    main(sys.argv[1:])
