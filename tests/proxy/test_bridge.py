"""What the bridge has to know of the lines that it passes on."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy import bridge, wire
from proxy.bridge_ledger import Ledger, request_of


def _line(**members: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}, separators=(",", ":")).encode() + b"\n"


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (b'{"jsonrpc":"2.0","id":5,"method":"a/b","params":{"id":7}}', (b"a/b", b"5")),
        (b'{"jsonrpc": "2.0", "id": "x\\"y", "method": "a"}', (b"a", b'"x\\"y"')),
        (b'{"method":"a","params":{"id":7},"jsonrpc":"2.0","id":0}', (b"a", b"0")),
        (b'{"jsonrpc":"2.0","method":"a","params":{"id":7},"id":"k"}', (b"a", b'"k"')),
        (b'{"method":"a","id":3,"params":{"id":7}}', (b"a", b"3")),
        (b'{"params":{"id":7},"id":3,"method":"a"}', (b"a", b"3")),
        (b'{"jsonrpc":"2.0","method":"a","params":{"id":7}}', (b"a", None)),
        (b'{"method":"a","jsonrpc":"2.0"}', (b"a", None)),
        (b'{"jsonrpc":"2.0","id":5,"result":{"method":"a"}}', None),
        (b'{"result":{"method":"a"},"jsonrpc":"2.0","id":5}', None),
        (b"not json", None),
        (b"[]", None),
    ],
)
def test_method_and_id_are_those_of_the_message_itself(
    line: bytes, found: tuple[bytes, bytes | None] | None
) -> None:
    assert request_of(line) == found


@given(st.permutations(["jsonrpc", "id", "method", "params"]), st.booleans(), st.integers())
def test_the_order_of_members_does_not_matter(order: list[str], spaced: bool, id: int) -> None:
    inside = {"id": id + 1, "method": "inner", "a": [{"id": id + 2}]}
    values = {"jsonrpc": "2.0", "id": id, "method": "outer", "params": inside}
    separators = None if spaced else (",", ":")
    line = json.dumps({key: values[key] for key in order}, separators=separators).encode()

    assert request_of(line) == (b"outer", str(id).encode())


def test_an_answered_request_is_not_answered_again_when_the_station_goes() -> None:
    ledger = Ledger()
    ledger.from_host(_line(id=1, method="tools/call") + _line(id="b", method="ping"))
    answer = wire.parse(b'{"result":{"content":[]},"jsonrpc":"2.0","id":9}')
    ledger.from_station(wire.response(wire.Raw(b"1"), answer) + b"\n")

    assert ledger.station_lost() == [b'"b"']
    assert ledger.station_lost() == []


def test_notifications_and_questions_leave_nothing_to_be_answered() -> None:
    ledger = Ledger()
    ledger.from_host(_line(method="notifications/progress", params={"id": 5}))
    ledger.from_host(_line(id=3, result={}))
    ledger.from_station(_line(id=1, method="sampling/createMessage", params={}))

    assert ledger.under_way == set()


def test_the_handshake_is_repeated_and_its_second_answer_is_taken_out() -> None:
    ledger = Ledger()
    hello = _line(id=0, method="initialize", params={"x": 1})
    done = _line(method="notifications/initialized")
    ledger.from_host(hello + done)
    first = _line(id=0, result={"a": 1})
    assert ledger.from_station(first) == first

    assert ledger.repeat_handshake() == hello + done
    assert ledger.from_station(first + _line(id=7, result={})) == _line(id=7, result={})
    assert ledger.from_station(first) == first


@given(st.integers(1, 400_000), st.integers(1, 5))
def test_long_lines_cost_little_memory_and_keep_their_id(size: int, cuts: int) -> None:
    ledger = Ledger()
    line = _line(method="tools/call", params={"id": 1, "text": "x" * size}, id=4)
    step = len(line) // cuts + 1
    for start in range(0, len(line), step):
        ledger.from_host(line[start : start + step])
        assert ledger.held <= (1 << 16) + step

    assert ledger.under_way == {b"4"}
    assert ledger.held == 0


@given(st.lists(st.integers(0, 90_000), max_size=5), st.integers(1, 100_000))
def test_pieces_noted_without_a_copy_count_like_any_others(pieces: list[int], size: int) -> None:
    copied, viewed = Ledger(), Ledger()
    line = _line(method="tools/call", params={"text": "x" * sum(pieces)}, id=size)
    start = 0
    for length in pieces:
        piece = line[start : start + length]
        start += length
        copied.from_host(piece)
        viewed.host_goes_on(memoryview(bytearray(piece)))
        assert viewed.held == copied.held
    copied.from_host(line[start:])
    viewed.from_host(line[start:])

    assert copied.under_way == viewed.under_way == {str(size).encode()}


@given(st.text())
def test_texts_are_quoted_as_json(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        return

    assert json.loads(bridge._quoted(text)) == text


def _write(pipe: IO[bytes], data: bytes) -> None:
    pipe.write(data)
    pipe.flush()


@pytest.mark.skipif(sys.platform == "win32", reason="there the bridge has no socket to connect to")
def test_messages_longer_than_the_buffer_pass_whole_in_both_directions(tmp_path: Path) -> None:
    path = tmp_path / "s"
    program = f"from proxy.bridge import Bridge; Bridge({str(path)!r}, start=False).run()"
    question = _line(id=1, method="tools/call", params={"text": "q" * 700_001})
    answer = _line(id=1, result={"text": "a" * 900_001})
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
        door.bind(str(path))
        door.listen()
        door.settimeout(10)
        with subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=Path(bridge.__file__).parents[1],
        ) as host:
            assert host.stdin is not None
            assert host.stdout is not None
            guard = threading.Timer(20, host.kill)  # ends every wait for its output, too
            guard.start()
            station, _ = door.accept()
            station.settimeout(10)
            with station, station.makefile("rb") as lines:
                assert b'"mms":"host"' in lines.readline()
                asking = threading.Thread(target=_write, args=(host.stdin, question))
                asking.start()
                assert lines.readline() == question
                asking.join(10)
                answering = threading.Thread(target=station.sendall, args=(answer,))
                answering.start()
                assert host.stdout.readline() == answer
                answering.join(10)
                host.stdin.close()
            host.wait(10)
            guard.cancel()
    assert host.returncode == 0
