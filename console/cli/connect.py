"""``mms connect``: what a host launches, and what to write into the host's configuration.

The launcher takes a short way to the bridge; this module is reached for ``--print`` and for help.
"""

from __future__ import annotations

import argparse

from console.cli.context import Context
from console.cli.errors import ExitCode
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


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Print the snippet, or be the bridge."""
    if arguments.print is None:
        from proxy.bridge import main

        return main(["--no-start"] if arguments.no_start else [])
    from console.launching import own_program

    http = context.load().settings.proxy.http
    url = f"http://{http.host}:{http.port}/mcp" if http.enabled and http.port else ""
    found = snippets_for(
        arguments.print,
        own_program(),
        home=context.environ.get("MMS_HOME", ""),
        http_url=url,
        token_file=str(context.paths.http_token_file),
    )
    context.out.line("\n\n".join(f"# {one.where}\n{one.text}" for one in found))
    if context.out.as_json:
        context.out.json({"client": arguments.print, "snippets": found})
    return ExitCode.OK
