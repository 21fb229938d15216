"""Of an error its beginning and its end are kept, every cause, and the exception's name."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.compress.head_tail import head_tail
from proxy.compress.model import CharacterGauge, ContentType, Reduction, Task
from tests.proxy.compress.gauges import KEY, STRUCTURED, TEXTS, TokenGauge

TOKENS = TokenGauge()


def reduced(text: str, budget: int, key: str = KEY) -> Reduction | None:
    return head_tail(
        Task(text, budget, CharacterGauge(), key=key, content=ContentType.TRACE, is_error=True)
    )


def frames(name: str, count: int) -> list[str]:
    return [f"\tat org.example.{name}.step{i}({name}.java:{i})" for i in range(count)]


def test_a_java_trace_keeps_its_causes_with_their_first_frames() -> None:
    lines = [
        "org.example.RequestException: could not serve",
        *frames("Servlet", 60),
        "Caused by: org.example.StoreException: could not read",
        *frames("Store", 60),
        "\t... 40 more",
        "Caused by: java.io.IOException: broken pipe",
        *frames("Socket", 60),
        "\t... 80 more",
    ]
    found = reduced("\n".join(lines), 1_400)
    assert found is not None
    for line in (lines[0], lines[1], lines[61], lines[62], lines[123], lines[124], lines[-1]):
        assert line in found.text
    assert "lines not shown: lines:" in found.text


def test_a_python_trace_keeps_its_last_line_though_more_follows() -> None:
    lines = [
        "Traceback (most recent call last):",
        *[f'  File "/app/m{i}.py", line {i}, in f\n    g{i}()' for i in range(80)],
        "app.errors.BudgetError: 17 is more than 12",
        "",
        *[f"shutting down part {i}" for i in range(60)],
    ]
    found = reduced("\n".join(lines), 700)
    assert found is not None
    assert lines[0] in found.text
    assert "app.errors.BudgetError: 17 is more than 12" in found.text
    assert lines[-1] in found.text


def test_a_javascript_error_in_the_middle_is_kept() -> None:
    lines = [f"building part {i} of the page" for i in range(100)]
    lines[60] = "Error: cannot find module 'left'"
    found = reduced("\n".join(lines), 600)
    assert found is not None
    assert lines[60] in found.text


def test_a_long_message_in_one_line_keeps_both_ends() -> None:
    text = "ENOENT: cannot open. " + "detail " * 3_000 + "exit code 17"
    found = reduced(text, 500)
    assert found is not None
    assert found.text.startswith("ENOENT: cannot open.")
    assert "exit code 17\n" in found.text
    assert "characters not shown: lines:1]" in found.text
    assert KEY in found.text


def test_most_of_the_budget_is_used() -> None:
    text = "\n".join(f"line {i} of a long message of an error" for i in range(2_000))
    found = head_tail(Task(text, 1_000, TOKENS, key=KEY, is_error=True))
    assert found is not None
    assert 900 <= TOKENS.size(found.text) <= 1_000


@given(st.one_of(TEXTS, STRUCTURED), st.integers(0, 700), st.sampled_from(["", KEY]))
def test_any_text_fits_any_budget_and_the_same_again(text: str, budget: int, key: str) -> None:
    found = reduced(text, budget, key)
    if found is not None:
        assert len(found.text) <= budget
        assert len(found.text) < len(text)
        assert found == reduced(text, budget, key)


@settings(deadline=None)
@given(st.one_of(TEXTS, STRUCTURED).map(lambda text: text * 4), st.integers(0, 300))
def test_any_text_fits_any_budget_of_tokens(text: str, budget: int) -> None:
    found = head_tail(Task(text, budget, TOKENS, key=KEY))
    if found is not None:
        assert TOKENS.size(found.text) <= budget
        assert TOKENS.size(found.text) < TOKENS.size(text)
