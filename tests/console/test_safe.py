"""No text, however made, brings a byte to the terminal that acts on it."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from console.safe import CUT, safe, safe_line

_NASTY = (
    "\x1b]52;c;eA==\x1b\\",
    "\x9b31m",
    "\u202eevil\u2066",
    "a\u200db\ufe0f",
    "\U000e0041\U000e0042",
    "\ud800x\udfff",
    "\x00\x7f\r\x08",
    "\ufeff\u2028\u2029\u00ad\u3164",
)

_ANY = st.text(alphabet=st.characters(), max_size=200) | st.text(
    alphabet=st.sampled_from("".join(_NASTY) + "ab\n\t 検é👩"), max_size=60
)


def _dangerous(character: str) -> bool:
    category = unicodedata.category(character)
    code = ord(character)
    return (
        category in ("Cc", "Cf", "Cs", "Zl", "Zp")
        or 0xFE00 <= code <= 0xFE0F
        or 0xE0000 <= code <= 0xE0FFF
    )


@given(_ANY)
@example("".join(_NASTY))
def test_nothing_dangerous_is_left_and_newline_and_tab_stay(text: str) -> None:
    shown = safe(text)
    assert [c for c in shown if _dangerous(c) and c not in "\n\t"] == []
    assert shown.count("\n") == text.count("\n")
    assert shown.count("\t") == text.count("\t")


@given(_ANY)
@example("".join(_NASTY))
def test_a_safe_line_is_one_line_of_printable_characters(text: str) -> None:
    shown = safe_line(text)
    assert not any(_dangerous(c) for c in shown)
    assert len(shown.splitlines()) <= 1
    shown.encode("utf-8")


@given(_ANY)
def test_a_second_pass_changes_nothing(text: str) -> None:
    assert safe(safe(text)) == safe(text)
    assert safe_line(safe_line(text)) == safe_line(text)


@given(_ANY)
def test_harmless_characters_keep_their_order(text: str) -> None:
    harmless = [c for c in text if not _dangerous(c) and c.isascii()]
    shown = iter(safe(text))
    assert all(c in shown for c in harmless)


@given(_ANY, st.integers(min_value=0, max_value=50))
def test_a_limit_cuts_the_original_before_it_is_translated(text: str, limit: int) -> None:
    expected = safe(text) if len(text) <= limit else safe(text[:limit]) + CUT
    assert safe(text, limit) == expected


@pytest.mark.parametrize("code", [*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F)])
def test_each_control_has_a_form_of_its_own(code: int) -> None:
    shown = safe_line(chr(code))
    assert shown != chr(code)
    assert shown.isprintable()


def test_every_format_character_of_this_unicode_version_is_covered() -> None:
    missed = [
        f"{code:04X}"
        for code in range(0x110000)
        if unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        and safe_line(chr(code)) == chr(code)
    ]
    assert missed == []


def test_ordinary_text_is_returned_as_the_same_object() -> None:
    for text in ("search_issues", "検索 with é and 🔎", "two\nlines\tand a tab"):
        assert safe(text) is text


def test_escape_and_bidi_are_shown_by_name() -> None:
    assert safe("\x1b[31m\u202e") == "␛[31m«202E»"
    assert safe_line("a\nb\tc") == "a↵b⇥c"
