"""Files of other programs, well-formed and hostile."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.exchange.foreign import LONGEST_REFERENCE, reference
from memory.exchange.markdown import read_markdown
from memory.exchange.readers import (
    Format,
    UnreadableFile,
    format_of,
    read_mcp_memory,
    read_mem0,
)
from memory.model import SECOND, Kind

ENTITY = {
    "type": "entity",
    "name": "web-1",
    "entityType": "server",
    "observations": ["runs Debian 12", "is in rack 4"],
}
RELATION = {"type": "relation", "from": "web-1", "to": "db-1", "relationType": "depends_on"}


def lines(*values: Any) -> str:
    return "\n".join(one if isinstance(one, str) else json.dumps(one) for one in values) + "\n"


def contents(text: str, read: Any = read_mcp_memory) -> list[str]:
    return [one.content for one in read(text, "memory.json").found]


def test_observations_and_relations_become_one_fact_each() -> None:
    read = read_mcp_memory(lines(ENTITY, "", RELATION), "memory.json")
    assert [(one.place, one.content, one.source_ref) for one in read.found] == [
        ("line 1", "web-1 (server): runs Debian 12", "memory.json#web-1"),
        ("line 1", "web-1 (server): is in rack 4", "memory.json#web-1"),
        ("line 3", "web-1 depends on db-1", "memory.json#web-1"),
    ]
    assert read.refused == ()


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("garbage", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("7", "no JSON object"),
        ("{}", "neither entity nor relation"),
        ({**ENTITY, "name": 7}, "name is missing"),
        ({**ENTITY, "name": "  "}, "name is missing"),
        ({**ENTITY, "observations": "x"}, "observations is missing or no list"),
        ({**ENTITY, "observations": [{"a": 1}]}, "an observation of 'web-1' is no text"),
        ({**RELATION, "to": None}, "to is missing"),
    ],
)
def test_a_line_that_cannot_be_read_is_told_by_number_and_the_others_are_taken(
    line: Any, why: str
) -> None:
    read = read_mcp_memory(lines(ENTITY, line, RELATION), "memory.json")
    assert len(read.found) == 3
    assert len(read.refused) == 1
    assert read.refused[0].startswith("line 2: ")
    assert why in read.refused[0]


def test_an_observation_that_is_no_text_costs_no_other_one() -> None:
    read = read_mcp_memory(lines({**ENTITY, "observations": ["a", None, "b", ""]}), "m")
    assert [one.content for one in read.found] == ["web-1 (server): a", "web-1 (server): b"]
    assert len(read.refused) == 2


MEMORY = {
    "id": "4f1c",
    "memory": "Prefers tea",
    "user_id": "kim",
    "created_at": "2026-01-02T03:04:05+00:00",
    "metadata": {"category": "drinks"},
}


@pytest.mark.parametrize("export", [[MEMORY], {"results": [MEMORY]}])
def test_memories_of_mem0_keep_category_owner_and_time(export: Any) -> None:
    (found,) = read_mem0(json.dumps(export), "mem0.json").found
    assert (found.content, found.category) == ("Prefers tea", "drinks")
    assert found.source_ref == "mem0.json#kim/4f1c"
    assert found.valid_from == 1_767_323_045 * SECOND
    request = found.request("work", quarantine=True)
    assert (request.kind, request.space, request.quarantine) == (Kind.SEMANTIC, "work", True)
    assert request.key == found.request().key != ""


@pytest.mark.parametrize("time", [None, 7, "yesterday", "9999-12-31T23:59:59-23:00", "0001-01-01"])
def test_a_time_that_makes_no_sense_is_left_out(time: Any) -> None:
    (found,) = read_mem0(json.dumps([{**MEMORY, "created_at": time}]), "m").found
    assert found.valid_from is None or found.valid_from > 0


def test_memories_without_a_text_are_told_by_number() -> None:
    items = [MEMORY, 7, {"memory": 7}, {"memory": " "}, {"memory": "x", "metadata": 7}]
    read = read_mem0(json.dumps(items), "m")
    assert [one.content for one in read.found] == ["Prefers tea", "x"]
    assert [one.partition(":")[0] for one in read.refused] == ["memory 2", "memory 3", "memory 4"]


@pytest.mark.parametrize("text", ["", "nonsense", "7", "{}", '{"results": 7}', "[" * 100_000])
def test_a_file_that_is_no_list_of_memories_is_unreadable(text: str) -> None:
    with pytest.raises(UnreadableFile):
        read_mem0(text, "m")


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ('{"format":"mms-memory","version":1}\n{"record":{}}', Format.MMS),
        (lines(ENTITY), Format.MCP_MEMORY),
        ("\ufeff\n" + lines(RELATION), Format.MCP_MEMORY),
        (json.dumps([MEMORY]), Format.MEM0),
        (json.dumps({"results": []}, indent=1), Format.MEM0),
        ("# Notes\n", None),
        ("", None),
        ('{"format":"other"}', None),
    ],
)
def test_a_format_is_known_by_how_it_begins(text: str, format: Format | None) -> None:
    assert format_of(text) is format


NOTE = """---
title: ignored
---
# Servers

All of them run Debian.
It is version 12.

## Web
<!-- a remark
over lines -->
- nginx in front
  of two apps
  - and a cache
* rack 4

1. first stop it
2. then start it

---

Deploy so:

```sh
# no heading
- no item

make deploy
```

Old style
=========
Last words.
"""


def test_notes_become_items_and_paragraphs_below_their_headings() -> None:
    read = read_markdown([("notes/a.md", NOTE)])
    assert [(one.place, one.content) for one in read.found] == [
        ("notes/a.md line 6", "Servers: All of them run Debian.\nIt is version 12."),
        (
            "notes/a.md line 12",
            "Servers > Web: nginx in front\n  of two apps\n  - and a cache",
        ),
        ("notes/a.md line 15", "Servers > Web: rack 4"),
        ("notes/a.md line 17", "Servers > Web: first stop it"),
        ("notes/a.md line 18", "Servers > Web: then start it"),
        (
            "notes/a.md line 22",
            "Servers > Web: Deploy so:\n```sh\n# no heading\n- no item\n\nmake deploy\n```",
        ),
        ("notes/a.md line 33", "Old style: Last words."),
    ]
    assert read.found[0].source_ref == "notes/a.md#Servers"
    assert read.found[1].source_ref == "notes/a.md#Web"


WORDS = st.text(alphabet="abcXYZ019", min_size=1, max_size=8)


@given(st.lists(WORDS, max_size=8), st.text(alphabet="#-*=`~ >\t\n<!", max_size=40))
def test_no_word_of_a_note_is_lost(words: list[str], noise: str) -> None:
    text = "\n\n".join(words) + "\n\n" + noise.replace("<!", "")
    whole = "\n".join(one.content for one in read_markdown([("a.md", text)]).found)
    for word in words:
        assert word in whole


@given(st.text(max_size=300))
def test_any_text_is_read_without_a_fault(text: str) -> None:
    for one in read_markdown([("a.md", text)]).found:
        assert one.content.strip()
        one.request()
    read_mcp_memory(text, "m")
    format_of(text)
    with contextlib.suppress(UnreadableFile):
        read_mem0(text, "m")


@given(st.text(max_size=400))
def test_a_reference_is_one_short_line(text: str) -> None:
    made = reference(text, "#", text)
    assert len(made) <= LONGEST_REFERENCE
    assert "\n" not in made
    assert "\0" not in made
