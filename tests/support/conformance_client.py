"""What the conformance suite runs as a client: mms with the suite's server behind it, and a host in front.

``python -m tests.support.conformance_client URL``: every tool is called once.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from proxy.model import UpstreamState
from tests.support.mcp_client import connect_host
from tests.support.stations import running_station, until_state

_SAMPLES = {"number": 5, "integer": 5, "boolean": True, "string": "text", "array": [], "object": {}}


async def call_everything(url: str, home: Path) -> None:
    """Connect to the server through mms, and call each of its tools."""
    config = f"[upstreams.suite]\nurl = {json.dumps(url)}\n"
    with running_station(home, config) as station:
        await until_state(station, "suite", UpstreamState.READY)
        async with connect_host(station.socket) as host:
            for tool in (await host.request("tools/list"))["tools"]:
                print(tool["name"], await host.call(tool["name"], _arguments(tool)))


def _arguments(tool: dict[str, Any]) -> dict[str, Any]:
    properties = tool["inputSchema"].get("properties", {})
    return {name: _SAMPLES[schema.get("type", "string")] for name, schema in properties.items()}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(call_everything(sys.argv[1], Path(folder) / "mms"))
