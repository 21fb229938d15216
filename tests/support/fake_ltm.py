"""An external memory that tests start as a program: an MCP server over stdio, standard library only.

    python fake_ltm.py [--mode NAME[,NAME]] [--journal FILE] [--memories FILE] [--delay SECONDS]
        [--scale NAME]

It speaks as memtomem's core does: one text for every answer, ``Error: …`` for what went wrong. Memories are a
JSON list of texts, or of objects with ``id``, ``content``, ``score`` and ``namespace``. The score of a text
is the share of the query's words in it. The journal gets one JSON line for each call that reached it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

MODES = (
    "compact_only",
    "no_gateway",
    "no_search",
    "no_namespace",
    "no_proposals",
    "no_increment",
    "old_version_numbers",
    "garbage_version",
    "hints",
    "never_ready",
    "slow_start",
    "exits_at_start",
    "asks_first",
)
"""Of the whole process."""
FAULTS = ("hang", "die", "error", "rpc_error", "garbage", "no_text", "not_a_list", "odd_items")
"""A search whose query is ``fault:NAME`` commits it, and so does every search in the mode NAME."""
LONGEST_WAIT = 60.0


class Ltm:
    """One memory."""

    def __init__(
        self, modes: frozenset[str], journal: str, memories: list[Any], delay: float, scale: str
    ) -> None:
        self.modes = modes
        self.journal = journal
        self.delay = delay
        self.scale = scale
        self.memories = [
            one if isinstance(one, dict) else {"content": one, "id": f"chunk-{place}"}
            for place, one in enumerate(memories)
        ]
        self.candidates: dict[str, dict[str, Any]] = {}

    def tools(self) -> list[dict[str, Any]]:
        """What it offers, by its modes."""
        search: dict[str, Any] = {"query": {"type": "string"}, "top_k": {"type": "integer"}}
        if "no_namespace" not in self.modes:
            search["namespace"] = {"type": "string"}
        if "compact_only" not in self.modes:
            search |= {"output_format": {"type": "string"}, "rerank": {"type": "boolean"}}
            search |= {"record": {"type": "boolean"}}
        found: list[dict[str, Any]] = []
        if "no_search" not in self.modes:
            found.append(_tool("mem_search", search, ["query"]))
        if "no_gateway" not in self.modes:
            properties = {"action": {"type": "string"}, "params": {"type": "object"}}
            found.append(_tool("mem_do", properties, ["action"]))
        return [*found, _tool("mem_add", {"content": {"type": "string"}}, ["content"])]

    def call(self, id: Any, name: str, arguments: dict[str, Any]) -> None:
        """Answer one call of a tool."""
        if self.journal:
            with Path(self.journal).open("a", encoding="utf-8") as file:
                file.write(json.dumps({"tool": name, "arguments": arguments}) + "\n")
        if name == "mem_search":
            self._search(id, arguments)
        elif name == "mem_do":
            _say(id, _text(self._do(arguments.get("action"), arguments.get("params") or {})))
        else:
            _say(id, _text("Error: the fake only searches."))

    def _search(self, id: Any, arguments: dict[str, Any]) -> None:
        query = str(arguments["query"])
        fault = query.removeprefix("fault:") if query.startswith("fault:") else ""
        fault = fault or next((mode for mode in FAULTS if mode in self.modes), "")
        if fault:
            self._commit(id, fault)
            return
        if self.delay:
            time.sleep(min(self.delay, LONGEST_WAIT))
        words = set(re.findall(r"\w+", query.lower()))
        scored = [(self._score(one, words), one) for one in self.memories]
        wanted = arguments.get("namespace")
        hits = [
            (score, one)
            for score, one in scored
            if score > 0 and wanted in (None, one.get("namespace", "default"))
        ]
        hits.sort(key=lambda hit: -hit[0])
        hits = hits[: arguments.get("top_k", 10)]
        hints = ["2 archived memories are hidden."] if "hints" in self.modes else []
        if arguments.get("output_format") == "structured":
            _say(id, _text(self._structured(hits, hints)))
        else:
            _say(id, _text(_compact(hits, hints)))

    def _score(self, memory: dict[str, Any], words: set[str]) -> float:
        found = words & set(re.findall(r"\w+", memory["content"].lower()))
        return float(memory.get("score", len(found) / max(1, len(words)))) if found else 0.0

    def _structured(self, hits: list[tuple[float, dict[str, Any]]], hints: list[str]) -> str:
        results = [
            {
                "rank": rank,
                "score": score,
                "source": "notes.md",
                "hierarchy": "",
                "namespace": one.get("namespace", "default"),
                "chunk_id": one["id"],
                "content": one["content"],
            }
            for rank, (score, one) in enumerate(hits, 1)
        ]
        more = {"hints": hints} if hints else {}
        return json.dumps({"results": results, "score_scale": self.scale} | more)

    def _do(self, action: object, params: dict[str, Any]) -> str:
        if action == "version":
            return self._version()
        if action == "candidate_propose" and "no_proposals" not in self.modes:
            return self._propose(params)
        if action == "increment_access" and "no_increment" not in self.modes:
            return f"Accepted {len(params['chunk_ids'])} chunk id(s) for an access boost."
        return f"Error: unknown action {action!r}. Use action='help' to list all."

    def _version(self) -> str:
        if "garbage_version" in self.modes:
            return "memory of the future"
        formats = ["compact"] if "compact_only" in self.modes else ["compact", "structured"]
        able: dict[str, Any] = {"search_formats": formats}
        if "no_proposals" not in self.modes:
            plain = "old_version_numbers" in self.modes
            able["candidate_propose"] = 1 if plain else {"schema_version": 1}
        return json.dumps({"version": "0.6.12", "capabilities": able})

    def _propose(self, params: dict[str, Any]) -> str:
        if "sk-live-" in params["content"]:
            return "Error: content or source_ref contains sensitive data"
        key = params["idempotency_key"]
        known = self.candidates.get(key)
        if known is not None:
            return json.dumps(known | {"duplicate": True})
        digest = hashlib.sha256(key.encode()).hexdigest()
        self.candidates[key] = candidate = {
            "ok": True,
            "candidate_id": digest[:12],
            "status": "pending",
            "created_at": "2026-03-01T12:00:00+00:00",
            "duplicate": False,
        }
        return json.dumps(candidate)

    def _commit(self, id: Any, fault: str) -> None:
        if fault == "die":
            os._exit(7)
        elif fault == "rpc_error":
            _send({"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": "no index"}})
        elif fault == "error":
            _say(id, _text("Error: Storage startup failed."))
        elif fault == "garbage":
            _say(id, _text("memories? what memories?"))
        elif fault == "no_text":
            _say(id, {"content": []})
        elif fault == "not_a_list":
            _say(id, _text('{"results": {"a": 1}}'))
        elif fault == "odd_items":
            odd = [1, None, {}, {"content": ""}, {"content": "fault odd", "score": "high"}]
            odd += [{"content": "fault odd too", "chunk_id": 7, "score": True, "namespace": 3}]
            _say(id, _text(json.dumps({"results": odd, "score_scale": 5, "hints": "none"})))
        # hang: no answer at all


def _compact(hits: list[tuple[float, dict[str, Any]]], hints: list[str]) -> str:
    tail = "".join(f"\n\n({hint})" for hint in hints)
    if not hits:
        return "No results found." + tail
    parts: list[str] = []
    for rank, (score, one) in enumerate(hits, 1):
        namespace = one.get("namespace", "default")
        badge = "" if namespace == "default" else f" [{namespace}]"
        parts.append(f"[{rank}] {score:.2f} |{badge} notes.md > Notes\n{one['content'][:500]}")
    return f"Found {len(hits)} results:\n\n" + "\n\n".join(parts) + tail


def _tool(name: str, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": required}
    return {"name": name, "inputSchema": schema}


def _text(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "structuredContent": {"result": text}}


def _say(id: Any, result: dict[str, Any]) -> None:
    _send({"jsonrpc": "2.0", "id": id, "result": result})


def _send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def _serve(ltm: Ltm) -> None:
    for line in sys.stdin:
        message: dict[str, Any] = json.loads(line)
        id, method = message.get("id"), message.get("method")
        if id is None or method is None:
            continue
        if method == "initialize":
            if "never_ready" in ltm.modes:
                continue
            if "asks_first" in ltm.modes:
                for number, asked in enumerate(("roots/list", "ping", "sampling/createMessage")):
                    _send({"jsonrpc": "2.0", "id": f"q{number}", "method": asked, "params": {}})
            result = {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "memtomem", "version": "0.6.12"},
            }
            _say(id, result)
        elif method == "tools/list":
            _say(id, {"tools": ltm.tools()})
        elif method == "tools/call":
            params = message["params"]
            ltm.call(id, params["name"], params.get("arguments") or {})
        else:
            _say(id, {})


def main() -> None:
    """Play until the input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", default="")
    parser.add_argument("--journal", default="")
    parser.add_argument("--memories", default="")
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--scale", default="probability")
    given = parser.parse_args()
    modes = frozenset(filter(None, given.mode.split(",")))
    unknown = modes - set(MODES) - set(FAULTS)
    if unknown:
        sys.exit(f"no such modes: {sorted(unknown)}")
    if "exits_at_start" in modes:
        sys.exit(3)
    if "slow_start" in modes:
        time.sleep(0.5)
    memories: list[Any] = []
    if given.memories:
        memories = json.loads(Path(given.memories).read_text("utf-8"))
    _serve(Ltm(modes, given.journal, memories, given.delay, given.scale))


if __name__ == "__main__":
    main()
