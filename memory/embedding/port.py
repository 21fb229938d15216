"""What an embedder is. Importing this loads numpy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float32]
"""One vector of shape (dims,) or several of shape (n, dims)."""


class EmbedderUnavailable(Exception):
    """There are no vectors for now. ``str()`` says why and what to do; it never holds a text or a key."""


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """Which vectors an embedder makes, and how to use them.

    Vectors of different ``id`` must never be compared, even when their dimensions agree.
    """

    id: str
    """Names model, treatment and dimensions, for example ``minilm-int8-384-1f2e3d4c``."""
    provider: str
    """``minilm``, ``hashing`` or ``openai``."""
    name: str
    """The model's name, for a person."""
    dims: int
    max_tokens: int
    """What follows after so many tokens of a text does not count. 0: everything counts."""
    digest: str
    """SHA-256 in hexadecimal of all that determines the vectors."""
    duplicate_cosine: float
    """From here on two texts may say the same."""
    neighbour_cosine: float
    """From here on two texts may be about the same."""
    fusion_alpha: float
    """Weight of the vectors, 0 to 1, where they are mixed with a search by words."""
    lexical: bool
    """Only words are compared: "car" and "automobile" have nothing in common."""


class Embedder(Protocol):
    """Makes unit vectors. Any thread may call any method; calls block."""

    @property
    def profile(self) -> ModelProfile:
        """What it makes. Raises `EmbedderUnavailable` if that must be asked for and nobody answers."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> Floats:
        """One unit vector per text, of shape (n, dims). Raises `EmbedderUnavailable`."""
        ...

    def embed_query(self, text: str) -> Floats:
        """The unit vector, of shape (dims,), of what is searched for. Raises `EmbedderUnavailable`."""
        ...

    def rest(self) -> None:
        """Free what can be loaded again; the next text loads it."""
        ...

    def close(self) -> None:
        """Free what it holds. Later calls raise `EmbedderUnavailable`."""
        ...
