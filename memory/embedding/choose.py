"""The embedder that the settings ask for, or words with a reason. Loads numpy."""

from __future__ import annotations

from dataclasses import dataclass

from memory.embedding.cache import CachedEmbedder
from memory.embedding.hashing import HashingEmbedder
from memory.embedding.minilm import MiniLmEmbedder
from memory.embedding.minilm_files import ModelFilesUnusable, check_model_files, find_model_files
from memory.embedding.port import Embedder, EmbedderUnavailable
from memory.embedding.settings import EmbedderKind, EmbedderSettings


@dataclass(frozen=True, slots=True)
class ChosenEmbedder:
    """An embedder, and what is wrong with the one that was asked for."""

    embedder: CachedEmbedder
    problem: str
    """For a person; empty when the settings are met."""


def make_embedder(settings: EmbedderSettings) -> ChosenEmbedder:
    """Never fails and loads no model yet; reads and checks the model's files, some 20 ms."""
    problem = ""
    embedder: Embedder
    try:
        embedder = _wanted(settings)
    except (ModelFilesUnusable, EmbedderUnavailable) as error:
        embedder = HashingEmbedder()
        problem = f"{error} Until then, memories are compared by their words only."
    return ChosenEmbedder(CachedEmbedder(embedder, settings.remembered_queries), problem)


def _wanted(settings: EmbedderSettings) -> Embedder:
    match settings.kind:
        case EmbedderKind.HASHING:
            return HashingEmbedder()
        case EmbedderKind.MINILM:
            files = find_model_files()
            check_model_files(files)
            return MiniLmEmbedder(files)
        case EmbedderKind.OPENAI:
            from memory.embedding.openai import OpenAiEmbedder

            return OpenAiEmbedder(settings)
