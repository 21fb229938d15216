"""A text in a shorter form from which it can be rebuilt: used only when it was rebuilt, and is shorter.

JSON: without white space, or with repetition taken out (`proxy.compress.lossless_json`). Logs: folded
by template (`proxy.compress.lossless_log`).
"""

from __future__ import annotations

import json
import re
import zlib

from config.schema import Compression
from proxy.compress import json_text
from proxy.compress.json_text import Source
from proxy.compress.lossless_json import NotEncodable, canonical, decode, encode, legend, parse
from proxy.compress.model import JSON_TYPES, ContentType, Reduction, Task

LARGEST_SHARE = 0.9
"""A shorter form must measure at most this share of what it replaces."""
CLEARLY_LESS = 0.7
"""An encoded form of at most this share of the bytes measures less, too."""
WINDOW = 32 * 1024
"""How far back zlib sees repetition, in bytes."""
BYTES_PER_TOKEN = 2.5
"""Bytes, as packed by zlib, that one unit of the budget holds at most; 0.9 to 2.2 were measured."""
BYTES_PER_TOKEN_NEAR = 1.8
"""The same for texts in which zlib sees all repetition; 0.9 to 1.5 were measured."""
BEGINNING = 4 * 1024
"""Bytes of a small text that are compressed first."""
SAMPLE = 64 * 1024
"""Bytes that are compressed to see whether encoding is worth trying."""

_MINUS_ZERO = re.compile(rb"[\[,:]-0[,\]}]")


def lossless(task: Task) -> Reduction | None:
    """The text in its shortest complete form; ``None`` when none saves a tenth and fits."""
    if task.content in JSON_TYPES:
        return _json(task)
    if task.content is ContentType.LOG:
        from proxy.compress.lossless_log import fold_log

        return fold_log(task)
    return None


def _json(task: Task) -> Reduction | None:
    source = json_text.read(task)
    if source is None or source.document.raw is not source.document.shadow:
        # Odd JSON is not rewritten: nobody could check the outcome.
        return None
    compact = source.document.raw
    if not _can_fit(compact, task.budget):
        return None
    whole = task.gauge.size(task.text)
    plain = _minified(source)
    encoded = _encoded(compact)
    if encoded is not None and len(encoded) < len(compact):
        text = encoded.decode()
        # When so many bytes less, it is fewer tokens, too: no need to count both.
        clearly = len(encoded) < CLEARLY_LESS * len(compact)
        size = task.gauge.size(text)
        if (
            size <= min(task.budget, LARGEST_SHARE * whole)
            and (clearly or size <= LARGEST_SHARE * task.gauge.size(plain))
            and _rebuilds(encoded, compact)
        ):
            overhead = task.gauge.size(legend(text))
            return Reduction(text, Compression.LOSSLESS, overhead, complete=True)
    size = task.gauge.size(plain)
    if size <= min(task.budget, LARGEST_SHARE * whole):
        return Reduction(plain, Compression.LOSSLESS, 0, complete=True)
    return None


def _can_fit(compact: bytes, budget: int) -> bool:
    """Whether any form of this much information could fit, from how far it can be packed."""
    if len(compact) <= budget * BYTES_PER_TOKEN:
        return True
    if len(compact) <= WINDOW:
        # More of a text is only packed better: a part is often enough to see that it can fit.
        begin = compact[:BEGINNING]
        packed = len(zlib.compress(begin, 1)) * len(compact) / len(begin)
        if packed <= budget * BYTES_PER_TOKEN_NEAR:
            return True
    sample = compact[:SAMPLE]
    packed = len(zlib.compress(sample, 1)) * len(compact) / len(sample)
    if len(compact) <= WINDOW:
        return packed <= budget * BYTES_PER_TOKEN_NEAR
    # What repeats farther apart than the sample packs better.
    slack = 1.0 if len(sample) == len(compact) else 1.5
    return packed <= budget * BYTES_PER_TOKEN * slack


def _encoded(compact: bytes) -> bytes | None:
    """The encoded form."""
    try:
        return encode(parse(compact))
    except (NotEncodable, RecursionError):
        return None


def _rebuilds(encoded: bytes, compact: bytes) -> bool:
    """Whether decoding gives the same JSON, to the byte or to the spelling of strings."""
    try:
        if decode(encoded, exact=False) == compact:
            return True
        decoded = decode(encoded)
        return decoded == compact or (decoded == canonical(parse(compact)) and _faithful(compact))
    except NotEncodable:
        return False


def _faithful(compact: bytes) -> bool:
    """Whether parsing loses nothing: no key is there twice, no integer is ``-0``.

    Only the spelling of strings may differ then, which is not their value.
    """
    if _MINUS_ZERO.search(compact):
        return False
    unique = True

    def members(pairs: list[tuple[str, object]]) -> dict[str, object]:
        nonlocal unique
        found = dict(pairs)
        unique = unique and len(found) == len(pairs)
        return found

    try:
        json.loads(compact, object_pairs_hook=members, parse_int=len, parse_float=len)
    except (ValueError, RecursionError):
        return False
    return unique


def _minified(source: Source) -> str:
    """The text without white space between its tokens; lines stay lines."""
    document = source.document
    if source.lines is None:
        return document.raw.decode()
    children = document.children(0, len(document.raw))
    spans = zip(children.values, children.ends, strict=True)
    return "\n".join([document.text(start, end) for start, end in spans])
