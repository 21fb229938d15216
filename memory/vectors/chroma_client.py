"""The library chromadb as this package uses it: opened for one folder, its exceptions translated.

Imported lazily by `memory.vectors.chroma`; chromadb itself (.6 s, 76 MB) comes with the first store. Nothing
of the environment or of a ``.env`` file changes what it does here, and it reports to nobody.
"""

from __future__ import annotations

import contextlib
import importlib
import threading
import warnings
from collections.abc import Generator
from pathlib import Path
from typing import Any

from memory.vectors.port import Floats, IndexBroken, IndexFault, IndexUnavailable

_IMPORT = threading.Lock()
_PASSING = (
    "database is locked",
    "database table is locked",
    "disk is full",
    "disk full",
    "no space left",
    "readonly database",
    "unable to open database file",
    "too many open files",
    "permission denied",
)
"""Words of errors that say nothing about what is stored."""


class LocalStore:
    """One folder, opened."""

    def __init__(self, folder: Path) -> None:
        """``folder``: resolved, for chromadb takes each spelling for another store. Raises `IndexFault`."""
        self._name = folder.name
        chromadb = _chromadb(folder)
        with self.translated():
            try:
                self._client: Any = chromadb.PersistentClient(
                    str(folder), settings=_settings(chromadb, folder)
                )
            except BaseException:
                _forget(folder)
                raise

    def collection(self, name: str) -> LocalCollection:
        """The collection of that name, made if there is none. Raises `IndexFault`."""
        with self.translated():
            collection: Any = self._client.get_or_create_collection(
                name, configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
            )
            # The property `configuration` warns about stores without an embedding function.
            described: Any = collection.configuration_json.get("hnsw")
            if not described or described.get("space") != "cosine":
                raise IndexBroken(
                    f"The index in the folder {self._name} does not compare by cosine."
                )
        return LocalCollection(self, collection)

    def delete_collection(self, name: str) -> None:
        """One that is not there is passed over. Raises `IndexFault`."""
        not_found = importlib.import_module("chromadb.errors").NotFoundError
        with self.translated(), contextlib.suppress(not_found):
            self._client.delete_collection(name)

    def close(self) -> None:
        """Free the folder for this and other processes."""
        with contextlib.suppress(Exception):
            self._client.close()

    @contextlib.contextmanager
    def translated(self) -> Generator[None]:
        """Whatever the library raises becomes an `IndexFault`."""
        try:
            yield
        except (IndexFault, KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except BaseException as error:  # a panic of the native code is no Exception
            detail = f"{type(error).__name__}: {_one_line(str(error))}"
            if isinstance(error, OSError | MemoryError) or _passes(str(error)):
                raise IndexUnavailable(
                    f"The index in the folder {self._name} cannot be used now ({detail})."
                ) from error
            raise IndexBroken(
                f"The index in the folder {self._name} is broken ({detail})."
            ) from error


class LocalCollection:
    """One collection of a `LocalStore`."""

    def __init__(self, store: LocalStore, collection: Any) -> None:
        self._store = store
        self._collection = collection

    def dims(self) -> int:
        """Of the vectors in it; 0 while there are none."""
        with self._store.translated():
            return int(self._collection._model.dimension or 0)  # noqa: SLF001  # told nowhere else

    def upsert(self, ids: list[str], vectors: Floats) -> None:
        """Put vectors in. Raises `IndexFault`."""
        with self._store.translated():
            self._collection.upsert(ids=ids, embeddings=vectors)

    def delete(self, ids: list[str]) -> None:
        """Take vectors out. Raises `IndexFault`."""
        with self._store.translated():
            self._collection.delete(ids=ids)

    def query(self, vector: Floats, most: int) -> tuple[list[str], list[float]]:
        """Ids and distances, nearest first. Raises `IndexFault`."""
        with self._store.translated():
            answer: Any = self._collection.query(
                query_embeddings=vector.reshape(1, -1), n_results=most, include=["distances"]
            )
            return list(answer["ids"][0]), [float(one) for one in answer["distances"][0]]

    def count(self) -> int:
        """How many vectors there are. Raises `IndexFault`."""
        with self._store.translated():
            return int(self._collection.count())


def _chromadb(folder: Path) -> Any:
    """The library. Its import reads a ``.env`` of the working directory, so there must be none."""
    with _IMPORT, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            elsewhere = (
                contextlib.chdir(folder) if Path(".env").exists() else contextlib.nullcontext()
            )
            with elsewhere:
                return importlib.import_module("chromadb")
        except Exception as error:  # its own settings are read with the import and may be refused
            raise IndexUnavailable(
                f"Chroma cannot be used here ({type(error).__name__}: {_one_line(str(error))})."
            ) from error


def _forget(folder: Path) -> None:
    """After a failed start the library would give the half-started store to whoever opens it next."""
    shared: Any = importlib.import_module("chromadb.api.shared_system_client").SharedSystemClient
    with shared._refcount_lock:  # noqa: SLF001  # there is no public way for one store
        if str(folder) not in shared._identifier_to_refcount:  # noqa: SLF001
            shared._identifier_to_system.pop(str(folder), None)  # noqa: SLF001


def _settings(chromadb: Any, folder: Path) -> Any:
    """Every setting at its default but ours, whatever the environment says."""
    kind = chromadb.config.Settings
    values = {
        name: field.get_default(call_default_factory=True)
        for name, field in kind.model_fields.items()
    }
    values |= {
        "anonymized_telemetry": False,
        "is_persistent": True,
        "persist_directory": str(folder),
    }
    return kind(_env_file=None, **values)


def _passes(text: str) -> bool:
    lower = text.lower()
    return any(words in lower for words in _PASSING)


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]
