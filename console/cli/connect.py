"""``mms connect``: what a host launches, and what to write into the host's configuration.

The launcher takes a short way to the bridge; this module is reached for ``--print`` and for help.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from console.cli.context import Context
from console.cli.context import run as run_async
from console.cli.errors import ExitCode
from console.cli.output import note
from console.connect_snippets import CLIENTS, snippets_for


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--print",
        metavar="CLIENT",
        choices=CLIENTS,
        help="print what to configure in CLIENT: " + ", ".join(CLIENTS),
    )
    parser.add_argument(
        "--no-start", action="store_true", help="answer with an error when no station runs"
    )
    parser.add_argument("--space", metavar="NAME", default="", help="use this space of the memory")


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Print the snippet, or be the bridge."""
    if arguments.print is None:
        from proxy.bridge import main

        space = ["--space", arguments.space] if arguments.space else []
        return main(space + (["--no-start"] if arguments.no_start else []))
    from console.launching import own_program

    home = context.environ.get("MMS_HOME", "")
    found = snippets_for(
        arguments.print,
        own_program(),
        home=str(Path(home).expanduser().absolute()) if home else "",
        http_url=run_async(_http_url(context)),
        token_file=str(context.paths.http_token_file),
    )
    for one in found:
        # Only the text itself goes to the output, so that it can be piped into a file.
        note(f"# {one.where}")
        context.out.line(one.text)
        context.out.flush()
    if context.out.as_json:
        context.out.json({"client": arguments.print, "snippets": found})
    return ExitCode.OK


async def _http_url(context: Context) -> str:
    """Address of the loopback endpoint; empty when it is off."""
    from console.station import StationUnavailable

    try:
        async with context.station_if_any() as station:
            if station is not None:
                return (await station.snapshot()).station.http
    except StationUnavailable:
        pass  # what the settings say is good enough for a printed hint
    http = context.load().settings.proxy.http
    return f"http://{http.host}:{http.port}/mcp" if http.enabled and http.port else ""
