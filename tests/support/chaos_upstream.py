"""An upstream that misbehaves on demand: started as a program of its own, standard library only.

    python chaos_upstream.py [--name NAME] [--journal FILE] [--mode NAME[,NAME]] [--set KEY=VALUE]

``--mode`` chooses faults of the whole process (`PROCESS_MODES`); the tool ``fault`` commits one fault in one
call (`CALL_FAULTS`) while the process stays well behaved. Without either it is a correct server. The journal
gets one JSON line for everything received and done: what really reached the upstream, and how often.

Nothing runs away: no wait is longer than two minutes, no output larger than 80 MB.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

PROCESS_MODES = (
    "banner",
    "slow_start",
    "asks_first",
    "never_starts",
    "exits_at_start",
    "refuses_start",
    "unknown_revision",
    "stderr_flood",
    "list_change_storm",
    "cursor_loop",
    "many_pages",
    "duplicate_tools",
    "bad_tools",
    "closes_stdout",
    "stops_reading",
    "forks_children",
    "ignores_eof",
    "ignores_sigterm",
    "stateless",
)
CALL_FAULTS = (
    "crash",
    "crash_mid_frame",
    "close_stdout",
    "hang",
    "late_answer",
    "wrong_id",
    "guessed_ids",
    "duplicate_answer",
    "garbage_lines",
    "invalid_utf8",
    "nan",
    "deep_nesting",
    "huge_line",
    "batch",
    "bad_result",
    "progress_for_ever",
    "notification_flood",
)
LONGEST_WAIT = 120.0
STATELESS = "2026-07-28"
_META = "io.modelcontextprotocol/"


class Refusal(Exception):
    """A JSON-RPC error to be sent."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Call:
    """One tools/call, answered in a thread of its own."""

    def __init__(self, server: Server, id: Any, params: dict[str, Any]) -> None:
        self.server = server
        self.id = id
        self.params = params
        self.arguments: dict[str, Any] = params.get("arguments") or {}
        self.cancelled = threading.Event()
        self.token = (params.get("_meta") or {}).get("progressToken")

    def pause(self, seconds: float) -> None:
        """Wait; a cancellation ends it."""
        self.cancelled.wait(min(seconds, LONGEST_WAIT))

    def progress(self, done: float, message: str) -> None:
        """Report progress, if that is wanted."""
        if self.token is not None:
            params = {"progressToken": self.token, "progress": done, "message": message}
            self.server.notify("notifications/progress", params)

    def answer(self, text: str) -> None:
        """The result of this call."""
        self.server.send({"jsonrpc": "2.0", "id": self.id, "result": self.server.text(text)})

    def raw(self, body: bytes) -> None:
        """Bytes instead of an answer; ``ID`` stands for the id."""
        self.server.write(body.replace(b"ID", json.dumps(self.id).encode(), 1))


class Server:
    """Reads requests in the main thread; calls run in threads."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.name: str = options.name
        self.modes = {mode for mode in options.mode.split(",") if mode}
        self.settings = dict(pair.split("=", 1) for pair in options.set)
        self._journal = open(options.journal, "a", encoding="utf-8") if options.journal else None  # noqa: PTH123, SIM115
        self._out = sys.stdout.buffer
        self._lock = threading.RLock()
        self._calls: dict[Any, Call] = {}
        self._asked: dict[str, tuple[threading.Event, list[Any]]] = {}
        self._next_question = 0
        self._lists = 0
        self._served = 0
        self._listening: Any = None
        self._extra_tool = False
        self._may_list = threading.Event()

    # output

    def write(self, data: bytes) -> None:
        with self._lock:
            try:
                self._out.write(data)
                self._out.flush()
            except (OSError, ValueError):
                os._exit(0)  # nobody listens any more

    def send(self, message: dict[str, Any]) -> None:
        self.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")

    def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)

    def text(self, text: str) -> dict[str, Any]:
        return self.complete({"content": [{"type": "text", "text": text}]})

    def complete(self, result: dict[str, Any]) -> dict[str, Any]:
        return {**result, "resultType": "complete"} if self.stateless else result

    def note(self, event: str, **more: Any) -> None:
        if self._journal is not None:
            with self._lock:
                self._journal.write(json.dumps({"event": event, "pid": os.getpid(), **more}) + "\n")
                self._journal.flush()

    @property
    def stateless(self) -> bool:
        return "stateless" in self.modes

    def number(self, name: str, default: float) -> float:
        return float(self.settings.get(name, default))

    # life

    def run(self) -> None:
        self.note("started")
        self._before_reading()
        for line in iter(sys.stdin.buffer.readline, b""):
            try:
                message = json.loads(line)
            except ValueError:
                self.note("unreadable", line=repr(line[:80]))
                continue
            self._received(message)
            if "stops_reading" in self.modes and message.get("method") == "tools/list":
                threading.Event().wait(LONGEST_WAIT)
        self.note("eof")
        if self.modes & {"ignores_eof", "ignores_sigterm"}:
            threading.Event().wait(LONGEST_WAIT)

    def _before_reading(self) -> None:
        if "ignores_sigterm" in self.modes:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if "exits_at_start" in self.modes:
            sys.stderr.write("fatal: the configuration of this server is missing\n")
            sys.stderr.flush()
            os._exit(int(self.number("code", 3)))
        if "stderr_flood" in self.modes:
            for _ in range(int(self.number("lines", 40_000))):
                sys.stderr.write("a noisy line of a server that logs everything it does\n")
            sys.stderr.flush()
        if "banner" in self.modes:
            self.write(b"Welcome to the server!\n\n  {not json}\n[1, 2]\nlistening on stdio\n")
        if "forks_children" in self.modes:
            pids = [
                subprocess.Popen(
                    [sys.executable, "-c", "import time; time.sleep(120)"],
                    stdin=subprocess.DEVNULL,
                    start_new_session=bool(number % 2),
                ).pid
                for number in range(4)
            ]
            self.note("children", pids=pids)

    def _received(self, message: Any) -> None:
        if "method" not in message:
            asked = self._asked.pop(str(message.get("id")), None)
            self.note("answered", id=message.get("id"))
            if asked is not None:
                asked[1].append(
                    {key: message[key] for key in message if key in ("result", "error")}
                )
                asked[0].set()
            return
        method, params = message["method"], message.get("params") or {}
        self.note("received", method=method, id=message.get("id"), params=params)
        if "id" not in message:
            self._notified(method, params)
            return
        id = message["id"]
        try:
            if method == "tools/call":
                self._call(id, params)
            else:
                result = self._request(method, id, params)
                if result is not None:
                    self.send({"jsonrpc": "2.0", "id": id, "result": result})
        except Refusal as refusal:
            error = {"code": refusal.code, "message": refusal.message}
            self.send({"jsonrpc": "2.0", "id": id, "error": error})

    def _notified(self, method: str, params: dict[str, Any]) -> None:
        if method == "notifications/cancelled":
            call = self._calls.get(params.get("requestId"))
            if call is not None:
                call.cancelled.set()
        elif method == "notifications/initialized":
            self._began()

    def _began(self) -> None:
        if "asks_first" in self.modes:
            threading.Thread(target=self._ask_first, daemon=True).start()
        if "list_change_storm" in self.modes:
            threading.Thread(target=self._storm, daemon=True).start()

    def _ask_first(self) -> None:
        """Ask for roots as soon as that is allowed; nothing is listed before the answer is there."""
        self.note("roots", answer=self.ask("roots/list", {}, LONGEST_WAIT))
        self._may_list.set()

    def _storm(self) -> None:
        for _ in range(int(self.number("count", 1500))):
            self._lists += 1
            self.notify("notifications/tools/list_changed")
            time.sleep(0.001)
        self.note("storm_over")

    # requests

    def _request(self, method: str, id: Any, params: dict[str, Any]) -> dict[str, Any] | None:
        if self.stateless:
            meta = params.get("_meta") or {}
            if method == "initialize" or meta.get(_META + "protocolVersion") != STATELESS:
                raise Refusal(-32022, f"this server speaks {STATELESS} only")
            if method == "server/discover":
                return self._discovered()
            if method == "subscriptions/listen":
                self._listening = id
                self.notify(
                    "notifications/subscriptions/acknowledged",
                    {
                        "notifications": params.get("notifications", {}),
                        "_meta": {_META + "subscriptionId": str(id)},
                    },
                )
                return None
        elif method == "initialize":
            return self._initialized(params)
        if method == "ping" and not self.stateless:
            return {}
        if method == "tools/list":
            if "asks_first" in self.modes and not self._may_list.is_set():
                threading.Thread(target=self._list_later, args=(id, params), daemon=True).start()
                return None
            return self.complete(self._listed(params))
        raise Refusal(-32601, f"Method not found: {method}")

    def _list_later(self, id: Any, params: dict[str, Any]) -> None:
        self._may_list.wait(LONGEST_WAIT)
        self.send({"jsonrpc": "2.0", "id": id, "result": self.complete(self._listed(params))})

    def _initialized(self, params: dict[str, Any]) -> dict[str, Any] | None:
        if "never_starts" in self.modes:
            return None
        if "slow_start" in self.modes:
            time.sleep(min(self.number("seconds", 2.0), LONGEST_WAIT))
        if "refuses_start" in self.modes:
            raise Refusal(-32603, "the licence of this server has run out")
        revision = params["protocolVersion"]
        return {
            "protocolVersion": "1999-01-01" if "unknown_revision" in self.modes else revision,
            "capabilities": {"tools": {"listChanged": True}, "logging": {}},
            "serverInfo": {"name": self.name, "version": "1.0"},
        }

    def _discovered(self) -> dict[str, Any]:
        if "refuses_start" in self.modes:
            raise Refusal(-32603, "the licence of this server has run out")
        self._began()
        return {
            "resultType": "complete",
            "supportedVersions": [STATELESS],
            "capabilities": {"tools": {"listChanged": True}},
            "ttlMs": 0,
            "cacheScope": "public",
            "_meta": {_META + "serverInfo": {"name": self.name, "version": "1.0"}},
        }

    def _listed(self, params: dict[str, Any]) -> dict[str, Any]:
        if "slow_list" in self.settings:
            time.sleep(min(self.number("slow_list", 0.0), LONGEST_WAIT))
        tools = self.all_tools()
        if "cursor_loop" in self.modes:
            return {"tools": tools, "nextCursor": "again"}
        if "many_pages" in self.modes:
            page = int(params.get("cursor", 0))
            more = {"nextCursor": str(page + 1)} if page + 1 < len(tools) else {}
            return {"tools": tools[page : page + 1], **more}
        return {"tools": tools}

    def all_tools(self) -> list[dict[str, Any]]:
        """What is listed now."""
        anything = {"type": "object"}
        tools: list[dict[str, Any]] = [
            {"name": name, "description": f"{name} of {self.name}", "inputSchema": anything}
            for name in (*TOOLS, *(("extra",) if self._extra_tool else ()))
        ]
        if "list_change_storm" in self.modes:
            tools[0] = {**tools[0], "description": f"list {self._lists}"}
        if "duplicate_tools" in self.modes:
            tools.append({**tools[0], "description": "another one", "inputSchema": anything})
        if "bad_tools" in self.modes:
            tools += [
                {"name": "no_schema", "description": "has no schema"},
                {"name": "schema_is_text", "inputSchema": "object"},
                {"name": "schema_is_array", "inputSchema": {"type": "array"}},
                {"name": "", "inputSchema": anything},
                {"description": "has no name", "inputSchema": anything},
                {"name": "a name with spaces", "inputSchema": anything},
                {"name": "n" * 200, "inputSchema": anything},
                {"name": "description_is_number", "description": 5, "inputSchema": anything},
                "not even an object",  # type: ignore[list-item]  # that is the fault
            ]
        return tools

    # calls

    def _call(self, id: Any, params: dict[str, Any]) -> None:
        call = Call(self, id, params)
        self._calls[id] = call
        self._served += 1
        if "closes_stdout" in self.modes and self._served > 1:
            self._close_stdout()
            return
        name = params.get("name")
        if name == "echo":
            call.answer(str(call.arguments.get("text", "")))
            return
        if name not in TOOLS:
            raise Refusal(-32602, f"Unknown tool: {name}")
        threading.Thread(target=self._serve, args=(TOOLS[name], call), daemon=True).start()

    def _serve(self, tool: Callable[[Call], None], call: Call) -> None:
        try:
            tool(call)
        except Refusal as refusal:
            error = {"code": refusal.code, "message": refusal.message}
            self.send({"jsonrpc": "2.0", "id": call.id, "error": error})
        if call.cancelled.is_set():
            self.note("cancelled", id=call.id)
        self._calls.pop(call.id, None)

    def _close_stdout(self) -> None:
        with self._lock:
            self._out.flush()
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)

    def ask(self, method: str, params: dict[str, Any], seconds: float) -> Any:
        """Send a request to the client and wait for the answer."""
        with self._lock:
            self._next_question += 1
            id = f"{self.name}-{self._next_question}"
            asked = self._asked[id] = (threading.Event(), [])
        self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        if not asked[0].wait(min(seconds, LONGEST_WAIT)):
            return {"unanswered": True}
        return asked[1][0]

    def add_tool(self) -> None:
        """List one tool more from now on, and say so."""
        self._extra_tool = True
        meta = {"_meta": {_META + "subscriptionId": str(self._listening)}}
        if not self.stateless:
            self.notify("notifications/tools/list_changed")
        elif self._listening is not None:
            self.notify("notifications/tools/list_changed", meta)

    def close_stdout(self) -> None:
        """Stay alive without an output."""
        self._close_stdout()


# tools


def _echo(call: Call) -> None:
    call.answer(str(call.arguments.get("text", "")))


def _wait(call: Call) -> None:
    """Answers ``text`` after ``seconds``; a cancelled call is not answered."""
    call.pause(float(call.arguments.get("seconds", 1)))
    if not call.cancelled.is_set():
        call.answer(str(call.arguments.get("text", "")))


def _steps(call: Call) -> None:
    """Reports progress ``steps`` times with ``text`` as its message, then answers it."""
    text = str(call.arguments.get("text", ""))
    for step in range(int(call.arguments.get("steps", 3))):
        call.progress(step + 1, text)
        call.pause(float(call.arguments.get("pause", 0.0)))
    call.answer(text)


def _ask(call: Call) -> None:
    """Sends ``method`` with ``params`` to the client and answers with what came back."""
    arguments = call.arguments
    if call.server.stateless:
        answers = call.params.get("inputResponses")
        if answers is None or arguments.get("again"):
            wanted = {"q": {"method": arguments["method"], "params": arguments.get("params", {})}}
            result = {"resultType": "input_required", "inputRequests": wanted, "requestState": "s1"}
            call.server.send({"jsonrpc": "2.0", "id": call.id, "result": result})
        else:
            call.answer(json.dumps({"state": call.params.get("requestState"), "answers": answers}))
        return
    found = call.server.ask(
        arguments["method"], arguments.get("params", {}), float(arguments.get("seconds", 20))
    )
    call.answer(json.dumps(found))


def _log(call: Call) -> None:
    """Sends a log line with ``text``, then answers it."""
    text = str(call.arguments.get("text", ""))
    call.server.notify("notifications/message", {"level": "info", "data": text})
    call.pause(float(call.arguments.get("seconds", 0.0)))
    call.answer(text)


def _process(call: Call) -> None:
    """Tells the pid and the names of the variables."""
    call.answer(json.dumps({"pid": os.getpid(), "environment": sorted(os.environ)}))


def _add_tool(call: Call) -> None:
    """Lists one tool more from now on."""
    call.server.add_tool()
    call.answer("added")


def _fault(call: Call) -> None:
    """Commits the fault ``kind``."""
    kind = call.arguments.get("kind")
    if kind not in CALL_FAULTS:
        raise Refusal(-32602, f"no fault is named {kind}")
    server = call.server
    server.note("fault", kind=kind, id=call.id)
    if kind == "crash":
        sys.stderr.write("Traceback: the server has crashed\n")
        sys.stderr.flush()
        os._exit(int(call.arguments.get("code", 7)))
    elif kind == "crash_mid_frame":
        call.raw(b'{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"torn')
        os._exit(0)
    elif kind == "close_stdout":
        server.close_stdout()
    elif kind == "hang":
        call.pause(LONGEST_WAIT)
    elif kind == "late_answer":
        time.sleep(min(float(call.arguments.get("seconds", 1.0)), LONGEST_WAIT))
        call.answer("much too late")
        server.note("late_answer_sent", id=call.id)
    elif kind == "wrong_id":
        call.raw(b'{"jsonrpc":"2.0","id":[ID],"result":{"content":[]}}\n')
        call.raw(b'{"jsonrpc":"2.0","id":987654321,"result":{"content":[]}}\n')
        call.raw(b'{"jsonrpc":"2.0","id":null,"result":{"content":[]}}\n')
        call.answer("right")
    elif kind == "guessed_ids":
        for guess in range(call.id - 20, call.id + 20):
            if guess != call.id:
                stolen = {"content": [{"type": "text", "text": "forged"}]}
                server.send({"jsonrpc": "2.0", "id": guess, "result": stolen})
        call.answer("right")
    elif kind == "duplicate_answer":
        call.answer("first")
        call.answer("second")
    elif kind == "garbage_lines":
        server.write(b"warning: deprecated option\n\x1b[31mred\x1b[0m\n\xff\xfe\xfd\n{\n")
        call.answer("right")
    elif kind == "invalid_utf8":
        call.raw(
            b'{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"\xff\xfe"}]}}\n'
        )
    elif kind == "nan":
        call.raw(
            b'{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":{"n":NaN}}}\n'
        )
    elif kind == "deep_nesting":
        depth = int(call.arguments.get("depth", 50_000))
        body = b"[" * depth + b"]" * depth
        call.raw(b'{"jsonrpc":"2.0","id":ID,"result":{"structuredContent":{"d":' + body + b"}}}\n")
    elif kind == "huge_line":
        call.answer("x" * min(int(call.arguments.get("bytes", 1000)), 80_000_000))
    elif kind == "batch":
        call.raw(b'[{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}]\n')
    elif kind == "bad_result":
        call.raw(b'{"jsonrpc":"2.0","id":ID,"result":null}\n')
    elif kind == "progress_for_ever":
        end = time.monotonic() + LONGEST_WAIT
        while not call.cancelled.wait(0.05) and time.monotonic() < end:
            call.progress(1, "still at it")
    elif kind == "notification_flood":
        for number in range(min(int(call.arguments.get("count", 20_000)), 200_000)):
            server.notify("notifications/message", {"level": "debug", "data": number})
        call.answer("right")


TOOLS: dict[str, Callable[[Call], None]] = {
    "echo": _echo,
    "wait": _wait,
    "steps": _steps,
    "ask": _ask,
    "log": _log,
    "process": _process,
    "add_tool": _add_tool,
    "fault": _fault,
}


def main() -> None:
    """Serve on our own input and output."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", default="chaos")
    parser.add_argument("--mode", default="")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--journal", default="")
    options = parser.parse_args()
    unknown = {mode for mode in options.mode.split(",") if mode} - set(PROCESS_MODES)
    if unknown:
        parser.error(f"unknown mode: {', '.join(sorted(unknown))}")
    Server(options).run()


if __name__ == "__main__":
    main()
