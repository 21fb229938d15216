"""``mms memory add``, ``query``, ``list``, ``show``, ``history``, ``archive``, ``restore``, ``expunge``."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from console.cli.actions import AddAction
from console.cli.context import Context
from console.cli.context import run as run_async
from console.cli.errors import ExitCode, UsageError
from console.cli.memory_asking import (
    PERSON,
    ask,
    confirm,
    document,
    document_of_patch,
    full_id,
    full_record,
    moment,
    parse_instant,
    space_of,
)
from console.cli.memory_showing import print_record, print_records, say_record
from console.cli.output import note
from memory.model import Kind, MemoryText, Record, State

if TYPE_CHECKING:
    from memory.api import Receipt, Request, SearchResult, Stored

KINDS = tuple(kind.value for kind in Kind)
STATES = tuple(state.value for state in State)


def configure(action: AddAction) -> None:
    """Add the actions."""
    add = action("add", "store a memory, and see what it contradicts or repeats")
    add.add_argument("text", metavar="TEXT", help="what to remember; - reads standard input")
    add.add_argument("--kind", choices=KINDS, default=Kind.SEMANTIC.value)
    add.add_argument("--importance", metavar="N", type=float, default=0.5, help="0 to 1")
    add.add_argument("--category", metavar="NAME", default="general")
    add.add_argument("--domain", metavar="NAME")
    add.add_argument("--summary", metavar="TEXT", default="")
    add.add_argument("--session", metavar="ID", help="of an episode")
    add.add_argument("--turn", metavar="N", type=int, help="of an episode")
    add.add_argument(
        "--step", metavar="TEXT", action="append", default=[], help="of a procedure; in order"
    )
    add.add_argument("--precondition", metavar="TEXT", action="append", default=[])
    add.add_argument("--valid-from", metavar="TIME", help="ISO 8601, local without a zone")
    add.add_argument("--valid-to", metavar="TIME", help="the first moment when it holds no more")
    add.add_argument("--pin", action="store_true", help="never let it be forgotten")
    add.set_defaults(do=_add)

    query = action("query", "search by meaning and words")
    query.add_argument("query", metavar="TEXT")
    query.add_argument("-k", dest="top_k", metavar="N", type=int, default=5, help="1 to 100")
    query.add_argument("--kind", action="append", choices=KINDS, default=[])
    query.add_argument("--as-of", metavar="TIME", help="what held then")
    query.add_argument("--as-known-at", metavar="TIME", help="what the memory knew then")
    query.add_argument("--include-superseded", action="store_true")
    query.add_argument("--include-archived", action="store_true")
    query.set_defaults(do=_query)

    listed = action("list", "the memories, newest first")
    listed.add_argument(
        "--state", action="append", choices=(*STATES, "all"), default=[], help="active if not given"
    )
    listed.add_argument("--kind", action="append", choices=KINDS, default=[])
    listed.add_argument("--session", metavar="ID", help="of this conversation only")
    listed.add_argument("--limit", "-n", metavar="N", type=int, default=50, help="1 to 500")
    listed.add_argument("--after", metavar="CURSOR", default="", help="where the next page begins")
    listed.set_defaults(do=_list)

    for name, summary, do in (
        ("show", "one memory with all that is known of it", _show),
        ("history", "what happened to a memory, newest first", _history),
        ("restore", "make an archived or superseded memory active again", _restore),
    ):
        _with_id(action(name, summary)).set_defaults(do=do)
    archive = _with_id(action("archive", "take a memory out of search; restore brings it back"))
    archive.add_argument("--reason", metavar="TEXT", default="")
    archive.set_defaults(do=_archive)
    expunge = _with_id(action("expunge", "erase a memory's text everywhere, for ever"))
    expunge.add_argument("--reason", metavar="TEXT", default="")
    expunge.add_argument("--yes", action="store_true", help="do not ask")
    expunge.set_defaults(do=_expunge)


def _with_id(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("id", metavar="ID", help="or its beginning, at least 6 characters")
    return parser


def _add(arguments: argparse.Namespace, context: Context) -> int:
    from memory.api import AddRecord

    request = AddRecord(
        Kind(arguments.kind),
        MemoryText(
            _text(arguments.text),
            summary=arguments.summary,
            steps=tuple(arguments.step),
            preconditions=tuple(arguments.precondition),
        ),
        space_of(arguments, context),
        importance=arguments.importance,
        category=arguments.category,
        domain=arguments.domain,
        session_id=arguments.session,
        turn_number=arguments.turn,
        valid_from=parse_instant(arguments.valid_from, "--valid-from"),
        valid_to=parse_instant(arguments.valid_to, "--valid-to"),
    )
    stored = run_async(_stored(context, request, pin=arguments.pin))
    if context.out.as_json:
        context.out.json(document(stored))
        return ExitCode.OK
    verb = "Was there already" if stored.repeated else "Stored"
    waits = " It waits for review." if stored.record.state is State.QUARANTINED else ""
    context.out.line(f"{verb}: {stored.record.id}.{waits}")
    for candidate in stored.contradictions:
        say_record(context, "contradicts", candidate.record)
        if candidate.proposal_id:
            context.out.line(
                f"  If only the new one holds: mms memory approve {candidate.proposal_id}"
            )
    for candidate in stored.duplicates:
        say_record(context, "repeats", candidate.record)
    if stored.redacted:
        note(f"{stored.redacted} secrets in the text were replaced.")
    if stored.degraded:
        note(stored.degraded)
    return ExitCode.OK


async def _stored(context: Context, request: Request[Stored], *, pin: bool) -> Stored:
    from dataclasses import replace

    from memory.api import EditRecord

    async with context.memory() as memory:
        stored = await memory.ask(request, PERSON)
        if not pin or stored.record.pinned:
            return stored
        record = stored.record
        change = EditRecord(record.id, record.version, record.space, pinned=True)
        return replace(stored, record=await memory.ask(change, PERSON))


def _text(given: str) -> str:
    if given != "-":
        return given
    data = sys.stdin.buffer.read()
    try:
        return data.decode("utf-8").strip("\n")
    except UnicodeDecodeError as error:
        raise UsageError(f"standard input is not UTF-8 at byte {error.start + 1}.") from None


def _query(arguments: argparse.Namespace, context: Context) -> int:
    from memory.api import Search

    result = ask(
        context,
        Search(
            arguments.query,
            space_of(arguments, context),
            arguments.top_k,
            tuple(map(Kind, arguments.kind)),
            include_superseded=arguments.include_superseded,
            include_archived=arguments.include_archived,
            as_of=parse_instant(arguments.as_of, "--as-of"),
            as_known_at=parse_instant(arguments.as_known_at, "--as-known-at"),
        ),
    )
    if context.out.as_json:
        context.out.json(document(result))
        return ExitCode.OK
    _print_hits(result, context)
    return ExitCode.OK


_PARTS = ("SCORE", "MEANING", "WORDS", "RECENCY", "WEIGHT")


def _print_hits(result: SearchResult, context: Context) -> None:
    from memory.text import title

    if not result.hits:
        context.out.line("Nothing was found.")
    else:
        context.out.table(
            ("ID", *_PARTS, "KIND", "TEXT"),
            [
                (
                    hit.record.id,
                    *(
                        f"{part:.2f}"
                        for part in (
                            hit.parts.final_score,
                            hit.parts.raw_similarity,
                            hit.parts.words,
                            hit.parts.recency_score,
                            hit.parts.importance_score,
                        )
                    ),
                    hit.record.kind.value,
                    "".join(f"[{one}] " for one in hit.warnings) + title(hit.record.text),
                )
                for hit in result.hits
            ],
            right=_PARTS,
        )
    if result.repeats_left_out:
        context.out.line(f"\n{result.repeats_left_out} more say the same as one of these.")
    if result.degraded:
        note(result.degraded)


def _list(arguments: argparse.Namespace, context: Context) -> int:
    from memory.api import ListRecords

    wanted = arguments.state or [State.ACTIVE.value]
    page = ask(
        context,
        ListRecords(
            space_of(arguments, context),
            tuple(map(Kind, arguments.kind)),
            () if "all" in wanted else tuple(map(State, wanted)),
            session_id=arguments.session,
            limit=arguments.limit,
            after=arguments.after,
        ),
    )
    if context.out.as_json:
        context.out.json(document(page))
        return ExitCode.OK
    print_records(page.records, context)
    if page.next:
        context.out.line(f"\nMore: --after {page.next}")
    return ExitCode.OK


def _show(arguments: argparse.Namespace, context: Context) -> int:
    from memory.api import GetRecord

    detail = ask(context, GetRecord(arguments.id, space_of(arguments, context)))
    if context.out.as_json:
        context.out.json(document(detail))
        return ExitCode.OK
    print_record(detail, context)
    return ExitCode.OK


def _history(arguments: argparse.Namespace, context: Context) -> int:
    from memory.api import GetRecord

    detail = ask(context, GetRecord(arguments.id, space_of(arguments, context)))
    if context.out.as_json:
        context.out.json({"id": detail.record.id, "history": document(detail.history)})
        return ExitCode.OK
    context.out.table(
        ("WHEN", "VERSION", "ACTION", "BY", "CHANGED"),
        [
            (
                moment(entry.at, context),
                str(entry.version),
                entry.action.replace("_", " "),
                entry.actor or entry.origin.value,
                _changes(entry.patch) if entry.action not in ("stored", "imported") else "",
            )
            for entry in detail.history
        ],
        right=("VERSION",),
    )
    return ExitCode.OK


def _changes(patch: str) -> str:
    import json

    values = document_of_patch(patch)
    return ", ".join(
        f"{name} = {value if isinstance(value, str) else json.dumps(value)}"
        for name, value in values.items()
        if name != "digest"
    )


def _archive(arguments: argparse.Namespace, context: Context) -> int:
    from memory.api import ArchiveRecord

    space = space_of(arguments, context)

    async def work() -> Record:
        async with context.memory() as memory:
            id = await full_id(memory, arguments.id, space)
            return await memory.ask(ArchiveRecord(id, space, arguments.reason), PERSON)

    return _changed(run_async(work()), context)


def _restore(arguments: argparse.Namespace, context: Context) -> int:
    from memory.api import RestoreRecord

    space = space_of(arguments, context)

    async def work() -> Record:
        async with context.memory() as memory:
            id = await full_id(memory, arguments.id, space)
            return await memory.ask(RestoreRecord(id, space), PERSON)

    return _changed(run_async(work()), context)


def _changed(record: Record, context: Context) -> int:
    if context.out.as_json:
        context.out.json({"record": document(record)})
    else:
        context.out.line(f"{record.id} is {record.state.value}.")
    return ExitCode.OK


def _expunge(arguments: argparse.Namespace, context: Context) -> int:
    from memory.api import ExpungeRecord
    from memory.text import title

    space = space_of(arguments, context)

    async def work() -> Receipt:
        async with context.memory() as memory:
            record = await full_record(memory, arguments.id, space)
            confirm(
                f"Erase {record.id} for ever? It says: {title(record.text)}",
                record.id[-6:],
                yes=arguments.yes,
            )
            return await memory.ask(ExpungeRecord(record.id, arguments.reason, space), PERSON)

    receipt = run_async(work())
    if context.out.as_json:
        context.out.json(document(receipt))
    else:
        context.out.line(f"Erased: {receipt.id}.")
        for place in receipt.places:
            context.out.line(f"  {place}")
    for problem in receipt.problems:
        note(problem)
    return ExitCode.FAILED if receipt.problems else ExitCode.OK
