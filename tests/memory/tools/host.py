"""A host that calls the twelve tools and checks what every answer must be."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from jsonschema import Draft202012Validator

from memory.api import CallTool, Request
from memory.model import Actor, Origin
from memory.tools.definitions import TOOLS

AGENT = Actor(Origin.AGENT, "test-host", "s")
SCHEMAS: dict[str, dict[str, Any]] = {
    tool["name"]: tool["outputSchema"] for tool in map(json.loads, TOOLS)
}


class Tools:
    """Calls tools of a memory."""

    def __init__(self, answer: Callable[[Request[Any], Actor], Any]) -> None:
        """``answer``: of the memory."""
        self.answer = answer

    def raw(self, name: str, arguments: str) -> dict[str, Any]:
        """The whole ``result`` member."""
        answer = self.answer(CallTool(name, arguments), AGENT)
        body = json.loads(answer.body)
        assert body.get("isError", False) == answer.is_error
        assert [block["type"] for block in body["content"]] == ["text"]
        return body

    def call(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """The structured answer; it fits its schema and is the same as the text."""
        body = self.raw(f"memory_{name}", json.dumps(arguments))
        assert "isError" not in body, body
        found = body["structuredContent"]
        assert json.loads(body["content"][0]["text"]) == found
        Draft202012Validator(SCHEMAS[f"memory_{name}"]).validate(found)
        return found

    def fail(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """What an answer with ``isError`` says."""
        body = self.raw(f"memory_{name}", json.dumps(arguments))
        assert "structuredContent" not in body
        return json.loads(body["content"][0]["text"])
