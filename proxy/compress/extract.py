"""The strategy ``extract``: the parts of a text that answer the query, in their order and structure."""

from __future__ import annotations

from proxy.compress.extract_text import extract_text
from proxy.compress.model import JSON_TYPES, ContentType, Reduction, Task

_LOGS = frozenset({ContentType.LOG, ContentType.TRACE})


def extract(task: Task) -> Reduction | None:
    """What matters of ``task.text``, by its content's type. ``None``: it cannot keep to the budget."""
    if task.content in JSON_TYPES:
        from proxy.compress.extract_json import extract_json

        return extract_json(task)
    if task.content in _LOGS:
        from proxy.compress.logs import extract_log

        return extract_log(task)
    return extract_text(task)
