"""A station's data at one fixed moment: every upstream state, every outcome, every kind of notice.

All values are written down or follow from the position in a list, so pictures of them are stable.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from proxy.model import (
    Attention,
    CallDetail,
    CallRecord,
    HostView,
    Minute,
    Outcome,
    RunningCall,
    SettingProblem,
    SettingRow,
    SettingsView,
    Severity,
    Sizes,
    Snapshot,
    StationView,
    ToolView,
    Totals,
    Transport,
    UpstreamDetail,
    UpstreamState,
    UpstreamView,
    WithheldCount,
    WithheldReason,
    WithheldTool,
)
from proxy.surface.model import SourceStatus, SurfacingGlance

NOW = datetime(2026, 11, 30, 14, 3, 7, tzinfo=UTC).timestamp()
"""The moment at which all of this is taken: 2026-11-30T14:03:07Z."""

SECRET = "\u2039secret\u203a"
"""What stands in place of a redacted secret."""

STATION = StationView(
    version="0.1.0",
    pid=4711,
    started_at=NOW - 3 * 3600 - 125,
    socket="/run/user/1000/mms/mms.sock",
    http="http://127.0.0.1:7337/mcp",
    config_file="/home/ada/.config/mms/config.toml",
    state_directory="/home/ada/.local/state/mms",
    settings_loaded_at=NOW - 1800,
    settings_problems=0,
)

_CALM = UpstreamView(
    name="",
    prefix="",
    transport=Transport.STDIO,
    target="",
    state=UpstreamState.READY,
    reason="",
    since=NOW - 3 * 3600,
    next_action="",
    retry_at=None,
    pid=None,
    protocol="2025-11-25",
    server="",
    tools_discovered=0,
    tools_advertised=0,
    calls=0,
    errors=0,
    in_flight=0,
    p50_ms=None,
    p95_ms=None,
    restarts=0,
    noise_lines=0,
    last_stderr="",
)

UPSTREAMS: tuple[UpstreamView, ...] = (
    replace(
        _CALM,
        name="filesystem",
        prefix="fs",
        target="npx -y @modelcontextprotocol/server-filesystem ~/projects",
        pid=4801,
        server="secure-filesystem-server 0.2.0",
        tools_discovered=14,
        tools_advertised=14,
        calls=1843,
        errors=2,
        in_flight=1,
        p50_ms=3.4,
        p95_ms=11.8,
        last_stderr="Secure MCP Filesystem Server running on stdio",
    ),
    replace(
        _CALM,
        name="docs",
        prefix="docs",
        transport=Transport.HTTP,
        target="https://docs.example.com/mcp",
        protocol="2025-06-18",
        server="docs-search 3.1.4",
        tools_discovered=3,
        tools_advertised=3,
        calls=412,
        errors=0,
        p50_ms=84.0,
        p95_ms=310.5,
    ),
    replace(
        _CALM,
        name="github",
        prefix="gh",
        target="github-mcp-server stdio",
        state=UpstreamState.DEGRADED,
        reason="4 of the last 10 calls timed out.",
        since=NOW - 95,
        next_action="Opens the circuit after 1 more failure.",
        pid=4822,
        server="github-mcp-server 0.20.1",
        tools_discovered=58,
        tools_advertised=56,
        calls=236,
        errors=19,
        in_flight=2,
        p50_ms=640.0,
        p95_ms=8210.0,
        restarts=1,
        noise_lines=3,
        last_stderr='level=warn msg="secondary rate limit" retry_after=60',
        withheld=(
            WithheldCount(WithheldReason.INVALID_SCHEMA, 1),
            WithheldCount(WithheldReason.CONFIG_HIDDEN, 1),
        ),
    ),
    replace(
        _CALM,
        name="postgres",
        prefix="db",
        target=f"uvx mcp-server-postgres postgresql://ada:{SECRET}@localhost/shop",
        state=UpstreamState.BACKING_OFF,
        reason="The process ended with exit code 1 during the handshake.",
        since=NOW - 41,
        next_action="Starts again in 9 s.",
        retry_at=NOW + 9,
        calls=57,
        errors=6,
        p50_ms=12.0,
        p95_ms=45.0,
        tools_discovered=5,
        tools_advertised=5,
        restarts=4,
        last_stderr='connection to server at "localhost" (127.0.0.1), port 5432 failed',
    ),
    replace(
        _CALM,
        name="jira",
        prefix="jira",
        target="mcp-jira --read-only",
        state=UpstreamState.FAILED,
        reason="The program mcp-jira was not found on PATH.",
        since=NOW - 3 * 3600,
        next_action="Install it or set upstreams.jira.command to its full path.",
        protocol="",
    ),
    replace(
        _CALM,
        name="linear",
        prefix="linear",
        transport=Transport.HTTP,
        target="https://mcp.linear.app/mcp",
        state=UpstreamState.CONNECTING,
        reason="Waiting for the answer to initialize.",
        since=NOW - 4,
        next_action="Gives up after 60 s and tries again.",
        protocol="",
    ),
    replace(
        _CALM,
        name="browser",
        prefix="browser",
        target="npx @playwright/mcp@latest",
        state=UpstreamState.IDLE,
        reason="Not started yet.",
        since=NOW - 2,
        protocol="",
    ),
    replace(
        _CALM,
        name="notes",
        prefix="notes",
        target="python -m notes_server",
        state=UpstreamState.DISABLED,
        reason="Switched off in the settings.",
        since=NOW - 86400,
        next_action="Enable it to use its tools.",
        protocol="",
    ),
)

_TOOLS = {
    "filesystem": ("read_text_file", "list_directory", "search_files", "write_file"),
    "docs": ("search", "read_page", "list_sections"),
    "github": ("search_code", "get_issue", "list_pull_requests", "get_file_contents"),
    "postgres": ("query", "list_tables"),
}

DETAILS: dict[str, UpstreamDetail] = {
    view.name: UpstreamDetail(
        view=view,
        tools=tuple(
            ToolView(
                name=tool,
                advertised_as=f"{view.prefix}__{tool}",
                title=tool.replace("_", " ").capitalize(),
                description=f"{tool.replace('_', ' ').capitalize()} through {view.name}.",
                changes=("descriptions of arguments left out",) if tool == "get_issue" else (),
            )
            for tool in _TOOLS.get(view.name, ())
        ),
        withheld=(
            (
                WithheldTool(
                    "create_gist",
                    "its input schema does not describe an object",
                    WithheldReason.INVALID_SCHEMA,
                ),
                WithheldTool(
                    "run_secret_scan",
                    "switched off by upstreams.github.tools.run_secret_scan.enabled",
                    WithheldReason.CONFIG_HIDDEN,
                ),
            )
            if view.name == "github"
            else ()
        ),
        stderr=tuple(
            f"{view.name}: line {number}" for number in range(1, 13 if view.last_stderr else 1)
        )
        + ((view.last_stderr,) if view.last_stderr else ()),
        instructions=f"Use {view.name} for what lives there." if view.pid else "",
        resources=7 if view.name == "docs" else 0,
        prompts=2 if view.name == "github" else 0,
    )
    for view in UPSTREAMS
}

HOSTS: tuple[HostView, ...] = (
    HostView(
        session=1,
        name="claude-code",
        version="2.1.332",
        protocol="2025-11-25",
        connected_at=NOW - 2 * 3600,
        pid=4600,
        directory="/home/ada/projects/shop",
        endpoint="socket",
        calls=2214,
    ),
    HostView(
        session=2,
        name="cursor",
        version="2.4.0",
        protocol="2025-06-18",
        connected_at=NOW - 900,
        pid=4655,
        directory="/home/ada/projects/site",
        endpoint="socket",
        calls=330,
    ),
    HostView(
        session=3,
        name="mcp-inspector",
        version="0.15.0",
        protocol="2025-06-18",
        connected_at=NOW - 30,
        pid=None,
        directory="",
        endpoint="http",
        calls=4,
    ),
)

RUNNING: tuple[RunningCall, ...] = (
    RunningCall(2549, NOW - 0.4, "claude-code", "filesystem", "search_files"),
    RunningCall(2550, NOW - 7.9, "claude-code", "github", "search_code"),
    RunningCall(2551, NOW - 2.1, "cursor", "github", "get_issue"),
)

_ENDINGS: tuple[tuple[Outcome, str], ...] = (
    (Outcome.OK, ""),
    (Outcome.OK, ""),
    (Outcome.TOOL_ERROR, "ENOENT: no such file or directory, open '/srv/missing.txt'"),
    (Outcome.OK, ""),
    (Outcome.TIMEOUT, "No answer within 50 s."),
    (Outcome.OK, ""),
    (Outcome.OK, ""),
    (Outcome.ERROR, "-32602: Invalid params: field 'owner' is required"),
    (Outcome.OK, ""),
    (Outcome.CANCELLED, "The host cancelled the call."),
    (Outcome.OK, ""),
    (Outcome.UPSTREAM_LOST, "postgres ended with exit code 1 before it answered."),
    (Outcome.OK, ""),
)


STRATEGIES = ("extract", "lossless", "selective", "delta", "progressive", "truncate")


def _record(position: int) -> CallRecord:
    """The call that is ``position`` places older than the newest one."""
    outcome, error = _ENDINGS[position % len(_ENDINGS)]
    upstream = tuple(_TOOLS)[(position * 7) % len(_TOOLS)]
    if outcome is Outcome.UPSTREAM_LOST:
        upstream = "postgres"
    tools = _TOOLS[upstream]
    answered = outcome in (Outcome.OK, Outcome.TOOL_ERROR, Outcome.ERROR)
    words = (40 + (position * 971) % 6000) if answered else 0
    rows = (position * 389) % 9000 if outcome is Outcome.OK and position % 4 == 0 else 0
    reduced = outcome is Outcome.OK and position % 5 in (1, 3)
    times = 3 + position % 7
    return CallRecord(
        id=2548 - position,
        started_at=NOW - 3 - position * 21.5,
        duration_ms=50_000.0 if outcome is Outcome.TIMEOUT else 2.5 + (position * 137) % 900,
        host=HOSTS[position % 2].name,
        session=HOSTS[position % 2].session,
        upstream=upstream,
        tool=tools[(position * 3) % len(tools)],
        outcome=outcome,
        error=error,
        arguments=Sizes(96 + position % 64, 92 + position % 64, 24 + position % 16),
        text=Sizes(words * 5, words * 5 - words // 9, words + words // 4),
        structured=Sizes(rows * 4, rows * 4, rows * 2),
        other_bytes=48_213 if position % 17 == 3 else 0,
        strategy=STRATEGIES[position % len(STRATEGIES)] if reduced else "",
        before=(
            Sizes(words * 5 * times, words * 5 * times - words // 9, (words + rows * 2) * times)
            if reduced
            else Sizes()
        ),
        overhead_tokens=40 + position % 30 if reduced else 0,
        held_key=f"{0x9E3779B97F4A7C15 * (position + 1) % 2**64:016x}" if reduced else "",
        cache="hit" if outcome is Outcome.OK and position % 19 == 4 else "",
        cache_age_seconds=float(position) if outcome is Outcome.OK and position % 19 == 4 else 0.0,
        fault="the extract took too long; the text was truncated" if position == 21 else "",
    )


CALLS: tuple[CallRecord, ...] = tuple(_record(position) for position in range(120))
"""Newest first, three quarters of an hour long."""


def call_detail(record: CallRecord) -> CallDetail:
    """The texts of a call; the older half of `CALLS` has lost them, as the ring would."""
    if record.id < CALLS[len(CALLS) // 2].id:
        return CallDetail(record, None, None, truncated=False)
    return CallDetail(
        record,
        arguments=f'{{\n  "path": "src/app.py",\n  "token": "{SECRET}"\n}}',
        result=(
            '{\n  "content": [\n    {\n      "type": "text",\n'
            f'      "text": "answer of call {record.id}"\n    }}\n  ]\n}}'
        ),
        truncated=record.id % 5 == 0,
        original=(
            '{\n  "content": [\n    {\n      "type": "text",\n'
            f'      "text": "the whole long answer of call {record.id}"\n    }}\n  ]\n}}'
            if record.strategy
            else None
        ),
        query="where is the entry point" if record.strategy else "",
        query_source="_context_query" if record.strategy else "",
    )


MINUTES: tuple[Minute, ...] = tuple(
    Minute(
        start=NOW // 60 * 60 - 60 * (59 - position),
        calls=(position * 17) % 43,
        errors=1 if position % 13 == 5 else 0,
        tokens_in=(position * 17) % 43 * 31,
        tokens_out=(position * 17) % 43 * (180 + (position * 53) % 700),
    )
    for position in range(60)
)

ATTENTION: tuple[Attention, ...] = (
    Attention(
        NOW - 3 * 3600,
        Severity.ERROR,
        "upstream jira",
        "The program mcp-jira was not found on PATH.",
        "Install it or set upstreams.jira.command to its full path.",
    ),
    Attention(
        NOW - 41,
        Severity.WARNING,
        "upstream postgres",
        "The process ended with exit code 1 during the handshake.",
        "Starts again in 9 s.",
    ),
    Attention(
        NOW - 95,
        Severity.WARNING,
        "upstream github",
        "4 of the last 10 calls timed out.",
        "",
    ),
    Attention(
        NOW - 600,
        Severity.INFO,
        "tool github create_gist",
        "Withheld: its input schema has anyOf at the top level.",
        "Update the server.",
    ),
)

SNAPSHOT = Snapshot(
    taken_at=NOW,
    station=STATION,
    upstreams=UPSTREAMS,
    hosts=HOSTS,
    running=RUNNING,
    today=Totals(2548, 27, 98_311, 1_904_226, 7_616_904),
    all_time=Totals(81_402, 655, 3_120_008, 58_331_907, 233_327_628),
    minutes=MINUTES,
    attention=ATTENTION,
    unrecorded_calls=0,
    surfacing=SurfacingGlance(27, 41, 3_910, 96, 0.78, 118, SourceStatus("memory", "closed")),
)

_FILE = STATION.config_file

SETTINGS = SettingsView(
    file=_FILE,
    loaded_at=NOW - 1800,
    rows=(
        SettingRow(
            "advertise_observability_tools",
            "false",
            "false",
            "default",
            "",
            live=True,
            help="Advertise the stm_admin tool to hosts.",
        ),
        SettingRow(
            "proxy.call_timeout_seconds",
            "45.0",
            "50.0",
            "user file",
            f"{_FILE}:3",
            live=True,
            help="Deadline of a call. Hosts give up at 60 seconds.",
        ),
        SettingRow(
            "proxy.max_in_flight",
            "16",
            "32",
            "project file",
            "/home/ada/projects/shop/.mms.toml:2",
            live=True,
            help="Calls running at once per upstream; further ones queue.",
        ),
        SettingRow(
            "proxy.http.enabled",
            "true",
            "false",
            "environment",
            "MEMTOMEM_STM_PROXY__HTTP__ENABLED",
            live=False,
            help="Also serve streamable HTTP on the loopback interface, protected by a token.",
        ),
        SettingRow(
            "proxy.http.port",
            "7337",
            "7337",
            "default",
            "",
            live=False,
            help="Port; 0 takes a free one.",
        ),
        SettingRow(
            "proxy.history.max_days",
            "30",
            "90",
            "flag",
            "--set proxy.history.max_days",
            live=True,
            help="Recorded calls older than this are deleted.",
        ),
        SettingRow(
            "upstreams.github.env.GITHUB_TOKEN",
            f'"{SECRET}"',
            "",
            "user file",
            f"{_FILE}:14",
            live=True,
            help="Variables added to the small inherited environment.",
        ),
        SettingRow(
            "upstreams.notes.enabled",
            "false",
            "true",
            "user file",
            f"{_FILE}:21",
            live=True,
            help="Start this upstream and advertise its tools.",
        ),
        SettingRow(
            "console.theme",
            '"mms-dark"',
            '"mms-dark"',
            "default",
            "",
            live=True,
            help="Name of the colour theme.",
        ),
    ),
    problems=(),
)

PROBLEMS: tuple[SettingProblem, ...] = (
    SettingProblem(
        _FILE,
        3,
        "proxy.call_timeout_second",
        "There is no such key.",
        "Did you mean proxy.call_timeout_seconds?",
    ),
    SettingProblem(
        _FILE,
        14,
        "upstreams.github.env.GITHUB_TOKEN",
        "The variable GITHUB_TOKEN is not set.",
        "Set it before you start mms, or write ${GITHUB_TOKEN:-} to allow it to be empty.",
    ),
)
"""What a badly edited file looks like; not part of `SETTINGS`, so that a test can add it."""
