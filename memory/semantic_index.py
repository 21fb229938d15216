"""Vectors of records: which model's are searched, which are still being made, and the index over them.

The truth is in the store (one row per record and model); an index can always be filled from there. While
a new model's vectors are being made, search goes on with the old model, query and records alike: vectors
of two models are never compared. Imports numpy; only the memory's own process loads this.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from config.schema import EmbedderKind, EmbedderSettings, VectorIndexKind, VectorSettings
from memory.api import IndexStatus
from memory.embedding import settings as embedding
from memory.embedding.cache import CachedEmbedder
from memory.embedding.choose import make_embedder
from memory.embedding.port import EmbedderUnavailable, Floats, ModelProfile
from memory.model import DEFAULT_SPACE, Actor, Origin
from memory.store.database import Store
from memory.vectors.auto import THRESHOLD, AutoIndex
from memory.vectors.brute import BruteIndex
from memory.vectors.chroma import ChromaIndex
from memory.vectors.chroma_http import ChromaHttpIndex, ChromaServer
from memory.vectors.port import IndexFault

_log = logging.getLogger("mms.memory.index")
_PAGE = 2_000
"""Vectors read from the store at once."""
_FOLDER = "chroma"
"""Of the local store, below the memory's directory."""
_AGAIN = "It is tried again until that works."
_ENGINE = Actor(Origin.OPERATOR, "mms")
_SEARCH_MODEL = "search_model"
"""Key of the store: id of the model whose vectors are complete enough to be searched."""


@dataclass(frozen=True, slots=True)
class QueryVector:
    """The vector of a question, or why there is none."""

    vector: Floats | None
    problem: str = ""


Index = BruteIndex | AutoIndex


@dataclass(slots=True)
class _Model:
    """An embedder and the index over its vectors."""

    embedder: CachedEmbedder
    problem: str
    index: Index | None = None
    loaded: int = 0
    """Number of the last change of vectors that the index has."""


class SemanticIndex:
    """The searched model, the wanted model, and the index. Any thread may call.

    Nothing here writes to the store while it holds the lock: a transaction that is under way may ask for a
    vector, and each would wait for the other.
    """

    def __init__(
        self,
        store: Store,
        directory: Path,
        embedder: EmbedderSettings,
        vectors: VectorSettings,
        environ: Mapping[str, str],
    ) -> None:
        self._store = store
        self._directory = directory
        self._environ = environ
        self._vectors = vectors
        self._lock = threading.RLock()
        self._wanted_settings = embedder
        self._wanted = self._make(embedder)
        self._searched: _Model | None = None
        self._index_problem = ""
        self._has_erased = False
        """A record was expunged in this process. Chroma's library writes memory that it never set into its
        files, and that may be what an erased vector left there: only another process makes new ones."""
        self.erase_due = store.vectors_due
        """Something was expunged whose vector may still be in an index: `erase` never came, or failed."""
        self._used_at = time.monotonic()
        self._came = True
        """The store may have vectors that the index lacks. A shared store may have them at any time."""
        self._remembered = False
        """The store knows which model is searched; until then every new vector is a reason to tell it."""
        self._choose_searched()

    def configure(self, embedder: EmbedderSettings, vectors: VectorSettings) -> None:
        """Take on new settings: other vectors are made in the background, the old ones serve meanwhile."""
        with self._lock:
            if vectors != self._vectors:
                self._vectors = vectors
                for model in self._models():
                    self._drop_index(model)
            if embedder != self._wanted_settings:
                self._remembered = False
                self._wanted_settings = embedder
                old = self._wanted
                self._wanted = self._make(embedder)
                if old is not self._searched:
                    self._close(old)
                self._choose_searched()

    def close(self) -> None:
        """Free indexes and models."""
        with self._lock:
            for model in self._models():
                self._close(model)

    def rest(self, idle_seconds: float) -> None:
        """Free models that nobody needed for so long; the next text loads them again."""
        with self._lock:
            if time.monotonic() - self._used_at < idle_seconds:
                return
            for model in self._models():
                model.embedder.rest()

    def embed_query(self, text: str) -> QueryVector:
        """The question's vector by the searched model."""
        with self._lock:
            self._used_at = time.monotonic()
            model = self._searched
        if model is None:
            return QueryVector(None, self._no_vectors())
        try:
            return QueryVector(model.embedder.embed_query(text), model.problem)
        except EmbedderUnavailable as error:
            return QueryVector(None, str(error))

    def embed_now(self, text: str) -> QueryVector:
        """The vector of a text that is being stored, by the wanted model, if that is quick to have.

        A model behind a URL is never waited for: the text is stored, its vector follows.
        """
        with self._lock:
            self._used_at = time.monotonic()
            model = self._wanted
            remote = self._wanted_settings.provider is EmbedderKind.OPENAI
        if remote:
            return QueryVector(None, "the vector is made after the text was stored")
        try:
            return QueryVector(model.embedder.embed_documents([text])[0], model.problem)
        except EmbedderUnavailable as error:
            return QueryVector(None, str(error))

    def embed_many(self, texts: Sequence[str]) -> Floats:
        """Vectors by the wanted model. Raises `EmbedderUnavailable`."""
        with self._lock:
            self._used_at = time.monotonic()
            model = self._wanted
        return model.embedder.embed_documents(texts)

    def wanted_profile(self) -> ModelProfile:
        """The model that new vectors are made with. Raises `EmbedderUnavailable`."""
        with self._lock:
            model = self._wanted
        return model.embedder.profile

    def searched_profile(self) -> ModelProfile | None:
        """The model that questions are asked with; ``None``: there are no vectors."""
        with self._lock:
            model = self._searched
        if model is None:
            return None
        try:
            return model.embedder.profile
        except EmbedderUnavailable:
            return None

    def nearest(
        self, vector: Floats, k: int, allowed: NDArray[np.bool_] | None
    ) -> list[tuple[int, float]]:
        """The ``k`` nearest records among those allowed, as (num, cosine), best first."""
        with self._lock:
            model = self._searched
            return [] if model is None else self._loaded(model).query(vector, k, allowed)

    def cosines(self, vector: Floats, nums: Sequence[int]) -> dict[int, float]:
        """Similarity of these records to ``vector``; records without a vector are missing."""
        with self._lock:
            model = self._searched
            if model is None or not nums:
                return {}
            return dict(self._loaded(model).cosines(vector, nums))

    def vector_came(self, model_id: str, num: int, vector: Floats, seq: int) -> None:
        """The vector of one record was committed as change ``seq``."""
        with self._lock:
            model = self._searched
            if (
                model is not None
                and model.index is not None
                and not self._came
                and model.loaded == seq - 1
                and model.embedder.profile.id == model_id
            ):
                # What the store keeps, so that it is the same after a restart.
                kept = decoded(encoded(vector))
                model.index.upsert(np.asarray([num], dtype=np.int64), kept[np.newaxis, :])
                model.loaded = seq
                return
        self.vectors_came()

    def vectors_came(self) -> None:
        """Vectors were committed to the store. A first model can be searched as soon as it has some."""
        with self._lock:
            self._came = True
            if self._searched is None:
                self._choose_searched()
            remembered = self._remembered
        if not remembered:
            self.finish_switch()

    def maintain(self, now: int) -> bool:
        """Do a part of what a store beside the memory needs; whether there is more to do at once."""
        with self._lock:
            index = None if self._searched is None else self._searched.index
            if not isinstance(index, AutoIndex):
                return False
            more = index.maintain(now)
            if index.problem != self._index_problem:
                self._index_problem = index.problem
                if index.problem:
                    _log.warning("%s", index.problem)
            return more

    def erase(self, num: int | None = None) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """A record was expunged: no index may keep its vector. What was erased, and what could not be.

        ``num``: the record; without, what is left of earlier ones is erased.
        """
        places: list[str] = []
        problems: list[str] = []
        failed = False
        with self._store.reading() as reading:
            models = [model.id for model in reading.models()]
        with self._lock:
            for model in self._models():
                model.embedder.forget()
                if model.index is None and self._vectors.index is VectorIndexKind.BRUTE:
                    continue
                try:
                    index = self._loaded(model)
                    if num is not None:
                        index.delete([num])
                    if isinstance(index, AutoIndex):
                        # Deleting leaves the bytes in its files, so these go, too.
                        index.erase(models)
                        places.append("Vector store beside the memory: deleted, to be made anew.")
                        if self._vectors.index is VectorIndexKind.CHROMA_HTTP:
                            problems.append(
                                f"The Chroma server at {self._vectors.url} may keep the bytes in its files "
                                "until it is vacuumed: run chroma vacuum there."
                            )
                except (IndexFault, EmbedderUnavailable) as fault:
                    failed = True
                    problems.append(f"The vector store may still hold its vector: {fault} {_AGAIN}")
            if self._uses_folder():
                self._has_erased = True
                for model in self._models():
                    self._drop_index(model)
            try:
                if self._erase_unused():
                    places.append("Vector store of earlier settings: deleted.")
            except IndexFault as fault:
                failed = True
                problems.append(
                    f"An earlier vector store may still hold its vector: {fault} {_AGAIN}"
                )
        self.erase_due = failed
        if not failed:
            self._store.vectors_erased()
        return tuple(places), tuple(problems)

    def start_over(self) -> None:
        """Drop every vector of the wanted model; upkeep makes them again."""
        with self._lock:
            try:
                profile = self._wanted.embedder.profile
            except EmbedderUnavailable:
                return
            for model in self._models():
                self._drop_index(model)
        with self._store.writing(_ENGINE, DEFAULT_SPACE, 0) as writing:
            writing.drop_model(profile.id)
        with self._lock:
            self._choose_searched()

    def finish_switch(self) -> None:
        """Search by the wanted model from now on, if all its vectors are there."""
        with self._lock:
            wanted, wanted_settings = self._wanted, self._wanted_settings
        try:
            profile = wanted.embedder.profile
        except EmbedderUnavailable:
            return
        with self._store.reading() as reading:
            if reading.pending_count(profile.id) or not reading.vector_count(profile.id):
                return
            before = reading.meta(_SEARCH_MODEL)
        if before != profile.id:
            kept = json.dumps(asdict(wanted_settings), default=_enum_value, sort_keys=True)
            self._store.put_meta(f"embedder:{profile.id}", kept)
            self._store.put_meta(_SEARCH_MODEL, profile.id)
        with self._lock:
            self._remembered = True
            old = self._searched
            if old is self._wanted or wanted is not self._wanted:
                return
            self._searched = wanted
            if old is not None:
                self._close(old)

    def status(self) -> IndexStatus:
        """How far everything is."""
        with self._lock:
            searched = self.searched_profile()
            problem = self._index_problem or self._wanted.problem
            try:
                wanted = self._wanted.embedder.profile
            except EmbedderUnavailable as error:
                wanted = None
                problem = str(error)
            with self._store.reading() as reading:
                pending = reading.pending_count(wanted.id) if wanted else 0
                vectors = reading.vector_count(searched.id) if searched else 0
                total = reading.living_count()
            building = wanted.id if wanted and wanted != searched else ""
            return IndexStatus(
                model=searched.id if searched else "",
                index=self._vectors.index.value,
                vectors=vectors,
                pending=pending,
                problem=problem,
                building=building,
                built=total - pending if building else 0,
                to_build=total if building else 0,
            )

    def _make(self, settings: EmbedderSettings) -> _Model:
        chosen = make_embedder(
            embedding.EmbedderSettings(
                kind=settings.provider,
                url=settings.url,
                model=settings.model,
                key=self._environ.get(settings.api_key_variable, ""),
                timeout_seconds=settings.timeout_seconds,
            )
        )
        return _Model(chosen.embedder, chosen.problem)

    def _choose_searched(self) -> None:
        """The wanted model if its vectors are complete, else the one that was searched before."""
        try:
            wanted = self._wanted.embedder.profile
        except EmbedderUnavailable:
            wanted = None
        with self._store.reading() as reading:
            before = reading.meta(_SEARCH_MODEL)
            if wanted is not None and (before is None or before == wanted.id):
                has_vectors = reading.vector_count(wanted.id) > 0
            else:
                has_vectors = False
            kept = reading.meta(f"embedder:{before}") if before else None
        if wanted is not None and has_vectors:
            self._searched = self._wanted
            return
        if kept is None or (wanted is not None and before == wanted.id):
            self._searched = None if self._searched is self._wanted else self._searched
            return
        if self._searched is not None and self._searched.embedder.profile.id == before:
            return
        self._searched = self._make(_settings_from(kept))

    def _no_vectors(self) -> str:
        return self._wanted.problem or "no memory has a vector yet; they are being made"

    def _models(self) -> tuple[_Model, ...]:
        if self._searched is None or self._searched is self._wanted:
            return (self._wanted,)
        return (self._wanted, self._searched)

    def _close(self, model: _Model) -> None:
        self._drop_index(model)
        model.embedder.close()

    def _drop_index(self, model: _Model) -> None:
        if model.index is not None:
            model.index.close()
            model.index = None
            model.loaded = 0

    def _loaded(self, model: _Model) -> Index:
        """The model's index with every vector that the store has."""
        profile = model.embedder.profile
        index, fresh = model.index, model.index is None
        if index is None:
            index = model.index = self._new_index()
            index.ensure(profile.id, profile.dims)
            model.loaded = 0
        if not fresh and not self._came and not self._store.is_shared:
            return index
        self._came = False
        with self._store.reading() as reading:
            while rows := reading.vectors(profile.id, model.loaded, _PAGE):
                nums = np.fromiter((row.num for row in rows), dtype=np.int64, count=len(rows))
                vectors = np.stack([decoded(row.vector) for row in rows])
                if isinstance(index, AutoIndex) and fresh:
                    index.load(nums, vectors)  # a lasting store may have them already
                else:
                    index.upsert(nums, vectors)
                model.loaded = rows[-1].seq
        return index

    def _uses_folder(self) -> bool:
        """Settings want a local store, at least for many vectors."""
        return self._vectors.index in (VectorIndexKind.CHROMA, VectorIndexKind.AUTO)

    def _erase_unused(self) -> bool:
        """Delete the folder of a store that no index has open any more; whether there was one."""
        unused = ChromaIndex(self._directory / _FOLDER)
        if not unused.may_hold():
            return False
        unused.erase()
        return True

    def _new_index(self) -> Index:
        kind = self._vectors.index
        if kind is VectorIndexKind.BRUTE or (self._has_erased and self._uses_folder()):
            return BruteIndex()
        if kind is VectorIndexKind.CHROMA_HTTP:
            server = ChromaServer(self._vectors.url, namespace=self._store.identity)
            return AutoIndex(BruteIndex(), ChromaHttpIndex(server), threshold=1)
        large = ChromaIndex(self._directory / _FOLDER)
        threshold = THRESHOLD if kind is VectorIndexKind.AUTO else 1
        return AutoIndex(BruteIndex(), large, threshold)


def encoded(vector: Floats) -> bytes:
    """A vector as the store keeps it: float16, little end first."""
    return vector.astype("<f2").tobytes()


def decoded(row: bytes) -> Floats:
    """The vector in a row of the store."""
    return np.frombuffer(row, dtype="<f2").astype(np.float32)


def _enum_value(value: object) -> object:
    return getattr(value, "value", None)


def _settings_from(kept: str) -> EmbedderSettings:
    values = cast("dict[str, Any]", json.loads(kept))
    values["provider"] = EmbedderKind(values["provider"])
    return EmbedderSettings(**values)
