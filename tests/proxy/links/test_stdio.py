"""An upstream that is a program: frames, noise, and every way of ending."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from proxy.links.link import LinkFailed, LinkLost
from proxy.links.stdio import Program, StdioLink, open_stdio

pytestmark = pytest.mark.anyio


class _Listener:
    def __init__(self) -> None:
        self.frames: list[bytes] = []
        self.noise: list[str] = []
        self.lost: list[LinkLost] = []
        self._changed = asyncio.Event()

    def frame_received(self, frame: bytes) -> None:
        self.frames.append(frame)
        self._changed.set()

    def noise_received(self, line: str) -> None:
        self.noise.append(line)
        self._changed.set()

    def link_lost(self, lost: LinkLost) -> None:
        self.lost.append(lost)
        self._changed.set()

    async def until(self, what: str) -> None:
        """Wait, at most twenty seconds, until something of this kind has come."""
        async with asyncio.timeout(20):
            while not getattr(self, what):
                self._changed.clear()
                await self._changed.wait()


async def _open(listener: _Listener, code: str, limit: int = 1 << 20) -> StdioLink:
    program = Program(sys.executable, ("-c", code), {}, None, limit)
    return await open_stdio(program, dict(os.environ), "up", listener)


async def test_frames_go_both_ways_and_the_error_output_is_kept_apart() -> None:
    listener = _Listener()
    link = await _open(
        listener,
        "import sys\nsys.stderr.write('hello\\n')\n"
        "for line in sys.stdin: sys.stdout.write(line.upper()); sys.stdout.flush()",
    )
    link.send(b'{"a":1}')

    await listener.until("frames")
    await listener.until("noise")

    assert listener.frames == [b'{"A":1}']
    assert listener.noise == ["hello"]
    await link.close()
    assert listener.lost == []


async def test_an_exit_is_told_with_its_code_and_after_the_last_frame() -> None:
    listener = _Listener()
    link = await _open(listener, "import sys; print('{}', flush=True); sys.exit(3)")

    await listener.until("lost")

    assert listener.frames == [b"{}"]
    assert listener.lost == [LinkLost("exited with code 3")]
    await link.close()


async def test_a_program_that_closes_its_output_counts_as_gone() -> None:
    listener = _Listener()
    link = await _open(listener, "import os, time; os.close(1); time.sleep(60)")

    await listener.until("lost")

    assert listener.lost == [LinkLost("closed its output")]
    await link.close()


async def test_a_line_without_end_ends_the_link_at_the_limit() -> None:
    listener = _Listener()
    link = await _open(
        listener,
        "import sys\nwhile True: sys.stdout.write('x' * 65536)",
        limit=100_000,
    )

    await listener.until("lost")

    assert listener.lost == [LinkLost("sent too much at once: a line is longer than 100,000 bytes")]
    await link.close()


async def test_a_program_that_does_not_exist_is_a_permanent_failure() -> None:
    program = Program("no-such-program", (), {}, None, 1000)

    with pytest.raises(LinkFailed) as caught:
        await open_stdio(program, {"PATH": "/nowhere"}, "up", _Listener())

    assert caught.value.lost.permanent
    assert "no-such-program was not found; searched /nowhere" in caught.value.lost.reason


async def test_a_program_that_cannot_be_executed_says_why(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    listener = _Listener()

    try:
        link = await open_stdio(Program(str(broken), (), {}, None, 1000), {}, "up", listener)
        await listener.until("lost")
        reason = listener.lost[0].reason
        await link.close()
    except LinkFailed as failed:  # where nothing stands between us and the program
        reason = failed.lost.reason

    assert reason.startswith(("exited with code", "could not start"))


async def test_large_frames_pass_whole_in_both_directions() -> None:
    listener = _Listener()
    link = await _open(
        listener,
        "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line); sys.stdout.flush()",
        limit=8 << 20,
    )
    frame = b'"' + b"x" * (3 << 20) + b'"'
    link.send(frame)

    await listener.until("frames")

    assert listener.frames == [frame]
    await link.close()
