"""Choose a strategy for one text and keep to the budget, whatever the strategy does.

Every strategy has followers: when it does not suit the text or cannot keep to the budget, the next one is
tried, and the last one, `truncate`, always succeeds.
"""

from __future__ import annotations

from dataclasses import replace

from config.schema import Compression
from proxy.compress.clean import clean
from proxy.compress.extract import extract
from proxy.compress.extract_fields import extract_fields
from proxy.compress.head_tail import head_tail
from proxy.compress.hybrid import hybrid
from proxy.compress.lossless import lossless
from proxy.compress.model import JSON_TYPES, ContentType, Reducer, Reduction, Task
from proxy.compress.notices import READ_MORE
from proxy.compress.progressive import progressive
from proxy.compress.schema_pruning import schema_pruning
from proxy.compress.selective import selective
from proxy.compress.skeleton import skeleton
from proxy.compress.truncate import truncate

CLEANING_SHARE = 0.95
"""CLEAN is worth a handle of its own when it leaves at most this share of the characters."""

LONGEST_CLEANED = 4 * 1024 * 1024
"""Characters. Taking the markup out of more would hold up the answers behind it for seconds."""

_BY_NAME: dict[Compression, tuple[tuple[Compression, Reducer], ...]] = {
    Compression.TRUNCATE: (),
    Compression.EXTRACT_FIELDS: (
        (Compression.EXTRACT_FIELDS, extract_fields),
        (Compression.SKELETON, skeleton),
        (Compression.EXTRACT, extract),
    ),
    Compression.SCHEMA_PRUNING: (
        (Compression.SCHEMA_PRUNING, schema_pruning),
        (Compression.SKELETON, skeleton),
        (Compression.EXTRACT, extract),
    ),
    Compression.SKELETON: ((Compression.SKELETON, skeleton), (Compression.EXTRACT, extract)),
    Compression.SELECTIVE: ((Compression.SELECTIVE, selective), (Compression.EXTRACT, extract)),
    Compression.HYBRID: (
        (Compression.HYBRID, hybrid),
        (Compression.SELECTIVE, selective),
        (Compression.EXTRACT, extract),
    ),
    Compression.PROGRESSIVE: ((Compression.PROGRESSIVE, progressive),),
    Compression.LOSSLESS: ((Compression.LOSSLESS, lossless), (Compression.EXTRACT, extract)),
    Compression.EXTRACT: ((Compression.EXTRACT, extract),),
    Compression.LLM_SUMMARY: ((Compression.EXTRACT, extract),),
    Compression.DELTA: ((Compression.LOSSLESS, lossless), (Compression.EXTRACT, extract)),
}
"""Strategies by name, each with its followers; `truncate` ends every list.

The summary of a model and the difference to an earlier answer are made before this module is asked.
"""
_OUTLINED = frozenset({ContentType.CODE, ContentType.DIFF})
"""Unless the reader said what it looks for, an outline of these says more than loose pieces."""
_FOLDED = JSON_TYPES | {ContentType.LOG}


def reduce_text(task: Task, strategy: Compression) -> Reduction:
    """The text within ``task.budget``. ``task.content`` must be what `detect` found. Never raises."""
    for name, reducer in (*_reducers(task, strategy), (Compression.TRUNCATE, truncate)):
        found = reducer(task)
        if found is not None and task.gauge.size(found.text) <= task.budget:
            return replace(found, strategy=name)
    return Reduction("", Compression.TRUNCATE, 0)


def cleaned(task: Task) -> str | None:
    """What CLEAN leaves of the text, when that is clearly less; ``None`` also for very long texts."""
    if len(task.text) > LONGEST_CLEANED:
        return None
    text = clean(task.text, task.content)
    return text if len(text) <= CLEANING_SHARE * len(task.text) else None


def cleaning_notice(original_key: str) -> str:
    """One line that tells the reader that markup is gone and how to see it."""
    if not original_key:
        return "[\u2026 markup and control sequences removed]"
    return f'[\u2026 markup removed; as it was: {READ_MORE}(key="{original_key}")]'


def _reducers(task: Task, strategy: Compression) -> tuple[tuple[Compression, Reducer], ...]:
    if task.is_error:
        return ((Compression.TRUNCATE, head_tail),)
    if strategy is Compression.AUTO:
        return _automatic(task)
    return _BY_NAME[strategy]


def _automatic(task: Task) -> tuple[tuple[Compression, Reducer], ...]:
    extracting = (Compression.EXTRACT, extract)
    if task.content in _FOLDED:
        return ((Compression.LOSSLESS, lossless), extracting)
    if task.content in _OUTLINED and not (task.told and task.query):
        return ((Compression.SKELETON, skeleton), extracting)
    if task.content is ContentType.TRACE:
        return ((Compression.TRUNCATE, head_tail), extracting)
    return (extracting,)
