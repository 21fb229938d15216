"""How this very mms is started again as another process: from a wheel, a checkout or ``python -m``."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path


def own_command() -> list[str]:
    """The start of a command line, to be followed by a verb."""
    started_as = Path(sys.argv[0])
    if started_as.name in ("mms", "mms.py") and started_as.exists():
        return [sys.executable, str(started_as.resolve())]
    return [sys.executable, "-m", "mms"]


def own_program() -> str:
    """Absolute path of the ``mms`` command, for the configuration of hosts."""
    started_as = Path(sys.argv[0])
    if started_as.name == "mms" and started_as.exists():
        return str(started_as.absolute())
    beside = Path(sys.executable).with_name("mms")
    if beside.exists():
        return str(beside)
    return shutil.which("mms", path=os.environ.get("PATH")) or "mms"
