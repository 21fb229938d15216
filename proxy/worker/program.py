"""The command that starts the worker: an interpreter that sees our packages and the two it needs."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

_NEEDED = ("toktok", "msgspec")
_START = "import sys; sys.path += sys.argv[1:]; from proxy.worker.child import main; main()"


def worker_program() -> tuple[str, ...]:
    """Program and arguments. Raises `OSError` when a package is not installed.

    The child looks at no environment variable, no user's site directory and no ``.pth`` file: it starts
    faster, and nothing of a host's project is run. Ours come before packages of others with the same names.
    """
    folders = [str(Path(__file__).resolve().parents[2])]
    for name in _NEEDED:
        found = importlib.util.find_spec(name)
        if found is None or found.origin is None:
            raise OSError(f"{name} is not installed")
        folders.append(str(Path(found.origin).parent.parent))
    return (sys.executable, "-I", "-S", "-c", _START, *dict.fromkeys(folders))
