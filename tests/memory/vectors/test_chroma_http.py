"""The index on a Chroma server: what happens when the server is not as it should be."""

from __future__ import annotations

import socket
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from memory.vectors.chroma_http import ChromaHttpIndex, ChromaServer
from memory.vectors.port import IndexBroken, IndexUnavailable
from tests.memory.vectors.conftest import start_server, stop_server
from tests.memory.vectors.support import DIMS, axis, numbers, random_vectors

pytestmark = pytest.mark.xdist_group("chroma")


def _index(url: str, namespace: str = "", seconds: float = 20.0) -> ChromaHttpIndex:
    return ChromaHttpIndex(ChromaServer(url, namespace=namespace, call_seconds=seconds))


@contextmanager
def _listener(serve: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that does something else with every connection."""
    listening = socket.create_server(("127.0.0.1", 0))
    listening.settimeout(0.05)
    over = threading.Event()
    taken: list[socket.socket] = []

    def run() -> None:
        while not over.is_set():
            try:
                connection, _ = listening.accept()
            except TimeoutError:
                continue
            taken.append(connection)
            serve(connection)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        over.set()
        thread.join(10)
        for one in (*taken, listening):
            one.close()


def _answers(status: str, body: bytes) -> Callable[[socket.socket], None]:
    def serve(connection: socket.socket) -> None:
        connection.settimeout(5)
        connection.recv(65_536)
        head = f"HTTP/1.1 {status}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        connection.sendall(head.encode() + body)
        connection.close()

    return serve


def test_two_memories_on_one_server_do_not_see_each_other(chroma_url: str) -> None:
    one, other = (_index(chroma_url, uuid.uuid4().hex) for _ in range(2))
    for index in (one, other):
        index.ensure("m", DIMS)
    one.upsert(numbers(1), axis(0)[np.newaxis])
    assert (one.count(), other.count()) == (1, 0)
    one.erase()
    assert one.count() == 0
    for index in (one, other):
        index.close()


def test_nobody_listening_is_unavailable(free_port: int) -> None:
    index = _index(f"http://127.0.0.1:{free_port}")
    with pytest.raises(IndexUnavailable, match="nothing listens"):
        index.ensure("m", DIMS)
    assert not index.health().ok
    index.close()


def test_a_silent_server_is_given_up_in_time() -> None:
    with _listener(lambda connection: None) as url:
        index = _index(url, seconds=0.2)
        with pytest.raises(IndexUnavailable, match="did not answer within"):
            index.ensure("m", DIMS)
        index.close()


@pytest.mark.parametrize(
    ("status", "body"),
    [("200 OK", b"<html>"), ("200 OK", b"[]"), ("200 OK", b'{"name": 1}'), ("200 OK", b"\xff")],
)
def test_something_else_than_chroma_is_unavailable(status: str, body: bytes) -> None:
    with _listener(_answers(status, body)) as url:
        index = _index(url)
        with pytest.raises(IndexUnavailable, match="does not answer like a Chroma server"):
            index.ensure("m", DIMS)
        index.close()


@pytest.mark.parametrize("status", ["401 Unauthorized", "302 Found", "503 Busy", "429 Slow"])
def test_a_refusal_is_unavailable(status: str) -> None:
    with _listener(_answers(status, b"")) as url:
        index = _index(url)
        with pytest.raises(IndexUnavailable, match=f"refuses .{status[:3]}"):
            index.ensure("m", DIMS)
        index.close()


def test_an_address_that_is_none_is_unavailable() -> None:
    with pytest.raises(IndexUnavailable, match="no usable address"):
        _index("file:///tmp").ensure("m", DIMS)


def test_an_unknown_database_is_told(chroma_url: str) -> None:
    index = ChromaHttpIndex(ChromaServer(chroma_url, database="no-such", call_seconds=20))
    with pytest.raises(IndexBroken, match="no-such"):
        index.ensure("m", DIMS)
    index.close()


def test_a_collection_that_vanished_is_broken_and_can_be_made_anew(chroma_url: str) -> None:
    namespace = uuid.uuid4().hex
    index, other = _index(chroma_url, namespace), _index(chroma_url, namespace)
    for one in (index, other):
        one.ensure("m", DIMS)
    other.erase()
    with pytest.raises(IndexBroken, match="404"):
        index.upsert(numbers(1), axis(0)[np.newaxis])
    assert "made anew" in index.reset(0)
    index.upsert(numbers(1), axis(0)[np.newaxis])
    assert index.count() == 1
    for one in (index, other):
        one.close()


def test_a_server_that_restarts_has_what_it_confirmed(tmp_path: Path, free_port: int) -> None:
    index = _index(f"http://127.0.0.1:{free_port}")
    vectors = random_vectors(30)
    server = start_server(tmp_path, free_port)
    try:
        index.ensure("m", DIMS)
        index.upsert(np.arange(30), vectors)
        server.kill()
        server.wait(10)
        with pytest.raises(IndexUnavailable):
            index.query(vectors[0], 1, None)
        server = start_server(tmp_path, free_port)
        assert index.count() == 30
        assert index.query(vectors[4], 1, None)[0][0] == 4
    finally:
        stop_server(server)
        index.close()


def test_headers_are_sent_and_never_shown() -> None:
    heard: list[bytes] = []

    def serve(connection: socket.socket) -> None:
        connection.settimeout(5)
        heard.append(connection.recv(65_536))
        connection.close()

    with _listener(serve) as url:
        server = ChromaServer(url, headers={"x-chroma-token": "t-1234"}, call_seconds=5)
        index = ChromaHttpIndex(server)
        with pytest.raises(IndexUnavailable) as caught:
            index.ensure("m", DIMS)
        index.close()
    assert b"x-chroma-token: t-1234" in heard[0]
    assert "t-1234" not in str(caught.value) + repr(server)
