"""``mms memory preview``, ``run`` and ``runs``: what forgetting would archive or did."""

from __future__ import annotations

import argparse
from itertools import groupby
from typing import TYPE_CHECKING

from console.cli.actions import AddAction
from console.cli.context import Context
from console.cli.context import run as run_async
from console.cli.errors import ExitCode
from console.cli.memory_asking import (
    PERSON,
    ask,
    confirm,
    document,
    moment,
    parse_instant,
    space_of,
)
from console.cli.memory_showing import words_of

if TYPE_CHECKING:
    from memory.api import DecisionView, PlanView, RunResult
    from memory.model import Reason

_SHOWN_DIGITS = 12
_TYPED_DIGITS = 8


def configure(action: AddAction) -> None:
    """Add the actions."""
    preview = action("preview", "what forgetting would archive, and why; changes nothing")
    preview.add_argument(
        "--at", metavar="TIME", help="as if it were then; such a plan can't be run"
    )
    preview.add_argument("--limit", "-n", metavar="N", type=int, default=50, help="1 to 500")
    preview.set_defaults(do=_preview)
    run = action("run", "archive what the last preview said")
    run.add_argument("--plan", metavar="HASH", default="", help="of a preview, at least 8 digits")
    run.add_argument("--skip-changed", action="store_true", help="leave alone what changed since")
    run.add_argument("--yes", action="store_true", help="do not ask")
    run.set_defaults(do=_run)
    runs = action("runs", "the forgetting runs, newest first")
    runs.add_argument("--limit", "-n", metavar="N", type=int, default=50, help="1 to 500")
    runs.set_defaults(do=_runs)


def _preview(arguments: argparse.Namespace, context: Context) -> int:
    from memory.api import PreviewForgetting

    at = parse_instant(arguments.at, "--at")
    space = space_of(arguments, context)
    view = ask(context, PreviewForgetting(space, at=at, limit=arguments.limit))
    if context.out.as_json:
        context.out.json(document(view))
        return ExitCode.OK
    _print_plan(view, context)
    if at is not None:
        context.out.line("\nThis is a look ahead; it can't be run.")
    elif any(pruned for _, pruned, _ in view.by_reason):
        context.out.line(f"\nArchive them: mms memory run --plan {view.plan.hash[:_SHOWN_DIGITS]}")
    return ExitCode.OK


def _print_plan(view: PlanView, context: Context) -> None:
    plan, out = view.plan, context.out
    pruned = plan.scanned - plan.kept
    out.line(f"Plan {plan.hash[:_SHOWN_DIGITS]}: {pruned} of {plan.scanned} would be archived.")
    counts = {reason: (gone, kept) for reason, gone, kept in view.by_reason}
    for reason, items in groupby(view.items, key=lambda one: one.decision.reason):
        gone, kept = counts.get(reason, (0, 0))
        guarded = f", {kept} guarded" if kept else ""
        out.line(f"\n{_name(reason)}: {gone} archived{guarded}")
        for item in items:
            _print_decision(item, context)
    if view.next:
        shown, whole = len(view.items), sum(gone + kept for gone, kept in counts.values())
        out.line(f"\n{shown} of {whole} are shown; --limit N shows more.")


def _name(reason: Reason) -> str:
    return reason.value.replace("_", " ").capitalize()


def _print_decision(view: DecisionView, context: Context) -> None:
    decision = view.decision
    what = "archive" if decision.prune else "keep"
    guard = f" ({decision.guard.value.replace('_', ' ')})" if decision.guard is not None else ""
    line = f"  {what}{guard} {decision.id}: {words_of(view.record)}"
    context.out.line(f"{line}  [need {decision.terms.need:.3f}]")
    if view.survivor is not None:
        context.out.line(f"    stays {view.survivor.id}: {words_of(view.survivor)}")


def _run(arguments: argparse.Namespace, context: Context) -> int:
    from memory.api import GetPlan, RunForgetting

    space = space_of(arguments, context)

    async def work() -> RunResult:
        async with context.memory() as memory:
            plan = (await memory.ask(GetPlan(arguments.plan, space, limit=1), PERSON)).plan
            pruned = plan.scanned - plan.kept
            confirm(
                f"Archive {pruned} of {plan.scanned} memories of space {space}? "
                f"Plan {plan.hash[:_SHOWN_DIGITS]}, previewed {moment(plan.now, context)}.",
                plan.hash[:_TYPED_DIGITS],
                yes=arguments.yes,
            )
            request = RunForgetting(plan.hash, space, skip_changed=arguments.skip_changed)
            return await memory.ask(request, PERSON)

    result = run_async(work())
    if context.out.as_json:
        context.out.json(document(result))
        return ExitCode.OK
    run = result.run
    assert run is not None  # the person's own wish is never a proposal
    context.out.line(f"{run.archived} archived by run {run.id}.")
    for reason, count in run.by_reason:
        context.out.line(f"  {_name(reason)}: {count}")
    if result.skipped:
        context.out.line(f"  {len(result.skipped)} had changed since and were left alone.")
    context.out.line(f"Take it back: mms memory undo {run.id}")
    return ExitCode.OK


def _runs(arguments: argparse.Namespace, context: Context) -> int:
    from memory.api import ListRuns

    page = ask(context, ListRuns(space_of(arguments, context), arguments.limit))
    if context.out.as_json:
        context.out.json(document(page))
        return ExitCode.OK
    if not page.runs:
        context.out.line("Nothing was ever forgotten by a run.")
        return ExitCode.OK
    context.out.table(
        ("ID", "WHEN", "BY", "ARCHIVED", "MISSED", "UNDONE", "WHY"),
        [
            (
                run.id,
                moment(run.at, context),
                run.actor,
                str(run.archived),
                str(run.would_have_hit),
                "" if run.undone_at is None else moment(run.undone_at, context),
                ", ".join(f"{_name(reason).lower()} {count}" for reason, count in run.by_reason),
            )
            for run in page.runs
        ],
        right=("ARCHIVED", "MISSED"),
    )
    return ExitCode.OK
