"""The memory alone as an MCP server, with the client of the ``mcp`` package on the other side."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memory.tools.definitions import INSTRUCTIONS, TOOLS
from memory.tools.names import NAMES
from tests.memory.process.processes import PATIENCE, ROOT, instance, notes

START = (
    "import os, sys; sys.path.insert(0, sys.argv[1]); "
    "from memory.serve import main; from tests.memory.process.processes import PROGRAM; "
    "sys.exit(main(os.environ, version='1.2.3', space=sys.argv[2], program=PROGRAM))"
)


def command(space: str = "") -> list[str]:
    return [sys.executable, "-P", "-c", START, str(ROOT), space]


@pytest.mark.anyio
async def test_a_host_lists_the_tools_as_they_are_and_calls_them(tmp_path: Path) -> None:
    from mcp import Client, StdioServerParameters
    from mcp_types import Implementation, TextContent

    _, environ = instance(tmp_path)
    program, *arguments = command("team")
    server = StdioServerParameters(command=program, args=arguments, env=environ)
    host = Implementation(name="our-host", version="1")
    async with Client(server, client_info=host, read_timeout_seconds=PATIENCE) as client:
        assert client.instructions == INSTRUCTIONS
        assert client.server_info is not None
        assert (client.server_info.name, client.server_info.version) == ("mms-memory", "1.2.3")
        listed = await client.list_tools()
        assert [
            tool.model_dump(by_alias=True, exclude_unset=True, mode="json") for tool in listed.tools
        ] == [json.loads(tool) for tool in TOOLS]
        stored = await client.call_tool("memory_store_semantic", {"content": "the port is 8080"})
        assert not stored.is_error
        assert stored.structured_content is not None
        assert stored.structured_content["record"]["content"] == "the port is 8080"
        wrong = await client.call_tool("memory_query", {"query": "port", "topk": 1})
        assert wrong.is_error
        assert isinstance(wrong.content[0], TextContent)
        assert "Did you mean top_k?" in wrong.content[0].text
        unknown = await client.call_tool("memory_nothing", {})
        assert unknown.is_error
        seen = await client.call_tool("memory_overview", {})
        assert seen.structured_content is not None
        assert seen.structured_content["space"] == "team"
        assert seen.structured_content["latest_events"][0]["actor"] == "our-host"


def test_nothing_but_messages_reaches_the_output_and_it_ends_with_its_input(tmp_path: Path) -> None:
    _, environ = instance(tmp_path)
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "our-host", "version": "1"},
    }
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
        {
            "id": 3,
            "method": "tools/call",
            "params": {"name": "memory_store_semantic", "arguments": {"content": "print"}},
        },
    ]
    with subprocess.Popen(
        command(), env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for message in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(3)]
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait(PATIENCE) == 0
    assert {answer["id"] for answer in answers} == {1, 2, 3}
    by_id = {answer["id"]: answer["result"] for answer in answers}
    assert [tool["name"] for tool in by_id[2]["tools"]] == list(NAMES)
    assert by_id[3]["structuredContent"]["record"]["content"] == "print"
    assert "answered AddRecord print" in notes(tmp_path)
