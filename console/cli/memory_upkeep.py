"""``mms memory stats``, ``reindex``, ``verify`` and ``serve``."""

from __future__ import annotations

import argparse
import asyncio
from typing import TYPE_CHECKING

from console.cli.actions import AddAction
from console.cli.context import Context
from console.cli.context import run as run_async
from console.cli.errors import CliError, ExitCode
from console.cli.memory_asking import PERSON, ask, document, moment, space_of
from console.cli.output import note
from console.cli.progress import Progress

if TYPE_CHECKING:
    from memory.api import IndexStatus, OverviewResult

POLL_SECONDS = 0.5
PATIENCE_SECONDS = 60.0
"""Without a single new vector for so long, something is wrong and waiting ends."""


def configure(action: AddAction) -> None:
    """Add the actions."""
    action("stats", "how much is remembered, what waits, how the indexes are").set_defaults(
        do=_stats
    )
    reindex = action("reindex", "make missing vectors with the settings' model, and wait for them")
    reindex.add_argument("--from-scratch", action="store_true", help="make all vectors again")
    reindex.set_defaults(do=_reindex)
    action(
        "verify", "check journal, records and indexes; exit code 1 when they differ"
    ).set_defaults(do=_verify)
    action(
        "serve", "be an MCP server with the memory alone, on standard input and output"
    ).set_defaults(do=_serve)


def _stats(arguments: argparse.Namespace, context: Context) -> int:
    from memory.api import GetOverview

    overview = ask(context, GetOverview(space_of(arguments, context)))
    if context.out.as_json:
        context.out.json(document(overview))
        return ExitCode.OK
    _print_stats(overview, context)
    return ExitCode.OK


def _print_stats(overview: OverviewResult, context: Context) -> None:
    from console import format as figures
    from memory.model import Kind, State

    counts = {(one.kind, one.state): one.count for one in overview.counts}
    states = [state for state in State if any(one.state is state for one in overview.counts)]
    out = context.out
    out.line(f"Space {overview.space} of {', '.join(overview.spaces) or 'none yet'}.")
    if not counts:
        out.line("Nothing is remembered here yet.")
    else:
        heads = [state.value.upper() for state in states]
        rows = [
            (kind.value, *(figures.count(counts.get((kind, state), 0)) for state in states))
            for kind in Kind
        ]
        out.table(("KIND", *heads), rows, right=heads)
    index, run = overview.index, overview.last_run
    out.line(f"\n{figures.plural(overview.open_proposals, 'decision')} to make.")
    if run is not None:
        undone = ", undone" if run.undone_at is not None else ""
        out.line(
            f"Last forgetting run: {moment(run.at, context)}, {run.archived} archived{undone}; "
            f"{overview.would_have_hit} searches of 30 days would have found what runs archived."
        )
    pending = f", {figures.count(index.pending)} to come" if index.pending else ""
    out.line(f"Vectors: {figures.count(index.vectors)} of {index.model or 'no model'}{pending}.")
    out.line(
        f"Journal: {figures.count(overview.position)} entries, "
        f"{figures.size(overview.bytes_on_disk)} on disk."
    )
    if index.problem:
        note(index.problem)


def _reindex(arguments: argparse.Namespace, context: Context) -> int:
    status = run_async(_built(context, from_scratch=arguments.from_scratch))
    if context.out.as_json:
        context.out.json({"index": document(status)})
    else:
        from console import format as figures

        context.out.line(
            f"{figures.plural(status.vectors, 'vector')} of {status.model or 'no model'}."
        )
    return ExitCode.OK


async def _built(context: Context, *, from_scratch: bool) -> IndexStatus:
    """Wait until nothing is to be made any more. Ctrl+c leaves; what is made stays made."""
    from memory.api import GetIndexStatus, Reindex

    loop = asyncio.get_running_loop()
    async with context.memory() as memory:
        status = await memory.ask(Reindex(from_scratch), PERSON)
        moved, left = loop.time(), _left(status)
        whole, bar = left, Progress()
        while _left(status):
            if _left(status) != left:
                moved, left = loop.time(), _left(status)
            whole = max(whole, left)
            bar.show(whole - left, whole)
            if loop.time() - moved > PATIENCE_SECONDS:
                bar.end()
                raise CliError(
                    f"{left} vectors are still to be made and none comes. "
                    f"{status.problem or 'The memory log may tell why.'}"
                )
            await asyncio.sleep(POLL_SECONDS)
            status = await memory.ask(GetIndexStatus(), PERSON)
        bar.end()
    return status


def _left(status: IndexStatus) -> int:
    building = status.to_build - status.built if status.building else 0
    return max(status.pending, building, 1 if status.building else 0)


def _verify(_arguments: argparse.Namespace, context: Context) -> int:
    from memory.api import Verify

    result = ask(context, Verify())
    if context.out.as_json:
        context.out.json(document(result))
    elif not result.problems:
        context.out.line(f"All is well: {result.entries:,} journal entries checked.")
    for problem in result.problems:
        context.out.line(problem)
    return ExitCode.FAILED if result.problems else ExitCode.OK


def _serve(arguments: argparse.Namespace, context: Context) -> int:
    from console.version import product_version
    from memory.serve import main

    return main(
        context.environ,
        version=product_version(),
        space=arguments.space,
        project_directory=context.directory,
    )
