"""The version of the installed distribution, read only when somebody asks."""

from __future__ import annotations

DISTRIBUTION = "mms-console"


def product_version() -> str:
    """The version, for example ``0.1.0``; ``0+unknown`` where no distribution is installed.

    `importlib.metadata` costs some 30 ms to import, so it waits until it is needed.
    """
    from importlib import metadata

    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return "0+unknown"
