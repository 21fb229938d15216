"""Arguments as headers: what is mirrored, and which tools must not be offered."""

from __future__ import annotations

import json
from typing import Any

import pytest

from proxy import wire
from proxy.http.dialogue import Dialogue, header_value
from proxy.http.mirrors import InvalidMirror, Mirrors, mirrored


def tool(name: str, **properties: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object", "properties": properties}}


def header(name: Any, type: str = "string") -> dict[str, Any]:
    return {"type": type, "x-mcp-header": name}


def learnt(*tools: dict[str, Any]) -> Mirrors:
    mirrors = Mirrors()
    mirrors.learn(wire.raw({"tools": list(tools)}))
    return mirrors


def test_values_are_mirrored_as_they_stand_in_the_arguments() -> None:
    nested = {"type": "object", "properties": {"deep": header("Deep")}}
    mirrors = learnt(
        tool("t", a=header("Region"), n=header("N", "integer"), b=header("B", "boolean"), o=nested)
    )
    arguments = wire.Raw(b'{"a":"eu \\u00e9","n":12345678901234567890,"b":true,"o":{"deep":""}}')
    assert mirrors.headers("t", arguments) == {
        "mcp-param-region": "eu é",
        "mcp-param-n": "12345678901234567890",
        "mcp-param-b": "true",
        "mcp-param-deep": "",
    }


@pytest.mark.parametrize("arguments", ["{}", '{"a":null}', '{"a":{}}', '{"a":[1]}', '{"b":"x"}'])
def test_nothing_is_sent_for_a_value_that_is_not_there(arguments: str) -> None:
    assert learnt(tool("t", a=header("A"))).headers("t", wire.Raw(arguments.encode())) == {}


def test_other_tools_and_calls_without_arguments_have_no_such_headers() -> None:
    mirrors = learnt(tool("t", a=header("A")))
    assert mirrors.headers("other", wire.Raw(b'{"a":"x"}')) == {}
    assert mirrors.headers("t", None) == {}


@pytest.mark.parametrize(
    "properties",
    [
        {"a": header("")},
        {"a": header("with space")},
        {"a": header("colon:")},
        {"a": header("é")},
        {"a": header("line\r\nX-Evil: 1")},
        {"a": header(7)},
        {"a": header("A", "number")},
        {"a": header("A", "object")},
        {"a": header("Same"), "b": header("sAME")},
        {"a": {"type": "array", "items": header("A")}},
        {"a": {"anyOf": [header("A")]}},
        {"a": {"type": "array", "items": {"properties": {"b": header("B")}}}},
    ],
)
def test_a_tool_that_asks_in_a_forbidden_way_is_left_out(properties: dict[str, Any]) -> None:
    bad = tool("bad", **properties)
    with pytest.raises(InvalidMirror):
        mirrored(bad["inputSchema"])
    good = tool("good", a=header("A"))
    result, refused = Mirrors().learn(wire.raw({"tools": [bad, good], "nextCursor": "c"}))
    assert json.loads(bytes(result)) == {"tools": [good], "nextCursor": "c"}
    assert len(refused) == 1
    assert "bad" in refused[0]


def test_a_value_that_only_looks_like_a_request_for_a_header_is_none() -> None:
    assert mirrored({"properties": {"a": {"default": {"x-mcp-header": "A"}, "enum": [{}]}}}) == {}


def test_lists_without_such_requests_are_not_even_read() -> None:
    raw = wire.Raw(b'{"tools": 7}')
    assert Mirrors().learn(raw) == (raw, [])


def test_calls_of_the_stateless_era_carry_them_and_others_do_not() -> None:
    listed = {"result": wire.raw({"tools": [tool("t", a=header("A"))]})}
    params = wire.raw({"name": "t", "arguments": {"a": " é"}})
    for method, expected in (("server/discover", "=?base64?IMOp?="), ("initialize", None)):
        dialogue = Dialogue()
        dialogue.begin(method)
        dialogue.listed(listed)
        headers = dialogue.headers_for_request("tools/call", params)
        assert headers.get("mcp-param-a") == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", ""),
        ("plain text", "plain text"),
        (" padded", "=?base64?IHBhZGRlZA==?="),
        ("a\nb", "=?base64?YQpi?="),
        ("é", "=?base64?w6k=?="),
        ("=?base64?x?=", "=?base64?PT9iYXNlNjQ/eD89?="),
    ],
)
def test_a_text_that_no_header_can_carry_is_wrapped(text: str, value: str) -> None:
    assert header_value(text) == value
