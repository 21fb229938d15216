from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.compress.detect import detect
from proxy.compress.extract import extract
from proxy.compress.extract_text import extract_text
from proxy.compress.model import CharacterGauge, ContentType, Reduction, Task

KEY = "0123456789abcdef"
GAUGE = CharacterGauge()
TOWNS = ["Aldover", "Brinmoor", "Calder", "Dunlow", "Estry", "Fallow", "Garth", "Hollin"]
PARTS = [
    "lies in a wide valley",
    "has a market on Mondays",
    "was built of red stone",
    "is known for its fair",
]
PROSE = "\n\n".join(
    " ".join(f"{town} number {number} {part}." for part in PARTS)
    for number in range(12)
    for town in TOWNS
)


def task(
    text: str, budget: int, query: str = "", content: ContentType | None = None, key: str = KEY
) -> Task:
    return Task(text, budget, GAUGE, query, key, content or detect(text))


def reduced(text: str, budget: int, query: str = "", **kwargs: ContentType) -> str:
    found = extract_text(task(text, budget, query, **kwargs))
    assert found is not None
    assert len(found.text) <= budget
    return found.text


@given(
    st.text(max_size=3000),
    st.text(max_size=60),
    st.integers(-1, 1500),
    st.sampled_from(ContentType),
    st.booleans(),
)
def test_any_text_for_any_query_fits_any_budget_and_always_the_same_way(
    text: str, query: str, budget: int, content: ContentType, is_error: bool
) -> None:
    given_task = Task(text, budget, GAUGE, query, KEY, content, is_error)

    found = extract_text(given_task)

    assert found is None or (len(found.text) <= budget and len(found.text) < len(text))
    assert extract_text(given_task) == found


@given(st.integers(0, 3000), st.sampled_from(["", "market Garth 7", "nothing of it"]))
def test_prose_fits_any_budget(budget: int, query: str) -> None:
    found = extract_text(task(PROSE, budget, query))

    assert found is None or 0 < len(found.text) <= budget
    assert found is not None or budget < 400


@given(st.integers(300, 6000), st.sampled_from(["", "market Garth 7"]))
def test_what_is_kept_is_the_text_as_it_was_and_in_its_order(budget: int, query: str) -> None:
    out = reduced(PROSE, budget, query)
    at = 0
    for piece in re.split(r"\s*\[\u2026[^\]]*\](?:\)\])?\s*", out.rpartition("\n")[0]):
        found = PROSE.find(piece, at)
        assert found >= 0
        at = found + len(piece)


def test_the_answer_to_the_query_is_kept() -> None:
    text = PROSE.replace(
        "Estry number 7 was built of red stone", "Estry number 7 hides the silver bell"
    )

    out = reduced(text, 900, "Where is the silver bell hidden?")

    assert "hides the silver bell" in out


def test_a_mark_is_where_something_is_missing_and_the_largest_gaps_say_what_fetches_them() -> None:
    text = PROSE.replace(
        "Estry number 7 was built of red stone", "Estry number 7 hides the silver bell"
    )

    out = reduced(text, 3000, "silver bell")
    announced = re.findall(r"\[\u2026 [\d,]+ \w+ not shown: lines:(\d+)-(\d+)\]", out)

    assert announced
    lines = text.split("\n")
    for first, last in announced:
        assert 1 <= int(first) <= int(last) <= len(lines)
    first, last = announced[0]
    following = out[out.index(f"lines:{first}-{last}]") :].split("\n")[1]
    assert following not in "\n".join(lines[int(first) : int(last) - 1])


def test_the_last_line_says_how_much_is_shown_and_how_to_get_the_rest() -> None:
    last = reduced(PROSE, 2000, "market").split("\n")[-1]

    assert f"of {len(PROSE):,} characters shown" in last
    assert f'stm_proxy_select_chunks(key="{KEY}"' in last


def test_without_a_key_nothing_is_promised() -> None:
    found = extract_text(task(PROSE, 2000, "market", key=""))

    assert found is not None
    assert "stm_proxy" not in found.text


def test_our_own_words_are_counted() -> None:
    found = extract_text(task(PROSE, 2000, "market"))

    assert found is not None
    last = found.text.split("\n")[-1]
    assert len(last) <= found.overhead < len(found.text) // 2


def test_kept_parts_of_markdown_have_their_headings_and_rows_their_head() -> None:
    text = "# Book\n\n" + "".join(
        f"## Chapter {number}\n\n| name | size |\n|---|---|\n"
        + "".join(f"| item{number}x{row} | {row} |\n" for row in range(20))
        + "\n"
        for number in range(20)
    )

    out = reduced(text, 700, "item7x13")

    assert "| item7x13 | 13 |" in out
    assert out.index("# Book") < out.index("## Chapter 7") < out.index("| item7x13 | 13 |")
    assert "| name | size |\n|---|---|" in out


@given(st.integers(250, 3000), st.sampled_from(["", "value_7_3", "Section 9"]))
def test_fences_stay_balanced(budget: int, query: str) -> None:
    text = "# Doc\n\n" + "".join(
        f"## Section {number}\n\nSome words about it.\n\n```py\n"
        + "\n".join(f"value_{number}_{line} = {line}\n" for line in range(8))
        + "```\n\n"
        for number in range(15)
    )
    found = extract_text(task(text, budget, query))

    assert found is None or sum(line.startswith("```") for line in found.text.split("\n")) % 2 == 0


def test_an_error_line_is_kept_whatever_is_asked() -> None:
    lines = [f"step {number} of the build went on as it should" for number in range(300)]
    lines[211] = "error: linker exited with code 7"

    assert "error: linker exited with code 7" in reduced("\n".join(lines), 700, "step 14")
    assert "error: linker exited with code 7" in reduced("\n".join(lines), 700)


def test_errors_alone_over_the_budget_are_kept_as_far_as_they_fit() -> None:
    lines = [f"error: file {number} is broken beyond repair" for number in range(400)]

    out = reduced("\n".join(lines), 800, "file 250")

    assert "error: file 250 is broken" in out


def test_an_odd_row_of_a_table_is_kept() -> None:
    rows = ["id,load,state", *(f"{number},{20 + number % 7},ok" for number in range(400))]
    rows[300] = "299,9000,ok"
    rows[200] = "199,21,broken"

    out = reduced("\n".join(rows), 500)

    assert out.startswith("id,load,state\n")
    assert "299,9000,ok" in out
    assert "199,21,broken" in out


def test_without_a_query_the_beginning_headings_and_the_end_are_kept() -> None:
    text = "".join(
        f"# Part {number}\n\nFirst of {number}. {'More of it. ' * 30}\n\n" for number in range(9)
    )
    text += "The very last words."

    out = reduced(text, 1200)

    assert out.startswith("# Part 0\n")
    assert all(f"# Part {number}\n" in out for number in range(9))
    assert "First of 4." in out


def test_an_error_keeps_its_head_and_its_tail() -> None:
    text = "\n".join(f"line {number} of the report" for number in range(500))

    found = extract_text(Task(text, 600, GAUGE, "line 250", KEY, ContentType.MIXED, is_error=True))

    assert found is not None
    assert found.text.startswith("line 0 of the report\n")
    assert "line 499 of the report" in found.text


def test_one_long_line_is_cut_inside() -> None:
    text = "word " * 50_000 + "The needle is here. " + "word " * 50_000

    out = reduced(text, 1000, "needle", content=ContentType.PROSE)

    assert "The needle is here." in out


@pytest.mark.parametrize(
    ("noise", "fact", "query"),
    [
        ("这是一段没有用的话。", "首都是北京。", "首都是哪里"),
        ("ข้อความนี้ไม่มีประโยชน์อะไรเลยสำหรับคำถามที่ถามมานี้ ", "เมืองหลวงคือกรุงเทพ ", "เมืองหลวง"),
        ("هذه جملة بلا فائدة. ", "العاصمة هي القاهرة. ", "ما هي عاصمة مصر"),
        ("यह एक बेकार वाक्य है। ", "राजधानी दिल्ली है। ", "राजधानियों का नाम"),
        ("Das ist ein Satz ohne Sinn. ", "Die Hauptstadt heißt Köln. ", "HAUPTSTADT koln"),
    ],
)
def test_the_answer_is_found_in_other_scripts(noise: str, fact: str, query: str) -> None:
    out = reduced(noise * 100 + fact + noise * 100, 500, query, content=ContentType.PROSE)

    assert fact.strip() in out


@pytest.mark.parametrize(
    "piece", ["a", "! ", "\n", "# x\n", "|", "```\n", "<p>", "。", "error ", "1,2\n"]
)
def test_many_of_one_piece_are_reduced_in_linear_time(piece: str) -> None:
    text = piece * (150_000 // len(piece))
    for content in (ContentType.MIXED, ContentType.TABLE, ContentType.HTML):
        found = extract_text(Task(text, 2000, GAUGE, "error x 1", KEY, content))
        assert found is None or len(found.text) <= 2000


def test_texts_that_others_know_better_are_left_to_them(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def answer(name: str) -> Reduction | None:
        asked.append(name)
        return None

    monkeypatch.setattr("proxy.compress.extract_json.extract_json", lambda task: answer("json"))
    monkeypatch.setattr("proxy.compress.logs.extract_log", lambda task: answer("log"))
    for content in (ContentType.JSON_ARRAY, ContentType.LOG, ContentType.TRACE):
        assert extract(task("x", 10, content=content)) is None

    assert asked == ["json", "log", "log"]
