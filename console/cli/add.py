"""``mms add NAME``: a program (``--command``, or everything after ``--``) or an address (``--url``)."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from console.cli.context import Context
from console.cli.editing import edit
from console.cli.errors import UsageError

_WITH_VALUE = (
    "--command", "--args", "--env", "--cwd", "--url", "--header", "--prefix", "--transport"
)  # fmt: skip
_TRANSPORTS = {
    "auto": "",
    "stdio": "stdio",
    "http": "http",
    "streamable_http": "http",
    "streamable-http": "http",
}
_LINE = "--after-two-dashes"
"""How `prepare` hands over what follows ``--``: as JSON, since argparse interprets words."""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.usage = (
        "mms add NAME (--command PROGRAM [--args ARGS] | --url URL) [options]\n"
        "       mms add NAME [options] -- PROGRAM [ARG ...]"
    )
    parser.add_argument("name", metavar="NAME", help="letters, digits, - and _; at most 32")
    parser.add_argument("--command", metavar="PROGRAM", default="", help="the program to start")
    parser.add_argument(
        "--args",
        metavar="ARGS",
        action="append",
        default=[],
        help='its arguments, split as a shell would: --args "-y pkg ~/dir"; may be repeated',
    )
    parser.add_argument(
        "--env",
        metavar="K=V",
        action="append",
        default=[],
        help="a variable for the program; K alone passes on the one of that name",
    )
    parser.add_argument("--cwd", metavar="DIR", default="", help="its working directory")
    parser.add_argument("--url", metavar="URL", default="", help="a streamable HTTP server")
    parser.add_argument(
        "--header", metavar='"K: V"', action="append", default=[], help="an HTTP header"
    )
    parser.add_argument(
        "--prefix", metavar="PREFIX", default="", help="tools become PREFIX__TOOL (default: NAME)"
    )
    parser.add_argument("--transport", choices=list(_TRANSPORTS), default="auto")
    parser.add_argument("--disabled", action="store_true", help="do not start it yet")
    parser.add_argument(_LINE, dest="line", type=json.loads, default=[], help=argparse.SUPPRESS)


def prepare(words: list[str]) -> list[str]:
    """Let values begin with a dash (``--args -y``), and keep what follows ``--`` for the program."""
    line: list[str] = []
    if "--" in words:
        cut = words.index("--")
        words, line = words[:cut], words[cut + 1 :]
    out: list[str] = []
    rest = iter(words)
    for word in rest:
        value = next(rest, None) if word in _WITH_VALUE else None
        out.append(word if value is None else f"{word}={value}")
    return [*out, f"{_LINE}={json.dumps(line)}"] if line else out


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Write it to the user's file."""
    from config.edit import add_upstream

    name = arguments.name
    table = table_of(arguments, context.directory)
    file = context.paths.config_file
    return edit(
        context,
        lambda: add_upstream(file, name, table, environ=context.environ),
        f"Upstream {name} was added to {file}.",
        lambda: _notes(name, table, context.environ.get("PATH")),
    )


def table_of(arguments: argparse.Namespace, directory: Path) -> dict[str, object]:
    """The upstream's TOML table. ``directory`` makes a relative ``--cwd`` absolute."""
    line: list[str] = arguments.line
    command = arguments.command
    words = [word for text in arguments.args for word in _split(text)]
    if line and command:
        raise UsageError("Give the program either with --command or after --, not both.")
    if line:
        command, *tail = line
        words += tail
    if bool(command) == bool(arguments.url):
        raise UsageError(
            f"Say what {arguments.name} is: --command PROGRAM (or -- PROGRAM ARG …), or --url URL."
        )
    if arguments.url and (words or arguments.env or arguments.cwd):
        raise UsageError("--args, --env and --cwd belong to --command; a URL takes --header.")
    if command and arguments.header:
        raise UsageError("--header belongs to --url; a program takes --env.")
    table: dict[str, object] = {
        "prefix": arguments.prefix,
        "command": command,
        "args": words,
        "env": dict(_variable(text) for text in arguments.env),
        "cwd": _directory(arguments.cwd, directory),
        "url": arguments.url,
        "headers": dict(_header(text) for text in arguments.header),
        "transport": _TRANSPORTS[arguments.transport],
    }
    if arguments.disabled:
        table["enabled"] = False
    return table


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(
            f"--args {text}: it cannot be split ({str(error).lower()}). Close the quotes, or give "
            "the program after --."
        ) from error


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not _VARIABLE.match(name):
        raise UsageError(f"--env {name}: write it as NAME=VALUE, or NAME to pass one on.")
    return name, value if equals else "${" + name + "}"


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        # The text may hold a token: do not repeat it.
        raise UsageError('--header: write it as "NAME: VALUE".')
    return name.strip(), value.strip()


def _directory(text: str, directory: Path) -> str:
    if not text or text.startswith(("~", "$")) or Path(text).is_absolute():
        return text
    return os.path.normpath(directory / text)


def _notes(name: str, table: dict[str, object], path: str | None) -> Sequence[str]:
    command = str(table["command"])
    if not command or command.startswith(("~", "$")) or shutil.which(command, path=path):
        return ()
    return (
        (
            f"Note: the program {command} was not found on PATH. Install it, or give its full path: "
            f"mms config set upstreams.{name}.command PATH"
        ),
    )
