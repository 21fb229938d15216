"""Everything that can be done in one transaction. Imports SQLAlchemy: load lazily."""

from __future__ import annotations

from memory.store.deriving import DerivedWriting
from memory.store.expunge import ExpungeWriting
from memory.store.importing import ImportWriting
from memory.store.values import UNSET, NewRecord, RecordPatch, Unset

__all__ = ["UNSET", "NewRecord", "RecordPatch", "Unset", "Writing"]


class Writing(ExpungeWriting, ImportWriting, DerivedWriting):
    """One transaction that alone writes; it also reads what it wrote. Belongs to one thread.

    By subject: `memory.store.changing`, `deciding`, `deriving`, `expunge`, `importing`.
    """
