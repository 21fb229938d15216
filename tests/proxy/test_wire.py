"""Raw JSON-RPC messages."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy import wire

_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), _JSON), st.booleans())
def test_what_is_parsed_and_encoded_again_means_the_same(
    message: dict[str, object], ascii_only: bool
) -> None:
    line = json.dumps(message, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    try:
        members = wire.parse(line)
    except wire.MalformedMessage:
        # only what is no UTF-8 may be refused: a lone surrogate that was not escaped
        assert not ascii_only
        return

    assert json.loads(wire.encode(members)) == message


@pytest.mark.parametrize(
    "value",
    [b"9223372036854775813", b"1.0", b"1e21", b'{"k":null}', b'"\\u00e9"', b"0.10"],
)
def test_a_value_keeps_its_very_bytes(value: bytes) -> None:
    members = wire.parse(b'{"jsonrpc":"2.0","id":1,"result":{"x":' + value + b"}}")

    assert wire.encode(members) == b'{"jsonrpc":"2.0","id":1,"result":{"x":' + value + b"}}"


def test_an_escaped_lone_surrogate_passes_untouched() -> None:
    line = (
        b'{"jsonrpc":"2.0","id":"a,b","result":{"text":"\\ud800 {lone","n":[1,{"b":2}]},"x":null}'
    )

    members = wire.parse(line)

    assert bytes(members["result"]) == b'{"text":"\\ud800 {lone","n":[1,{"b":2}]}'
    assert bytes(members["id"]) == b'"a,b"'
    assert bytes(members["x"]) == b"null"


@pytest.mark.parametrize(
    ("line", "reason", "id"),
    [
        (b'{"jsonrpc":"2.0","id":5,"result":{"x":NaN}}', "not JSON", b"5"),
        (b'{"jsonrpc":"2.0","id":"k","result":{"x":"\xff"}}', "not valid UTF-8", b'"k"'),
        (b'{"result":' + b"[" * 5000 + b"]" * 5000 + b',"id":9}', "nested deeper", b"9"),
        (b'[{"jsonrpc":"2.0","id":1}]', "batches", b"1"),
        (b"hello there", "not JSON", None),
        (b'"text"', "not a JSON object", None),
        (b'{"jsonrpc":"2.0","id":7,"result":{"a":', "not JSON", b"7"),
    ],
)
def test_what_cannot_be_passed_on_is_refused_with_reason_and_id(
    line: bytes, reason: str, id: bytes | None
) -> None:
    with pytest.raises(wire.MalformedMessage, match=reason) as caught:
        wire.parse(line)

    assert caught.value.id == id


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    with contextlib.suppress(wire.MalformedMessage):
        wire.parse(data)


def test_a_byte_order_mark_is_overlooked() -> None:
    assert bytes(wire.parse(b'\xef\xbb\xbf{"id":1,"a":[1, 2]}')["a"]) == b"[1, 2]"


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b'{"id":0,"method":"ping"}', wire.MessageKind.REQUEST),
        (b'{"method":"x"}', wire.MessageKind.NOTIFICATION),
        (b'{"id":1,"result":{}}', wire.MessageKind.RESPONSE),
        (b'{"id":1,"error":{}}', wire.MessageKind.RESPONSE),
        (b'{"id":1}', wire.MessageKind.NONE),
        (b"{}", wire.MessageKind.NONE),
    ],
)
def test_messages_are_told_apart_by_their_members(line: bytes, kind: wire.MessageKind) -> None:
    assert wire.kind_of(wire.parse(line)) is kind


def test_items_of_an_odd_array_keep_their_bytes() -> None:
    items = wire.items_of(wire.Raw(b'[{"a":"\\ud800,"}, [1,2] ,"x"]'))

    assert [bytes(item) for item in items] == [b'{"a":"\\ud800,"}', b"[1,2]", b'"x"']


def test_a_response_under_another_id_begins_with_it_whatever_the_order_was() -> None:
    answer = wire.parse(b'{"result":{"a":1.0},"jsonrpc":"2.0","x":null,"id":5}')

    assert wire.response(wire.Raw(b'"k"'), answer) == (
        b'{"jsonrpc":"2.0","id":"k","result":{"a":1.0},"x":null}'
    )


_MEMBER = st.sampled_from(["jsonrpc", "id", "method", "params", "result", "x"])


@given(
    st.dictionaries(_MEMBER, _JSON | st.dictionaries(st.text(), _JSON), max_size=6),
    st.sampled_from([b"", b"\xff", b"\\ud800"]),
)
def test_a_common_request_is_read_in_one_go_as_it_is_in_two(
    message: dict[str, object], odd: bytes
) -> None:
    base: dict[str, object] = {"jsonrpc": "2.0", "id": 1, "method": "OO", "params": {"a": "OO"}}
    line = json.dumps(base | message).encode().replace(b"OO", odd)
    request = wire.request_in(line)
    try:
        members = wire.parse(line)
        method, params = wire.text_of(members["method"]), wire.members_of(members["params"])
    except wire.MalformedMessage:
        assert request is None
        return
    if request is None:
        odd_members = set(members) - {"jsonrpc", "id", "method", "params"}
        assert odd_members or b"ud800" in line or not isinstance(json.loads(line)["method"], str)
    else:
        assert (request.method, list(request.params)) == (method, list(params))
        assert bytes(request.id) == bytes(members["id"])
        assert {k: bytes(v) for k, v in request.params.items()} == {
            k: bytes(v) for k, v in params.items()
        }


def test_members_of_a_checked_message_are_read_like_those_of_a_line() -> None:
    line = b'{"a":{"b":"\\ud800","c":{"n":9223372036854775813}}}'
    inner = wire.parse(line)["a"]
    assert wire.members_of(inner) == wire.parse(bytes(inner))
    with pytest.raises(wire.MalformedMessage, match="not a JSON object"):
        wire.members_of(wire.Raw(b"5"))
