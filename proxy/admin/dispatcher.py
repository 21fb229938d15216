"""``stm_admin``: one tool with eight actions, so that it costs one place in an agent's tool list."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

import msgspec

from proxy.admin import reports
from proxy.admin.reports import AdminPort, Report
from proxy.commands import ClearCache
from proxy.control_tools import text_result

ADMIN = "stm_admin"
MOST_RECENT = 100
"""Events in the tail of ``surfacing_stats``."""
MOST_HOURS = 24 * 90
"""Hours that ``tuning_recommendations`` looks back."""


class AdminMistake(ValueError):
    """An argument is wrong; the text names it and says what would be right, never what it was."""


@dataclass(frozen=True, slots=True)
class _Parameter:
    name: str
    kind: str
    help: str


@dataclass(frozen=True, slots=True)
class _Action:
    name: str
    help: str
    parameters: tuple[_Parameter, ...]
    run: Callable[[Actions, Mapping[str, Any]], Awaitable[Report]]


class Actions:
    """Runs the actions on a station."""

    def __init__(self, port: AdminPort, clear_caches: Callable[[], tuple[int, int]]) -> None:
        """``clear_caches``: forget all kept answers and all found memories; how many there were."""
        self._port = port
        self._clear_caches = clear_caches

    async def call(self, arguments: bytes) -> tuple[bytes, bool]:
        """The ``result`` member of the answer, and whether it is an error."""
        try:
            action, params = parse(arguments)
            if action == "help":
                report = help_report(params)
            else:
                found = _ACTIONS[action]
                report = await found.run(self, _checked(found, params))
        except AdminMistake as mistake:
            return text_result(str(mistake), is_error=True), True
        value = msgspec.to_builtins(report.value)
        return text_result(report.text, value), False

    async def proxy_stats(self, _: Mapping[str, Any]) -> Report:
        return await reports.proxy_stats(self._port)

    async def proxy_health(self, _: Mapping[str, Any]) -> Report:
        return await reports.proxy_health(self._port)

    async def proxy_cache_clear(self, params: Mapping[str, Any]) -> Report:
        server, tool = params.get("server"), params.get("tool")
        if server is None and tool is None:
            answers, memories = self._clear_caches()
            text = (
                f"Cleared all caches: {answers:,} response-cache, {memories:,} surfacing-cache "
                "entries."
            )
            return Report(text, {"response_cache": answers, "surfacing_cache": memories})
        if "" in (server, tool):
            text = "An empty name matches nothing; no cache was cleared. Leave it out to match all."
            return Report(text, {"response_cache": 0, "surfacing_cache": 0})
        done = await self._port.execute(ClearCache(server or "", tool or ""))
        return Report(done.message, {"message": done.message})

    async def surfacing_stats(self, params: Mapping[str, Any]) -> Report:
        since = params.get("since")
        limit = params.get("limit", 10)
        if not 0 <= limit <= MOST_RECENT:
            raise AdminMistake(f"limit must be a whole number from 0 to {MOST_RECENT}.")
        moment = None if since is None else _moment(since)
        return await reports.surfacing_stats(self._port, params.get("tool"), moment, limit)

    async def selection_stats(self, _: Mapping[str, Any]) -> Report:
        return await reports.selection_stats(self._port)

    async def compression_stats(self, params: Mapping[str, Any]) -> Report:
        return await reports.compression_stats(self._port, params.get("tool"))

    async def progressive_stats(self, params: Mapping[str, Any]) -> Report:
        return await reports.progressive_stats(self._port, params.get("tool"))

    async def tuning_recommendations(self, params: Mapping[str, Any]) -> Report:
        hours = float(params.get("since_hours", 24.0))
        if not 0 < hours <= MOST_HOURS:
            raise AdminMistake(f"since_hours must be above 0 and at most {MOST_HOURS:,}.")
        return await reports.tuning_recommendations(self._port, hours, params.get("tool"))


_TOOL = _Parameter("tool", "string", "a tool's own name, or UPSTREAM/TOOL; default: all")
_ACTIONS: Mapping[str, _Action] = {
    action.name: action
    for action in (
        _Action(
            "proxy_stats",
            "Token savings, cache hits, call history per tool.",
            (),
            Actions.proxy_stats,
        ),
        _Action(
            "proxy_health",
            "Upstream connectivity, tools discovered and advertised, the surfacing breaker.",
            (),
            Actions.proxy_health,
        ),
        _Action(
            "proxy_cache_clear",
            "Clears kept answers; without parameters also memories found lately.",
            (
                _Parameter("server", "string", "only this upstream's answers"),
                _Parameter("tool", "string", "only this tool's answers"),
            ),
            Actions.proxy_cache_clear,
        ),
        _Action(
            "surfacing_stats",
            "Memories shown with answers, their ratings, and why nothing was shown.",
            (
                _TOOL,
                _Parameter("since", "string", "an ISO-8601 time; default: everything kept"),
                _Parameter("limit", "integer", "recent events to list, default 10; 0: none"),
            ),
            Actions.surfacing_stats,
        ),
        _Action(
            "selection_stats",
            "Which tools were called and how it went, from the selection log.",
            (),
            Actions.selection_stats,
        ),
        _Action(
            "compression_stats",
            "What agents reported as missing in shortened answers.",
            (_TOOL,),
            Actions.compression_stats,
        ),
        _Action(
            "progressive_stats",
            "How answers given in chunks are read on.",
            (_TOOL,),
            Actions.progressive_stats,
        ),
        _Action(
            "tuning_recommendations",
            "Settings that would serve better, by recent calls and feedback.",
            (
                _Parameter("since_hours", "number", "how far to look back, default 24.0"),
                _Parameter("tool", "string", "as above; an empty name matches no tool"),
            ),
            Actions.tuning_recommendations,
        ),
    )
}
ACTION_NAMES = ("help", *_ACTIONS)

ADMIN_TOOL = msgspec.json.encode(
    {
        "name": ADMIN,
        "title": "Proxy statistics, health and tuning",
        "description": "Reports about mms itself, for operators. action=help lists the parameters.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "action": {"type": "string", "enum": ACTION_NAMES},
                "params": {"type": "object", "description": 'For example {"tool": "read_file"}'},
            },
            "required": ["action"],
            "additionalProperties": False,
        },
        "annotations": {
            "readOnlyHint": False,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        },
    }
)


def parse(arguments: bytes) -> tuple[str, dict[str, Any]]:
    """Action and parameters. Raises `AdminMistake`."""
    try:
        decoded: object = msgspec.json.decode(arguments or b"{}")
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise AdminMistake("The arguments are no valid JSON; an object is expected.") from None
    if not isinstance(decoded, dict):
        raise AdminMistake("The arguments must be an object with action and params.")
    given = cast("dict[str, Any]", decoded)
    foreign = next((name for name in given if name not in ("action", "params")), None)
    if foreign is not None and not foreign.startswith("_"):
        raise AdminMistake(
            f"There is no argument {foreign[:80]!r}; there are action and params. Parameters of the "
            "action belong into params."
        )
    action = given.get("action")
    if not isinstance(action, str) or action not in ACTION_NAMES:
        raise AdminMistake(f"action must be one of: {', '.join(ACTION_NAMES)}.")
    params = given.get("params")
    if isinstance(params, str):  # some hosts hand objects over as text
        try:
            params = msgspec.json.decode(params.encode("utf-8", "replace"))
        except msgspec.MsgspecError:
            raise AdminMistake("params must be an object.") from None
    if params is None:
        params = {}
    if not isinstance(params, dict):
        raise AdminMistake("params must be an object.")
    return action, cast("dict[str, Any]", params)


def help_report(params: Mapping[str, Any]) -> Report:
    """What there is. ``params``: ``action`` chooses one. Raises `AdminMistake`."""
    if set(params) - {"action"}:
        raise AdminMistake("help takes only action.")
    wanted = params.get("action")
    if wanted is not None and (not isinstance(wanted, str) or wanted not in _ACTIONS):
        raise AdminMistake(f"action in params must be one of: {', '.join(_ACTIONS)}.")
    chosen = [_ACTIONS[wanted]] if isinstance(wanted, str) else list(_ACTIONS.values())
    lines: list[str] = []
    for action in chosen:
        lines.append(f"{action.name}: {action.help}")
        lines += [f"  {one.name} ({one.kind}): {one.help}" for one in action.parameters]
    value = [
        {
            "action": action.name,
            "help": action.help,
            "params": [
                {"name": one.name, "type": one.kind, "help": one.help} for one in action.parameters
            ],
        }
        for action in chosen
    ]
    return Report("\n".join(lines), {"actions": value})


def _checked(action: _Action, params: Mapping[str, Any]) -> dict[str, Any]:
    known = {one.name: one for one in action.parameters}
    checked: dict[str, Any] = {}
    for name, value in params.items():
        if name not in known:
            there = ", ".join(known) or "none"
            raise AdminMistake(f"{action.name} has no parameter {name[:80]!r}; there are: {there}.")
        if value is None:
            continue
        kind = known[name].kind
        if not _fits(value, kind):
            raise AdminMistake(f"{name} of {action.name} must be of type {kind}.")
        checked[name] = value
    return checked


def _fits(value: object, kind: str) -> bool:
    match kind:
        case "string":
            return isinstance(value, str) and len(value) <= 1_000
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case _:
            return isinstance(value, (int, float)) and not isinstance(value, bool)


def _moment(text: str) -> float:
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise AdminMistake(
            "since must be an ISO-8601 time, for example 2026-11-30 or 2026-11-30T08:00:00Z."
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment.timestamp()
