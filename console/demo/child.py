"""Run one program of the demo: ``python -P …/console/demo/child.py [--helper SOCKET] PROGRAM …``.

Started by path, so that it works from a checkout and from the wheel alike, whatever the working directory
is, and without a variable that grandchildren would inherit. Programs: ``documents``, ``logs``, ``issues``
(servers on standard input and output), ``agent``, ``station`` (``mms serve`` that ends with its standard
input) and ``helper DESCRIPTOR`` (see `console.demo.warm`).
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

SERVERS = ("documents", "logs", "issues")


def run_program(argv: list[str]) -> int:
    """Run the program that ``argv`` names; its exit code."""
    program, *rest = argv
    if program == "agent":
        from console.demo.agent import main as agent

        return agent(rest)
    if program == "station":
        return _station()
    if program in SERVERS:
        return int(import_module(f"console.demo.servers.{program}").main())
    sys.stderr.write(f"the demo has no program {program!r}\n")
    return 2


def _station() -> int:
    """``mms serve``, but not longer than its standard input is open."""
    from console.demo.lifeline import end_with_input
    from console.wiring import serve

    end_with_input()
    return serve()


def _import_everything() -> None:
    """Load what the programs need, then keep it out of the collector's way, so that forks share it."""
    import gc

    gc.disable()  # imports make no garbage; collecting all the while costs a seventh of the time
    import_module("mcp.server.stdio")
    for server in SERVERS:
        import_module(f"console.demo.servers.{server}")
    import_module("console.demo.agent")
    gc.freeze()
    gc.enable()


def main(argv: list[str]) -> int:
    """Run here, or in the helper if one is named and answers."""
    from console.demo.warm import run_in_helper, serve_forks

    if argv[:1] == ["helper"] and len(argv) == 2:
        return serve_forks(int(argv[1]), _import_everything, run_program)
    if argv[:1] == ["--helper"] and len(argv) > 2:
        code = run_in_helper(Path(argv[1]), argv[2:])
        if code is not None:
            return code
        argv = argv[2:]
    if not argv:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    return run_program(argv)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    sys.exit(main(sys.argv[1:]))
