"""An index in a Chroma server, which may be the distributed one. Loads numpy; httpx2 with the first use.

Speaks the server's HTTP interface, version 2, itself: the library's client waits without end for a server
that is silent, and needs all of chromadb. A server has no authentication of its own, so it should be
reachable from this machine only, or stand behind something that checks the headers given here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import msgspec

from memory.embedding.json_http import JsonClient, NoReply, Reply
from memory.vectors.collection import CollectionIndex
from memory.vectors.port import Floats, IndexBroken, IndexUnavailable

CALL_SECONDS = 5.0
"""For one request."""


@dataclass(frozen=True, slots=True)
class ChromaServer:
    """Which server, and what in it is ours."""

    url: str = "http://127.0.0.1:8000"
    tenant: str = "default_tenant"
    database: str = "default_database"
    namespace: str = ""
    """Keeps several memories on one server apart; must be the memory's own, for example its id."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """For example ``{"x-chroma-token": …}``."""
    call_seconds: float = CALL_SECONDS


class ChromaHttpIndex(CollectionIndex):
    """A `CollectionIndex` in a server. `rebuild` and `reset` delete the collection, no files."""

    def __init__(self, server: ChromaServer) -> None:
        """Connects with the first use."""
        super().__init__(lambda: _ServerStore(server), "on the Chroma server", server.namespace)


class _Description(msgspec.Struct):
    id: str
    dimension: int | None = None
    configuration_json: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])


class _Nearest(msgspec.Struct):
    ids: list[list[str]]
    distances: list[list[float]]


class _Error(msgspec.Struct):
    error: str = ""
    message: str = ""


_DESCRIPTION = msgspec.json.Decoder(_Description)
_NEAREST = msgspec.json.Decoder(_Nearest)
_NUMBER = msgspec.json.Decoder(int)
_ERROR = msgspec.json.Decoder(_Error)


class _ServerStore:
    """A database of the server."""

    def __init__(self, server: ChromaServer) -> None:
        try:
            self._client = JsonClient(server.url, server.headers)
        except NoReply as error:
            raise IndexUnavailable(f"The Chroma server {error}.") from None
        self._seconds = server.call_seconds
        self._path = (
            f"/api/v2/tenants/{quote(server.tenant, safe='')}"
            f"/databases/{quote(server.database, safe='')}/collections"
        )

    def collection(self, name: str) -> _ServerCollection:
        body = {
            "name": name,
            "get_or_create": True,
            "configuration": {"hnsw": {"space": "cosine"}},
        }
        described = self.decoded(_DESCRIPTION, self.ask("POST", "", body))
        for kind in ("hnsw", "spann"):
            settings = described.configuration_json.get(kind)
            if settings and settings.get("space") != "cosine":
                raise IndexBroken("The collection on the Chroma server does not compare by cosine.")
        return _ServerCollection(self, described.id, described.dimension or 0)

    def delete_collection(self, name: str) -> None:
        self.ask("DELETE", f"/{quote(name, safe='')}", None, missing_is_fine=True)

    def close(self) -> None:
        self._client.close()

    def ask(self, method: str, path: str, body: object, *, missing_is_fine: bool = False) -> bytes:
        """The body of an answer that tells success. Raises `IndexFault`."""
        content = None if body is None else msgspec.json.encode(body)
        try:
            reply = self._client.ask(method, self._path + path, content, self._seconds)
        except NoReply as error:
            raise IndexUnavailable(f"The Chroma server {error}.") from None
        if reply.status in (200, 201) or (reply.status == 404 and missing_is_fine):
            return reply.body
        detail = f"{reply.status} {_detail(reply)}".strip()
        if reply.status in (400, 404, 409, 422, 500):
            raise IndexBroken(f"The index on the Chroma server cannot be used ({detail}).")
        raise IndexUnavailable(f"The Chroma server refuses ({detail}).")

    def decoded(self, decoder: msgspec.json.Decoder[Any], body: bytes) -> Any:
        """An answer's content. Raises `IndexUnavailable` when it is none of Chroma's."""
        try:
            return decoder.decode(body)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            raise IndexUnavailable(
                f"What listens at {self._client.place} does not answer like a Chroma server."
            ) from None


class _ServerCollection:
    """One collection by its id."""

    def __init__(self, store: _ServerStore, id: str, dims: int) -> None:
        self._store = store
        self._path = f"/{quote(id, safe='')}"
        self._dims = dims

    def dims(self) -> int:
        return self._dims

    def upsert(self, ids: list[str], vectors: Floats) -> None:
        body = {"ids": ids, "embeddings": vectors.tolist()}
        self._store.ask("POST", f"{self._path}/upsert", body)

    def delete(self, ids: list[str]) -> None:
        self._store.ask("POST", f"{self._path}/delete", {"ids": ids})

    def query(self, vector: Floats, most: int) -> tuple[list[str], list[float]]:
        body = {
            "query_embeddings": [vector.tolist()],
            "n_results": most,
            "include": ["distances"],
        }
        answer = self._store.ask("POST", f"{self._path}/query", body)
        nearest = self._store.decoded(_NEAREST, answer)
        return nearest.ids[0], nearest.distances[0]

    def count(self) -> int:
        return self._store.decoded(_NUMBER, self._store.ask("GET", f"{self._path}/count", None))


def _detail(reply: Reply) -> str:
    """The server's own words, one short line; they hold no texts, since it has none."""
    try:
        error = _ERROR.decode(reply.body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""
    return " ".join(f"{error.error}: {error.message}".split())[:200]
