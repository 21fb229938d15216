"""A real memory for a bench, and the CPU time of its requests without that of the model. Loads numpy."""

from __future__ import annotations

import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import numpy as np

from config.schema import EmbedderKind, VectorIndexKind
from memory.api import Request
from memory.embedding.minilm import MiniLmEmbedder
from memory.embedding.port import Floats
from memory.model import Actor
from tests.memory.opening import AGENT, Opened, opened, settings

R = TypeVar("R")


class ModelTime:
    """CPU seconds that the model took, and the vectors that it has made: no text is embedded twice."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.vectors: dict[str, Floats] = {}

    @contextmanager
    def watched(self) -> Generator[None]:
        """Until the end of the block, the model's time is taken apart."""
        model, documents, query = self, MiniLmEmbedder.embed_documents, MiniLmEmbedder.embed_query

        def embed_documents(self: MiniLmEmbedder, texts: Sequence[str]) -> Floats:
            with model._taking():
                for text in texts:
                    if text not in model.vectors:
                        model.vectors[text] = documents(self, [text])[0]
                return np.stack([model.vectors[text] for text in texts])

        def embed_query(self: MiniLmEmbedder, text: str) -> Floats:
            return embed_documents(self, [text])[0]

        MiniLmEmbedder.embed_documents, MiniLmEmbedder.embed_query = embed_documents, embed_query
        try:
            yield
        finally:
            MiniLmEmbedder.embed_documents, MiniLmEmbedder.embed_query = documents, query

    @contextmanager
    def _taking(self) -> Generator[None]:
        started = time.process_time()
        try:
            yield
        finally:
            self.seconds += time.process_time() - started


class Stopwatch:
    """CPU times of single requests, in milliseconds, less the model's."""

    def __init__(self, memory: Opened, model: ModelTime) -> None:
        self.memory = memory
        self.times: list[float] = []
        self._model = model

    def ask(self, request: Request[R], actor: Actor = AGENT) -> R:
        """The answer; what it took is added to `times`."""
        model, started = self._model.seconds, time.process_time()
        answer = self.memory.ask(request, actor)
        took = time.process_time() - started - (self._model.seconds - model)
        self.times.append(took * 1000)
        return answer

    def median(self, last: int = 0) -> float:
        """Of the last so many, or of all."""
        return statistics.median(self.times[-last:])


@contextmanager
def bench_memory(embedder: EmbedderKind = EmbedderKind.MINILM) -> Generator[Opened]:
    """An empty memory as the settings' defaults make it, in a temporary folder, without upkeep."""
    with (
        tempfile.TemporaryDirectory(prefix="mms-bench-") as folder,
        opened(Path(folder), settings(embedder=embedder, index=VectorIndexKind.AUTO)) as memory,
    ):
        yield memory


def peak_mb() -> float:
    """The most memory that this process has held, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def note(text: str) -> None:
    """Tell whoever waits."""
    print(f"  {text}", file=sys.stderr, flush=True)
