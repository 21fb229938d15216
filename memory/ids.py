"""Ids that sort by the time they were made: ULIDs (github.com/ulid/spec).

26 characters of Crockford's base 32: 48 bits of milliseconds since 1970, then 80 random bits. Ids of one
millisecond sort by chance, so order of storing is told by `Record.num`, not by them.
"""

from __future__ import annotations

import re

from memory.model import Instant

RANDOM_BYTES = 10
ID_LENGTH = 26
LAST_INSTANT: Instant = (1 << 48) * 1000 - 1
"""The latest instant that an id can hold, in the year 10889."""

_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = tuple(high + low for high in _DIGITS for low in _DIGITS)
_ID = re.compile(rf"[0-7][{_DIGITS}]{{{ID_LENGTH - 1}}}")


def new_id(now: Instant, randomness: bytes) -> str:
    """An id made at ``now`` of ten random bytes.

    Raises `ValueError` when there are not exactly ten bytes, or ``now`` is before 1970 or after
    `LAST_INSTANT`.
    """
    if len(randomness) != RANDOM_BYTES:
        raise ValueError(f"an id takes {RANDOM_BYTES} random bytes, not {len(randomness)}")
    if not 0 <= now <= LAST_INSTANT:
        raise ValueError(f"an id cannot hold the instant {now}")
    value = (now // 1000 << 80) | int.from_bytes(randomness, "big")
    return "".join(_PAIRS[value >> shift & 1023] for shift in range(120, -1, -10))


def is_id(text: str) -> bool:
    """Whether this has the form of an id, written as `new_id` writes it."""
    return _ID.fullmatch(text) is not None
