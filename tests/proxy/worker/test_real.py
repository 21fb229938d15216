"""The real worker, with the real pipeline and vocabulary."""

from __future__ import annotations

import asyncio
import json

import pytest
from msgspec.structs import replace

from proxy.jobs import Job, Reduced, ReduceJob
from proxy.worker.client import Worker
from tests.proxy.worker.children import ask, working


@pytest.mark.anyio
async def test_the_real_worker_leaves_small_answers_and_shortens_large_ones() -> None:
    rows = [{"id": number, "name": f"row {number}", "ok": number % 7 == 0} for number in range(900)]
    large = json.dumps({"content": [{"type": "text", "text": json.dumps(rows)}]}).encode()
    small = b'{"content":[{"type":"text","text":"hello"}]}'
    async with working(Worker()) as worker:
        untouched, shortened = await asyncio.gather(
            *(ask(worker, _reducing(body, 1000)) for body in (small, large))
        )
        assert isinstance(untouched, Reduced), untouched
        assert untouched.body == b""
        assert isinstance(shortened, Reduced), shortened
        assert shortened.body
        assert shortened.sent_tokens <= 1000 < shortened.before_tokens
        assert "content" in json.loads(shortened.body)
        assert shortened.compress_ms > 0
        again = await ask(worker, _reducing(large, 1000))
        assert isinstance(again, Reduced), again
        # Only the time that it took may differ.
        assert replace(again, compress_ms=shortened.compress_ms) == shortened


def _reducing(body: bytes, budget: int) -> Job:
    return ReduceJob(body=body, strategy="auto", budget=budget)
