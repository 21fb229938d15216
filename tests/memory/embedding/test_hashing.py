"""Vectors of words."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory.embedding.hashing import HashingEmbedder

_EMBEDDER = HashingEmbedder()
_ROOT = Path(__file__).resolve().parents[3]


def _cosine(one: str, other: str) -> float:
    rows = _EMBEDDER.embed_documents([one, other])
    return float(rows[0] @ rows[1])


def test_another_process_makes_the_same_vectors() -> None:
    text = "Deploy with make release, then tell Zoë about it."
    program = (
        "import hashlib; from memory.embedding.hashing import HashingEmbedder as H; "
        f"print(hashlib.sha256(H().embed_query({text!r}).tobytes()).hexdigest())"
    )
    for seed in ("1", "2"):
        result = subprocess.run(
            [sys.executable, "-c", program],
            cwd=_ROOT,
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=30,
        )
        expected = hashlib.sha256(_EMBEDDER.embed_query(text).tobytes()).hexdigest()
        assert result.stdout.strip() == expected


def test_case_and_compatible_letters_make_no_difference() -> None:
    assert _cosine("The PORT is open", "the port is open") > 0.9999
    assert _cosine("\ufb01le number \uff12", "file number 2") > 0.9999


def test_order_makes_a_small_difference() -> None:
    assert 0.7 < _cosine("dog bites man", "man bites dog") < 0.99


def test_forms_of_a_word_are_nearer_than_other_words() -> None:
    assert _cosine("deploy the service", "service deployment") > _cosine(
        "deploy the service", "garden furniture"
    )
    assert abs(_cosine("deploy the service", "garden furniture")) < 0.2


def test_words_that_say_little_count_little() -> None:
    assert _cosine("the port of the server", "the name of the garden") < 0.4


def test_a_negation_counts() -> None:
    assert _cosine("the cache is enabled", "the cache is not enabled") < 0.95


@given(st.lists(st.text(max_size=60), max_size=5))
def test_any_text_has_a_finite_vector_of_length_one(texts: list[str]) -> None:
    rows = _EMBEDDER.embed_documents(texts)
    assert np.isfinite(rows).all()
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
