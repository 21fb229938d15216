"""All fields at the top of a JSON text: full values while they fit, announcements for the rest.

The smallest values come first, so that as many fields as possible are whole; the larger ones share
what is left. No field is dropped unless not even its name fits.
"""

from __future__ import annotations

from config.schema import Compression
from proxy.compress import json_text
from proxy.compress.json_cut import Cutter, Order
from proxy.compress.json_query import NOTHING
from proxy.compress.model import Reduction, Task


def extract_fields(task: Task) -> Reduction | None:
    """Every top-level field of an object, or of the items of an array."""
    source = json_text.read(task)
    if source is None:
        return None
    cutter = Cutter(
        source.document, task.gauge, NOTHING, Order.FIELDS, lines=source.lines, ids=bool(task.key)
    )

    def cut(room: int) -> json_text.Cut | None:
        body = cutter.cut(room)
        if body is None:
            return None
        return json_text.Cut(body, tuple(cutter.notes), cutter.root_gap, cutter.example)

    return json_text.within(task, source, Compression.EXTRACT_FIELDS, cut)
