"""Tables and JSON: aligned, within the terminal, harmless."""

from __future__ import annotations

import io
import json

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from console.cli.output import Output, as_json, table_lines
from tests.support.fake_station import HOSTILE
from tests.support.sample_data import CALLS


def test_columns_are_aligned_and_numbers_to_the_right() -> None:
    assert table_lines(("NAME", "N"), [("a", "1"), ("long name", "1,000")], right=("N",)) == [
        "NAME           N",
        "a              1",
        "long name  1,000",
    ]


def test_wide_characters_count_as_two_cells() -> None:
    lines = table_lines(("A", "B"), [("漢字", "x"), ("abcd", "x")])
    assert {cell_len(line) for line in lines[1:]} == {7}


def test_a_terminal_gets_rows_of_one_line_with_the_widest_column_cut() -> None:
    lines = table_lines(("NAME", "TEXT"), [("name", "word " * 40)], width=40)
    assert all(cell_len(line) <= 40 for line in lines)
    assert lines[1].startswith("name  word")
    assert lines[1].endswith("…")


def test_outside_a_terminal_nothing_is_cut() -> None:
    stream = io.StringIO()
    Output(stream, as_json=False).table(("A",), [("x" * 500,)])
    assert "x" * 500 in stream.getvalue()


@given(
    st.lists(st.tuples(st.text(max_size=30), st.text(max_size=30)), max_size=5),
    st.one_of(st.none(), st.integers(20, 120)),
)
def test_any_text_gives_one_harmless_line_per_row(
    rows: list[tuple[str, str]], width: int | None
) -> None:
    lines = table_lines(("A", "B"), rows, width=width)
    assert len(lines) == len(rows) + 1
    for line in lines:
        assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 for char in line)
        if width is not None:
            assert cell_len(line) <= width


def test_json_is_ascii_and_exact() -> None:
    text = as_json({"text": HOSTILE, "call": CALLS[0]})
    assert text.isascii()
    assert "\x1b" not in text
    assert "\x7f" not in text
    data = json.loads(text)
    assert data["text"] == HOSTILE
    assert data["call"]["outcome"] == "ok"


def test_a_line_for_people_is_not_written_among_json() -> None:
    stream = io.StringIO()
    out = Output(stream, as_json=True)
    out.line("for people")
    out.table(("A",), [("b",)])
    out.json({"a": 1}, one_line=True)
    assert stream.getvalue() == '{"a":1}\n'
