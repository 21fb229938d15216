"""Values survive the way over the wire, between versions too."""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from contextlib import suppress
from enum import Enum
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy import wire_values
from proxy.answer_model import HeldDetail, HeldList, SavingsView, WhatIf, WhatIfQuery
from proxy.commands import Command, ReloadSettings, SetSetting
from proxy.events import CallsRecorded, Event, EventsLost, UpstreamRemoved
from proxy.model import CallDetail, CallQuery, CallRecord, SettingsView, Snapshot, UpstreamDetail
from tests.support.fake_station import FakeStation
from tests.support.sample_data import CALLS, SNAPSHOT

_SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    str: st.text(max_size=20),
    bool: st.booleans(),
    int: st.integers(-(2**53), 2**53),
    float: st.floats(allow_nan=False, allow_infinity=False),
    type(None): st.none(),
}


def _values(kind: Any) -> st.SearchStrategy[Any]:
    """Any value of an annotated type, as the model uses them."""
    if kind in _SCALARS:
        return _SCALARS[kind]
    if get_origin(kind) in (typing.Union, types.UnionType):
        return st.one_of(*map(_values, get_args(kind)))
    if get_origin(kind) is tuple:
        return st.lists(_values(get_args(kind)[0]), max_size=2).map(tuple)
    if issubclass(kind, Enum):
        return st.sampled_from(kind)
    hints = get_type_hints(kind)
    return st.builds(
        kind, **{field.name: _values(hints[field.name]) for field in dataclasses.fields(kind)}
    )


@pytest.mark.parametrize(
    "kind",
    [
        *(Snapshot, UpstreamDetail, CallRecord, CallDetail, CallQuery, SettingsView),
        *(SavingsView, HeldList, HeldDetail, WhatIfQuery, WhatIf),
    ],
)
@given(data=st.data())
def test_every_value_of_the_model_comes_back_as_it_was(kind: Any, data: st.DataObject) -> None:
    value = data.draw(_values(kind))
    assert wire_values.decode(wire_values.encode(value), kind) == value


@given(_values(Event))
def test_every_event_comes_back_as_it_was(event: Event) -> None:
    assert wire_values.decode_event(wire_values.encode_tagged(event)) == event


@given(_values(Command))
def test_every_command_comes_back_as_it_was(command: Command) -> None:
    assert wire_values.decode_command(wire_values.encode_tagged(command)) == command


@given(st.binary(max_size=200))
def test_any_bytes_give_a_value_or_a_wire_error(data: bytes) -> None:
    for decode in (wire_values.decode_event, wire_values.decode_command):
        with suppress(wire_values.WireError):
            decode(data)


def test_an_encoded_value_is_one_line() -> None:
    station = FakeStation(hostile=True)
    data = wire_values.encode(station.snapshot_value)
    assert b"\n" not in data
    assert b"\x1b" not in data
    assert wire_values.decode(data, Snapshot) == station.snapshot_value


def test_a_tagged_value_names_its_class_beside_its_fields() -> None:
    assert json.loads(wire_values.encode_tagged(SetSetting("a.b", "1"))) == {
        "type": "SetSetting",
        "key": "a.b",
        "value": "1",
    }
    assert json.loads(wire_values.encode_tagged(ReloadSettings())) == {"type": "ReloadSettings"}


def test_fields_that_only_a_newer_version_knows_are_ignored() -> None:
    newer = json.loads(wire_values.encode(SNAPSHOT))
    newer["mood"] = "sunny"
    newer["station"]["weather"] = {"wind": 3}
    assert wire_values.decode(json.dumps(newer).encode(), Snapshot) == SNAPSHOT


def test_a_missing_field_takes_its_default() -> None:
    assert wire_values.decode(b'{"upstream":"github"}', CallQuery) == CallQuery(upstream="github")


def test_a_missing_field_without_default_is_said_by_name() -> None:
    with pytest.raises(wire_values.WireError, match="taken_at"):
        wire_values.decode(b"{}", Snapshot)


def test_an_event_of_an_unknown_kind_is_none_and_such_a_command_an_error() -> None:
    assert wire_values.decode_event(b'{"type":"SunRose","at":3}') is None
    with pytest.raises(wire_values.WireError, match="SunRise"):
        wire_values.decode_command(b'{"type":"SunRise"}')


def test_half_surrogates_become_replacement_characters_and_pairs_become_whole() -> None:
    event = UpstreamRemoved("a\ud800b \ud83d\ude00")
    assert wire_values.decode_event(wire_values.encode_tagged(event)) == UpstreamRemoved(
        "a\ufffdb \U0001f600"
    )


def test_a_batch_of_calls_keeps_its_order() -> None:
    event = CallsRecorded(CALLS)
    assert wire_values.decode_event(wire_values.encode_tagged(event)) == event
    assert wire_values.decode_event(wire_values.encode_tagged(EventsLost(3))) == EventsLost(3)
