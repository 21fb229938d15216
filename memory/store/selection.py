"""Which records are meant, in which order, and from where on: as SQL, and as a rule for records of the past.

Imports SQLAlchemy: load lazily.
"""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from sqlalchemy import BigInteger, ColumnElement, bindparam, case, func, tuple_

from memory.api import Order
from memory.errors import FaultCode, MemoryFault
from memory.model import Instant, Kind, Origin, Record, State
from memory.store.tables import records

Shape: TypeAlias = "tuple[int, int, bool, bool, bool, bool, bool, bool]"


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

    @property
    def shape(self) -> Shape:
        """Which conditions there are: selections of one shape share their SQL."""
        return (
            min(len(self.states), 2),
            min(len(self.kinds), 2),
            self.valid_at is not None,
            self.session_id is not None,
            self.actor is not None,
            self.origin is not None,
            self.recorded_from is not None,
            self.recorded_to is not None,
        )

    def values(self) -> dict[str, object]:
        """The parameters of `conditions`."""
        states = [state.value for state in self.states]
        kinds = [kind.value for kind in self.kinds]
        return {
            "s_space": self.space,
            "s_states": states[0] if len(states) == 1 else states,
            "s_kinds": kinds[0] if len(kinds) == 1 else kinds,
            "s_valid_at": self.valid_at,
            "s_session_id": self.session_id,
            "s_actor": self.actor,
            "s_origin": None if self.origin is None else self.origin.value,
            "s_recorded_from": self.recorded_from,
            "s_recorded_to": self.recorded_to,
        }

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


def conditions(shape: Shape) -> list[ColumnElement[bool]]:
    """The conditions on ``records`` of all selections of a shape, all but `Selection.known_at`."""
    states, kinds, valid, session, actor, origin, since, until = shape
    row = records.c
    found: list[ColumnElement[bool]] = [row.space == bindparam("s_space")]
    for column, count, name in ((row.state, states, "s_states"), (row.kind, kinds, "s_kinds")):
        if count == 1:
            found.append(column == bindparam(name))
        elif count:
            found.append(column.in_(bindparam(name, expanding=True)))
    if valid:
        at = bindparam("s_valid_at", type_=BigInteger())
        found.append((row.valid_from <= at) | row.valid_from.is_(None))
        found.append((row.valid_to > at) | row.valid_to.is_(None))
    if session:
        found.append(row.session_id == bindparam("s_session_id"))
    if actor:
        found.append(row.actor == bindparam("s_actor"))
    if origin:
        found.append(row.origin == bindparam("s_origin"))
    if since:
        found.append(row.recorded_at >= bindparam("s_recorded_from"))
    if until:
        found.append(row.recorded_at < bindparam("s_recorded_to"))
    return found


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


def behind(order: Order) -> ColumnElement[bool]:
    """The condition that a record comes after a key, whose parameters are `key_values`."""
    names = [bindparam(f"k_{place}", type_=BigInteger()) for place in range(_KEY_LENGTHS[order])]
    columns, key = tuple_(*key_columns(order)), tuple_(*names)
    return columns < key if order in _DESCENDING else columns > key


def key_values(key: tuple[int, ...]) -> dict[str, object]:
    """The parameters of `behind`."""
    return {f"k_{place}": part for place, part in enumerate(key)}


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
