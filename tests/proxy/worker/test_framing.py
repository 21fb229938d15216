"""Frames to and from the worker carry every job and outcome unchanged, however they arrive."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.answer_model import FactCounts, Variant
from proxy.jobs import (
    Compared,
    Fetched,
    HeldPart,
    Job,
    JobFailed,
    Outcome,
    ReadJob,
    Reduced,
    ReduceJob,
    SelectJob,
    WhatIfJob,
)
from proxy.worker.framing import (
    HEAD,
    HEADER_LIMIT,
    FrameBuffer,
    MalformedFrame,
    Reply,
    job_frame,
    read_job,
    read_reply,
    reply_frame,
)

FACTS = FactCounts(3, 1, 1, 1, ("lost",), ("missing",))
VARIANT = Variant("extract", "auto", 100, 90, "a\ud800b", FACTS, 1.5)
JOBS: tuple[Job, ...] = (
    ReduceJob(body=b"{}", strategy="auto", budget=5),
    ReduceJob(
        body=b"\x00\xff" * 50,
        strategy="delta",
        budget=0,
        unit="characters",
        clean=True,
        query="needle \ud800",
        handles=False,
        output_schema=b'{"type":"object"}',
        earlier=b"\xfe",
        summary="short",
    ),
    ReadJob(body=b"text", pointer="/content/0/text", key="k", offset=3, limit=None, budget=10),
    SelectJob(body=b"", pointer="", key="k", sections=("a", "lines:1-2"), budget=10),
    WhatIfJob(body=b"one", strategies=("auto",), budget=9, sent=b"two"),
)
OUTCOMES: tuple[Outcome | None, ...] = (
    None,
    Reduced(body=b"[]" * 100, strategy="extract", key="k", parts=(HeldPart("k", "/content/0"),)),
    Fetched("text with \udfff", is_error=True, start=1, end=2, total=3),
    Compared("json object", 10, "before \ud800", VARIANT, (VARIANT, VARIANT)),
    JobFailed("ValueError at compress/log.py:3"),
)


@pytest.mark.parametrize("job", JOBS, ids=lambda job: type(job).__name__)
def test_a_job_arrives_as_it_was_sent(job: Job) -> None:
    (frame,) = FrameBuffer().feed(b"".join(job_frame(7, job)))
    assert read_job(frame) == (7, job)


@pytest.mark.parametrize("outcome", OUTCOMES, ids=lambda outcome: type(outcome).__name__)
def test_an_outcome_arrives_as_it_was_sent(outcome: Outcome | None) -> None:
    (frame,) = FrameBuffer().feed(b"".join(reply_frame(Reply(9, outcome))))
    assert read_reply(frame) == Reply(9, outcome)


def test_large_payloads_are_sent_without_being_copied() -> None:
    body = b"x" * 100_000
    assert any(part is body for part in job_frame(1, ReduceJob(body, "auto", 5)))
    assert any(part is body for part in reply_frame(Reply(1, Reduced(body))))


@given(st.lists(st.sampled_from(JOBS), max_size=4), st.lists(st.integers(1, 90), min_size=1))
def test_frames_come_out_however_their_bytes_are_cut(jobs: list[Job], cuts: list[int]) -> None:
    data = b"".join(part for number, job in enumerate(jobs) for part in job_frame(number, job))
    buffer = FrameBuffer()
    found: list[tuple[int, Job]] = []
    at = turn = 0
    while at < len(data):
        size = cuts[turn % len(cuts)]
        found += [read_job(frame) for frame in buffer.feed(data[at : at + size])]
        at, turn = at + size, turn + 1
    assert found == list(enumerate(jobs))


@pytest.mark.parametrize(
    "head", [HEAD.pack(HEADER_LIMIT + 1, 0, 0), HEAD.pack(1, 1 << 40, 0), b"\xff" * HEAD.size]
)
def test_impossible_lengths_are_refused_before_anything_is_read(head: bytes) -> None:
    with pytest.raises(MalformedFrame):
        FrameBuffer().feed(head)


@pytest.mark.parametrize("header", [b"", b"garbage", b"[1]", b"[" * 100_000, b"\x92\x01\xc0"])
def test_a_header_of_something_else_is_malformed(header: bytes) -> None:
    with pytest.raises(MalformedFrame):
        read_job((header, b"", b""))
