"""What a person may choose about embeddings. Pure; loads nothing but the standard library."""

from __future__ import annotations

from dataclasses import dataclass, field

from config.schema import EmbedderKind

__all__ = ["EmbedderKind", "EmbedderSettings"]


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    """All but ``kind`` and ``remembered_queries`` is for `EmbedderKind.OPENAI` only."""

    kind: EmbedderKind = EmbedderKind.MINILM
    remembered_queries: int = 512
    url: str = ""
    """Base address, with or without ``/v1`` or ``/v1/embeddings`` at its end."""
    model: str = ""
    key: str = field(default="", repr=False)
    """Sent as a bearer token; empty: none is."""
    dims: int = 0
    """Dimensions, where they are known from earlier; 0: the first answer tells."""
    timeout_seconds: float = 30.0
    """For one request with documents; with its repetitions three times as much. A question gets 5 s."""
    batch: int = 64
    """Texts per request, 1 to 64."""
    longest_text: int = 8_000
    """Characters of a text that are sent; what follows does not count."""
    query_prefix: str = ""
    """What the model wants before a query, for example ``"query: "``."""
    document_prefix: str = ""
    duplicate_cosine: float = 0.95
    """See `memory.embedding.port.ModelProfile`; it differs between models."""
    neighbour_cosine: float = 0.45
    fusion_alpha: float = 0.5
