"""Server-sent events: the parser against any split, the writer against the parser."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.http.sse import KEEP_ALIVE, Event, EventParser, EventTooLong, encode_event, one_line

STREAM = (
    b'\xef\xbb\xbf: comment\r\nid: 1\r\nevent: message\r\ndata: {"a":\r\ndata:  1}\r\n\r\n'
    b"data\rid\r\revent: other\ndata:x\n\nretry: 250\nid: 7\n\nretry: soon\nid: a\0b\n\n: only this\n\n"
)
EVENTS = [
    Event(b'{"a":\n 1}', id="1"),
    Event(b""),
    Event(b"x", b"other"),
    Event(b"", id="7", retry_ms=250),
]


def test_the_parser_reads_every_form_that_the_standard_allows() -> None:
    assert EventParser(1000).feed(STREAM) == EVENTS


@given(st.lists(st.integers(0, len(STREAM)), max_size=20))
def test_any_split_of_the_same_bytes_gives_the_same_events(cuts: list[int]) -> None:
    parser = EventParser(1000)
    edges = [0, *sorted(cuts), len(STREAM)]
    found = [
        event
        for start, end in itertools.pairwise(edges)
        for event in parser.feed(STREAM[start:end])
    ]
    assert found == EVENTS


@given(st.lists(st.dictionaries(st.text(), st.text() | st.integers()), max_size=5))
def test_what_is_written_is_read_back(messages: list[dict[str, str | int]]) -> None:
    parser = EventParser(100_000)
    texts = [json.dumps(message, ensure_ascii=False).encode() for message in messages]
    stream = KEEP_ALIVE.join(encode_event(t, f"0-{n}") for n, t in enumerate(texts))
    assert parser.feed(stream) == [Event(t, id=f"0-{n}") for n, t in enumerate(texts)]


def test_a_priming_event_tells_an_id_and_a_pause_without_data() -> None:
    assert EventParser(100).feed(encode_event(b"", "3-0", 1000)) == [
        Event(b"", id="3-0", retry_ms=1000)
    ]


def test_an_event_beyond_the_limit_is_refused_before_it_ends() -> None:
    parser = EventParser(100)
    parser.feed(b"data: " + b"x" * 90)
    with pytest.raises(EventTooLong):
        parser.feed(b"y" * 10)


def test_the_limit_counts_one_event_and_not_the_stream() -> None:
    parser = EventParser(100)
    assert sum(len(parser.feed(b"data: " + b"x" * 50 + b"\n\n")) for _ in range(50)) == 50


def test_many_small_chunks_cost_linear_time() -> None:
    parser = EventParser(10_000_000)
    for _ in range(20_000):
        assert parser.feed(b"data: 12345678901234567890" * 4) == []
    assert len(parser.feed(b"\n\n")) == 1


@given(st.recursive(st.none() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)))
def test_one_line_means_the_same_json(value: object) -> None:
    text = json.dumps(value, indent=1).replace("\n", "\r\n").encode()
    line = one_line(text)
    assert b"\n" not in line
    assert b"\r" not in line
    assert json.loads(line) == value
