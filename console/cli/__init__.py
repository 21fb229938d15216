"""The command line: ``mms VERB …``. One module per verb; this one only finds and runs it.

Exit codes are in `console.cli.errors`, all output goes through `console.cli.output`. Nothing heavy is
imported before the verb that needs it runs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line (without the program's name) and return its exit code."""
    from console.cli.arguments import parse
    from console.cli.context import Context
    from console.cli.errors import ExitCode, report

    _survive_any_locale()
    words = list(sys.argv[1:] if argv is None else argv)
    as_json = "--json" in words[: words.index("--") if "--" in words else None]
    try:
        try:
            arguments = parse(words)
        except SystemExit as leaving:  # argparse has said what is wrong, or printed the help
            sys.stdout.flush()
            return leaving.code if isinstance(leaving.code, int) else ExitCode.USAGE
        context = Context.here(os.environ, as_json=arguments.json)
        code = int(arguments.run(arguments, context))
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (``| head``) has what it wanted.
        _stop_writing()
        return ExitCode.OK
    except (KeyboardInterrupt, Exception) as error:  # the one fence of the command line
        return report(error, as_json=as_json)
    return code


def _survive_any_locale() -> None:
    """Upstreams' names and texts may hold what a terminal's encoding lacks."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _stop_writing() -> None:
    """Keep the interpreter from complaining about the closed pipe when it flushes at its end."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
