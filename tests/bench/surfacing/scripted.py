"""An upstream whose answers follow from the arguments: files, hits, logs and test runs of different sizes.

A program of the standard library: ``python scripted.py [SECONDS]``. It answers at once, so that what is added
to an answer shows in full; or after so many seconds.
"""

from __future__ import annotations

import json
import random
import sys
import time
from typing import Any

UPSTREAM = "work"
"""Its name in the settings."""
TOOLS = (
    *("read_file", "search_code", "search_issues", "git_log", "git_status", "run_tests"),
    *("run_command", "list_directory", "get_issue", "fetch_url", "write_file"),
)
SIZES = {
    "read_file": (300, 12_000),
    "search_code": (210, 6_000),
    "search_issues": (400, 9_000),
    "git_log": (250, 3_000),
    "git_status": (40, 400),
    "run_tests": (220, 20_000),
    "run_command": (210, 2_500),
    "list_directory": (120, 1_500),
    "get_issue": (300, 5_000),
    "fetch_url": (500, 14_000),
    "write_file": (20, 40),
}
"""Characters of an answer, least and most."""
_WORDS = (
    *("value", "return", "line", "count", "entry", "passed", "handle", "begin", "other", "number"),
    *("request", "field", "if", "else", "for", "in", "state", "while", "check", "last"),
)


def answer_text(tool: str, arguments: dict[str, Any]) -> str:
    """The same text for the same call."""
    plain = {name: value for name, value in arguments.items() if not name.startswith("_")}
    chance = random.Random(json.dumps([tool, plain], sort_keys=True))
    least, most = SIZES[tool]
    size = int(least * (most / least) ** chance.random())  # small ones are as common as large ones
    lines: list[str] = []
    length = 0
    while length < size:
        line = " ".join(chance.choice(_WORDS) for _ in range(chance.randint(3, 12)))
        lines.append(line)
        length += len(line) + 1
    return "\n".join(lines)[:size]


def _tool(name: str) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object", "properties": {}}}


def main() -> None:
    """Serve on our pipes until the input ends."""
    delay = float(sys.argv[1]) if len(sys.argv) > 1 else 0.0
    for line in sys.stdin:
        message = json.loads(line)
        method = message.get("method")
        params: dict[str, Any] = message.get("params") or {}
        result: dict[str, Any] = {}
        if method == "initialize":
            result = {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "work", "version": "1"},
            }
        elif method == "tools/list":
            result = {"tools": [_tool(name) for name in TOOLS]}
        elif method == "tools/call":
            time.sleep(delay)
            text = answer_text(params["name"], params.get("arguments") or {})
            result = {"content": [{"type": "text", "text": text}]}
        if "id" in message:
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)


if __name__ == "__main__":
    main()
