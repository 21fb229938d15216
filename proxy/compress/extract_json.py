"""The part of a JSON text that answers the query, as JSON of the same shape.

Members stay under their own keys and rows stay objects in their arrays; numbers and strings are the
upstream's to the character. What the query names goes first, then errors and what is unusual, the
first and the last, and whatever still fits.
"""

from __future__ import annotations

from config.schema import Compression
from proxy.compress import json_query, json_text
from proxy.compress.json_cut import Cutter, Order
from proxy.compress.json_query import NOTHING
from proxy.compress.model import Reduction, Task


def extract_json(task: Task) -> Reduction | None:
    """What answers ``task.query``; without a query a sample of every level."""
    source = json_text.read(task)
    if source is None:
        return None
    hits = json_query.find(source.document, task.query)
    cutter = Cutter(source.document, task.gauge, hits, lines=source.lines, ids=bool(task.key))
    return json_text.within(task, source, Compression.EXTRACT, lambda room: _cut(cutter, room))


def truncate_json(task: Task) -> Reduction | None:
    """The beginning of everything, in order, as valid JSON."""
    source = json_text.read(task)
    if source is None:
        return None
    cutter = Cutter(
        source.document, task.gauge, NOTHING, Order.HEAD, lines=source.lines, ids=bool(task.key)
    )
    made = json_text.within(task, source, Compression.TRUNCATE, lambda room: _cut(cutter, room))
    return made or json_text.tiny(task, Compression.TRUNCATE)


def _cut(cutter: Cutter, room: int) -> json_text.Cut | None:
    body = cutter.cut(room)
    if body is None:
        return None
    return json_text.Cut(body, tuple(cutter.notes), cutter.root_gap, cutter.example)
