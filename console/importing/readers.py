"""The formats of the files, one function each: text in, findings out. Pure.

What a whole file is wrong about raises `UnreadableError`; a bad entry is a server with a ``problem``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from console.importing.entries import (
    EditorVariables,
    Translate,
    literal,
    read_entry,
    shell_like,
    variable_for,
)
from console.importing.jsonc import parse_jsonc
from console.importing.servers import FileProblem, Findings, FoundServer, UnreadableError

_LINE = re.compile(r"\(at line (\d+)")


def read_claude_code(text: str, file: str, *, project: str, all_projects: bool) -> Findings:
    """``~/.claude.json``: servers for everywhere, and those of projects (this one, or all)."""
    data = _object(parse_jsonc(text))
    servers = _servers(data.get("mcpServers"), file, translate=shell_like)
    problems = _shape(data.get("mcpServers"), file, "mcpServers")
    projects = data.get("projects")
    for directory, settings in _items(projects):
        if not isinstance(settings, dict) or not (all_projects or directory == project):
            continue
        own = cast("dict[str, Any]", settings).get("mcpServers")
        servers += _servers(own, file, scope=directory, translate=shell_like)
    return Findings(tuple(servers), tuple(problems))


def read_mcp_servers(text: str, file: str, *, translate: Translate = literal) -> Findings:
    """``{"mcpServers": {NAME: …}}``: Claude Desktop (literal) and ``.mcp.json`` (as Claude Code)."""
    data = _object(parse_jsonc(text))
    servers = _servers(data.get("mcpServers"), file, translate=translate)
    return Findings(tuple(servers), tuple(_shape(data.get("mcpServers"), file, "mcpServers")))


def read_cursor(text: str, file: str, *, directory: str, home: str) -> Findings:
    """``mcp.json`` of Cursor; ``directory`` is its project, empty for the user's file."""
    data = _object(parse_jsonc(text))
    return _of_editor(data, "mcpServers", file, directory, home, {})


def read_vscode(text: str, file: str, *, directory: str, home: str) -> Findings:
    """``mcp.json`` of VS Code: ``servers``, and ``inputs`` that it asks the person for."""
    data = _object(parse_jsonc(text))
    asked = cast("list[Any]", data["inputs"]) if isinstance(data.get("inputs"), list) else []
    inputs = [cast("dict[str, Any]", one) for one in asked if isinstance(one, dict)]
    wanted = {str(one.get("id")): str(one.get("description") or "") for one in inputs}
    return _of_editor(data, "servers", file, directory, home, wanted)


def read_codex(text: str, file: str) -> Findings:
    """``config.toml`` of Codex: ``[mcp_servers.NAME]``."""
    try:
        data = tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        found = _LINE.search(str(error))
        reason = f"not valid TOML: {str(error).partition(' (at ')[0]}"
        raise UnreadableError(reason, int(found[1]) if found else None) from None
    except RecursionError:
        raise UnreadableError("nested too deeply") from None
    section = data.get("mcp_servers")
    servers = [_codex_entry(name, entry, file) for name, entry in _items(section)]
    return Findings(tuple(servers), tuple(_shape(section, file, "mcp_servers")))


def read_stm(text: str, file: str) -> Findings:
    """``stm_proxy.json`` of memtomem-stm: ``upstream_servers``."""
    data = _object(parse_jsonc(text))
    section = data.get("upstream_servers")
    servers = [_stm_entry(name, entry, file) for name, entry in _items(section)]
    return Findings(tuple(servers), tuple(_shape(section, file, "upstream_servers")))


def read_any(text: str, file: str, *, project: str, home: str) -> Findings:
    """A file that a person named: the format is told by its content."""
    if file.endswith(".toml"):
        return read_codex(text, file)
    data = _object(parse_jsonc(text))
    if "upstream_servers" in data:
        return read_stm(text, file)
    if "servers" in data and "mcpServers" not in data:
        return read_vscode(text, file, directory=project, home=home)
    if "projects" in data:
        return read_claude_code(text, file, project=project, all_projects=True)
    if "mcpServers" in data:
        return read_mcp_servers(text, file, translate=shell_like)
    raise UnreadableError(
        "there is no mcpServers, servers, upstream_servers or [mcp_servers] in it"
    )


# -- editors ----------------------------------------------------------------------------------


def _of_editor(
    data: Mapping[str, Any],
    section: str,
    file: str,
    directory: str,
    home: str,
    wanted: Mapping[str, str],
) -> Findings:
    servers: list[FoundServer] = []
    for name, entry in _items(data.get(section)):
        variables = EditorVariables(directory, home)
        found = read_entry(name, entry, file=file, translate=variables)
        notes = list(found.notes)
        for one in dict.fromkeys(variables.inputs):
            about = f" ({wanted[one]})" if wanted.get(one) else ""
            notes.append(f"asked for there{about}: set the variable {variable_for(one)}")
        if variables.unknown:
            names = ", ".join(dict.fromkeys(variables.unknown))
            notes.append(f"variables of the editor that mms does not have: {names}")
        servers.append(replace(found, notes=tuple(notes)))
    return Findings(tuple(servers), tuple(_shape(data.get(section), file, section)))


# -- Codex ------------------------------------------------------------------------------------

_CODEX_KEYS = frozenset(
    {
        "env_vars", "bearer_token_env_var", "http_headers", "env_http_headers",
        "startup_timeout_sec", "startup_timeout_ms", "tool_timeout_sec", "disabled_tools",
        "enabled_tools",
    }
)  # fmt: skip


def _codex_entry(name: str, entry: Any, file: str) -> FoundServer:
    found = read_entry(name, entry, file=file, known=_CODEX_KEYS)
    if found.problem:
        return found
    fields = cast("dict[str, Any]", entry)
    table = dict(found.table)
    passed_on = {one: f"${{{one}}}" for one in _list_of_texts(fields.get("env_vars"))}
    if passed_on and "command" in table:
        table["env"] = passed_on | table.get("env", {})
    if "url" in table:
        headers = {key: literal(str(value)) for key, value in _items(fields.get("http_headers"))}
        headers |= {key: f"${{{value}}}" for key, value in _items(fields.get("env_http_headers"))}
        if isinstance(fields.get("bearer_token_env_var"), str):
            headers["Authorization"] = f"Bearer ${{{fields['bearer_token_env_var']}}}"
        if headers:
            table["headers"] = table.get("headers", {}) | headers
    start = fields.get("startup_timeout_sec")
    if start is None and _is_number(fields.get("startup_timeout_ms")):
        start = fields["startup_timeout_ms"] / 1000
    _take_seconds(table, "connect_timeout_seconds", start)
    _take_seconds(table, "call_timeout_seconds", fields.get("tool_timeout_sec"))
    _hide_tools(table, _list_of_texts(fields.get("disabled_tools")))
    notes = found.notes
    if fields.get("enabled_tools") is not None:
        notes += ("there only some tools are enabled; here all are, until you switch some off",)
    return replace(found, table=table, notes=notes)


# -- memtomem-stm -----------------------------------------------------------------------------

_STM_KEYS = frozenset(
    {"prefix", "connect_timeout_seconds", "call_timeout_seconds", "tool_overrides", "origin"}
)


def _stm_entry(name: str, entry: Any, file: str) -> FoundServer:
    found = read_entry(name, entry, file=file, known=_STM_KEYS)
    if found.problem:
        return found
    fields = cast("dict[str, Any]", entry)
    table = dict(found.table)
    if isinstance(fields.get("prefix"), str) and fields["prefix"]:
        table["prefix"] = fields["prefix"]
    for key in ("connect_timeout_seconds", "call_timeout_seconds"):
        _take_seconds(table, key, fields.get(key))
    hidden = [
        tool
        for tool, override in _items(fields.get("tool_overrides"))
        if isinstance(override, dict) and cast("dict[str, Any]", override).get("hidden") is True
    ]
    _hide_tools(table, hidden)
    return replace(found, table=table)


# -- pieces -----------------------------------------------------------------------------------


def _servers(
    section: Any, file: str, *, scope: str = "", translate: Translate
) -> list[FoundServer]:
    return [
        read_entry(name, entry, file=file, scope=scope, translate=translate)
        for name, entry in _items(section)
    ]


def _object(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)
    raise UnreadableError("it is not a JSON object")


def _items(value: Any) -> list[tuple[str, Any]]:
    return list(cast("dict[str, Any]", value).items()) if isinstance(value, dict) else []


def _shape(section: Any, file: str, name: str) -> list[FileProblem]:
    if section is None or isinstance(section, dict):
        return []
    return [FileProblem(file, None, f"{name} is not an object")]


def _list_of_texts(value: Any) -> list[str]:
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return [item for item in items if isinstance(item, str)]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _take_seconds(table: dict[str, Any], key: str, value: Any) -> None:
    if _is_number(value) and 0.1 <= value < 1e9:
        table[key] = float(value)


def _hide_tools(table: dict[str, Any], tools: list[str]) -> None:
    if tools:
        table["tools"] = {tool: {"enabled": False} for tool in tools}
