"""From a trial of other settings to the settings themselves: the same for screen and command line."""

from __future__ import annotations

from config.toml_text import dotted, toml_string

LEAST_BUDGET = 100
"""Tokens that ``max_result_tokens`` accepts at least."""


def settings_of(
    upstream: str, tool: str, strategy: str, budget: int | None
) -> tuple[tuple[str, str], ...]:
    """Keys and values, as a person types them, that put a trial in force for its tool.

    ``budget``: in tokens; ``None`` leaves the one in force.
    """
    where = ("upstreams", upstream, "tools", tool)
    changes = [(dotted((*where, "compression")), toml_string(strategy))]
    if budget is not None:
        changes.append((dotted((*where, "max_result_tokens")), str(budget)))
    return tuple(changes)
