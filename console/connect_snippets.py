"""What to write into each host's configuration, so that it talks to mms. Pure text.

Hosts start programs with a small PATH, so the command is always an absolute path.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

NAME = "mms"
"""The name under which hosts list the server."""
CLIENTS = ("claude-code", "claude-desktop", "cursor", "vscode", "codex", "generic")


@dataclass(frozen=True, slots=True)
class Snippet:
    """One thing to do."""

    where: str
    """The file, or that it is a command."""
    text: str


def snippets_for(
    client: str, program: str, *, home: str = "", http_url: str = "", token_file: str = ""
) -> tuple[Snippet, ...]:
    """What to do for one of `CLIENTS`.

    ``program``: absolute path of ``mms``. ``home``: value of ``MMS_HOME``, for a separate instance.
    ``http_url`` and ``token_file``: the loopback endpoint if it is on; where the client can use it
    a second way is shown. The token itself is never printed.
    """
    stdio = _stdio(program, home)
    http = _http(http_url, token_file) if http_url else None
    match client:
        case "claude-code":
            return _claude_code(program, home, stdio, http, token_file)
        case "claude-desktop":
            return (
                Snippet(
                    "claude_desktop_config.json (Settings, Developer, Edit Config); then restart it",
                    _document("mcpServers", stdio),
                ),
            )
        case "cursor":
            ways = [
                Snippet("~/.cursor/mcp.json, or .cursor/mcp.json", _document("mcpServers", stdio))
            ]
            if http is not None:
                remote = {"url": http["url"], "headers": http["headers"]}
                ways.append(Snippet("the same file, over HTTP", _document("mcpServers", remote)))
            return tuple(ways)
        case "vscode":
            ways = [Snippet(".vscode/mcp.json", _document("servers", {"type": "stdio", **stdio}))]
            if http is not None:
                ways.append(Snippet("the same file, over HTTP", _document("servers", http)))
            return tuple(ways)
        case "codex":
            return _codex(program, home, http_url)
        case "generic":
            ways = [Snippet("the client's list of MCP servers", _document("mcpServers", stdio))]
            if http is not None:
                ways.append(Snippet("the same, over HTTP", _document("mcpServers", http)))
            return tuple(ways)
        case _:
            raise ValueError(f"{client!r} is none of {', '.join(CLIENTS)}")


def _stdio(program: str, home: str) -> dict[str, object]:
    entry: dict[str, object] = {"command": program, "args": ["connect"]}
    if home:
        entry["env"] = {"MMS_HOME": home}
    return entry


def _http(url: str, token_file: str) -> dict[str, object]:
    return {
        "type": "http",
        "url": url,
        "headers": {"Authorization": f"Bearer (the text in {token_file})"},
    }


def _claude_code(
    program: str,
    home: str,
    stdio: Mapping[str, object],
    http: Mapping[str, object] | None,
    token_file: str,
) -> tuple[Snippet, ...]:
    # -e takes everything up to the next option, so the name goes before it.
    env = f" -e {shlex.quote('MMS_HOME=' + home)}" if home else ""
    ways = [
        Snippet(
            "a command",
            f"claude mcp add --scope user {NAME}{env} -- {shlex.quote(program)} connect",
        ),
        Snippet("or .mcp.json in a project", _document("mcpServers", stdio)),
    ]
    if http is not None:
        # The header option takes several values, so it stands last.
        ways.append(
            Snippet(
                "or over HTTP, a command",
                f"claude mcp add --scope user --transport http {NAME} {http['url']} "
                f'-H "Authorization: Bearer $(cat {shlex.quote(token_file)})"',
            )
        )
    return tuple(ways)


def _codex(program: str, home: str, http_url: str) -> tuple[Snippet, ...]:
    lines = [
        f"[mcp_servers.{NAME}]",
        f"command = {_toml(program)}",
        'args = ["connect"]',
    ]
    if home:
        lines.append(f"env = {{ MMS_HOME = {_toml(home)} }}")
    ways = [Snippet("~/.codex/config.toml", "\n".join(lines))]
    if http_url:
        ways.append(
            Snippet(
                "the same file, over HTTP, with the token in the variable MMS_TOKEN",
                f"[mcp_servers.{NAME}]\nurl = {_toml(http_url)}\n"
                'bearer_token_env_var = "MMS_TOKEN"',
            )
        )
    return tuple(ways)


def _toml(text: str) -> str:
    """A basic string: JSON's escapes are TOML's, but for DEL, which TOML wants escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _document(section: str, entry: Mapping[str, object]) -> str:
    return json.dumps({section: {NAME: entry}}, indent=2, ensure_ascii=False)
