"""One server's entry, as the formats in JSON have it, becomes a table of ours. Pure.

Each program has its own way to write variables. What it would have replaced becomes ``${VAR}`` here;
what it would have passed on literally stays literal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, cast

from console.importing.servers import FoundServer

Translate = Callable[[str], str]

_HTTP = frozenset({"http", "streamable-http", "streamable_http", "streamablehttp"})
_KNOWN = frozenset(
    {
        "type", "transport", "command", "args", "env", "cwd", "url", "serverUrl", "headers",
        "disabled", "enabled", "name", "description",
    }
)  # fmt: skip


class _Unusable(Exception):
    """The entry makes no sense; ``str()`` says why."""


def literal(text: str) -> str:
    """For programs that replace nothing: ours must not either."""
    return text.replace("${", "$${")


def shell_like(text: str) -> str:
    """For Claude Code, which replaces ``${VAR}`` and ``${VAR:-default}`` as we do."""
    return text


class EditorVariables:
    """Variables of Cursor and VS Code, remembering what was asked for."""

    _REFERENCE = re.compile(r"\$\{([^}]*)\}")

    def __init__(self, directory: str, home: str) -> None:
        self._directory = directory
        """What ``${workspaceFolder}`` means; empty where there is no project."""
        self._home = home
        self.inputs: list[str] = []
        self.unknown: list[str] = []

    def __call__(self, text: str) -> str:
        return self._REFERENCE.sub(self._replace, text)

    def _replace(self, match: re.Match[str]) -> str:
        name = match[1]
        if name.startswith("env:"):
            return "${" + name[4:] + "}"
        if name.startswith("input:"):
            self.inputs.append(name[6:])
            return "${" + variable_for(name[6:]) + "}"
        if name in ("workspaceFolder", "workspaceRoot") and self._directory:
            return literal(self._directory)
        if name == "workspaceFolderBasename" and self._directory:
            return literal(self._directory.rstrip("/").rpartition("/")[2])
        if name == "userHome":
            return literal(self._home)
        if name in ("/", "pathSeparator"):
            return "/"
        self.unknown.append(name)
        return "$${" + name + "}"


def variable_for(input_id: str) -> str:
    """The environment variable that stands in for a value that VS Code asks for."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", input_id).strip("_").upper() or "INPUT"
    return f"_{name}" if name[0].isdigit() else name


def read_entry(
    name: str,
    entry: Any,
    *,
    file: str,
    scope: str = "",
    translate: Translate = literal,
    known: frozenset[str] = frozenset(),
) -> FoundServer:
    """One entry with ``command``, ``args``, ``env``, ``cwd`` or ``url``, ``headers``.

    ``known``: further keys that the caller deals with, so that no note is made of them.
    """
    if not isinstance(entry, dict):
        return FoundServer(name, file, scope, problem="it is not an object")
    fields = cast("dict[str, Any]", entry)
    try:
        table = _table(fields, translate)
    except _Unusable as error:
        return FoundServer(name, file, scope, problem=str(error))
    notes: list[str] = []
    if fields.get("disabled") is True or fields.get("enabled") is False:
        table["enabled"] = False
        notes.append("it is switched off there")
    left = sorted(key for key in fields if key not in _KNOWN | known)
    if left:
        notes.append(f"not taken over: {', '.join(left)}")
    return FoundServer(name, file, scope, table, tuple(notes))


def _table(fields: Mapping[str, Any], translate: Translate) -> dict[str, Any]:
    kind = str(fields.get("type") or fields.get("transport") or "").lower()
    if kind == "sse":
        raise _Unusable("it uses the old SSE transport; mms speaks streamable HTTP and stdio")
    url = _text(fields.get("url") or fields.get("serverUrl"), "url", translate)
    command = _text(fields.get("command"), "command", translate)
    if kind in _HTTP and not url:
        raise _Unusable("it is of type http and has no url")
    if kind == "stdio" and not command:
        raise _Unusable("it is of type stdio and has no command")
    if kind and kind not in _HTTP and kind != "stdio":
        raise _Unusable(f"its type {kind!r} is not known to mms")
    if not command and not url:
        raise _Unusable("it has neither command nor url")
    if url and (kind in _HTTP or not command):
        table: dict[str, Any] = {"url": url}
        headers = _texts_by_name(fields.get("headers"), "headers", translate)
        return table | ({"headers": headers} if headers else {})
    table = {"command": command}
    if args := _texts(fields.get("args"), "args", translate):
        table["args"] = args
    if env := _texts_by_name(fields.get("env"), "env", translate):
        table["env"] = env
    if cwd := _text(fields.get("cwd"), "cwd", translate):
        table["cwd"] = cwd
    return table


def _text(value: Any, key: str, translate: Translate) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _Unusable(f"its {key} is not a text")
    return translate(value)


def _texts(value: Any, key: str, translate: Translate) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise _Unusable(f"its {key} is not a list")
    return [translate(_scalar(item, key)) for item in cast("list[Any]", value)]


def _texts_by_name(value: Any, key: str, translate: Translate) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _Unusable(f"its {key} is not an object")
    items = cast("dict[str, Any]", value).items()
    # An explicit null means "not set" in VS Code.
    return {name: translate(_scalar(item, key)) for name, item in items if item is not None}


def _scalar(value: Any, key: str) -> str:
    """Programs are lenient about numbers and booleans here; so are we."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    raise _Unusable(f"its {key} holds something that is not a text")
