"""Tables of contents instead of the text."""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from config.schema import Compression
from proxy.compress.model import CharacterGauge, ContentType, Gauge, Reduction, Task
from proxy.compress.section_ids import resolve
from proxy.compress.selective import selective
from tests.proxy.compress.gauges import KEY, STRUCTURED, TEXTS, TokenGauge
from tests.proxy.compress.json_values import CONTAINERS, LAYOUTS, is_part, write

GAUGE = CharacterGauge()
TOKENS = TokenGauge()
CONTENTS = st.sampled_from(list(ContentType))
IDS = re.compile(r"(?:json|lines|chars|xml):[^\s\",;\]]+")


def reduced(
    text: str, budget: int, content: ContentType, query: str = "", gauge: Gauge = GAUGE
) -> Reduction | None:
    """The reduction after checking what holds for every one."""
    task = Task(text, budget, gauge, query, KEY, content)
    found = selective(task)
    assert found == selective(task)
    if found is not None:
        assert found.strategy is Compression.SELECTIVE
        assert gauge.size(found.text) <= budget
        assert len(found.text) < len(text)
        assert 0 <= found.overhead <= gauge.size(found.text)
        assert not found.complete
    return found


def text_of(found: Reduction | None) -> str:
    assert found is not None
    return found.text


def markdown(parts: int = 12) -> str:
    return "intro\n\n" + "".join(
        f"# Part {n}\n\n{'words here ' * 60}\n\n## Details {n}\n\n{'more words ' * 40}\n\n"
        for n in range(parts)
    )


@settings(deadline=None)
@given(
    st.one_of(TEXTS, STRUCTURED), st.integers(0, 600), CONTENTS, st.sampled_from(["", "error a"])
)
def test_any_text_any_budget_fits_or_is_refused(
    text: str, budget: int, content: ContentType, query: str
) -> None:
    reduced(text, budget, content, query)


@settings(deadline=None, max_examples=80)
@given(CONTAINERS, LAYOUTS, st.integers(0, 900), st.sampled_from(["", "id name"]))
def test_out_of_any_json_comes_valid_json_that_is_a_part_of_it(
    value: Any, layout: dict[str, Any], budget: int, query: str
) -> None:
    found = reduced(write(value, layout), budget, ContentType.JSON_OBJECT, query)
    if found is not None:
        got = json.loads(found.text)
        mark = (
            next((key for key in got if key.startswith("_mms")), "")
            if isinstance(got, dict)
            else ""
        )
        if isinstance(got, dict) and mark and isinstance(got[mark], list):
            got[mark] = got[mark][0]
        if isinstance(value, list) or not any(key.startswith("_mms") for key in value):
            assert type(got) is type(value)


def test_sections_are_listed_with_ids_sizes_and_levels() -> None:
    text = text_of(reduced(markdown(), 1_000, ContentType.MARKDOWN))
    lines = text.splitlines()
    assert lines[0] == "[… contents: section id | characters | title]"
    assert lines[1:4] == ["preamble | 7 | whole:", "intro", "part-0 | 1,128"]
    assert lines[4].startswith("  details-0 | ")
    assert lines[-1].startswith("[… ")
    assert f'stm_proxy_select_chunks(key="{KEY}", sections=["preamble"])' in lines[-1]


def test_a_smaller_budget_lists_fewer_levels_then_groups() -> None:
    assert "details-3" not in text_of(reduced(markdown(), 500, ContentType.MARKDOWN))
    assert "part-3" in text_of(reduced(markdown(), 500, ContentType.MARKDOWN))
    grouped = text_of(reduced(markdown(60), 420, ContentType.MARKDOWN))
    assert re.search(r"^lines:1-\d+ \| [\d,]+ \| intro … Part \d+$", grouped, re.MULTILINE)


def test_every_id_that_is_listed_brings_a_part_of_the_text() -> None:
    log = "".join(f"10:00:{n % 60:02d} INFO step {n}\n" for n in range(4000))
    rows = json.dumps({"meta": {"n": 1}, "items": [{"id": n, "v": "x" * 20} for n in range(900)]})
    for text, content in ((log, ContentType.LOG), (rows, ContentType.JSON_OBJECT)):
        for budget in (250, 600, 2_000):
            listed = IDS.findall(text_of(reduced(text, budget, content)))
            assert listed
            for name in listed:
                if name != "grep:TEXT":
                    assert isinstance(resolve(text, content, name.rstrip("\\")), list), name


def test_the_groups_of_a_listing_cover_the_whole_text() -> None:
    log = "".join(f"10:00:{n % 60:02d} INFO step {n}\n" for n in range(4000))
    text = text_of(reduced(log, 420, ContentType.LOG))
    covered = 0
    for name in re.findall(r"^(lines:\S+) \|", text, re.MULTILINE):
        found = resolve(log, ContentType.LOG, name)
        assert isinstance(found, list)
        assert found[0][0] == covered
        covered = found[0][1]
    assert covered == len(log)


def test_json_keeps_its_shape_and_its_small_values() -> None:
    value = {"name": "x", "items": [{"id": n} for n in range(500)], "z": {"k": 1}}
    got = json.loads(text_of(reduced(json.dumps(value, indent=1), 900, ContentType.JSON_OBJECT)))
    assert got["name"] == "x"
    assert got["z"] == {"k": 1}
    assert all(
        re.fullmatch(r"… \d+ items, [\d,]+ characters: json:/items/\d+-\d+", item)
        for item in got["items"]
    )
    assert KEY in got["_mms"]
    assert is_part(got, value)


def test_an_array_ends_with_the_footer_and_json_lines_stay_lines() -> None:
    rows = [{"id": n, "text": "y" * 30} for n in range(300)]
    got = json.loads(text_of(reduced(json.dumps(rows), 700, ContentType.JSON_ARRAY)))
    assert KEY in got[-1]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    found = [
        json.loads(line)
        for line in text_of(reduced(lines, 700, ContentType.JSON_LINES)).split("\n")
    ]
    assert all(isinstance(line, str) and line.startswith("…") for line in found)
    assert KEY in found[-1]


def test_a_name_that_is_taken_is_not_used_for_the_announcement() -> None:
    value = {"_mms": 1, "items": list(range(1000))}
    got = json.loads(text_of(reduced(json.dumps(value), 500, ContentType.JSON_OBJECT)))
    assert got["_mms"] == 1
    assert KEY in str(got["_mms_"])


def test_a_query_hints_at_sections_and_leaves_their_order() -> None:
    text = markdown().replace("## Details 7\n\nmore", "## Details 7\n\nzebra")
    found = text_of(reduced(text, 1_200, ContentType.MARKDOWN, "where is the zebra"))
    assert "[… likely: details-7]" in found
    assert 'sections=["details-7"]' in found
    assert found.index("part-1 ") < found.index("part-9 ")


def test_a_text_without_parts_or_smaller_than_its_table_is_refused() -> None:
    assert reduced("just a few words", 100, ContentType.PROSE) is None
    assert reduced("# A\nx\n# B\ny\n", 500, ContentType.MARKDOWN) is None
    assert reduced("[1, 2, 3]", 500, ContentType.JSON_ARRAY) is None
    assert reduced("", 500, ContentType.MARKDOWN) is None
    assert reduced(markdown(), 60, ContentType.MARKDOWN) is None


def test_tokens_are_kept_to_as_well() -> None:
    rows = json.dumps(
        {"items": [{"id": n, "name": f"row {n}"} for n in range(2000)], "a": {"b": "c" * 5000}}
    )
    for budget in (100, 200, 500, 1_000, 4_000):
        assert reduced(rows, budget, ContentType.JSON_OBJECT, gauge=TOKENS) is not None
        assert reduced(markdown(40), budget, ContentType.MARKDOWN, gauge=TOKENS) is not None
