"""What is read from an answer before it is sent on."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.host_calls import is_tool_error

_NAME = st.sampled_from(["isError", "content", '"isError', ',"isError":true}', "x"])
_VALUE = st.recursive(
    st.booleans() | st.none() | st.sampled_from(['"isError":true}', ',"isError":true', "text"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_NAME, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(_NAME, _VALUE, max_size=4), st.booleans())
def test_only_the_result_s_own_flag_says_that_a_tool_failed(
    result: dict[str, object], spaced: bool
) -> None:
    body = json.dumps(result, separators=None if spaced else (",", ":")).encode()
    assert is_tool_error(body) is (result.get("isError") is True)


@pytest.mark.parametrize(
    ("body", "failed"),
    [
        (b'{"content":[],"isError":true}', True),
        (b'{"isError":false,"content":[],"isError" : true }\n', True),
        (b'{"isError":true,"content":[],"isError":false}', False),
        (b'{"content":{"isError":true}}', False),
        (b'{"isError":true,"content":[]}', True),
        (b'{"text":"' + b"x" * 500 + b'","isError":true}', True),
        (b'{"x":",\\"isError\\":true}"}', False),
    ],
)
def test_the_last_flag_counts_wherever_it_stands(body: bytes, failed: bool) -> None:
    assert is_tool_error(body) is failed
