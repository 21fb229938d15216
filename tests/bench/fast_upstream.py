"""An upstream that answers as fast as Python can: what is measured in front of it is the relay.

One thread, one read and one write per call, standard library only. Tools: ``echo`` (text both ways) and
``rows`` (structured content of about ``bytes`` bytes, prepared once).
"""

from __future__ import annotations

import json
import sys
from typing import Any

_ROW = {"path": "/src/package/module.py", "line": 4711, "ok": True, "note": "words, words"}
_prepared: dict[int, bytes] = {}


def rows(size: int) -> bytes:
    """A result of about ``size`` bytes as JSON text."""
    if size not in _prepared:
        count = max(1, size // len(json.dumps(_ROW)))
        structured = {"rows": [{**_ROW, "line": number} for number in range(count)]}
        result = {"content": [{"type": "text", "text": "ok"}], "structuredContent": structured}
        _prepared[size] = json.dumps(result, separators=(",", ":")).encode()
    return _prepared[size]


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
        tools = [{"name": name, "inputSchema": schema} for name in ("echo", "rows")]
        return json.dumps({"tools": tools}).encode()
    if method == "tools/call":
        arguments = params.get("arguments") or {}
        if params["name"] == "rows":
            return rows(int(arguments["bytes"]))
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
