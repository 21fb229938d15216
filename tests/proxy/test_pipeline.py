"""The whole pipeline on a result: within the budget always, nothing lost, everything else untouched."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.schema import Compression
from proxy.answer import held_text, key_of, key_of_bytes, parse_answer
from proxy.answer_draft import allocate
from proxy.compress.clean import clean
from proxy.compress.detect import detect
from proxy.compress.model import CharacterGauge
from proxy.jobs import Fetched, ReadJob, Reduced, ReduceJob, SelectJob
from proxy.measure import measure
from proxy.pipeline import reduce_answer, run
from proxy.token_gauge import TokenGauge
from tests.support import wordy_upstream as wordy

STRATEGIES = [one.value for one in Compression if one is not Compression.NONE]
GAUGE = CharacterGauge()
PROSE, LOG, ROWS = wordy.prose(), wordy.log(), json.dumps(wordy.rows(), indent=1)


def result(*texts: str, **more: Any) -> bytes:
    """A tool's result."""
    return json.dumps({"content": [{"type": "text", "text": t} for t in texts], **more}).encode()


def reduced(body: bytes, budget: int, **options: Any) -> Reduced:
    """Run the pipeline in characters."""
    options.setdefault("strategy", "auto")
    return reduce_answer(ReduceJob(body, budget=budget, unit="characters", **options), GAUGE)


def size(body: bytes) -> int:
    """Characters of everything that a model may be shown."""
    answer = parse_answer(body)
    return sum(len(block.text) for block in answer.blocks) + len(answer.structured or "")


def test_within_the_budget_nothing_is_touched() -> None:
    found = reduced(result("a \r\n b\n\n\n\n"), 1_000)
    assert found == Reduced(before_tokens=10, sent_tokens=10)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    "text",
    [PROSE, LOG, ROWS, "word " * 9_000, "x" * 90_000],
    ids=["prose", "log", "rows", "words", "one word"],
)
def test_every_strategy_keeps_to_the_budget_and_the_original_comes_back(
    strategy: str, text: str
) -> None:
    body = result(text)
    for budget in (300, 2_500):
        found = reduced(body, budget, strategy=strategy, query="item-0217 brass key")
        assert 0 < size(found.body) <= budget
        assert found.key == key_of_bytes(body)
        originals = {key_of(held_text(body, part.pointer)) for part in found.parts}
        assert key_of(text) in originals
        assert reduced(body, budget, strategy=strategy, query="item-0217 brass key") == found


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_json_stays_json(strategy: str) -> None:
    if strategy in ("progressive", "hybrid"):
        pytest.skip("shows the text's beginning as it is")
    found = reduced(result(ROWS), 2_500, strategy=strategy)
    json.loads(parse_answer(found.body).blocks[0].text)


def test_images_and_links_stay_in_their_places_and_are_not_counted() -> None:
    image = {"type": "image", "data": "A" * 50_000, "mimeType": "image/png"}
    link = {"type": "resource_link", "uri": "file:///x", "name": "x"}
    content = [{"type": "text", "text": PROSE}, image, link, {"type": "text", "text": LOG}]
    found = reduced(json.dumps({"content": content}).encode(), 3_000)
    blocks = json.loads(found.body)["content"]
    assert [block["type"] for block in blocks] == ["text", "image", "resource_link", "text"]
    assert blocks[1:3] == [image, link]
    assert size(found.body) <= 3_000


def test_structured_content_that_repeats_the_text_goes_behind_the_handle() -> None:
    body = result(ROWS, structuredContent=wordy.rows())
    found = reduced(body, 3_000)
    assert "structuredContent" not in json.loads(found.body)
    assert any(part.pointer == "/structuredContent" for part in found.parts)
    assert json.loads(held_text(body, "/structuredContent")) == wordy.rows()


def test_with_an_output_schema_it_stays_valid_and_agrees_with_the_text() -> None:
    body = result(ROWS, structuredContent=wordy.rows())
    schema = json.dumps(wordy.SCHEMA).encode()
    found = reduced(body, 4_000, output_schema=schema, query="item-0123")
    structured = json.loads(found.body)["structuredContent"]
    jsonschema.validate(structured, wordy.SCHEMA)
    assert wordy.rows()["items"][123] in structured["items"]
    assert size(found.body) <= 4_000


def test_an_impossible_schema_moves_structured_content_away_as_a_whole() -> None:
    schema = b'{"type":"object","properties":{"items":{"minItems":400}},"required":["items"]}'
    body = result("short", structuredContent=wordy.rows())
    found = reduced(body, 2_000, output_schema=schema)
    after = json.loads(found.body)
    assert "structuredContent" not in after
    assert after["content"][0]["text"] == "short"
    assert key_of(held_text(body, "/structuredContent")) in after["content"][1]["text"]


def test_structured_content_alone_becomes_smaller() -> None:
    body = json.dumps({"content": [], "structuredContent": wordy.rows()}).encode()
    found = reduced(body, 2_000)
    after = json.loads(found.body)["structuredContent"]
    assert isinstance(after, dict)
    assert after["total"] == wordy.ROWS


def test_an_error_keeps_head_and_tail() -> None:
    text = "head\n" + "noise\n" * 5_000 + "ValueError: tail"
    found = reduced(result(text, isError=True), 800)
    shown = parse_answer(found.body).blocks[0].text
    assert shown.startswith("head")
    assert "ValueError: tail" in shown


def test_many_small_texts_are_announced_where_they_do_not_fit() -> None:
    body = result(*(f"block {number} " * 9 for number in range(500)))
    found = reduced(body, 2_000)
    assert size(found.body) <= 2_000
    last = parse_answer(found.body).blocks[-1].text
    assert "text blocks" in last
    assert key_of_bytes(body) in last
    assert held_text(body, "") == body.decode()


def test_without_handles_nothing_names_one() -> None:
    found = reduced(result(PROSE), 1_500, handles=False)
    assert found.key
    assert key_of(PROSE) not in found.body.decode()
    assert found.key not in found.body.decode()


def test_an_html_page_is_cleaned_first_and_both_texts_can_be_read() -> None:
    rows = "".join(f"<li class='x'><b>entry {n}</b> says {n * 7}</li>" for n in range(800))
    page = f"<!DOCTYPE html><html><head><style>x</style></head><body><ul>{rows}</ul></body></html>"
    body = result(page)
    found = reduced(body, 2_000)
    shown = parse_answer(found.body).blocks[0].text
    assert "<li" not in shown
    assert key_of(page) in shown
    pointers = {part.key: part.pointer for part in found.parts}
    cleaned = key_of(clean(page, detect(page)))
    assert pointers[key_of(page)] == "/content/0/text"
    assert pointers[cleaned] == "clean:/content/0/text"
    job = SelectJob(body, pointers[cleaned], cleaned, ("grep:entry 799",), 5_000, "characters")
    again = run(job, GAUGE)
    assert isinstance(again, Fetched)
    assert "5593" in again.text
    assert "<li" not in again.text


def test_a_difference_is_told_instead_of_the_whole_again() -> None:
    lines = [f"line {number} {number * 31 % 997}" for number in range(900)]
    old = result("\n".join(lines))
    lines[450] = "line 450 is another one now"
    new = result("\n".join(lines))
    found = reduced(new, 3_000, earlier=old)
    assert found.strategy == "delta"
    assert "+line 450 is another one now" in parse_answer(found.body).blocks[0].text
    same = reduced(old, 3_000, earlier=old)
    assert same.strategy == "delta"
    assert "unchanged" in parse_answer(same.body).blocks[0].text
    assert size(same.body) < 300


def test_a_summary_goes_out_only_when_it_fits() -> None:
    good = reduced(result(PROSE), 2_000, strategy="llm_summary", summary="It is about a key.")
    assert good.strategy == "llm_summary"
    assert parse_answer(good.body).blocks[0].text.startswith("It is about a key.")
    long = reduced(result(PROSE), 2_000, strategy="llm_summary", summary="words " * 900)
    assert long.strategy == "extract"
    none = reduced(result(PROSE), 2_000, strategy="llm_summary")
    assert none.strategy == "extract"


def test_noise_goes_within_the_budget_only_when_the_operator_wants_it() -> None:
    body = result("\x1b[31mred\x1b[0m text")
    assert reduced(body, 1_000).body == b""
    found = reduced(body, 1_000, clean=True)
    assert parse_answer(found.body).blocks[0].text == "red text"
    assert found.parts[0].pointer == "/content/0/text"


@pytest.mark.parametrize("body", [b"[]", b"7", b'"x"', b"{", b""])
def test_what_is_no_result_is_left_alone_with_a_fault(body: bytes) -> None:
    found = reduced(body, 1)
    assert found.body == b""
    assert found.fault


@pytest.mark.parametrize(
    "text",
    [
        "[" * 10_000 + "]" * 10_000,
        '{"a":' * 10_000 + "1" + "}" * 10_000,
        json.dumps([float("nan")] * 5_000),
        '{"a": "' + "\ud800" * 9_000 + '"}',
        "\ud83d" * 20_000,
        "a" * 3_000_000,
        "(a+)+$" * 20_000,
        "\r" * 50_000,
        "<" * 60_000,
        "```\n" * 20_000,
        "| a " * 30_000,
        "\u0e44\u0e17\u0e22" * 10_000,
        "e\u0301" * 30_000,
    ],
    ids=lambda text: text[:4].encode("ascii", "backslashreplace").decode(),
)
def test_hostile_texts_are_survived_within_the_budget(text: str) -> None:
    for query in ("", "a needle"):
        found = reduced(result(text), 700, query=query)
        assert size(found.body) <= 700


def values(numbers: st.SearchStrategy[float]) -> st.SearchStrategy[Any]:
    """Anything that JSON can say."""
    return st.recursive(
        st.none() | st.booleans() | st.integers() | numbers | st.text(max_size=60),
        lambda inner: (
            st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=9), inner, max_size=8)
        ),
        max_leaves=60,
    )


anything = values(st.floats())
"""What a text may hold; NaN on the wire itself never comes so far."""
valid = values(st.floats(allow_nan=False, allow_infinity=False))
texts = st.one_of(
    anything.map(json.dumps),
    st.text(max_size=400),
    st.lists(
        st.sampled_from(["# A\n", "- x\n", "```\n", "def f():\n", "\n", "ERROR: x\n", "a,b\n"])
    ).map("".join),
    st.sampled_from([PROSE[:3_000], LOG[:3_000], ROWS[:3_000]]),
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(texts, min_size=1, max_size=4),
    st.none() | st.dictionaries(st.text(max_size=9), valid, max_size=6),
    st.integers(1, 900),
    st.sampled_from(STRATEGIES),
    st.text(max_size=20),
    st.booleans(),
)
def test_any_result_fits_any_budget_and_is_held(
    parts: Sequence[str],
    structured: dict[str, Any] | None,
    budget: int,
    strategy: str,
    query: str,
    error: bool,
) -> None:
    more: dict[str, Any] = {} if structured is None else {"structuredContent": structured}
    body = result(*parts, **more, isError=error)
    found = reduced(body, budget, strategy=strategy, query=query)
    if not found.body:
        assert size(body) <= budget
        return
    assert size(found.body) <= min(budget, size(body))
    assert found.fault == ""
    for part in found.parts:
        if not part.pointer.startswith("clean:"):
            assert key_of(held_text(body, part.pointer)) == part.key


@given(st.lists(st.integers(0, 5_000), max_size=12), st.integers(0, 6_000))
def test_shares_never_exceed_the_budget_or_a_texts_own_size(sizes: list[int], budget: int) -> None:
    shares = allocate(sizes, budget)
    assert sum(shares) <= budget
    assert all(share <= one for share, one in zip(shares, sizes, strict=True))
    if sum(sizes) <= budget:
        assert shares == sizes


def test_reading_on_continues_where_it_ended() -> None:
    body = result(PROSE)
    found = run(ReadJob(body, "/content/0/text", "k", 10, 100, 5_000, "characters"), GAUGE)
    assert isinstance(found, Fetched)
    assert found.text.startswith(PROSE[10:40])
    assert found.start == 10


def test_source_code_is_outlined_unless_the_agent_said_what_it_looks_for() -> None:
    code = "\n\n".join(
        f'def function_{n}(value: int) -> int:\n    """Adds {n}."""\n    total = value + {n}\n'
        f"    return total * {n}\n"
        for n in range(120)
    )
    hinted = reduced(result(code), 2_000, query="function 77 total")
    assert hinted.strategy == "skeleton"
    told = reduced(result(code), 2_000, query="function_77", told=True)
    assert told.strategy == "extract"
    assert "return total * 77" in parse_answer(told.body).blocks[0].text


WRAPPED = json.dumps(
    {"type": "object", "properties": {"content": {"type": "string"}}, "required": ["content"]}
).encode()


def test_a_text_that_is_only_wrapped_is_the_same_shorter_text_in_both_places() -> None:
    body = result(PROSE, structuredContent={"content": PROSE})
    found = reduced(body, 3_000, output_schema=WRAPPED, query="brass key")
    after = json.loads(found.body)
    text = after["content"][0]["text"]
    assert after["structuredContent"] == {"content": text}
    assert "flagstone" in text
    assert 2_000 < size(found.body) <= 3_000
    without = reduced(body, 3_000, query="brass key")
    assert "structuredContent" not in json.loads(without.body)


def test_a_difference_keeps_to_the_schema_or_is_not_told() -> None:
    wrapped = result(PROSE, structuredContent={"content": PROSE})
    same = reduced(wrapped, 3_000, output_schema=WRAPPED, earlier=wrapped)
    after = json.loads(same.body)
    assert same.strategy == "delta"
    assert after["structuredContent"] == {"content": after["content"][0]["text"]}
    body = result(ROWS, structuredContent=wordy.rows())
    schema = json.dumps(wordy.SCHEMA).encode()
    found = reduced(body, 4_000, output_schema=schema, earlier=body)
    assert found.strategy != "delta"
    jsonschema.validate(json.loads(found.body)["structuredContent"], wordy.SCHEMA)


def test_a_very_long_page_is_cut_without_being_cleaned_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = "<!DOCTYPE html><html><body>" + "<p>words</p>" * 900 + "</body></html>"
    assert "<p>" not in parse_answer(reduced(result(page), 2_000).body).blocks[0].text
    monkeypatch.setattr("proxy.compress.reduce.LONGEST_CLEANED", 1_000)
    found = reduced(result(page), 2_000)
    assert "<p>" in parse_answer(found.body).blocks[0].text
    assert size(found.body) <= 2_000


@pytest.mark.parametrize("texts", [(PROSE,), ("short", LOG), ("\u6f22\u5b57 \ud800" * 900,)])
def test_texts_are_measured_for_the_record_as_the_recorder_would(texts: tuple[str, ...]) -> None:
    body = result(*texts)
    found = run(ReduceJob(body, "auto", 900, "characters"), GAUGE)
    assert isinstance(found, Reduced)
    assert found.before == measure(b"", body, GAUGE.sizes)
    assert found.after == measure(b"", found.body, GAUGE.sizes)
    mixed = run(ReduceJob(result(PROSE, structuredContent={"a": 1}), "auto", 900), GAUGE)
    assert isinstance(mixed, Reduced)
    assert mixed.before is None


def test_a_text_far_above_the_budget_is_counted_by_the_recorder() -> None:
    gauge = TokenGauge()
    text = "".join(
        f"12:00:01 INFO request {number} took {number % 97} ms\n" for number in range(9_000)
    )
    found = run(ReduceJob(result(text), "auto", 1_000), gauge)
    assert isinstance(found, Reduced)
    assert found.before is None
    assert found.after is not None
    assert found.after.text.tokens == found.sent_tokens <= 1_000
    gauge.forget()
    assert abs(found.before_tokens - gauge.size(text)) < gauge.size(text) / 50
