"""What every embedder promises, whoever makes the vectors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from memory.embedding.cache import CachedEmbedder
from memory.embedding.hashing import HashingEmbedder
from memory.embedding.minilm import MiniLmEmbedder
from memory.embedding.openai import OpenAiEmbedder
from memory.embedding.port import Embedder, EmbedderUnavailable
from memory.embedding.settings import EmbedderKind, EmbedderSettings
from tests.memory.embedding.server import embedding_server

pytestmark = pytest.mark.xdist_group("minilm")

TEXTS = [
    "The deployment runs every Friday at 17:00.",
    "Anna prefers tea.",
    "",
    "   ",
    "!?",
    "日本語のテキスト",
    "half \ud800 a character",
    "a very long text " * 2_000,
    "The deployment runs every Friday at 17:00.",
]


@pytest.fixture(params=["minilm", "hashing", "openai", "cached"])
def embedder(request: pytest.FixtureRequest, minilm: MiniLmEmbedder) -> Iterator[Embedder]:
    match request.param:
        case "minilm":
            yield minilm
        case "hashing":
            yield HashingEmbedder()
        case "cached":
            yield CachedEmbedder(HashingEmbedder())
        case _:
            with embedding_server() as server:
                settings = EmbedderSettings(EmbedderKind.OPENAI, url=server.url, model="words")
                embedder = OpenAiEmbedder(settings)
                yield embedder
                embedder.close()


def test_every_text_gets_a_vector_of_length_one(embedder: Embedder) -> None:
    rows = embedder.embed_documents(TEXTS)
    assert rows.shape == (len(TEXTS), embedder.profile.dims)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_a_text_has_the_same_vector_alone_and_in_company(embedder: Embedder) -> None:
    together = embedder.embed_documents(TEXTS)
    alone = np.concatenate([embedder.embed_documents([text]) for text in TEXTS])
    assert np.allclose(together, alone, atol=1e-6)
    assert np.array_equal(together[0], together[-1])


def test_no_texts_are_no_vectors(embedder: Embedder) -> None:
    assert embedder.embed_documents([]).shape == (0, embedder.profile.dims)


def test_a_query_is_nearest_to_the_text_about_the_same(embedder: Embedder) -> None:
    documents = embedder.embed_documents(
        ["Cats sleep all day.", "The database listens on port 5432.", "Lunch is at noon."]
    )
    query = embedder.embed_query("Which port does the database use?")
    assert query.shape == (embedder.profile.dims,)
    assert int(np.argmax(documents @ query)) == 1


def test_the_profile_is_usable_and_stays_the_same(embedder: Embedder) -> None:
    profile = embedder.profile
    assert profile == embedder.profile
    assert profile.id.startswith(profile.provider)
    assert str(profile.dims) in profile.id
    assert len(profile.digest) == 64
    assert profile.digest[:8] in profile.id
    assert 0 < profile.neighbour_cosine < profile.duplicate_cosine < 1
    assert 0 < profile.fusion_alpha < 1


@pytest.mark.parametrize("make", [HashingEmbedder, MiniLmEmbedder])
def test_a_closed_embedder_says_so(make: type[HashingEmbedder | MiniLmEmbedder]) -> None:
    embedder = make()
    embedder.close()
    embedder.close()
    with pytest.raises(EmbedderUnavailable, match="closed"):
        embedder.embed_query("anything")


def test_profiles_of_different_embedders_differ(minilm: MiniLmEmbedder) -> None:
    assert minilm.profile.id != HashingEmbedder().profile.id
    assert HashingEmbedder().profile.lexical
    assert not minilm.profile.lexical
