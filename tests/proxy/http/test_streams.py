"""Event streams: what can be read again, and what memory they take."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from proxy.http import streams
from proxy.http.streams import Stream, Streams, event_id


def drain(stream: Stream) -> list[bytes]:
    found: list[bytes] = []
    while (event := stream.next()) is not None:
        found.append(event.frame)
    return found


def test_events_come_in_order_and_each_once() -> None:
    all_streams = Streams()
    stream = all_streams.open()
    for n in range(5):
        all_streams.add(stream, b"%d" % n)
    assert drain(stream) == [b"0", b"1", b"2", b"3", b"4"]
    assert drain(stream) == []


@given(st.integers(0, 20), st.integers(0, 20))
def test_a_stream_goes_on_after_any_event_that_was_seen(total: int, seen: int) -> None:
    all_streams = Streams()
    stream = all_streams.open()
    for n in range(total):
        all_streams.add(stream, b"%d" % n)
    drain(stream)
    found = all_streams.find(event_id(stream, seen))
    if seen > total:
        assert found is None
    else:
        assert found is stream
        assert drain(stream) == [b"%d" % n for n in range(seen, total)]


def test_an_id_of_nothing_is_not_found() -> None:
    all_streams = Streams()
    for id in ("", "0", "x-1", "1-x", "-1-1", "9-0", "1-1-1", "0-" + "9" * 50, "0-٣"):
        assert all_streams.find(id) is None


def test_without_a_reader_the_oldest_unasked_messages_are_dropped() -> None:
    all_streams = Streams()
    for n in range(1000):
        assert all_streams.add(all_streams.unasked, b"%d" % n)
    kept = drain(all_streams.unasked)
    assert kept == [b"%d" % n for n in range(1000 - streams.WAITING_MESSAGES, 1000)]


def test_what_was_sent_is_forgotten_beyond_the_memory_for_it() -> None:
    all_streams = Streams()
    stream = all_streams.open()
    stream.attach()
    for _ in range(100):
        assert all_streams.add(stream, b"x" * 100_000)
        assert len(drain(stream)) == 1
    assert sum(len(event.frame) for event in stream.events) <= streams.KEPT_BYTES
    assert all_streams.find(event_id(stream, 1)) is None
    assert all_streams.find(event_id(stream, 99)) is stream


def test_a_reader_that_does_not_read_is_reported_and_loses_nothing_before() -> None:
    all_streams = Streams()
    stream = all_streams.open()
    stream.attach()
    fits = 0
    while all_streams.add(stream, b"x" * 1_000_000):
        fits += 1
        assert stream.unsent == fits
    assert fits >= 60


def test_an_abandoned_stream_does_not_count_as_a_slow_reader() -> None:
    all_streams = Streams()
    for _ in range(200):
        stream = all_streams.open()
        reader = stream.attach()
        stream.detach(reader)
        assert all_streams.add(stream, b"x" * 1_000_000)
        stream.finish()
    assert sum(len(e.frame) for s in all_streams.all() for e in s.events) < 8_000_000


def test_a_new_reader_takes_the_place_of_the_old_one() -> None:
    stream = Streams().open()
    old = stream.attach()
    new = stream.attach()
    assert old.gone
    assert old.wake.is_set()
    stream.detach(old)
    assert stream.reader is new


def test_only_so_many_finished_streams_are_kept() -> None:
    all_streams = Streams()
    for _ in range(500):
        all_streams.tidy()
        stream = all_streams.open()
        all_streams.add(stream, b"x")
        stream.finish()
    assert len(all_streams.all()) <= streams.FINISHED_STREAMS + 2
