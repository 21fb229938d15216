"""Values and keys as TOML text, there and back."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.keys import Key, Kind
from config.schema import UpstreamTransport
from config.toml_text import dotted, split_key, toml_value
from config.typed_text import parse_typed

_SCALARS = st.booleans() | st.integers(-(2**60), 2**60) | st.text() | st.floats(allow_nan=False)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@settings(deadline=None)
@given(_VALUES)
def test_every_value_comes_back_from_its_text(value: object) -> None:
    text = toml_value(value)
    assert "\n" not in text
    assert tomllib.loads(f"v = {text}")["v"] == value


@settings(deadline=None)
@given(st.lists(st.text(), min_size=1, max_size=4).map(tuple))
def test_every_key_comes_back_from_its_text(path: tuple[str, ...]) -> None:
    assert split_key(dotted(path)) == path


@settings(deadline=None)
@given(st.text())
def test_no_text_crashes_the_reader_of_keys(text: str) -> None:
    path = split_key(text)
    assert path is None or (path and all(isinstance(name, str) for name in path))


@pytest.mark.parametrize(
    "text", ["", "a b", "a = 1", "a = 1\nb", "[a]", "a.", ".a", "a # b", "a\n"]
)
def test_what_is_no_key_is_refused(text: str) -> None:
    assert split_key(text) is None


def test_words_of_an_enumeration_and_nothing_have_their_text() -> None:
    assert toml_value(UpstreamTransport.AUTO) == '"auto"'
    assert toml_value(None) == ""
    assert toml_value({}) == "{}"
    with pytest.raises(TypeError):
        toml_value(object())


@settings(deadline=None)
@given(st.text(), st.sampled_from(Kind))
def test_any_typed_text_has_a_meaning(text: str, kind: Kind) -> None:
    value = parse_typed(Key("k", kind, None, ""), text)
    if kind in (Kind.TEXT, Kind.CHOICE):
        assert isinstance(value, str)
    if kind is Kind.BOOLEAN:
        assert isinstance(value, bool | str)
