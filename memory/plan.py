"""Forgetting plans: what would be archived, and why."""

from __future__ import annotations

from memory.plan_groups import PlanRow

__all__ = ["PlanRow"]
