"""``mms memory`` starts the memory's process by itself."""

from __future__ import annotations

from tests.console.cli.conftest import Instance


def test_what_one_command_stores_the_next_one_finds(mms: Instance) -> None:
    mms.write('[memory.embedder]\nprovider = "hashing"\n')
    stored = mms.run("memory", "add", "The staging port is 6432.", "--json")
    assert stored.code == 0, stored.err
    found = mms.run("memory", "query", "staging port", "--json")
    assert found.json["hits"][0]["record"]["id"] == stored.json["record"]["id"]
