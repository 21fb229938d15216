"""Looks for what an erased record may have left in files."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np

from memory.embedding.hashing import HashingEmbedder
from memory.embedding.unit import unit_rows
from memory.model import Record
from memory.semantic_index import decoded, encoded
from memory.text import embedding_text

_PART = 64
"""Numbers of a vector that are looked for together."""


def vector_bytes(stored: Record) -> list[bytes]:
    """Parts of the vector that tell it from others: as our table has it and as Chroma has it.

    Both cut a long value up, so there are parts that lie in one piece wherever they cut.
    """
    (vector,) = HashingEmbedder().embed_documents([embedding_text(stored.text)])
    ours = np.frombuffer(encoded(vector), dtype="<f2")
    theirs = unit_rows(decoded(encoded(vector))[np.newaxis])[0].astype("<f4")
    found: list[bytes] = []
    for at in range(0, len(ours), _PART):
        part = slice(at, at + _PART)
        if np.count_nonzero(ours[part]) >= 3:
            found += [ours[part].tobytes(), theirs[part].tobytes()]
    assert len(found) >= 6
    return found


def files_with(folder: Path, needles: list[bytes]) -> list[str]:
    """Files below the folder that hold any of these bytes."""
    found: list[str] = []
    for file in sorted(folder.rglob("*")):
        with contextlib.suppress(FileNotFoundError, IsADirectoryError):  # a journal comes and goes
            content = file.read_bytes()
            if any(needle in content for needle in needles):
                found.append(str(file.relative_to(folder)))
    return found
