"""JSON with less repetition that decodes to the same JSON."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given

from proxy.compress import lossless_json
from proxy.compress.json_nodes import MAX_DEPTH
from proxy.compress.lossless_json import NotEncodable
from tests.proxy.compress.json_values import LAYOUTS, VALUES, write


def _round_trip(text: str) -> dict[str, Any]:
    """The encoded form, after it gave the same JSON again."""
    compact = msgspec.json.format(text.encode(), indent=-1)
    encoded = lossless_json.encode(lossless_json.parse(compact))
    assert lossless_json.decode(encoded) == lossless_json.canonical(lossless_json.parse(compact))
    whole: dict[str, Any] = json.loads(encoded)
    return whole


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def test_rows_are_written_without_their_keys() -> None:
    rows = [{"id": i, "name": f"n{i}", "ok": i % 2 == 0} for i in range(20)]
    whole = _round_trip(_dump(rows))
    assert whole["shapes"] == [["id", "name", "ok"]]
    assert whole["data"][:3] == ["#0", [0, "n0", True], [1, "n1", False]]


def test_what_all_rows_have_is_said_once() -> None:
    rows = [{"id": i, "kind": "user", "url": f"https://example.com/u/{i}.json"} for i in range(20)]
    whole = _round_trip(_dump(rows))
    assert whole["shapes"] == [
        ["id", ["kind", {"=": "user"}], ["url", {"+": ["https://example.com/u/", ".json"]}]]
    ]
    assert whole["data"][1] == [0, "0"]


def test_true_is_not_one_and_null_is_not_missing() -> None:
    rows: list[dict[str, object]] = [{"a": True, "b": None}, {"a": 1, "b": None}, {"a": 1}] * 5
    rows += [{"a": "true", "b": "null"}, {"b": None, "a": 1}]
    _round_trip(_dump(rows))
    _round_trip(_dump([{"a": [1, True]}, {"a": [True, 1]}, {"a": [1, 1]}] * 4))


def test_digits_of_numbers_are_kept() -> None:
    text = (
        "["
        + ",".join(['{"n":1.50,"e":1e400,"x":1E5,"big":123456789012345678901234567890}'] * 9)
        + "]"
    )
    compact = text.encode()
    assert lossless_json.decode(lossless_json.encode(lossless_json.parse(compact))) == compact


def test_objects_inside_rows_are_rows() -> None:
    rows = [
        {"id": i, "user": {"login": f"u{i}", "id": i}, "tags": [{"k": i, "v": j} for j in range(2)]}
        for i in range(9)
    ]
    whole = _round_trip(_dump(rows))
    assert whole["shapes"][0] == ["id", ["user", 1], ["tags", [2]]]
    assert whole["data"][1] == [0, ["u0", 0], [[0, 0], [0, 1]]]


def test_repeated_values_are_written_once() -> None:
    owner = {"login": "somebody", "url": "https://example.com/somebody", "roles": ["a", "b"]}
    value = {"one": {"owner": owner, "x": 1}, "two": [owner, {"owner": owner}]}
    whole = _round_trip(_dump(value))
    assert _dump(whole).count("somebody") == 2
    assert whole["data"]["two"][0].startswith("@")


def test_texts_that_look_like_marks_are_protected() -> None:
    row = {"@a": "@0", "#": "#1", "c": "@@", "d": "#0", "e": "plain"}
    _round_trip(_dump([row | {"n": i} for i in range(10)]))
    _round_trip(_dump({"#0": [1, 2], "x": {"#": [3]}, "y": ["#0", [1], {"@1": 2}]}))
    whole = _round_trip(_dump([{"t": f"@{i}"} for i in range(10)]))
    assert "protects" in whole["_mms"]


def test_lists_among_rows_stay_lists() -> None:
    rows: list[object] = [{"a": i, "b": i + 1, "c": 0} for i in range(9)]
    _round_trip(_dump([*rows, [1, 2], *rows[:3], [[{"a": 1, "b": 1, "c": [1]}]], "#0", None]))
    _round_trip(_dump([[1], {"x": 1, "y": [2]}, [2], {"x": 3, "y": [4]}, [3], {"x": 5, "y": 6}]))


def test_an_empty_object_is_no_empty_list() -> None:
    rows: list[object] = [
        {"k": None, "n": 1},
        {"k": {}, "n": 2},
        {"k": [{"k": [], "n": 1}], "n": 3},
    ]
    _round_trip(_dump([*rows, {}, [], *rows, {}, {"k": [{}], "n": 0}]))


def test_the_legend_is_short() -> None:
    owner = {"login": "somebody", "url": "https://example.com/somebody", "roles": ["a", "b"]}
    rows = [
        {
            "id": f"@{i}",
            "kind": 1,
            "u": f"x/y/z/{i}",
            "o": {"n": i, "w": owner},
            "l": [{"n": i, "w": 1}],
        }
        for i in range(9)
    ]
    whole = _round_trip(_dump(rows))
    assert len(whole["_mms"]) < 340
    assert "\n" not in whole["_mms"]


def test_equal_objects_under_one_key_are_written_once() -> None:
    owners = [{"login": f"somebody-{n}", "team": "a team with a long name"} for n in range(2)]
    whole = _round_trip(_dump([{"id": i, "owner": owners[i % 2]} for i in range(20)]))
    assert len(whole["refs"]) == 2
    assert whole["data"][1:4] == [[0, "@0"], [1, "@1"], [2, "@0"]]


def test_true_is_not_one_in_objects_and_lists_of_a_column() -> None:
    rows = [
        {"id": i, "o": {"a": [True, 1][i % 2]}, "l": [[1, False], [True, 0]][i % 2]}
        for i in range(16)
    ]
    _round_trip(_dump(rows))
    _round_trip(_dump([[True, 1], [1, True], [1, 1]] * 6))


def test_a_shape_inside_of_itself_is_written_row_by_row() -> None:
    tree: dict[str, object] = {"name": "leaf", "size": 0, "parts": []}
    for level in range(12):
        tree = {
            "name": f"level {level}",
            "size": level,
            "parts": [tree, {"name": "x", "size": 1, "parts": []}],
        }
    whole = _round_trip(_dump([tree]))
    assert whole["shapes"][0][2] == ["parts", [0]]


def test_columns_of_mixed_values_stay_as_they_are() -> None:
    cells: list[object] = [None, {"k": 1}, [1], [], "@0", "#0", "a\n@b", 1.5, True, [{"k": 2}] * 9]
    _round_trip(_dump([{"id": i, "cell": cell} for i, cell in enumerate(cells * 3)]))
    _round_trip(_dump([{"id": i, "cell": [cell]} for i, cell in enumerate(cells * 3)]))


def test_a_quick_check_reads_numbers_as_floats() -> None:
    value = lossless_json.parse(b'[{"n":1.50,"m":0.25}]')
    encoded = lossless_json.encode(value)
    assert lossless_json.decode(encoded) == b'[{"n":1.50,"m":0.25}]'
    assert lossless_json.decode(encoded, exact=False) == b'[{"n":1.5,"m":0.25}]'


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"_mms":""}', '{"data":"@0"}', '{"refs":["@0"],"data":"@0"}',
     '{"shapes":[["a"]],"data":["#0",[1,2]]}',
     '{"shapes":[["a"]],"data":["#7",[1]]}', '{"data":"@x"}',
     '{"shapes":[[["a",[0]]]],"data":{"#0":[[[1]]]}}'],
)  # fmt: skip
def test_a_damaged_form_is_an_error(text: str) -> None:
    if text == '{"shapes":[[["a",[0]]]],"data":{"#0":[[[1]]]}}':
        assert lossless_json.decode(text) == b'{"a":[{"a":1}]}'
        return
    with pytest.raises(NotEncodable):
        lossless_json.decode(text)


def test_deep_values_are_refused() -> None:
    with pytest.raises(NotEncodable):
        lossless_json.encode(lossless_json.parse(b"[" * (MAX_DEPTH + 2) + b"]" * (MAX_DEPTH + 2)))


@given(VALUES, LAYOUTS)
def test_every_value_comes_back_exactly(value: object, layout: dict[str, Any]) -> None:
    text = write(value, layout)
    compact = msgspec.json.format(text.encode(), indent=-1) if "\\ud" not in text else text.encode()
    try:
        parsed = lossless_json.parse(compact)
    except NotEncodable:
        return  # lone surrogates
    encoded = lossless_json.encode(parsed)
    assert lossless_json.decode(encoded) == lossless_json.canonical(parsed)
    assert json.dumps(json.loads(lossless_json.decode(encoded))) == json.dumps(json.loads(text))
    assert lossless_json.encode(parsed) == encoded
