"""The remembered catalogues: byte-exact, replaced as a whole, and harmless when damaged."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proxy.store.catalogues import CatalogueStore, RememberedCatalogue

CATALOGUE = RememberedCatalogue(
    identity="0f3a",
    protocol="2025-06-18",
    server_info=b'{"name":"files","version":"1"}',
    capabilities=b'{"tools":{"listChanged":true}}',
    instructions="Use paths below the root.",
    tools=(b'{"name":"read","x":1.0,"y":1e2}', b'{ "name" : "write" }'),
    resources=(),
    templates=(b'{"uriTemplate":"file:///{path}"}',),
    prompts=(b'{"name":"greet"}',),
)


def test_a_restart_reads_the_same_bytes(tmp_path: Path) -> None:
    file = tmp_path / "state" / "catalogues.json"
    CatalogueStore(file).save("files", CATALOGUE)
    CatalogueStore(file).save("other", replace(CATALOGUE, identity="77"))
    assert CatalogueStore(file).load() == {
        "files": CATALOGUE,
        "other": replace(CATALOGUE, identity="77"),
    }


@given(
    entries=st.lists(st.binary(max_size=60), max_size=4),
    instructions=st.text(alphabet=st.characters(codec="utf-8"), max_size=40),
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_come_back_as_they_were(
    tmp_path: Path, entries: list[bytes], instructions: str
) -> None:
    odd = replace(
        CATALOGUE,
        tools=tuple(entries),
        server_info=b"\xff\xed\xa0\x80NaN",
        instructions=instructions,
    )
    file = tmp_path / "c.json"
    CatalogueStore(file).save("odd", odd)
    assert CatalogueStore(file).load()["odd"] == odd


def test_a_lone_surrogate_in_the_instructions_survives(tmp_path: Path) -> None:
    odd = replace(CATALOGUE, instructions="a\ud800b")
    CatalogueStore(tmp_path / "c.json").save("odd", odd)
    assert CatalogueStore(tmp_path / "c.json").load()["odd"] == odd


def test_forgetting_takes_one_upstream_out(tmp_path: Path) -> None:
    store = CatalogueStore(tmp_path / "c.json")
    store.save("a", CATALOGUE)
    store.save("b", CATALOGUE)
    store.forget("a")
    store.forget("never seen")
    assert set(CatalogueStore(tmp_path / "c.json").load()) == {"b"}


def test_only_the_owner_can_read_the_file_and_no_temporary_stays(tmp_path: Path) -> None:
    file = tmp_path / "new" / "c.json"
    CatalogueStore(file).save("a", CATALOGUE)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert list(file.parent.iterdir()) == [file]


def test_an_unchanged_catalogue_is_not_written_again(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    store = CatalogueStore(file)
    store.save("a", CATALOGUE)
    before = file.stat().st_ino
    store.save("a", replace(CATALOGUE))
    assert file.stat().st_ino == before


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b'{"format": 99, "upstreams": {}}',
        b'{"format": 1, "upstreams": {"a": {"identity": 1}}}',
        b'{"format": 1}',
        b"[" * 100_000,
    ],
)
def test_a_damaged_file_is_set_aside_and_counts_as_empty(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "c.json"
    file.write_bytes(content)
    store = CatalogueStore(file)
    assert store.load() == {}
    assert "damaged" in store.problem
    (kept,) = tmp_path.glob("damaged-*/c.json")
    assert kept.read_bytes() == content
    store.save("a", CATALOGUE)
    assert set(CatalogueStore(file).load()) == {"a"}


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "c.json"
    store = CatalogueStore(file)
    store.save("a", CATALOGUE)

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        store.save("b", CATALOGUE)
    monkeypatch.undo()
    assert set(CatalogueStore(file).load()) == {"a"}
    assert set(store.load()) == {"a"}
    assert list(tmp_path.iterdir()) == [file]
