"""Taking a memory out and in: our own export (`lines`), and files of other programs (`readers`, `markdown`).

Export and import need the store and load SQLAlchemy when they are called; the readers are pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory.api import Export, ExportPage, Import, ImportResult
    from memory.core import Core
    from memory.model import Actor, Instant

__all__ = ["export_page", "import_lines"]


def export_page(core: Core, request: Export) -> ExportPage:
    """A page of everything in a space. Raises ``INVALID``."""
    from memory.exchange import give

    return give.export_page(core, request)


def import_lines(core: Core, request: Import, actor: Actor, now: Instant) -> ImportResult:
    """Take lines of an export. Raises ``NEEDS_OPERATOR``, ``INVALID``."""
    from memory.exchange import take

    return take.import_lines(core, request, actor, now)
