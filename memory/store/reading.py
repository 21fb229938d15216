"""Everything that can be asked of a store in one consistent transaction. Imports SQLAlchemy."""

from __future__ import annotations

from memory.store.current import RecordColumns
from memory.store.derived import DerivedReading, ModelCount, PendingText, VectorRow
from memory.store.selection import Order, Selection

__all__ = [
    "ModelCount",
    "Order",
    "PendingText",
    "Reading",
    "RecordColumns",
    "Selection",
    "VectorRow",
]


class Reading(DerivedReading):
    """One state of everything, however long it is read. Belongs to one thread.

    By subject: `memory.store.current`, `past`, `decided`, `derived`.
    """
