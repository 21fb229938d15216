"""The registry of actions: no key twice, everything in help, remapping checked."""

from __future__ import annotations

import subprocess
import sys

import pytest

from console import keys, scopes
from console.keys import Action
from console.screens.help import help_sections

_SCOPES = (
    scopes.OVERVIEW,
    scopes.UPSTREAMS,
    scopes.UPSTREAM,
    scopes.CALLS,
    scopes.CALL,
    scopes.CONFIG,
    scopes.SAVINGS,
    scopes.HELD,
    scopes.HELD_TEXT,
    scopes.WHAT_IF,
    scopes.MEMORY,
    scopes.RECORD,
    scopes.DECISIONS,
    scopes.FORGETTING,
    scopes.RUNS,
    scopes.SURFACING,
    scopes.SURFACING_EVENT,
    scopes.SURFACING_FIGURES,
    scopes.TUNING,
)


@pytest.mark.parametrize("scope", _SCOPES)
def test_no_key_means_two_things_on_one_screen(scope: str) -> None:
    seen: dict[str, str] = {}
    for action in keys.together(scope):
        for key in action.keys.split(","):
            assert key not in seen, f"{key}: {seen.get(key)} and {action.id}"
            seen[key] = action.id


def test_ids_are_unique_and_every_scope_has_a_title() -> None:
    ids = [action.id for action in keys.REGISTRY]
    assert len(ids) == len(set(ids))
    assert {action.scope for action in keys.REGISTRY} == set(scopes.TITLES)


@pytest.mark.parametrize("scope", _SCOPES)
@pytest.mark.parametrize("wide", [True, False])
def test_help_names_every_action_with_its_key(scope: str, wide: bool) -> None:
    keymap = keys.keymap({})
    lines = [
        "".join(cell.text for cell in line)
        for _, section in help_sections(scope, keymap, wide=wide)
        for line in section
    ]
    for action in keys.REGISTRY:
        named = [line for line in lines if action.id in line and action.help in line]
        assert named, action.id
        assert keymap.shown(action) in named[0]


def by_id(name: str) -> Action:
    return next(action for action in keys.REGISTRY if action.id == name)


def test_another_key_replaces_the_first_one_everywhere_it_is_shown() -> None:
    keymap = keys.keymap({"calls.pause": "space"})
    assert keymap.problems == ()
    assert keymap.shown(by_id("calls.pause")) == "Space"
    assert keymap.remapped == {"calls.pause": "space"}


def test_two_actions_may_swap_their_keys() -> None:
    keymap = keys.keymap({"calls.pause": "f", "calls.follow": "p"})
    assert keymap.problems == ()


def test_a_key_that_is_taken_is_reported_and_left_out() -> None:
    keymap = keys.keymap({"calls.pause": "q", "calls.older": "z"})
    assert keymap.remapped == {"calls.older": "z"}
    assert len(keymap.problems) == 1
    assert "app.quit" in keymap.problems[0]


def test_the_same_key_is_free_on_another_screen() -> None:
    assert keys.keymap({"config.reload": "p"}).problems == ()


def test_an_unknown_action_is_reported() -> None:
    keymap = keys.keymap({"calls.dance": "z"})
    assert keymap.remapped == {}
    assert "calls.dance" in keymap.problems[0]


@pytest.mark.parametrize("module", ["console.keys", "console.state", "console.filters"])
def test_the_pure_core_does_not_load_textual(module: str) -> None:
    code = f"import sys, {module}; sys.exit('textual' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("module", ["console.safe", "console.format", "console.first_steps"])
def test_helpers_of_the_core_do_not_load_textual(module: str) -> None:
    code = f"import sys, {module}; sys.exit('textual' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
