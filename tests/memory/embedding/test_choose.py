"""Which embedder the settings lead to."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory.embedding import minilm_files
from memory.embedding.choose import make_embedder
from memory.embedding.hashing import PROFILE
from memory.embedding.settings import EmbedderKind, EmbedderSettings


def test_the_default_is_the_language_model() -> None:
    chosen = make_embedder(EmbedderSettings())
    assert chosen.problem == ""
    assert chosen.embedder.profile.provider == "minilm"


def test_words_are_chosen_without_a_complaint() -> None:
    chosen = make_embedder(EmbedderSettings(EmbedderKind.HASHING))
    assert chosen.problem == ""
    assert chosen.embedder.profile is PROFILE


def test_a_server_is_not_asked_yet() -> None:
    settings = EmbedderSettings(EmbedderKind.OPENAI, url="http://127.0.0.1:9", model="m", dims=8)
    chosen = make_embedder(settings)
    assert chosen.problem == ""
    assert chosen.embedder.profile.dims == 8
    chosen.embedder.close()


def test_a_missing_model_falls_back_to_words_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(minilm_files, "_MODEL_PACKAGE", "no_such_package")
    chosen = make_embedder(EmbedderSettings())
    assert chosen.embedder.profile is PROFILE
    assert "no-such-package is missing" in chosen.problem
    assert "by their words only" in chosen.problem


def test_another_digest_falls_back_to_words_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(minilm_files, "MODEL_SHA256", "0" * 64)
    chosen = make_embedder(EmbedderSettings())
    assert chosen.embedder.profile is PROFILE
    assert "damaged or another version" in chosen.problem


def test_a_missing_word_list_falls_back_to_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm_files, "_TOKENIZER_FILE", Path("no/such.json"))
    assert "cannot be read" in make_embedder(EmbedderSettings()).problem


@pytest.mark.parametrize(
    ("url", "model", "words"),
    [
        ("", "m", "no usable address"),
        ("ftp://127.0.0.1", "m", "no usable address"),
        ("http://127.0.0.1?key=1", "m", "no usable address"),
        ("http://127.0.0.1", "", "No model"),
    ],
)
def test_a_server_that_cannot_be_asked_falls_back_to_words(
    url: str, model: str, words: str
) -> None:
    chosen = make_embedder(EmbedderSettings(EmbedderKind.OPENAI, url=url, model=model))
    assert chosen.embedder.profile is PROFILE
    assert words in chosen.problem


def test_the_key_is_never_shown() -> None:
    assert "sk-1234" not in repr(EmbedderSettings(EmbedderKind.OPENAI, key="sk-1234"))
