"""A small server with ``/v1/embeddings``, for tests: answers what it is told to, and keeps what it got."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from memory.embedding.hashing import HashingEmbedder

Answer = tuple[int, dict[str, str], bytes]
Behaviour = Callable[[list[str]], Answer]


@dataclass
class Heard:
    """One request."""

    path: str
    headers: dict[str, str]
    texts: list[str]
    model: str


@dataclass
class EmbeddingServer:
    """``behaviours`` are used up one per request; after them it works well."""

    url: str = ""
    heard: list[Heard] = field(default_factory=list[Heard])
    behaviours: list[Behaviour] = field(default_factory=list[Behaviour])
    closing: ExitStack = field(default_factory=ExitStack)
    """Closed before the server is."""


def well(texts: list[str], *, encoded: bool = False, numbered: bool = True) -> Answer:
    """Vectors of the texts' words, in reverse order, twice as long as they should be."""
    data: list[dict[str, Any]] = []
    for index, row in enumerate(HashingEmbedder().embed_documents(texts) * 2):
        vector = row.astype("<f4")
        shown = base64.b64encode(vector.tobytes()).decode() if encoded else vector.tolist()
        data.append(
            {"object": "embedding", "embedding": shown} | ({"index": index} if numbered else {})
        )
    if numbered:
        data.reverse()
    return 200, {}, json.dumps({"object": "list", "data": data}).encode()


def vectors(*rows: list[float]) -> Behaviour:
    """These vectors, whatever was asked."""
    data = [{"embedding": row, "index": at} for at, row in enumerate(rows)]
    return lambda texts: (200, {}, json.dumps({"data": data}).encode())


def status(code: int, **headers: str) -> Behaviour:
    """A failure."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda texts: (code, named, b'{"error": {"message": "secret text of the server"}}')


def raw(body: bytes) -> Behaviour:
    """Success with a body that is no answer."""
    return lambda texts: (200, {}, body)


@contextmanager
def embedding_server() -> Iterator[EmbeddingServer]:
    """Runs until the block ends."""
    server = EmbeddingServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:  # named by the library
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            texts = request["input"]
            server.heard.append(
                Heard(
                    self.path,
                    {k.lower(): v for k, v in self.headers.items()},
                    texts,
                    request["model"],
                )
            )
            code, headers, body = (server.behaviours.pop(0) if server.behaviours else well)(texts)
            self.send_response(code)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            with suppress(OSError):  # the client has gone away
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.url = f"http://127.0.0.1:{listening.server_address[1]}"
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
    listening.daemon_threads = True
    listening.block_on_close = False
    thread.start()
    try:
        yield server
    finally:
        server.closing.close()
        listening.shutdown()
        thread.join(10)
        listening.server_close()


def same_direction(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    """Equal but for rounding."""
    return bool(np.allclose(one, other, atol=1e-6))
