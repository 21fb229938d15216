"""``mms config …``: show, check and change the settings."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from console.cli.actions import add_actions
from console.cli.context import Context
from console.cli.context import run as run_async
from console.cli.editing import edit
from console.cli.errors import CliError, ExitCode
from console.cli.output import note
from proxy.model import SettingRow, SettingsView

if TYPE_CHECKING:
    from config.problem import Problem


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the actions and their arguments."""
    action = add_actions(parser, required=True)
    show = action("show", "the settings in force and where each comes from")
    show.add_argument("pattern", metavar="PATTERN", nargs="?", default="", help="proxy, proxy.h*")
    show.add_argument("--changed", action="store_true", help="only those that are not defaults")
    show.add_argument("--help-text", action="store_true", help="with the meaning of each")
    get = action("get", "one value, as TOML")
    get.add_argument("key", metavar="KEY")
    set_ = action("set", "write one key; comments and order of the file stay")
    set_.add_argument("key", metavar="KEY")
    set_.add_argument("value", metavar="VALUE", help="TOML, or bare text where text is expected")
    unset = action("unset", "take one key out, so that its default counts again")
    unset.add_argument("key", metavar="KEY")
    action("path", "where the file is")
    validate = action("validate", "check the settings; exit code 4 when something is wrong")
    validate.add_argument("file", metavar="FILE", nargs="?", type=Path, default=None)
    action("schema", "a JSON schema of the file, for editors")


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Do the action."""
    match arguments.action:
        case "show":
            return _show(arguments, context)
        case "get":
            return _get(arguments.key, context)
        case "set":
            return _set(arguments.key, arguments.value, context)
        case "unset":
            return _unset(arguments.key, context)
        case "path":
            return _path(context)
        case "validate":
            return _validate(arguments.file, context)
        case _:
            return _schema(context)


# -- reading ----------------------------------------------------------------------------------


async def _in_force(context: Context) -> SettingsView | None:
    """The settings of the running station, which may differ from what is on disk."""
    async with context.station_if_any() as station:
        return None if station is None else await station.settings()


def _rows(context: Context) -> tuple[tuple[SettingRow, ...], SettingsView | None]:
    view = run_async(_in_force(context))
    if view is not None:
        return view.rows, view
    from config.describe import setting_rows

    rows = tuple(
        SettingRow(
            key=row.key,
            value=row.value,
            default=row.default,
            source=row.source.value,
            where=row.where,
            live=row.live,
            help=row.help,
        )
        for row in setting_rows(context.load())
    )
    return rows, None


def _show(arguments: argparse.Namespace, context: Context) -> int:
    rows, view = _rows(context)
    wanted = [
        row
        for row in rows
        if _named(row.key, arguments.pattern)
        and not (arguments.changed and row.source == "default")
    ]
    if context.out.as_json:
        context.out.json({"station": view is not None, "settings": wanted})
        return ExitCode.OK
    if not wanted:
        context.out.line("No setting matches." if arguments.pattern else "All are defaults.")
        return ExitCode.OK
    heads = ("KEY", "VALUE", "SOURCE", "CHANGE", "WHERE")
    context.out.table(
        (*heads, "MEANING") if arguments.help_text else heads,
        [
            (
                row.key,
                row.value or "\u2013",
                row.source,
                "live" if row.live else "restart",
                row.where,
                *((row.help,) if arguments.help_text else ()),
            )
            for row in wanted
        ],
    )
    problems = view.problems if view is not None else context.load().problems
    if problems:
        note("The settings have problems; see: mms config validate")
    return ExitCode.OK


def _named(key: str, pattern: str) -> bool:
    return (
        not pattern
        or key == pattern
        or key.startswith(f"{pattern}.")
        or ("*" in pattern and fnmatchcase(key, pattern))
    )


def _get(key: str, context: Context) -> int:
    from config.describe import get

    info = get(context.load(), key)  # says what may have been meant when there is no such key
    rows, view = _rows(context)
    row = next((one for one in rows if one.key == info.key), None)
    value, source, where = (
        (info.value, info.source.value, info.where)
        if row is None
        else (row.value, row.source, row.where)
    )
    context.out.line(value)
    if context.out.as_json:
        context.out.json(
            {
                "key": info.key,
                "value": value,
                "default": info.default,
                "source": source,
                "where": where,
                "live": info.live,
                "station": view is not None,
            }
        )
    return ExitCode.OK


def _path(context: Context) -> int:
    context.out.line(str(context.paths.config_file))
    if context.out.as_json:
        paths = context.paths
        context.out.json(
            {
                "config_file": str(paths.config_file),
                "state_directory": str(paths.state_directory),
                "socket": str(paths.socket),
                "log_file": str(paths.log_file),
                "calls_database": str(paths.calls_database),
            }
        )
    return ExitCode.OK


def _schema(context: Context) -> int:
    from config.describe import json_schema

    context.out.json(json_schema())
    return ExitCode.OK


# -- checking ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CheckedProblem:
    """A problem, as ``--json`` prints it."""

    file: str
    line: int | None
    column: int | None
    key: str
    reason: str
    hint: str
    severity: str


def _validate(file: Path | None, context: Context) -> int:
    from config.problem import errors_in

    problems = context.load().problems if file is None else _problems_of(file, context)
    checked = [
        CheckedProblem(
            one.file, one.line, one.column, one.key, one.reason, one.hint, one.severity.value
        )
        for one in problems
    ]
    errors = errors_in(problems)
    for problem in problems:
        context.out.line(f"{problem.severity.value}: {problem}")
    if not errors:
        context.out.line(f"{file or context.paths.config_file}: valid")
    if context.out.as_json:
        context.out.json({"valid": not errors, "problems": checked})
    return ExitCode.CONFIGURATION if errors else ExitCode.OK


def _problems_of(file: Path, context: Context) -> tuple[Problem, ...]:
    from config.load import problems_in

    try:
        text = file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise CliError(
            f"{file}: not text in UTF-8 ({error.reason}).", ExitCode.CONFIGURATION
        ) from None
    return problems_in(text, file, context.environ)


# -- changing ---------------------------------------------------------------------------------


def _set(key: str, value: str, context: Context) -> int:
    from config.edit import set_key

    file = context.paths.config_file
    return edit(
        context,
        lambda: set_key(file, key, value, environ=context.environ),
        f"{key} was written to {file}.",
        lambda: _after(key, context),
    )


def _unset(key: str, context: Context) -> int:
    from config.edit import unset_key

    file = context.paths.config_file

    def change() -> None:
        if not unset_key(file, key, environ=context.environ):
            raise CliError(f"{key} is not set in {file}.")

    return edit(context, change, f"{key} was taken out of {file}.", lambda: _after(key, context))


def _after(key: str, context: Context) -> list[str]:
    """What a person should know about a key that was just changed."""
    from console.station import StationUnavailable

    try:
        rows, _ = _rows(context)
    except StationUnavailable:
        return []  # that it could not be told is said already
    row = next((one for one in rows if one.key == key), None)
    if row is None:
        return []  # an entry of a table
    notes: list[str] = []
    if row.source not in ("default", "user file"):
        where = f"{row.where} ({row.source})" if row.where else f"the {row.source}"
        notes.append(f"It stays {row.value}: {where} is stronger.")
    if not row.live:
        notes.append("It takes effect when a station starts.")
    return notes
