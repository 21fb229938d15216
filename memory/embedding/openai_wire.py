"""The bytes of one request for embeddings and of its answer. Pure; loads numpy and msgspec."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence

import msgspec
import numpy as np

from memory.embedding.port import Floats

MOST_DIMS = 16_384


class AnswerUnusable(Exception):
    """The answer is not what was asked for. ``str()`` continues "the server …"."""


class _Item(msgspec.Struct):
    embedding: list[float] | str
    index: int | None = None


class _Answer(msgspec.Struct):
    data: list[_Item]


_ANSWER = msgspec.json.Decoder(_Answer)


def encode_request(model: str, texts: Sequence[str]) -> bytes:
    """The body. Texts must hold no half characters."""
    return msgspec.json.encode({"model": model, "input": list(texts)})


def decode_answer(body: bytes, count: int) -> Floats:
    """The vectors in the order of the texts, of shape (count, dims), not yet of length one.

    Takes arrays of numbers and base64 of little-endian float32. Raises `AnswerUnusable`.
    """
    try:
        items = _ANSWER.decode(body).data
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise AnswerUnusable("answers something that is no list of embeddings") from None
    if len(items) != count:
        raise AnswerUnusable(f"answers {len(items)} vectors for {count} texts")
    rows = [_vector(item.embedding) for item in _in_order(items)]
    dims = {len(row) for row in rows}
    if len(dims) > 1:
        raise AnswerUnusable("answers vectors of different lengths")
    if not 1 <= dims.pop() <= MOST_DIMS:
        raise AnswerUnusable("answers vectors of an impossible length")
    return np.stack(rows)


def _in_order(items: list[_Item]) -> list[_Item]:
    """By ``index``; servers that leave it out everywhere answer in order."""
    if all(item.index is None for item in items):
        return items
    placed = {item.index: item for item in items}
    if set(placed) != set(range(len(items))):
        raise AnswerUnusable("answers vectors with wrong numbers")
    return [placed[at] for at in range(len(items))]


def _vector(embedding: list[float] | str) -> Floats:
    if not isinstance(embedding, str):
        with np.errstate(over="ignore"):
            return np.array(embedding, dtype=np.float32)
    try:
        raw = base64.b64decode(embedding, validate=True)
        return np.frombuffer(raw, dtype="<f4").astype(np.float32)
    except (binascii.Error, ValueError):
        raise AnswerUnusable("answers a vector that cannot be decoded") from None
