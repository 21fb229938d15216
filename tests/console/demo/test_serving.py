"""The official SDK's client sees the demo's tools as they are described."""

from __future__ import annotations

import pytest
from mcp import Client, MCPError

from console.demo.servers import issues, logs
from console.demo.servers.serving import build


@pytest.mark.anyio
async def test_a_client_lists_the_tools_with_their_schemas() -> None:
    async with Client(build(issues.SERVER), mode="legacy") as client:
        listed = (await client.list_tools()).tools
    assert [tool.name for tool in listed] == ["list_issues", "get_issue", "export_issues"]
    assert all(tool.output_schema for tool in listed)
    assert listed[0].input_schema["additionalProperties"] is False


@pytest.mark.anyio
async def test_a_client_gets_text_and_structured_content() -> None:
    async with Client(build(issues.SERVER), mode="legacy") as client:
        result = await client.call_tool("get_issue", {"number": 7})
    assert not result.is_error
    assert result.structured_content == issues.issue(7)


@pytest.mark.anyio
async def test_a_refusal_is_a_tool_error_and_an_unknown_tool_a_protocol_error() -> None:
    async with Client(build(logs.SERVER), mode="legacy") as client:
        refused = await client.call_tool("tail", {"service": "billing"})
        with pytest.raises(MCPError, match="unknown tool"):
            await client.call_tool("nothing", {})
    assert refused.is_error
