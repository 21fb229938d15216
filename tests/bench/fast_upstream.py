"""An upstream that answers as fast as Python can: what is measured in front of it is the relay.

One thread, one read and one write per call, standard library only. Tools: ``echo`` (text both ways),
``rows`` (structured content of about ``bytes`` bytes) and ``long`` (a text of a ``kind`` and about so
many bytes); what is long is prepared once.
"""

from __future__ import annotations

import json
import random
import sys
from typing import Any

_ROW = {"path": "/src/package/module.py", "line": 4711, "ok": True, "note": "words, words"}
_prepared: dict[int, bytes] = {}
_texts: dict[tuple[str, int], bytes] = {}


def rows(size: int) -> bytes:
    """A result of about ``size`` bytes as JSON text."""
    if size not in _prepared:
        count = max(1, size // len(json.dumps(_ROW)))
        structured = {"rows": [{**_ROW, "line": number} for number in range(count)]}
        result = {"content": [{"type": "text", "text": "ok"}], "structuredContent": structured}
        _prepared[size] = json.dumps(result, separators=(",", ":")).encode()
    return _prepared[size]


def long_text(kind: str, size: int) -> str:
    """Deterministic JSON, Markdown or log lines."""
    chance = random.Random(7)
    words = ("system", "request", "token", "cache", "memory", "client", "server", "budget", "queue")

    def sentence() -> str:
        return " ".join(chance.choice(words) for _ in range(11)).capitalize() + "."

    parts: list[str] = []
    length = number = 0
    while length < size:
        number += 1
        if kind == "json":
            item = {
                "id": number,
                "name": f"{chance.choice(words)}-{number}",
                "status": chance.choice(("open", "closed", "merged")),
                "score": round(chance.random(), 4),
                "owner": {"login": f"user{chance.randint(1, 40)}"},
                "note": sentence(),
            }
            parts.append(json.dumps(item))
        elif kind == "markdown":
            parts.append(
                f"## Section {number}\n\n" + " ".join(sentence() for _ in range(12)) + "\n"
            )
        else:
            parts.append(
                f"2026-03-01T10:{number // 60 % 60:02d}:{number % 60:02d} INFO worker-{number % 9} "
                f"handled request {number} in {chance.randint(1, 90)} ms"
            )
        length += len(parts[-1]) + 2
    return "[" + ", ".join(parts) + "]" if kind == "json" else "\n".join(parts)


def long_result(kind: str, size: int) -> bytes:
    """A result with such a text."""
    if (kind, size) not in _texts:
        content = [{"type": "text", "text": long_text(kind, size)}]
        _texts[kind, size] = json.dumps({"content": content}).encode()
    return _texts[kind, size]


def answer(message: dict[str, Any]) -> bytes | None:
    """The result of one request as JSON text."""
    method, params = message["method"], message.get("params") or {}
    if method == "initialize":
        about = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "fast", "version": "1"},
        }
        return json.dumps(about).encode()
    if method == "tools/list":
        schema = {"type": "object"}
        tools = [{"name": name, "inputSchema": schema} for name in ("echo", "rows", "long")]
        return json.dumps({"tools": tools}).encode()
    if method == "tools/call":
        arguments = params.get("arguments") or {}
        if params["name"] == "rows":
            return rows(int(arguments["bytes"]))
        if params["name"] == "long":
            return long_result(str(arguments["kind"]), int(arguments["bytes"]))
        return json.dumps({"content": [{"type": "text", "text": arguments["text"]}]}).encode()
    return None


def main() -> None:
    """Serve on our own input and output."""
    write, flush = sys.stdout.buffer.write, sys.stdout.buffer.flush
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" not in message:
            continue
        id = json.dumps(message["id"]).encode()
        result = answer(message)
        if result is None:
            body = b',"error":{"code":-32601,"message":"Method not found"}}\n'
        else:
            body = b',"result":' + result + b"}\n"
        write(b'{"jsonrpc":"2.0","id":' + id + body)
        flush()


if __name__ == "__main__":
    main()
