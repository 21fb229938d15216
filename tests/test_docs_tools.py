"""``docs/tools.md``: the tests that it names exist, and it knows every tool, parameter, action and reason."""

from __future__ import annotations

import ast
import json
import re
from functools import lru_cache
from pathlib import Path

from proxy.admin.dispatcher import ACTION_NAMES, ADMIN_TOOL
from proxy.control_tools import TOOLS
from proxy.describe_tool import DESCRIBE_TOOL_TOOL
from proxy.model import WithheldReason
from proxy.surface.feedback_tool import SURFACING_FEEDBACK_TOOL
from proxy.surface.proposing import MEMORY_PROPOSE_TOOL

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")
_TEST = re.compile(r"\[(test_\w+)\]\(\.\./([\w/]+\.py)\)")


@lru_cache
def functions_in(file: str) -> frozenset[str]:
    """Names of the test functions of a file."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, functions))


def test_every_test_that_the_page_names_exists() -> None:
    named = _TEST.findall(PAGE)
    assert len(named) > 80
    assert [(file, name) for name, file in named if name not in functions_in(file)] == []


def test_every_promise_has_a_test() -> None:
    tables = PAGE.split("| It is promised that … | Test |\n| --- | --- |\n")[1:]
    assert len(tables) > 5
    rows = [line for table in tables for line in table.split("\n\n")[0].splitlines()]
    assert [row for row in rows if not _TEST.search(row)] == []


def test_the_page_knows_every_tool_parameter_action_and_reason() -> None:
    for definition in (
        *TOOLS,
        DESCRIBE_TOOL_TOOL,
        SURFACING_FEEDBACK_TOOL,
        MEMORY_PROPOSE_TOOL,
        ADMIN_TOOL,
    ):
        tool = json.loads(definition)
        section = PAGE[PAGE.index(f"## `{tool['name']}`") :]
        for parameter in tool["inputSchema"]["properties"]:
            assert f"\n| `{parameter}` |" in section[:2_500], (tool["name"], parameter)
    for action in ACTION_NAMES:
        assert f"`{action}`" in PAGE
    for reason in WithheldReason:
        if reason is not WithheldReason.OTHER:
            assert f"\n| `{reason.value}` |" in PAGE
