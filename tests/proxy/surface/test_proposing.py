"""What ``stm_memory_propose`` answers, for every reason there is."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.schema_surfacing import FormationSettings
from proxy.host_tools import Caller
from proxy.surface.proposing import (
    MEMORY_PROPOSE_TOOL,
    default_key,
    parse,
    propose,
)
from proxy.surface.source import NoSource, SourceFailed, SourceUnavailable
from tests.support.fake_source import FakeSource

CALLER = Caller("our-host", "session-7")
ON = FormationSettings(enabled=True)
FACT = "Staging deploys run from the release branch."


async def ask(
    source: Any, filed: int = 0, settings: FormationSettings = ON, /, **arguments: Any
) -> dict[str, Any]:
    """What a call answers; checks that the text says the same as the structured form."""
    answer = await propose(json.dumps(arguments).encode(), CALLER, source, settings, filed)
    assert not answer.is_error
    result = json.loads(answer.body)
    assert "isError" not in result
    said = json.loads(result["content"][0]["text"])
    assert result["structuredContent"] == said
    assert answer.accepted == (said["ok"] and not said["duplicate"])
    return said


@pytest.mark.anyio
async def test_an_accepted_proposal_names_its_candidate_and_is_the_same_when_repeated() -> None:
    source = FakeSource()
    first = await ask(source, content=f"  {FACT}\n", source_ref="docs/deploy.md")
    assert first == {
        "ok": True,
        "candidate_id": "candidate-1",
        "status": "pending",
        "created_at": "2026-03-01T12:00:00+00:00",
        "duplicate": False,
        "review_hint": "Review it.",
    }
    (key,) = source.proposals
    assert key == default_key("docs/deploy.md", FACT)
    assert source.proposals[key].content == FACT
    assert source.proposals[key].caller == CALLER
    again = await ask(source, content=FACT, source_ref="docs/deploy.md")
    assert again == first | {"duplicate": True}
    assert not (await ask(source, content=FACT, source_ref="other.md"))["duplicate"]
    assert not (await ask(source, content=FACT, idempotency_key="mine"))["duplicate"]
    assert (await ask(source, content="Else.", idempotency_key="mine"))["duplicate"]


@pytest.mark.anyio
async def test_every_refusal_has_its_reason_and_a_message() -> None:
    source = FakeSource()
    off = await ask(source, 0, FormationSettings(), content=FACT)
    empty = await ask(source, content=" \n ")
    large = await ask(source, content="x" * 2_001)
    ref = await ask(source, content=FACT, source_ref="x" * 513)
    key = await ask(source, content=FACT, idempotency_key="x" * 257)
    many = await ask(source, 3, FormationSettings(True, 3), content=FACT)
    assert not source.proposals
    away = await ask(NoSource(), content=FACT)
    source.takes_proposals = False
    unable = await ask(source, content=FACT)
    source.failure = SourceUnavailable("the external memory is still starting")
    down = await ask(source, content=FACT)
    source.failure = SourceFailed("content holds a private key at character 1.")
    failed = await ask(source, content=FACT)
    source.failure = RuntimeError("secret detail")
    fault = await ask(source, content=FACT)
    said = [off, empty, large, ref, key, many, away, unable, down, failed, fault]
    assert [one["reason"] for one in said] == [
        "formation_disabled",
        "content_empty",
        "content_too_large",
        "source_ref_too_large",
        "idempotency_key_too_large",
        "session_limit",
        "ltm_unavailable",
        "formation_unsupported",
        "ltm_unavailable",
        "candidate_submit_failed",
        "candidate_submit_failed",
    ]
    assert all(one["ok"] is False and one["message"].endswith((".", ")")) for one in said)
    assert large["max_content_chars"] == 2_000
    assert down["message"].startswith("The external memory is still starting.")
    assert failed["message"] == "Content holds a private key at character 1."
    assert "secret detail" not in fault["message"]


@pytest.mark.anyio
async def test_sizes_at_the_limits_are_taken() -> None:
    source = FakeSource()
    said = await ask(
        source, 49, content="x" * 2_000, source_ref="r" * 512, idempotency_key="k" * 256
    )
    assert said["ok"]
    source.gate = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(ask(source, content=FACT))
        await asyncio.sleep(0)
        waiting.cancel()
    assert waiting.cancelled()
    assert source.cancelled == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (b"{}", "content is missing"),
        (b"", "content is missing"),
        (b"[1]", "must be an object"),
        (b"{", "no valid JSON"),
        (b'{"content":7}', "content is 7, but must be a text"),
        (b'{"content":"a","source_ref":["x"]}', "source_ref is"),
        (b'{"content":"a","space":"team"}', "There is no argument"),
    ],
)
@pytest.mark.anyio
async def test_wrong_arguments_are_errors_that_say_what_would_be_right(
    arguments: bytes, says: str
) -> None:
    source = FakeSource()
    answer = await propose(arguments, CALLER, source, ON, 0)
    assert answer.is_error
    assert not answer.accepted
    result = json.loads(answer.body)
    assert result["isError"] is True
    assert says in result["content"][0]["text"]
    assert not source.proposals


@given(st.text(), st.text())
def test_any_text_makes_a_key_and_equal_texts_the_same(content: str, ref: str) -> None:
    key = default_key(ref, content)
    assert len(key) == 64
    assert key == default_key(ref, content)
    assert key != default_key(ref, content + "x")
    assert not isinstance(parse(json.dumps({"content": content}).encode()), str)


def test_the_definition_is_small_and_complete() -> None:
    tool = json.loads(MEMORY_PROPOSE_TOOL)
    assert tool["name"] == "stm_memory_propose"
    assert tool["inputSchema"]["required"] == ["content"]
    assert set(tool["inputSchema"]["properties"]) == {"content", "source_ref", "idempotency_key"}
    assert len(MEMORY_PROPOSE_TOOL) <= 650
