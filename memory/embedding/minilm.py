"""all-MiniLM-L6-v2 in this process, on the processor, from files that are installed as packages.

Word pieces up to 256, mean over the tokens of the last layer, length one: the recipe of the model's
authors (sentence-transformers). Measured on two cores: 0.3 s to load, 180 MB, 5.5 ms per query, 200 short
texts per second. A text has the same vector alone and in company.

onnxruntime and tokenizers are imported with the first vector. Before that, their telemetry and their own
thread pools are switched off for the whole process, by the environment, which is the only way that works.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import os
import sys
import threading
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from memory.embedding.minilm_files import (
    MODEL_SHA256,
    TOKENIZER_SHA256,
    ModelFiles,
    ModelFilesUnusable,
    check_model_files,
    find_model_files,
)
from memory.embedding.port import EmbedderUnavailable, Floats, ModelProfile
from memory.embedding.unit import unit_rows

DIMS = 384
MAX_TOKENS = 256
BATCH = 4
"""Texts that are computed at once. More take more memory and are not faster."""
_DIGEST = hashlib.sha256(
    f"{MODEL_SHA256} {TOKENIZER_SHA256} mean unit {MAX_TOKENS}".encode()
).hexdigest()

PROFILE = ModelProfile(
    id=f"minilm-int8-{DIMS}-{_DIGEST[:8]}",
    provider="minilm",
    name="all-MiniLM-L6-v2 (int8)",
    dims=DIMS,
    max_tokens=MAX_TOKENS,
    digest=_DIGEST,
    duplicate_cosine=0.92,
    neighbour_cosine=0.40,
    fusion_alpha=0.5,
    lexical=False,
)


class MiniLmEmbedder:
    """Loads its model with the first text, and again after `rest`."""

    def __init__(self, files: ModelFiles | None = None) -> None:
        """``files``: already found and checked; otherwise both happens with the first text."""
        self._files = files
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None
        self._closed = False

    @property
    def profile(self) -> ModelProfile:
        """What it makes."""
        return PROFILE

    @property
    def is_loaded(self) -> bool:
        """The model is in memory."""
        return self._loaded is not None

    def embed_documents(self, texts: Sequence[str]) -> Floats:
        """One unit vector per text. Raises `EmbedderUnavailable`."""
        loaded = self._load()
        if not texts:
            return np.zeros((0, DIMS), dtype=np.float32)
        try:
            return loaded.embed(texts)
        except Exception as error:  # both libraries raise bare exceptions of their own
            raise EmbedderUnavailable(
                f"The language model failed ({type(error).__name__}). Restart the memory."
            ) from error

    def embed_query(self, text: str) -> Floats:
        """A query is treated as a document."""
        return self.embed_documents([text])[0]

    def rest(self) -> None:
        """Give the memory back; the next text loads the model again."""
        with self._lock:
            if self._loaded is None:
                return
            self._loaded = None
        _trim()

    def close(self) -> None:
        """Give the memory back for good."""
        with self._lock:
            self._closed = True
            self._loaded = None

    def _load(self) -> _Loaded:
        with self._lock:
            if self._closed:
                raise EmbedderUnavailable("The language model was closed.")
            if self._loaded is None:
                self._loaded = _Loaded(self._checked_files())
            return self._loaded

    def _checked_files(self) -> ModelFiles:
        if self._files is None:
            try:
                files = find_model_files()
                check_model_files(files)
            except ModelFilesUnusable as problem:
                raise EmbedderUnavailable(str(problem)) from None
            self._files = files
        return self._files


class _Encoding(Protocol):
    @property
    def ids(self) -> list[int]: ...


class _Tokenizer(Protocol):
    def encode_batch(self, input: list[str], /) -> list[_Encoding]: ...


class _Input(Protocol):
    @property
    def name(self) -> str: ...


class _Session(Protocol):
    def get_inputs(self) -> Sequence[_Input]: ...

    def run(
        self, output_names: None, input_feed: dict[str, NDArray[np.int64]], /
    ) -> list[Floats]: ...


class _Loaded:
    """Tokenizer and session, both safe to use from several threads."""

    def __init__(self, files: ModelFiles) -> None:
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        os.environ["TOKENIZERS_PARALLELISM"] = "false"
        try:
            # Neither has complete type information; what is used of them is written down below.
            onnxruntime: Any = importlib.import_module("onnxruntime")
            tokenizers: Any = importlib.import_module("tokenizers")
        except ImportError as error:
            raise EmbedderUnavailable(
                f"The language model needs the package {error.name}, which cannot be imported."
            ) from error
        try:
            self._tokenizer = _tokenizer(tokenizers, files)
            self._session = _session(onnxruntime, files)
        except Exception as error:  # both libraries raise bare exceptions of their own
            raise EmbedderUnavailable(
                f"The language model cannot be loaded ({type(error).__name__}). Install it again."
            ) from error
        self._takes_types = any(
            given.name == "token_type_ids" for given in self._session.get_inputs()
        )

    def embed(self, texts: Sequence[str]) -> Floats:
        """Texts of about the same length are computed together, so that little is padding."""
        encodings = self._tokenizer.encode_batch([_utf8(text) for text in texts])
        rows = np.empty((len(texts), DIMS), dtype=np.float32)
        order = sorted(range(len(texts)), key=lambda at: len(encodings[at].ids))
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            rows[batch] = self._run([encodings[at].ids for at in batch])
        return unit_rows(rows)

    def _run(self, tokens: list[list[int]]) -> Floats:
        longest = max(map(len, tokens))
        ids = np.zeros((len(tokens), longest), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, one in enumerate(tokens):
            ids[row, : len(one)] = one
            mask[row, : len(one)] = 1
        given = {"input_ids": ids, "attention_mask": mask}
        if self._takes_types:
            given["token_type_ids"] = np.zeros_like(ids)
        hidden = self._session.run(None, given)[0]
        weights = mask[:, :, np.newaxis].astype(np.float32)
        mean: Floats = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
        return mean


def _tokenizer(tokenizers: Any, files: ModelFiles) -> _Tokenizer:
    tokenizer = tokenizers.Tokenizer.from_file(str(files.tokenizer))
    tokenizer.enable_truncation(max_length=MAX_TOKENS)
    # The file asks for padding to a fixed length, which would cost the time of a long text every time.
    tokenizer.no_padding()
    return tokenizer


def _session(onnxruntime: Any, files: ModelFiles) -> _Session:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # Threads that wait by spinning slow everything down when the cores are shared.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    with contextlib.suppress(AttributeError):
        onnxruntime.disable_telemetry_events()
    return onnxruntime.InferenceSession(
        str(files.model), sess_options=options, providers=["CPUExecutionProvider"]
    )


def _utf8(text: str) -> str:
    """Half characters, which the tokenizer refuses, replaced."""
    return text.encode("utf-8", "replace").decode()


def _trim() -> None:
    """Give freed memory to the system: of 190 MB glibc keeps 150 otherwise."""
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)
