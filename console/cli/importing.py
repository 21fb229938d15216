"""``mms import``: a preview of the MCP servers that other programs use; ``--write`` takes them over."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from console.cli.context import Context
from console.cli.editing import tell_station
from console.cli.errors import ExitCode, UsageError
from console.cli.output import complain

if TYPE_CHECKING:
    from console.importing.find import ImportPlan
    from console.importing.plan import PlannedServer

SOURCES = ("claude-code", "claude-desktop", "cursor", "vscode", "codex", "mcp-json", "stm")


@dataclass(frozen=True, slots=True)
class PreviewedServer:
    """One server, as ``--json`` prints it. Values of variables and headers are not in it."""

    name: str
    original_name: str
    source: str
    file: str
    scope: str
    status: str
    target: str
    variables: tuple[str, ...]
    notes: tuple[str, ...]
    written: bool


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "sources", metavar="SOURCE", nargs="*", help=f"{', '.join(SOURCES)}; all if none is named"
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="also the servers that Claude Code has for other projects than this directory",
    )
    parser.add_argument("--write", action="store_true", help="take them over; else only show them")
    parser.add_argument(
        "--only", metavar="NAME", action="append", default=[], help="take over only this one"
    )
    parser.add_argument(
        "--from",
        dest="files",
        metavar="FILE",
        action="append",
        type=Path,
        default=[],
        help="read this file, in any of the known formats",
    )


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Show the plan, and carry it out if asked."""
    from console.importing.find import plan_import
    from console.importing.sources import Source

    for name in arguments.sources:
        if name not in SOURCES:
            raise UsageError(f"{name} is no source. There are {', '.join(SOURCES)}.")
    plan = plan_import(
        context.environ,
        context.directory,
        context.paths.config_file,
        sources=[Source(name) for name in arguments.sources],
        named=arguments.files,
        all_projects=arguments.all,
    )
    chosen = [one for one in plan.servers if one.importable and _wanted(one, arguments.only)]
    _check_names(arguments.only, plan)
    for problem in plan.problems:
        complain(str(problem))
    if arguments.write and chosen:
        return _write(plan, chosen, context)
    _print(plan, context)
    if context.out.as_json:
        context.out.json(_document(plan, frozenset(), ()))
    elif chosen:
        context.out.line(
            f"\nNothing was written. Take over {_count(len(chosen))} with: mms import --write"
        )
    elif plan.servers:
        context.out.line("\nThere is nothing new to take over.")
    bad_named = arguments.files and plan.problems
    return ExitCode.FAILED if bad_named else ExitCode.OK


def _wanted(server: PlannedServer, only: Sequence[str]) -> bool:
    return not only or server.name in only or server.original_name in only


def _check_names(only: Sequence[str], plan: ImportPlan) -> None:
    known = {name for one in plan.servers for name in (one.name, one.original_name)}
    for name in only:
        if name not in known:
            raise UsageError(f"--only {name}: no server of that name was found.")


def _count(number: int) -> str:
    return "this server" if number == 1 else f"these {number} servers"


def _print(plan: ImportPlan, context: Context) -> None:
    if context.out.as_json:
        return
    if not plan.servers:
        looked = f" in {', '.join(plan.files)}" if plan.files else ""
        context.out.line(f"No MCP servers were found{looked}.")
        return
    context.out.table(
        ("NAME", "STATUS", "FROM", "TARGET", "SECRETS", "NOTES"),
        [
            (
                one.name,
                one.status.value,
                one.source.value + (f" ({one.scope})" if one.scope else ""),
                one.target,
                " ".join(f"{name}={_hidden()}" for name in one.variables),
                "; ".join(one.notes),
            )
            for one in plan.servers
        ],
    )
    context.out.line()
    for file in plan.files:
        context.out.line(f"read {file}")


def _hidden() -> str:
    from config.secrets import SECRET_MARK

    return SECRET_MARK


def _write(plan: ImportPlan, chosen: Sequence[PlannedServer], context: Context) -> int:
    from config.edit import EditRefusedError, add_upstream

    file = context.paths.config_file
    written: list[str] = []
    failures: list[str] = []

    for server in chosen:
        try:
            add_upstream(file, server.name, server.table, environ=context.environ)
        except EditRefusedError as error:
            # One server that our rules refuse must not keep the others out.
            failures.append(f"{server.name} was not taken over: {error}")
        else:
            written.append(server.name)
    for failure in failures:
        complain(failure)
    outcome = tell_station(context) if written else None
    if context.out.as_json:
        document = _document(plan, frozenset(written), failures)
        if outcome is not None:
            document |= {"station": outcome.station, "station_message": outcome.text}
        context.out.json(document)
    elif outcome is not None:
        context.out.line(f"Taken over into {file}: {', '.join(written)}. {outcome.text}")
        for server in chosen:
            if server.name in written and server.notes:
                context.out.line(f"{server.name}: {'; '.join(server.notes)}")
    refused = outcome is not None and outcome.station == "refused"
    return ExitCode.FAILED if failures or refused else ExitCode.OK


def _document(
    plan: ImportPlan, written: frozenset[str], failures: Sequence[str]
) -> dict[str, object]:
    return {
        "servers": [
            PreviewedServer(
                name=one.name,
                original_name=one.original_name,
                source=one.source.value,
                file=one.file,
                scope=one.scope,
                status=one.status.value.replace(" ", "_"),
                target=one.target,
                variables=one.variables,
                notes=one.notes,
                written=one.importable and one.name in written,
            )
            for one in plan.servers
        ],
        "problems": plan.problems,
        "failures": list(failures),
        "files": plan.files,
    }
