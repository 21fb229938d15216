"""Commands that start children of ours: an interpreter that sees our packages and the two they need."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

_NEEDED = ("toktok", "msgspec")
_START = "import sys; sys.path += sys.argv[1:]; from {module} import main; main()"


def worker_program() -> tuple[str, ...]:
    """Program and arguments of the worker. Raises `OSError` when a package is not installed."""
    return child_program("proxy.worker.child")


def child_program(module: str) -> tuple[str, ...]:
    """Program and arguments that call ``main`` of our module. Raises `OSError` as above.

    The child looks at no environment variable, no user's site directory and no ``.pth`` file: it starts
    faster, and nothing of a host's project is run. Ours come before packages of others with the same names.
    """
    folders = [str(Path(__file__).resolve().parents[2])]
    for name in _NEEDED:
        found = importlib.util.find_spec(name)
        if found is None or found.origin is None:
            raise OSError(f"{name} is not installed")
        folders.append(str(Path(found.origin).parent.parent))
    start = _START.format(module=module)
    return (sys.executable, "-I", "-S", "-c", start, *dict.fromkeys(folders))
