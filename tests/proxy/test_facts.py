"""Facts are found for what they are, judged from outside, and in linear time."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.facts import (
    ERROR_LIMIT,
    FACT_LIMIT,
    Fact,
    FactKind,
    all_retained,
    classify,
    facts_of,
)


def _of(text: str, kind: FactKind) -> list[tuple[str, str]]:
    return [(fact.key, fact.text) for fact in facts_of(text) if fact.kind is kind]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"port": 8080, "ratio":0.75}', [("port", "8080"), ("ratio", "0.75")]),
        ("timeout = 30\nretries: 5", [("timeout", "30"), ("retries", "5")]),
        ("status=500 dur=-1.5e-3", [("status", "500"), ("dur", "-1.5e-3")]),
        ("It took 45 seconds, 12% more.", [("seconds", "45"), ("%", "12")]),
        ("name,age\nada,36.5,", [("", "36.5")]),
        ('{"total": "1,204"}', [("total", "1,204")]),
    ],
)
def test_numbers_are_found_with_what_they_belong_to(
    text: str, found: list[tuple[str, str]]
) -> None:
    assert _of(text, FactKind.NUMBER) == found


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("see /etc/hosts and ~/notes/today.md.", ["/etc/hosts", "~/notes/today.md"]),
        ("edit src/app/main.py, then ./run.sh", ["src/app/main.py", "./run.sh"]),
        (r'open "C:\Users\ada\plan.txt"', [r"C:\Users\ada\plan.txt"]),
        ("this and/or that on 12/10/2024, 1/2", []),
    ],
)
def test_paths_are_found_and_other_slashes_are_not(text: str, paths: list[str]) -> None:
    assert [path for _, path in _of(text, FactKind.PATH)] == paths


def test_a_url_is_one_fact_without_the_punctuation_after_it() -> None:
    text = "Read [this](https://example.org/a/b?c=1#d), or http://localhost:8000/x."
    assert _of(text, FactKind.URL) == [
        ("", "https://example.org/a/b?c=1#d"),
        ("", "http://localhost:8000/x"),
    ]


def test_ids_are_uuids_hashes_and_tickets_but_no_words_and_no_plain_numbers() -> None:
    text = (
        "commit 9f86d081 of PROJ-1234 (123e4567-e89b-12d3-a456-426614174000) at 0xdeadbeef; "
        "decade facade effaced 1234567890"
    )
    assert [name for _, name in _of(text, FactKind.ID)] == [
        "9f86d081",
        "PROJ-1234",
        "123e4567-e89b-12d3-a456-426614174000",
        "0xdeadbeef",
    ]


def test_error_lines_come_first_and_a_count_of_no_errors_is_none() -> None:
    text = "port: 80\n  ValueError: bad port\nfinished with 0 errors\nmirror ready\nbuild FAILED\n"
    facts = facts_of(text)
    assert [fact.text for fact in facts if fact.kind is FactKind.ERROR] == [
        "ValueError: bad port",
        "build FAILED",
    ]
    assert facts[0].kind is FactKind.ERROR


def test_an_error_in_one_long_line_is_only_the_member_around_it() -> None:
    rows = ",".join(f'{{"id":{n},"state":"ok"}}' for n in range(500))
    text = f'[{rows},{{"state":"disk error on sda"}},{rows}]'
    assert [fact.text for fact in facts_of(text) if fact.kind is FactKind.ERROR] == [
        '"state":"disk error on sda"'
    ]


def test_what_stands_in_the_sent_text_is_retained_the_rest_recoverable_or_lost() -> None:
    original = "port: 8080\nsee /etc/hosts\nid 123e4567-e89b-12d3-a456-426614174000\n"
    sent = "port:8080 [… 2 lines not shown]"
    assert classify(original, sent, original).recoverable == 2
    counts = classify(original, sent, None)
    assert (counts.total, counts.retained, counts.recoverable, counts.lost) == (3, 1, 0, 2)
    assert counts.lost_examples == ("123e4567-e89b-12d3-a456-426614174000", "/etc/hosts")
    partly = classify(original, sent, "… /etc/hosts")
    assert (partly.recoverable, partly.lost) == (1, 1)
    assert partly.missing_examples == ("/etc/hosts",)


def test_a_number_that_lost_digits_or_its_key_is_not_retained() -> None:
    assert classify('{"port": 80801}', '{"port": 8080}', None).lost == 1
    assert classify('{"port": 8080}', '{"size": 8080}', None).lost == 1
    assert classify('{"port": 8080}', '{"port":8080,"size":1}', None).lost == 0


def test_a_shortened_path_or_url_is_not_retained() -> None:
    assert classify("at /srv/data/x.json", "at /srv/data/x.json/y", None).lost == 1
    assert classify("at https://e.org/a/b/c", "at https://e.org/a/b/c…", None).lost == 1
    assert classify("at https://e.org/a/b/c", "at https://e.org/a/b", None).lost == 1


def test_indentation_and_line_ends_do_not_make_an_error_line_another_one() -> None:
    assert classify("x\r\n   fatal: no disk\r\n", "fatal: no disk", None).lost == 0


def test_an_answer_that_can_be_rebuilt_retains_everything() -> None:
    counts = all_retained(facts_of("a: 1\nb: 2"))
    assert (counts.total, counts.retained, counts.lost) == (2, 2, 0)


def test_examples_are_few_and_begin_with_error_lines() -> None:
    text = "".join(f"k{n}: {n}\n" for n in range(50)) + "panic: out of memory\n"
    counts = classify(text, "", None)
    assert counts.lost == 51
    assert len(counts.lost_examples) == 10
    assert counts.lost_examples[0] == "panic: out of memory"


def test_facts_are_bounded_and_spread_over_a_long_text() -> None:
    text = "".join(f"row{n}: {n}\n" for n in range(300_000))
    facts = facts_of(text)
    assert 1_000 < len(facts) <= FACT_LIMIT
    numbers = [int(fact.text) for fact in facts]
    assert min(numbers) < 1_000
    assert max(numbers) > 299_000
    assert all(fact.key == f"row{fact.text}" for fact in facts)


def test_of_very_many_error_lines_the_first_and_the_last_are_facts() -> None:
    text = "".join(f"error number {n}\n" for n in range(20_000))
    errors = [fact.text for fact in facts_of(text) if fact.kind is FactKind.ERROR]
    assert len(errors) == ERROR_LIMIT
    assert "error number 0" in errors
    assert "error number 19999" in errors


def test_an_error_line_is_found_in_the_middle_of_a_long_log() -> None:
    lines = [f"2026-01-01 INFO request {n} ok" for n in range(60_000)]
    lines[31_234] = "2026-01-01 ERROR disk full on /dev/sda1"
    assert facts_of("\n".join(lines))[0].text == "2026-01-01 ERROR disk full on /dev/sda1"


@pytest.mark.parametrize(
    "text",
    [
        "a" * 3_000_000,
        "1" * 3_000_000,
        "/" * 3_000_000,
        "a/" * 1_500_000,
        "a-" * 1_500_000,
        "a:" * 1_500_000,
        "1," * 1_500_000,
        "error " * 500_000,
        "rror" * 700_000,
        "http://" * 400_000,
        "1e1" * 1_000_000,
        "0 error" * 400_000,
    ],
    ids=lambda text: text[:8],
)
def test_no_text_takes_more_than_linear_time(text: str) -> None:
    started = time.process_time()
    facts_of(text)
    short = text[: len(text) // 8]
    classify(short, short, None)
    # A search that tries again from every character would need minutes.
    assert time.process_time() - started < 5


@given(st.text(alphabet=st.characters(), max_size=400))
def test_any_text_retains_all_of_itself_and_the_parts_add_up(text: str) -> None:
    facts = facts_of(text)
    assert len(set(facts)) == len(facts)
    whole = classify(text, text, None)
    assert (whole.retained, whole.lost) == (whole.total, 0)
    half = classify(text, text[: len(text) // 2], text)
    assert half.retained + half.recoverable == half.total
    assert facts == facts_of(text)


def test_a_fact_is_shown_with_its_key() -> None:
    assert str(Fact(FactKind.NUMBER, "80", "port")) == "port: 80"
    assert str(Fact(FactKind.URL, "https://e.org/")) == "https://e.org/"
