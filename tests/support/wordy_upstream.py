"""An MCP server with long answers of every kind, standard library only. Deterministic.

``--journal FILE`` notes every call's tool and arguments. Answers count upwards where a test has to tell
one call from another.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

ROWS = 400
SCHEMA = {
    "type": "object",
    "properties": {
        "total": {"type": "integer"},
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
                "required": ["id", "name"],
            },
        },
    },
    "required": ["total", "items"],
}
calls: dict[str, int] = {}
journal = sys.argv[sys.argv.index("--journal") + 1] if "--journal" in sys.argv else ""
page = "the first version of a line that does not change much"


def rows() -> dict[str, Any]:
    """A table as an API gives it."""
    states = ("open", "closed", "merged")
    return {
        "total": ROWS,
        "items": [
            {
                "id": number,
                "name": f"item-{number:04d}",
                "state": states[number % 3],
                "note": f"words about the item with the number {number * 7919 % 10007}",
            }
            for number in range(ROWS)
        ],
    }


def log() -> str:
    """Ten thousand lines, one of which matters."""
    lines = [
        f"2026-03-01T10:{n // 600 % 60:02d}:{n // 10 % 60:02d} INFO worker {n % 7} handled request {n} "
        f"in {n % 90} ms"
        for n in range(10_000)
    ]
    lines[7_321] = "2026-03-01T10:12:12 ERROR disk /dev/sdb1 is full, shard 17 is read-only"
    return "\n".join(lines) + "\n"


def prose() -> str:
    """Paragraphs; one sentence says where the key is."""
    parts = [
        f"Paragraph {n} speaks of subject {n % 13}. It says little that is new. Nobody reads it twice."
        for n in range(300)
    ]
    parts[211] = (
        "The lighthouse keeper hid the brass key under the third flagstone. It stayed there."
    )
    return "\n\n".join(parts)


def text(value: str) -> dict[str, Any]:
    """A result with one text."""
    return {"content": [{"type": "text", "text": value}]}


def versions(arguments: dict[str, Any]) -> dict[str, Any]:
    """A long page; the second time one line of it is another."""
    lines = [f"{n}: {page} {n * 31 % 997}" for n in range(1_000)]
    if calls["versions"] > int(arguments.get("same", 1)):
        lines[500] = "500: this line was written anew"
    return text("\n".join(lines))


def answer(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The result of one call."""
    calls[name] = calls.get(name, 0) + 1
    if "wait" in arguments:
        time.sleep(min(float(arguments["wait"]), 5.0))
    if name == "rows":
        return text(json.dumps(rows(), indent=1))
    if name == "structured":
        return {**text(json.dumps(rows(), indent=1)), "structuredContent": rows()}
    if name == "log":
        return text(log())
    if name == "prose":
        return text(prose())
    if name == "short":
        return text(f"call {calls[name]} \u00e4\u00f6\u00fc   \r\n\ttrailing  \n\n\n\nend ")
    if name == "windows":
        return text("a line that ends as Windows ends it\r\n" * 3_000)
    if name == "fails":
        return {
            **text("head of it\n" + "noise\n" * 8_000 + "ValueError: the tail"),
            "isError": True,
        }
    if name == "mixed":
        image = {"type": "image", "data": "iVBORw0KGgo" * 4_000, "mimeType": "image/png"}
        link = {"type": "resource_link", "uri": "file:///x", "name": "x"}
        return {"content": [*text(prose())["content"], image, link, *text(log())["content"]]}
    if name == "versions":
        return versions(arguments)
    return text(f"{name} {calls[name]} {json.dumps(arguments, sort_keys=True)}")


def tool(name: str, **more: Any) -> dict[str, Any]:
    """One entry of the list."""
    return {"name": name, "inputSchema": {"type": "object", "properties": {}}, **more}


TOOLS = [
    *(tool(name) for name in ("rows", "log", "prose", "short", "windows", "fails", "mixed")),
    tool("versions"),
    tool("structured", outputSchema=SCHEMA),
    tool("reads", annotations={"readOnlyHint": True}),
    tool("writes", annotations={"readOnlyHint": False}),
    tool("says_nothing"),
    tool(
        "own_query",
        inputSchema={"type": "object", "properties": {"_context_query": {"type": "string"}}},
    ),
]


def main() -> None:
    """Serve on our pipes until the input ends."""
    for line in sys.stdin:
        message = json.loads(line)
        method, params = message.get("method"), message.get("params") or {}
        result: dict[str, Any] = {}
        if method == "initialize":
            result = {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "wordy", "version": "1"},
            }
        elif method == "tools/list":
            result = {"tools": TOOLS}
        elif method == "tools/call":
            if journal:
                with open(journal, "a", encoding="utf-8") as file:  # noqa: PTH123  # a program of its own
                    file.write(json.dumps([params["name"], params.get("arguments")]) + "\n")
            result = answer(params["name"], params.get("arguments") or {})
        if "id" in message:
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)


if __name__ == "__main__":
    main()
