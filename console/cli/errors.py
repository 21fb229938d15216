"""Exit codes, and the one place where an exception becomes a text and a code.

===  ===========================================================
0    done
1    failed, or something is unhealthy
2    the command line is wrong
3    a station is needed and none runs, or it cannot be reached
4    the configuration is invalid, or would be
130  ended by ctrl+c
===  ===========================================================
"""

from __future__ import annotations

import os
import sys
from enum import IntEnum


class ExitCode(IntEnum):
    """What a script can rely on."""

    OK = 0
    FAILED = 1
    USAGE = 2
    NO_STATION = 3
    CONFIGURATION = 4
    INTERRUPTED = 130


class CliError(Exception):
    """A verb cannot go on. ``str()`` is for a person: what happened, where, and what to do."""

    def __init__(self, message: str, code: ExitCode = ExitCode.FAILED) -> None:
        super().__init__(message)
        self.code = code


class UsageError(CliError):
    """The command line makes no sense beyond what argparse sees."""

    def __init__(self, message: str) -> None:
        super().__init__(message, ExitCode.USAGE)


def report(error: BaseException, *, as_json: bool) -> int:
    """Say what went wrong on the error output and return the exit code.

    With ``as_json`` the output gets an object too, ``{"error": …, "exit_code": …}``, so that who
    parses it need not look at two places.
    """
    from console.cli.output import Output, complain

    if isinstance(error, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    code, message = explain(error)
    complain(message)
    if as_json:
        Output(sys.stdout, as_json=True).json({"error": message, "exit_code": int(code)})
    if code is ExitCode.FAILED and os.environ.get("MMS_TRACEBACK"):
        import traceback

        traceback.print_exception(error)
    return code


def explain(error: BaseException) -> tuple[ExitCode, str]:
    """The exit code and the text for a person."""
    from config.describe import UnknownKeyError
    from config.edit import EditRefusedError
    from config.paths import UnsafeDirectoryError
    from console.station import StationUnavailable
    from memory.errors import FaultCode, MemoryFault
    from proxy.lock import StationRunning
    from proxy.store.database import StoreUnavailable

    match error:
        case BaseExceptionGroup() if len(error.exceptions) == 1:
            return explain(error.exceptions[0])
        case CliError():
            return error.code, str(error)
        case StationUnavailable():
            return ExitCode.NO_STATION, str(error)
        case EditRefusedError():
            code = ExitCode.CONFIGURATION if error.problems else ExitCode.FAILED
            return code, str(error)
        case MemoryFault():
            code = ExitCode.USAGE if error.code is FaultCode.INVALID else ExitCode.FAILED
            return code, str(error)
        case UnknownKeyError() | UnsafeDirectoryError() | StationRunning() | StoreUnavailable():
            return ExitCode.FAILED, str(error)
        case OSError():
            where = f"{error.filename}: " if error.filename else ""
            return ExitCode.FAILED, f"{where}{error.strerror or error}"
        case _:
            return (
                ExitCode.FAILED,
                (
                    f"this is a fault in mms: {type(error).__name__}: {error}. "
                    "Set MMS_TRACEBACK=1 and run it again to see where."
                ),
            )
