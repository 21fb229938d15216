"""Which records are meant, in which order, and from where on: as SQL, and as a rule for records of the past.

Imports SQLAlchemy: load lazily.
"""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import ColumnElement, case, func, literal, tuple_

from memory.api import Order
from memory.errors import FaultCode, MemoryFault
from memory.model import Instant, Kind, Origin, Record, State
from memory.store.tables import records


@dataclass(frozen=True, slots=True)
class Selection:
    """A filter. All given conditions have to hold."""

    space: str
    kinds: tuple[Kind, ...] = ()
    """Empty: all."""
    states: tuple[State, ...] = (State.ACTIVE,)
    """Empty: all."""
    valid_at: Instant | None = None
    """Only what held in the world then: ``valid_from <= t < valid_to``, missing bounds are open."""
    known_at: Instant | None = None
    """Records as this memory knew them then, folded from the journal: slow, for questions about the past."""
    session_id: str | None = None
    actor: str | None = None
    origin: Origin | None = None
    recorded_from: Instant | None = None
    recorded_to: Instant | None = None
    """Exclusive."""

    def where(self) -> list[ColumnElement[bool]]:
        """The conditions on ``records``, all but `known_at`."""
        row = records.c
        conditions: list[ColumnElement[bool]] = [row.space == self.space]
        for column, values in ((row.state, self.states), (row.kind, self.kinds)):
            if len(values) == 1:
                conditions.append(column == values[0].value)
            elif values:
                conditions.append(column.in_([value.value for value in values]))
        if self.valid_at is not None:
            conditions.append((row.valid_from <= self.valid_at) | row.valid_from.is_(None))
            conditions.append((row.valid_to > self.valid_at) | row.valid_to.is_(None))
        if self.session_id is not None:
            conditions.append(row.session_id == self.session_id)
        if self.actor is not None:
            conditions.append(row.actor == self.actor)
        if self.origin is not None:
            conditions.append(row.origin == self.origin.value)
        if self.recorded_from is not None:
            conditions.append(row.recorded_at >= self.recorded_from)
        if self.recorded_to is not None:
            conditions.append(row.recorded_at < self.recorded_to)
        return conditions

    def takes(self, record: Record) -> bool:
        """The same for a record in memory."""
        at = self.valid_at
        return (
            record.space == self.space
            and (not self.states or record.state in self.states)
            and (not self.kinds or record.kind in self.kinds)
            and (at is None or record.valid_from is None or record.valid_from <= at)
            and (at is None or record.valid_to is None or record.valid_to > at)
            and (self.session_id is None or record.session_id == self.session_id)
            and (self.actor is None or record.actor == self.actor)
            and (self.origin is None or record.origin is self.origin)
            and (self.recorded_from is None or record.recorded_at >= self.recorded_from)
            and (self.recorded_to is None or record.recorded_at < self.recorded_to)
        )


_KEY_LENGTHS = {Order.NEWEST: 2, Order.OLDEST: 2, Order.TURN: 4, Order.CHANGED: 1}
_DESCENDING = (Order.NEWEST, Order.CHANGED)


def key_columns(order: Order) -> list[ColumnElement[Any]]:
    """What the order compares; unique per record."""
    row = records.c
    match order:
        case Order.NEWEST | Order.OLDEST:
            return [row.recorded_at, row.num]
        case Order.CHANGED:
            return [row.changed_seq]
        case Order.TURN:
            no_turn = case((row.turn_number.is_(None), 1), else_=0)
            return [no_turn, func.coalesce(row.turn_number, 0), row.recorded_at, row.num]


def order_by(order: Order) -> list[ColumnElement[Any]]:
    """The order as SQL."""
    columns = key_columns(order)
    return [column.desc() for column in columns] if order in _DESCENDING else columns


def behind(order: Order, key: tuple[int, ...]) -> ColumnElement[bool]:
    """The condition that a record comes after the one with ``key``."""
    columns, values = tuple_(*key_columns(order)), tuple_(*map(literal, key))
    return columns < values if order in _DESCENDING else columns > values


def key_of(order: Order, record: Record, changed_seq: int) -> tuple[int, ...]:
    """The key of a record in an order."""
    match order:
        case Order.NEWEST | Order.OLDEST:
            return (record.recorded_at, record.num)
        case Order.CHANGED:
            return (changed_seq,)
        case Order.TURN:
            turn = record.turn_number
            return (int(turn is None), turn or 0, record.recorded_at, record.num)


def is_behind(order: Order, key: tuple[int, ...], after: tuple[int, ...]) -> bool:
    """`behind` for keys in memory."""
    return key < after if order in _DESCENDING else key > after


def sort_backwards(order: Order) -> bool:
    """Whether the order counts down."""
    return order in _DESCENDING


def cursor(order: Order, key: tuple[int, ...]) -> str:
    """Opaque text for "after this one"."""
    return base64.urlsafe_b64encode(json.dumps([order.value, *key]).encode()).decode().rstrip("=")


def parse_cursor(order: Order, text: str) -> tuple[int, ...]:
    """The key in a `cursor`. Raises `MemoryFault` for any other text."""
    found = decode_cursor(text)
    key = found[1:]
    if (
        found[:1] != [order.value]
        or len(key) != _KEY_LENGTHS[order]
        or any(type(part) is not int or abs(part) >= 1 << 63 for part in key)
    ):
        raise bad_cursor()
    return tuple(cast("list[int]", key))


def decode_cursor(text: str) -> list[object]:
    """The list in a cursor. Raises `MemoryFault` for any other text."""
    try:
        raw = base64.b64decode(
            text.encode() + b"=" * (-len(text) % 4), altchars=b"-_", validate=True
        )
        found: object = json.loads(raw)
    except (binascii.Error, ValueError, RecursionError):
        raise bad_cursor() from None
    if not isinstance(found, list):
        raise bad_cursor()
    return cast("list[object]", found)


def encode_cursor(parts: list[object]) -> str:
    """A list of numbers and texts as a cursor."""
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


def bad_cursor() -> MemoryFault:
    """The fault for a cursor that none of us made."""
    return MemoryFault(
        FaultCode.INVALID,
        "The cursor is not one that this list gave.",
        "Start again without a cursor.",
    )
