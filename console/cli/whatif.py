"""``mms whatif CALL``: a recorded answer under other settings, side by side; ``--apply`` writes one."""

from __future__ import annotations

import argparse

from config.schema import Compression
from console.cli.context import Context
from console.cli.context import run as run_async
from console.cli.editing import TakeOver, tell_station
from console.cli.errors import CliError, ExitCode, UsageError
from console.safe import safe_line
from console.trials import LEAST_BUDGET, settings_of
from proxy.answer_model import Variant, WhatIf, WhatIfQuery

_EXAMPLES = 3
_EXAMPLE_CHARACTERS = 60
_NAMES = tuple(one.value for one in Compression)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("call", metavar="CALL", type=int, help="its number, as mms calls lists it")
    parser.add_argument(
        "--strategy",
        "-s",
        metavar="NAME",
        action="append",
        default=[],
        choices=_NAMES,
        help=f"try this one, may be repeated: {', '.join(_NAMES)}; "
        "without it those that suit the content",
    )
    parser.add_argument(
        "--budget", metavar="TOKENS", type=int, default=None, help="instead of the one in force"
    )
    parser.add_argument(
        "--query", metavar="TEXT", default=None, help="what is looked for, instead of the call's"
    )
    parser.add_argument(
        "--show", metavar="NAME", default="", choices=_NAMES, help="print the text of this one"
    )
    parser.add_argument(
        "--apply",
        metavar="NAME",
        default="",
        choices=_NAMES,
        help="write this strategy, and --budget if given, to the settings of the call's tool",
    )


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Print the comparison, then apply what was asked for."""
    if arguments.budget is not None and arguments.budget < LEAST_BUDGET:
        raise UsageError(f"--budget: a number of tokens from {LEAST_BUDGET} on.")
    strategies = list(dict.fromkeys(arguments.strategy))
    if strategies or arguments.show:
        named = (one for one in (arguments.show, arguments.apply) if one)
        strategies = list(dict.fromkeys((*strategies, *named)))
    query = WhatIfQuery(arguments.call, tuple(strategies), arguments.budget, arguments.query)
    view = run_async(_ask(context, query))
    if view.problem:
        raise CliError(view.problem)
    _print(view, arguments.show, context)
    applied = None
    code = ExitCode.OK
    if arguments.apply:
        applied = _apply(view, arguments.apply, arguments.budget, context)
        code = ExitCode.FAILED if applied["station"] == "refused" else ExitCode.OK
    if context.out.as_json:
        context.out.json({"what_if": view, "applied": applied})
    return code


async def _ask(context: Context, query: WhatIfQuery) -> WhatIf:
    async with context.station() as station:
        return await station.what_if(query)


# -- printing ---------------------------------------------------------------------------------

_NUMBERS = ("TOKENS", "OF ALL", "FACTS KEPT", "TO FETCH", "LOST", "MS")


def _print(view: WhatIf, show: str, context: Context) -> None:
    from console import format as figures

    out = context.out
    budget = view.variants[0].budget_tokens if view.variants else 0
    out.line(
        f"call {view.call_id}, {view.upstream} / {view.tool}: "
        f"{figures.plural(view.before_tokens, 'token')} of {view.content}"
        + (f", budget {figures.count(budget)}" if budget else "")
    )
    rows: list[tuple[str, ...]] = []
    if view.sent is not None:
        rows.append(_row(f"was sent: {view.sent.strategy}", view.sent, view.before_tokens))
    rows += [_row(_name(one), one, view.before_tokens) for one in view.variants]
    out.line()
    out.table(("STRATEGY", *_NUMBERS), rows, right=_NUMBERS)
    for title, wanted in (("loses", "lost_examples"), ("leaves to fetch", "missing_examples")):
        lines = [
            f"  {one.asked}: {_some(getattr(one.facts, wanted))}"
            for one in view.variants
            if getattr(one.facts, wanted)
        ]
        if lines:
            out.line(f"\nWhat each {title}, for example:")
            for line in lines:
                out.line(line)
    for one in view.variants:
        if one.asked == show:
            out.line(f"\nThe answer by {_name(one)}:\n\n{one.text}")


def _some(examples: tuple[str, ...]) -> str:
    """The first few on one line; JSON has all."""
    shown = [safe_line(example, _EXAMPLE_CHARACTERS) for example in examples[:_EXAMPLES]]
    more = len(examples) - len(shown)
    return " | ".join(shown) + (f" | {more} more" if more > 0 else "")


def _name(one: Variant) -> str:
    return one.asked if one.strategy == one.asked else f"{one.asked} \u2192 {one.strategy}"


def _row(name: str, one: Variant, before: int) -> tuple[str, ...]:
    from console import format as figures

    return (
        name,
        figures.tokens(one.tokens),
        figures.percent(one.tokens, before),
        figures.count(one.facts.retained),
        figures.count(one.facts.recoverable),
        figures.count(one.facts.lost),
        figures.milliseconds(one.milliseconds) if one.milliseconds else figures.NONE,
    )


# -- applying ---------------------------------------------------------------------------------


def _apply(view: WhatIf, strategy: str, budget: int | None, context: Context) -> dict[str, object]:
    """Write the settings of the tool. Raises `EditRefusedError`."""
    from config.edit import set_key

    file = context.paths.config_file
    changes = dict(settings_of(view.upstream, view.tool, strategy, budget))
    for key, value in changes.items():
        set_key(file, key, value, environ=context.environ)
    told: TakeOver = tell_station(context)
    written = "; ".join(f"{key} = {value}" for key, value in changes.items())
    context.out.line(f"\n{written}\nwas written to {file}. {told.text}")
    return {
        "settings": changes,
        "file": str(file),
        "station": told.station,
        "station_message": told.text,
    }
