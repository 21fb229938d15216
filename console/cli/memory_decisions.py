"""``mms memory proposals``, ``approve``, ``reject``, ``keep-both`` and ``undo``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from console import word_diff
from console.cli.actions import AddAction
from console.cli.context import Context
from console.cli.context import run as run_async
from console.cli.errors import CliError, ExitCode
from console.cli.memory_asking import PERSON, ask, document, moment, parse_instant, space_of
from console.cli.memory_showing import words_of
from memory.model import Proposal, ProposalKind, ProposalState, Record, Run

if TYPE_CHECKING:
    from memory.api import Decision, MemoryPort, ProposalView, UndoResult

_STATES = tuple(state.value for state in ProposalState)
_KINDS = tuple(kind.value for kind in ProposalKind)
_SHORTEST_PREFIX = 6
_ID_LENGTH = 26


def configure(action: AddAction) -> None:
    """Add the actions."""
    proposals = action("proposals", "what waits for a decision, with the words that differ")
    proposals.add_argument(
        "--state", action="append", choices=(*_STATES, "all"), default=[], help="open if not given"
    )
    proposals.add_argument("--kind", action="append", choices=_KINDS, default=[])
    proposals.add_argument("--limit", "-n", metavar="N", type=int, default=50, help="1 to 500")
    proposals.add_argument("--after", metavar="ID", default="", help="where the next page begins")
    proposals.set_defaults(do=_proposals)

    approve = _with_id(action("approve", "do what a proposal says"))
    approve.add_argument("--keep", metavar="ID", default="", help="let this memory stay instead")
    approve.add_argument("--valid-to", metavar="TIME", help="until when the replaced one held")
    approve.add_argument("--reason", metavar="TEXT", default="")
    approve.set_defaults(do=_approve)
    reject = _with_id(action("reject", "leave everything as it is"))
    reject.add_argument("--reason", metavar="TEXT", default="")
    reject.add_argument(
        "--keep-both", action="store_true", help="both hold; never propose this pair again"
    )
    reject.set_defaults(do=_reject)
    keep = _with_id(action("keep-both", "both memories hold; never propose this pair again"))
    keep.add_argument("--reason", metavar="TEXT", default="")
    keep.set_defaults(do=_reject, keep_both=True)
    undo = action("undo", "take a decision or a forgetting run back")
    undo.add_argument("id", metavar="RUN|PROPOSAL", help="or its beginning")
    undo.set_defaults(do=_undo)


def _with_id(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("id", metavar="PROPOSAL", help="or its beginning, at least 6 characters")
    return parser


def _proposals(arguments: argparse.Namespace, context: Context) -> int:
    from memory.api import ListProposals

    wanted = arguments.state or [ProposalState.OPEN.value]
    page = ask(
        context,
        ListProposals(
            space_of(arguments, context),
            () if "all" in wanted else tuple(map(ProposalState, wanted)),
            tuple(map(ProposalKind, arguments.kind)),
            arguments.limit,
            arguments.after,
        ),
    )
    if context.out.as_json:
        context.out.json(document(page))
        return ExitCode.OK
    if not page.items:
        context.out.line("Nothing waits for a decision." if not arguments.state else "None.")
    for place, view in enumerate(page.items):
        if place:
            context.out.line()
        _print(view, context)
    if page.next:
        context.out.line(f"\nMore: --after {page.next}")
    return ExitCode.OK


def _print(view: ProposalView, context: Context) -> None:
    out, proposal = context.out, view.proposal
    out.line(f"{proposal.id}  {_title(proposal)}, {moment(proposal.created_at, context)}")
    if proposal.decided_at is not None:
        reason = f": {proposal.reason}" if proposal.reason else ""
        when = moment(proposal.decided_at, context)
        out.line(f"  {_words(proposal.state.value)} by {proposal.decided_by}, {when}{reason}")
    match proposal.kind:
        case ProposalKind.RUN:
            out.line(f"  Run the forgetting plan {proposal.plan_hash[:12]}.")
        case ProposalKind.APPROVE:
            for record in view.keep:
                out.line(f"  let in {record.id} (from {record.origin.value}): {words_of(record)}")
                if record.source_ref:
                    out.line(f"  source {record.source_ref}")
        case _:
            _print_pairs(view, context)


def _title(proposal: Proposal) -> str:
    match proposal.kind:
        case ProposalKind.SUPERSEDE:
            klass = _words(proposal.evidence.klass.value)
            what = f"supersede, {klass} ({proposal.evidence.score:.2f})"
        case ProposalKind.DUPLICATE:
            what = f"duplicates, {_words(proposal.evidence.klass.value)}"
        case _:
            what = proposal.kind.value
    asked = " and an agent" if proposal.agent_verdict and proposal.proposer == "engine" else ""
    return f"{what}, by {proposal.proposer}{asked}"


def _print_pairs(view: ProposalView, context: Context) -> None:
    """Each record that would go against the one that would stay, the words that differ in brackets."""
    keep = view.keep[0] if view.keep else None
    for old in view.replace:
        if keep is None:
            context.out.line(f"  replace {old.id}: {_text(old)}")
            continue
        before, after = word_diff.compare(_text(old), _text(keep))
        context.out.line(f"  replace {old.id}: {word_diff.marked(before, '[-', '-]')}")
        context.out.line(f"  by      {keep.id}: {word_diff.marked(after, '{+', '+}')}")


def _text(record: Record) -> str:
    return "\n".join((record.text.content, *record.text.steps)) or "(erased)"


def _words(value: str) -> str:
    return value.replace("_", " ")


def _approve(arguments: argparse.Namespace, context: Context) -> int:
    from memory.api import Decision

    return _decide(arguments, context, Decision.APPROVE)


def _reject(arguments: argparse.Namespace, context: Context) -> int:
    from memory.api import Decision

    decision = Decision.KEEP_BOTH if arguments.keep_both else Decision.REJECT
    return _decide(arguments, context, decision)


def _decide(arguments: argparse.Namespace, context: Context, decision: Decision) -> int:
    from memory.api import Decide

    space = space_of(arguments, context)
    valid_to = parse_instant(getattr(arguments, "valid_to", None), "--valid-to")

    async def work() -> ProposalView:
        async with context.memory() as memory:
            view = await find_proposal(memory, arguments.id, space)
            keep = getattr(arguments, "keep", "")
            return await memory.ask(
                Decide(
                    view.proposal.id,
                    decision,
                    space,
                    arguments.reason,
                    _member(view.proposal, keep) if keep else "",
                    valid_to,
                ),
                PERSON,
            )

    return _tell(run_async(work()), context)


def _member(proposal: Proposal, id: str) -> str:
    """The record of the proposal that ``id`` names or begins; as it is when none or several are."""
    found = [one for one in (*proposal.keep, *proposal.replace) if one.startswith(id.upper())]
    return found[0] if len(found) == 1 and len(id) >= _SHORTEST_PREFIX else id


def _tell(view: ProposalView, context: Context) -> int:
    if context.out.as_json:
        context.out.json(document(view))
        return ExitCode.OK
    state = view.proposal.state
    told = "waits for a decision again" if state is ProposalState.OPEN else _words(state.value)
    context.out.line(f"{view.proposal.id}: {told}.")
    for record in (*view.keep, *view.replace):
        context.out.line(f"  {record.id} is {record.state.value}: {words_of(record)}")
    return ExitCode.OK


async def find_proposal(memory: MemoryPort, id: str, space: str) -> ProposalView:
    """The proposal that ``id`` names or begins. Raises `CliError`."""
    from memory.api import ListProposals

    found: list[ProposalView] = []
    after = ""
    while len(id) >= _SHORTEST_PREFIX:
        page = await memory.ask(ListProposals(space, (), limit=500, after=after), PERSON)
        found += [one for one in page.items if one.proposal.id.startswith(id.upper())]
        after = page.next
        if not after or (found and len(id) == _ID_LENGTH):
            break
    return _only(
        found, id, f"There is no proposal {id} in space {space}. See mms memory proposals."
    )


def _only(found: list[ProposalView], id: str, missing: str) -> ProposalView:
    if not found:
        raise CliError(missing)
    if len(found) > 1:
        raise CliError(f"Several proposals begin with {id}. Write more of the id.")
    return found[0]


def _undo(arguments: argparse.Namespace, context: Context) -> int:
    result = run_async(_undone(context, arguments.id, space_of(arguments, context)))
    from memory.api import UndoResult

    if not isinstance(result, UndoResult):
        return _tell(result, context)
    if context.out.as_json:
        context.out.json(document(result))
    else:
        context.out.line(f"The run {result.run.id} is undone: {len(result.restored)} came back.")
        for id in result.conflicts:
            context.out.line(f"  {id} had changed since and was left alone.")
    return ExitCode.OK


async def _undone(context: Context, id: str, space: str) -> UndoResult | ProposalView:
    from memory.api import Decide, Decision, ListRuns, UndoRun

    async with context.memory() as memory:
        runs = (await memory.ask(ListRuns(space, 500), PERSON)).runs
        found = [one for one in runs if one.id.startswith(id.upper())]
        if found and len(id) >= _SHORTEST_PREFIX:
            return await memory.ask(UndoRun(_to_undo(found, id, context).id, space), PERSON)
        view = await find_proposal(memory, id, space)
        return await memory.ask(Decide(view.proposal.id, Decision.UNDO, space), PERSON)


def _to_undo(found: list[Run], id: str, context: Context) -> Run:
    if len(found) > 1:
        raise CliError(f"Several runs begin with {id}. Write more of the id.")
    undone_at = found[0].undone_at
    if undone_at is not None:
        raise CliError(f"The run {found[0].id} was undone, {moment(undone_at, context)}.")
    return found[0]


__all__ = ["configure", "find_proposal"]
