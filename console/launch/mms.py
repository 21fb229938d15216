"""Start mms. The wheel keeps the product's packages in a private directory, so that installing it never
touches another distribution's ``config`` or ``proxy``; this module puts that directory first and runs.

A checkout has no such directory and needs none.
"""

from __future__ import annotations

import sys
from pathlib import Path

_PRIVATE = Path(__file__).resolve().parent / "_mms"


def main() -> int:
    """Run the command line; ``connect`` takes a short way, since hosts wait for it."""
    if _PRIVATE.is_dir():
        sys.path.insert(0, str(_PRIVATE))
    prints = any(argument.startswith("--print") for argument in sys.argv)
    if sys.argv[1:2] == ["connect"] and not prints:
        from proxy.bridge import main as connect

        return connect(sys.argv[2:])
    from console.cli import main as cli

    return cli(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
