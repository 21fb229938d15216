"""The form of what goes over the socket."""

from __future__ import annotations

import contextlib
import dataclasses
import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import api
from memory.api import Request
from memory.errors import FaultCode, MemoryFault
from memory.model import Actor, Kind, MemoryText, Origin, PairClass, PairEvidence
from memory.process import wire
from tests.memory.support import make_record

ACTOR = Actor(Origin.OPERATOR, "console", "7")


def test_every_request_of_the_port_has_a_method_and_a_result_type() -> None:
    classes = {
        name
        for name, value in vars(api).items()
        if dataclasses.is_dataclass(value) and name != "Request" and issubclass(value, Request)  # type: ignore[arg-type]
    }
    assert set(wire.methods()) == classes
    assert len(classes) > 20
    assert all(dataclasses.is_dataclass(result) for _, result in wire.methods().values())


@pytest.mark.parametrize("name", sorted(wire.methods()))
def test_a_decoder_can_be_made_for_every_request_and_result(name: str) -> None:
    request, result = wire.methods()[name]
    msgspec.json.Decoder(request)
    msgspec.json.Decoder(result)


@given(
    content=st.text(st.characters(codec="utf-8")),
    importance=st.floats(0, 1),
    related=st.lists(st.text(st.characters(codec="utf-8"))),
    at=st.none() | st.integers(-(2**63), 2**63 - 1),
    number=st.integers(0, 2**53),
)
def test_a_request_arrives_as_it_was_sent(
    content: str, importance: float, related: list[str], at: int | None, number: int
) -> None:
    request = api.AddRecord(
        Kind.PROCEDURAL,
        MemoryText(content, steps=(content, "b")),
        importance=importance,
        related_ids=tuple(related),
        valid_from=at,
    )
    frame = wire.call_frame(number, request, ACTOR)
    assert frame.count(b"\n") == 1
    call = wire.read_call(frame)
    assert (call.id, call.actor, call.request()) == (number, ACTOR, request)


@given(content=st.text(st.characters(codec="utf-8")), similarity=st.floats(0, 1))
def test_a_result_arrives_as_it_was_sent(content: str, similarity: float) -> None:
    record = make_record(1, content=content)
    evidence = PairEvidence(PairClass.VALUE, 0.9, ("a",), (content,))
    result = api.Stored(record, False, (api.Candidate(record, similarity, evidence),))
    answer = wire.read_reply(wire.result_frame(3, result))
    assert isinstance(answer, wire.Answer)
    assert answer.value(api.AddRecord(Kind.SEMANTIC, record.text)) == result


def test_a_fault_arrives_as_it_was_raised() -> None:
    frame = wire.fault_frame(2, MemoryFault(FaultCode.STALE, "it is gone", "Look again."))
    answer = wire.read_reply(frame)
    assert isinstance(answer, wire.Answer)
    with pytest.raises(MemoryFault, match="it is gone") as caught:
        answer.value(api.GetPosition())
    assert (caught.value.code, caught.value.hint) == (FaultCode.STALE, "Look again.")


def test_a_fault_with_half_a_surrogate_pair_can_be_sent_and_read() -> None:
    answer = wire.read_reply(wire.fault_frame(2, MemoryFault(FaultCode.INVALID, "odd: \ud800")))
    assert isinstance(answer, wire.Answer)
    assert answer.fault is not None
    assert answer.fault.message == "odd: ?"


def test_a_result_that_is_not_a_number_is_no_number_on_the_other_side() -> None:
    record = make_record(1, importance=float("nan"))
    answer = wire.read_reply(wire.result_frame(1, api.RecordPage((record,))))
    assert isinstance(answer, wire.Answer)
    with pytest.raises(MemoryFault, match="could not be read"):
        answer.value(api.ListRecords())


@given(data=st.binary(max_size=200))
def test_any_line_is_read_or_refused(data: bytes) -> None:
    for read in (wire.read_greeting, wire.read_call, wire.read_reply):
        with contextlib.suppress(wire.Malformed):
            read(data)


@given(
    lines=st.lists(st.binary(min_size=1).filter(lambda line: b"\n" not in line)), seed=st.integers()
)
def test_lines_come_out_however_they_were_cut(lines: list[bytes], seed: int) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    cuts = random.Random(seed)
    collected: list[bytes] = []
    splitter = wire.Lines()
    at = 0
    while at < len(stream):
        step = cuts.randint(1, 7)
        collected += splitter.feed(stream[at : at + step])
        at += step
    assert collected == [line for line in lines if line.strip()]


@pytest.mark.parametrize(
    "chunks", [[b"x" * 11], [b"x" * 6, b"x" * 6], [b"x" * 6, b"x" * 6 + b"\n"]]
)
def test_a_line_beyond_the_limit_is_refused_before_it_ends(chunks: list[bytes]) -> None:
    splitter = wire.Lines(10)
    *first, last = chunks
    for chunk in first:
        assert splitter.feed(chunk) == []
    with pytest.raises(wire.FrameTooLong):
        splitter.feed(last)
