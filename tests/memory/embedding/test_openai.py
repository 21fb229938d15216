"""Vectors from a server."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.embedding.hashing import HashingEmbedder
from memory.embedding.openai import OpenAiEmbedder, Waiting
from memory.embedding.openai_wire import AnswerUnusable, decode_answer
from memory.embedding.port import EmbedderUnavailable
from memory.embedding.settings import EmbedderKind, EmbedderSettings
from tests.memory.embedding.server import (
    EmbeddingServer,
    embedding_server,
    raw,
    same_direction,
    status,
    vectors,
    well,
)


class _Clock:
    """Time passes only by waiting."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.waits: list[float] = []

    def waiting(self) -> Waiting:
        return Waiting(lambda: self.seconds, self._pause)

    def _pause(self, event: threading.Event, seconds: float) -> None:
        self.waits.append(seconds)
        self.seconds += seconds


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as running:
        yield running


def _embedder(
    server: EmbeddingServer, clock: _Clock | None = None, **settings: Any
) -> OpenAiEmbedder:
    chosen: dict[str, Any] = {"url": server.url, "model": "words", **settings}
    embedder = OpenAiEmbedder(
        EmbedderSettings(EmbedderKind.OPENAI, **chosen), (clock or _Clock()).waiting()
    )
    server.closing.callback(embedder.close)
    return embedder


def test_vectors_come_back_in_the_order_of_the_texts(server: EmbeddingServer) -> None:
    texts = ["one", "two", "three"]
    rows = _embedder(server).embed_documents(texts)
    assert same_direction(rows, HashingEmbedder().embed_documents(texts))


def test_base64_and_answers_without_numbers_are_understood(server: EmbeddingServer) -> None:
    server.behaviours = [
        lambda texts: well(texts, encoded=True),
        lambda texts: well(texts, numbered=False),
    ]
    embedder, texts = _embedder(server), ["one", "two"]
    expected = HashingEmbedder().embed_documents(texts)
    assert same_direction(embedder.embed_documents(texts), expected)
    assert same_direction(embedder.embed_documents(texts), expected)


def test_many_texts_go_in_several_requests(server: EmbeddingServer) -> None:
    texts = [f"text {number}" for number in range(150)]
    rows = _embedder(server).embed_documents(texts)
    assert [len(heard.texts) for heard in server.heard] == [64, 64, 22]
    assert same_direction(rows, HashingEmbedder().embed_documents(texts))


@pytest.mark.parametrize("end", ["", "/", "/v1", "/v1/", "/v1/embeddings"])
def test_any_common_form_of_the_address_is_taken(server: EmbeddingServer, end: str) -> None:
    server.url += end
    _embedder(server).embed_query("one")
    assert server.heard[0].path == "/v1/embeddings"


def test_key_model_and_prefixes_are_sent(server: EmbeddingServer) -> None:
    embedder = _embedder(server, key="k-1", query_prefix="query: ", document_prefix="passage: ")
    embedder.embed_query("one")
    embedder.embed_documents(["two"])
    assert server.heard[0].headers["authorization"] == "Bearer k-1"
    assert [heard.texts for heard in server.heard] == [["query: one"], ["passage: two"]]
    assert server.heard[0].model == "words"
    _embedder(server).embed_query("three")
    assert "authorization" not in server.heard[-1].headers


def test_long_and_empty_texts_are_made_sendable(server: EmbeddingServer) -> None:
    _embedder(server, longest_text=10).embed_documents(["x" * 50, "", " \n", "\ud800"])
    assert server.heard[0].texts == ["x" * 10, ".", ".", "?"]


def test_dimensions_are_learnt_once(server: EmbeddingServer) -> None:
    embedder = _embedder(server)
    assert embedder.profile.dims == 1024
    assert embedder.profile == embedder.profile
    assert len(server.heard) == 1


def test_known_dimensions_need_no_question(server: EmbeddingServer) -> None:
    assert _embedder(server, dims=1024).profile == _embedder(server).profile
    assert len(server.heard) == 1


def test_another_model_behind_the_same_name_is_noticed(server: EmbeddingServer) -> None:
    embedder = _embedder(server)
    embedder.embed_query("one")
    server.behaviours = [vectors([1.0, 2.0])]
    with pytest.raises(EmbedderUnavailable, match="2 dimensions instead of 1024"):
        embedder.embed_query("two")


def test_models_addresses_and_prefixes_have_profiles_of_their_own(server: EmbeddingServer) -> None:
    profiles = [
        _embedder(server, dims=8, **other).profile.id
        for other in ({}, {"model": "w"}, {"query_prefix": "q"}, {"url": "http://127.0.0.1:9"})
    ]
    assert len(set(profiles)) == 4


@pytest.mark.parametrize("code", [429, 500, 503])
def test_a_busy_server_is_asked_again_with_growing_pauses(
    server: EmbeddingServer, code: int
) -> None:
    server.behaviours = [status(code), status(code), well]
    clock = _Clock()
    _embedder(server, clock).embed_documents(["one"])
    assert clock.waits == [0.5, 1.0]


def test_the_servers_own_pause_is_kept(server: EmbeddingServer) -> None:
    server.behaviours = [status(429, retry_after="7"), well]
    clock = _Clock()
    _embedder(server, clock).embed_documents(["one"])
    assert clock.waits == [7.0]


def test_an_endless_pause_is_not_kept(server: EmbeddingServer) -> None:
    server.behaviours = [status(429, retry_after="86400")] * 10
    clock = _Clock()
    with pytest.raises(EmbedderUnavailable, match="429 Too Many Requests"):
        _embedder(server, clock, timeout_seconds=10).embed_documents(["one"])
    assert sum(clock.waits) <= 30


def test_a_server_that_stays_broken_is_given_up(server: EmbeddingServer) -> None:
    server.behaviours = [status(500)] * 10
    with pytest.raises(EmbedderUnavailable, match="500 Internal Server Error"):
        _embedder(server).embed_documents(["one"])
    assert len(server.heard) == 4


def test_a_question_is_asked_once_and_not_at_all_just_after_a_failure(
    server: EmbeddingServer,
) -> None:
    server.behaviours = [status(503)]
    clock = _Clock()
    embedder = _embedder(server, clock)
    for seconds in (0.0, 10.0, 14.9):
        clock.seconds = seconds
        with pytest.raises(EmbedderUnavailable, match="503"):
            embedder.embed_query("one")
        with pytest.raises(EmbedderUnavailable, match="503"):
            _ = embedder.profile
    assert len(server.heard) == 1
    assert clock.waits == []
    clock.seconds = 15.1
    assert embedder.embed_query("one").shape == (1024,)


def test_documents_end_the_rest_of_questions(server: EmbeddingServer) -> None:
    server.behaviours = [status(404)]
    embedder = _embedder(server)
    with pytest.raises(EmbedderUnavailable):
        embedder.embed_query("one")
    embedder.embed_documents(["two"])
    assert embedder.embed_query("one").shape == (1024,)


@pytest.mark.parametrize(
    ("code", "words"),
    [(400, "how long"), (401, "key"), (404, "address"), (302, "redirect"), (418, "418")],
)
def test_a_refusal_is_not_repeated_and_says_what_to_check(
    server: EmbeddingServer, code: int, words: str
) -> None:
    server.behaviours = [status(code, location="http://127.0.0.1:9/")]
    with pytest.raises(EmbedderUnavailable, match=words) as caught:
        _embedder(server, key="k-secret").embed_query("private words")
    assert len(server.heard) == 1
    shown = str(caught.value)
    assert not any(word in shown for word in ("private", "secret", "/v1"))


def test_nobody_listening_is_told_with_the_place() -> None:
    with embedding_server() as gone:
        pass
    clock = _Clock()
    with pytest.raises(EmbedderUnavailable, match=r"nothing listens at 127\.0\.0\.1:\d+"):
        _embedder(gone, clock).embed_documents(["one"])
    gone.closing.close()
    assert len(clock.waits) == 3


def test_a_silent_server_is_given_up_in_time(server: EmbeddingServer) -> None:
    release = threading.Event()

    def silent(texts: list[str]) -> Any:
        release.wait(20)
        return well(texts)

    server.behaviours = [silent] * 4
    clock = _Clock()
    with pytest.raises(EmbedderUnavailable, match="did not answer within"):
        _embedder(server, clock, timeout_seconds=0.2).embed_documents(["one"])
    release.set()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (raw(b"<html>"), "no list of embeddings"),
        (raw(b'{"data": "x"}'), "no list of embeddings"),
        (vectors([1.0], [2.0]), "2 vectors for 1 texts"),
        (vectors([]), "impossible length"),
        (vectors([0.0, 0.0]), "no direction"),
        (vectors([1e300, 1.0]), "no direction"),
        (raw(b'{"data": [{"embedding": "%%%", "index": 0}]}'), "cannot be decoded"),
        (raw(b'{"data": [{"embedding": "AAAA", "index": 0}]}'), "cannot be decoded"),
        (raw(b'{"data": [{"embedding": [1], "index": 3}]}'), "wrong numbers"),
    ],
)
def test_an_answer_that_is_none_is_refused(
    server: EmbeddingServer, answer: Any, words: str
) -> None:
    server.behaviours = [answer]
    with pytest.raises(EmbedderUnavailable, match=words):
        _embedder(server).embed_query("one")


def test_an_endless_answer_is_cut_off(server: EmbeddingServer) -> None:
    server.behaviours = [raw(b" " * ((32 << 20) + 1))]
    with pytest.raises(EmbedderUnavailable, match="sent more than"):
        _embedder(server).embed_query("one")


def test_closing_ends_the_use(server: EmbeddingServer) -> None:
    embedder = _embedder(server)
    embedder.close()
    embedder.close()
    with pytest.raises(EmbedderUnavailable, match="not used any more"):
        embedder.embed_query("one")


def test_closing_ends_a_pause(server: EmbeddingServer) -> None:
    server.behaviours = [status(503)] * 4
    embedder = OpenAiEmbedder(
        EmbedderSettings(EmbedderKind.OPENAI, url=server.url, model="words"),
        Waiting(lambda: 0.0, lambda event, seconds: embedder.close()),
    )
    with pytest.raises(EmbedderUnavailable, match="not used any more"):
        embedder.embed_documents(["one"])
    assert len(server.heard) == 1


def test_a_key_that_http_does_not_allow_is_never_sent(server: EmbeddingServer) -> None:
    with pytest.raises(EmbedderUnavailable, match="does not allow"):
        _embedder(server, key="a\r\nb")


@given(
    st.lists(
        st.lists(st.floats(-1e6, 1e6, width=32), min_size=4, max_size=4), min_size=1, max_size=6
    ),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_numbers_and_base64_in_any_order_mean_the_same(
    rows: list[list[float]], encoded: bool, order: Any
) -> None:
    def shown(row: list[float]) -> object:
        return base64.b64encode(np.array(row, "<f4").tobytes()).decode() if encoded else row

    data = [{"index": at, "embedding": shown(row)} for at, row in enumerate(rows)]
    order.shuffle(data)
    body = json.dumps({"data": data}).encode()
    assert np.array_equal(decode_answer(body, len(rows)), np.array(rows, dtype=np.float32))


@given(st.binary(max_size=200), st.integers(1, 3))
def test_no_bytes_crash_the_reader(body: bytes, count: int) -> None:
    with pytest.raises(AnswerUnusable):
        decode_answer(body, count)
