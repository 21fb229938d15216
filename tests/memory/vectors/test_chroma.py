"""The index in a local Chroma store: its folder, its faults, what it leaves on the disk."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from memory.vectors.chroma import ChromaIndex, delete_quarantined, quarantine, quarantined
from memory.vectors.port import Floats, IndexBroken, IndexUnavailable
from tests.memory.vectors.support import DIMS, axis, numbers, random_vectors

pytestmark = pytest.mark.xdist_group("chroma")
NOON = 1_767_268_800_000_000  # 2026-01-01 12:00 UTC
_ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "vectors" / "chroma"


@pytest.fixture
def index(folder: Path) -> Iterator[ChromaIndex]:
    made = ChromaIndex(folder)
    made.ensure("m", DIMS)
    yield made
    made.close()


def _files_with(folder: Path, vector: Floats) -> list[str]:
    """Files below a folder that hold a vector's bytes."""
    wanted = vector.astype("<f4").tobytes()
    return [str(one) for one in folder.rglob("*") if one.is_file() and wanted in one.read_bytes()]


def _tear(folder: Path) -> None:
    """What a kill at the wrong moment leaves behind."""
    (pickle,) = folder.rglob("index_metadata.pickle")
    assert pickle.stat().st_size > 0
    with pickle.open("r+b") as opened:
        opened.truncate(0)


def test_what_was_put_in_is_there_after_a_restart(index: ChromaIndex, folder: Path) -> None:
    vectors = random_vectors(20)
    index.upsert(np.arange(20), vectors)
    index.close()
    again = ChromaIndex(folder)
    again.ensure("m", DIMS)
    assert again.count() == 20
    assert again.query(vectors[4], 1, None)[0][0] == 4
    again.close()


def test_the_folder_is_for_its_owner_only(index: ChromaIndex, folder: Path) -> None:
    assert folder.stat().st_mode & 0o077 == 0


def test_a_torn_file_is_noticed_put_aside_and_the_index_filled_again(
    index: ChromaIndex, folder: Path
) -> None:
    vectors = random_vectors(1_200)
    index.upsert(np.arange(1_200), vectors)
    index.close()
    _tear(folder)
    for use in (
        lambda: index.query(vectors[0], 1, None),
        lambda: index.upsert(numbers(1), vectors[:1]),
        lambda: index.count(),
    ):
        with pytest.raises(IndexBroken, match="broken"):
            use()
    health = index.health()
    assert not health.ok
    assert "broken" in health.text
    assert "quarantine-20260101T120000Z" in index.reset(NOON)
    assert index.count() == 0
    index.upsert(np.arange(1_200), vectors)
    assert index.health().ok
    assert index.query(vectors[7], 1, None)[0][0] == 7
    (aside,) = quarantined(folder)
    assert list(aside.rglob("index_metadata.pickle"))


def test_a_destroyed_database_is_noticed_and_put_aside(index: ChromaIndex, folder: Path) -> None:
    index.close()
    (folder / "chroma.sqlite3").write_bytes(b"no database" * 1_000)
    for _ in range(3):
        with pytest.raises(IndexBroken, match="not a database"):
            index.count()
    index.reset(NOON)
    index.upsert(numbers(1), axis(0)[np.newaxis])
    assert index.health().ok


def test_a_folder_that_cannot_be_opened_is_unavailable_and_not_broken(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    index = ChromaIndex(tmp_path / "file" / "chroma")
    with pytest.raises(IndexUnavailable, match="cannot be used"):
        index.ensure("m", DIMS)
    assert not index.health().ok


def test_putting_aside_never_overwrites_and_never_deletes(tmp_path: Path) -> None:
    folder = tmp_path / "chroma"
    for content in ("first", "second", "third"):
        folder.mkdir()
        (folder / "file").write_text(content)
        quarantine(folder, NOON)
    assert [(one / "file").read_text() for one in quarantined(folder)] == [
        "first",
        "second",
        "third",
    ]
    with pytest.raises(IndexUnavailable):
        quarantine(folder, NOON)
    assert delete_quarantined(folder) == 3
    assert quarantined(folder) == []


def test_resetting_what_was_never_there_begins_anew(tmp_path: Path) -> None:
    index = ChromaIndex(tmp_path / "chroma")
    assert "begun anew" in index.reset(NOON)
    assert quarantined(index.folder) == []


def test_rebuilding_leaves_no_byte_of_what_was_deleted(index: ChromaIndex, folder: Path) -> None:
    vectors = random_vectors(1_200)
    index.upsert(np.arange(1_200), vectors)
    index.delete([5])
    index.close()
    assert _files_with(folder, vectors[5])
    assert index.count() == 1_199
    rest = np.delete(np.arange(1_200), [5, 9])
    index.rebuild((some, vectors[some]) for some in np.array_split(rest, 5))
    assert index.count() == 1_198
    index.upsert(numbers(9), vectors[9:10])
    index.close()
    assert index.query(vectors[9], 1, None)[0][0] == 9
    assert index.query(vectors[6], 1, None)[0][0] == 6
    index.close()
    assert not _files_with(folder.parent, vectors[5])
    assert _files_with(folder.parent, vectors[6])
    assert [one.name for one in folder.parent.iterdir()] == ["chroma"]


def test_a_rebuild_that_fails_changes_nothing(index: ChromaIndex, folder: Path) -> None:
    index.upsert(numbers(1, 2), random_vectors(2))
    with pytest.raises(ValueError, match="dimensions"):
        index.rebuild([(numbers(1), random_vectors(1)), (numbers(2), random_vectors(1, dims=3))])
    assert index.count() == 2
    assert [one.name for one in folder.parent.iterdir()] == ["chroma"]


def test_a_rebuild_that_was_killed_is_cleaned_up(folder: Path) -> None:
    for name in ("chroma.new", "chroma.old"):
        (folder.parent / name).mkdir(parents=True)
    index = ChromaIndex(folder)
    index.ensure("m", DIMS)
    index.close()
    assert [one.name for one in folder.parent.iterdir()] == ["chroma"]


def test_erasing_leaves_no_byte_at_all(index: ChromaIndex, folder: Path) -> None:
    vectors = random_vectors(5)
    index.upsert(np.arange(5), vectors)
    index.reset(NOON)
    index.upsert(np.arange(5), vectors)
    assert index.may_hold()
    index.erase()
    assert not index.may_hold()
    assert list(folder.parent.iterdir()) == []
    assert index.count() == 0


def test_a_collection_that_compares_otherwise_is_broken(index: ChromaIndex, folder: Path) -> None:
    from memory.vectors.chroma_client import LocalStore

    name = index._name("m")
    index.close()
    store = LocalStore(folder)
    store.delete_collection(name)
    store._client.create_collection(
        name, configuration={"hnsw": {"space": "l2"}}, embedding_function=None
    )
    store.close()
    with pytest.raises(IndexBroken, match="cosine"):
        index.ensure("m", DIMS)


def test_neither_the_environment_nor_a_stray_file_has_a_say_and_nobody_is_told(
    tmp_path: Path,
) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    (work / ".env").write_text(
        "CHROMA_SERVER_NOFILE=not a number\nPERSIST_DIRECTORY=elsewhere\nMIGRATIONS=validate\n"
    )
    program = (
        "import sys\n"
        f"sys.path.insert(0, {str(_ROOT)!r})\n"
        "from pathlib import Path\n"
        "import numpy as np\n"
        "from memory.vectors.chroma import ChromaIndex\n"
        "assert 'chromadb' not in sys.modules\n"
        f"index = ChromaIndex(Path({str(tmp_path / 'data' / 'chroma')!r}))\n"
        "index.ensure('m', 3)\n"
        "index.upsert(np.array([1]), np.ones((1, 3), dtype=np.float32))\n"
        "assert index.count() == 1\n"
        "assert Path.cwd().name == 'work'\n"
    )
    subprocess.run(
        [sys.executable, "-c", program],
        cwd=work,
        env={
            "HOME": str(home),
            "PERSIST_DIRECTORY": str(tmp_path / "other"),
            "ALLOW_RESET": "true",
            "ANONYMIZED_TELEMETRY": "true",
            "CHROMA_API_IMPL": "chromadb.api.fastapi.FastAPI",
            "CHROMA_SERVER_HOST": "127.0.0.1",
        },
        check=True,
        timeout=60,
    )
    assert sorted(one.name for one in tmp_path.iterdir()) == ["data", "home", "work"]
    assert not list(home.rglob("*"))
    assert [one.name for one in work.iterdir()] == [".env"]


def test_an_environment_that_chroma_refuses_is_told_as_such(tmp_path: Path) -> None:
    program = (
        "from pathlib import Path\n"
        "from memory.vectors.chroma import ChromaIndex\n"
        f"print(ChromaIndex(Path({str(tmp_path / 'chroma')!r})).drop('m'))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program],
        cwd=_ROOT,
        env={"HOME": str(tmp_path), "CHROMA_SERVER_NOFILE": "not a number"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "IndexUnavailable: Chroma cannot be used here" in result.stderr
