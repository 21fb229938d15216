"""The verbs, and reading the command line.

Only the modules of verbs that the line names are imported. A verb's module has
``configure(parser)``, which adds its arguments, and ``run(arguments, context) -> int``.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Sequence
from typing import NamedTuple


class Verb(NamedTuple):
    """One entry of the list of verbs."""

    module: str
    summary: str


VERBS: dict[str, Verb] = {
    "serve": Verb("serve", "be a station without a screen"),
    "connect": Verb(
        "connect", "what a host launches; --print CLIENT shows what to configure there"
    ),
    "stop": Verb("stop", "end the running station"),
    "status": Verb("status", "whether a station runs, and what it does"),
    "add": Verb("add", "add an upstream"),
    "remove": Verb("remove", "take an upstream out"),
    "enable": Verb("switch", "switch an upstream on"),
    "disable": Verb("switch", "switch an upstream off"),
    "list": Verb("listing", "the upstreams"),
    "health": Verb("health", "the state of each upstream; exit code 1 when one is unwell"),
    "stats": Verb("stats", "calls, tokens and savings: per tool, server and day"),
    "calls": Verb("calls", "the log of calls, or one call with its texts"),
    "whatif": Verb("whatif", "a recorded call's answer under other settings, side by side"),
    "held": Verb("held", "the whole answers behind what was cut: list, show, drop"),
    "cache": Verb("cache", "forget answers that are kept to be given again"),
    "surfacing": Verb(
        "surfacing", "memories shown with answers, their ratings, and why none were shown"
    ),
    "rate": Verb("rate", "say what a shown memory was worth"),
    "tune": Verb("tune", "what would serve better, as a diff of the settings; --apply writes it"),
    "config": Verb("settings", "show, check and change the settings"),
    "import": Verb("importing", "take over MCP servers from other programs' configuration"),
    "memory": Verb(
        "memory", "the agent's memory: add, query, list, decide, forget, export, import and more"
    ),
    "demo": Verb("demo", "see it at work with bundled servers and a scripted agent"),
    "version": Verb("version", "the version"),
}

_CODES = (
    "exit codes: 0 done, 1 failed or unhealthy, 2 wrong command line, 3 no station, "
    "4 invalid configuration"
)


def parse(words: Sequence[str]) -> argparse.Namespace:
    """The arguments, with ``run`` and ``json`` always there. Leaves by `SystemExit` as argparse does."""
    from console.cli import console

    parser = argparse.ArgumentParser(
        prog="mms",
        description="A terminal control console that hosts an MCP proxy. "
        "Without a verb: open the console.",
        epilog=_CODES,
        allow_abbrev=False,
    )
    console.configure(parser)
    parser.set_defaults(run=console.run, json=False, verb="")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", dest="verb")
    for name, verb in VERBS.items():
        sub = verbs.add_parser(
            name, help=verb.summary, description=_sentence(verb.summary), allow_abbrev=False
        )
        if name not in words:
            continue
        sub.add_argument("--json", action="store_true", help="print JSON")
        module = importlib.import_module(f"console.cli.{verb.module}")
        module.configure(sub)
        sub.set_defaults(run=module.run)
        if words[0] == name and hasattr(module, "prepare"):
            words = module.prepare(list(words))
    return parser.parse_args(words)


def _sentence(summary: str) -> str:
    return summary[0].upper() + summary[1:] + "."


def add_flags(parser: argparse.ArgumentParser) -> None:
    """``--set KEY=VALUE`` for the verbs that start a station."""
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="a setting for this run only, stronger than environment and files",
    )


def flags_of(arguments: argparse.Namespace) -> dict[str, str]:
    """The values of ``--set``. Raises `UsageError`."""
    from console.cli.errors import UsageError

    flags: dict[str, str] = {}
    for text in arguments.set:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise UsageError(f"--set {text}: write it as KEY=VALUE.")
        flags[key.strip()] = value
    return flags
