"""Servers in use behind mms, clients in use in front of it: everything comes back as it does directly."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support.mcp_client import PATIENCE, RawClient, Refused, start_program
from tests.support.real_servers import NotAvailable, RealServers, install
from tests.support.stations import MMS, RELAY_ONLY, Station, program, running_station

pytestmark = [pytest.mark.npm, pytest.mark.anyio, pytest.mark.xdist_group("real_servers")]

ABLE = {"sampling": {"context": {}, "tools": {}}, "elicitation": {"form": {}, "url": {}}}
ROOTS = {"roots": {"listChanged": True}}
"""What mms tells servers that hosts may be able to do; some servers offer more tools then."""
ANSWERS: dict[str, Any] = {
    "sampling/createMessage": {
        "role": "assistant",
        "model": "a-model",
        "content": {"type": "text", "text": "sampled"},
    },
    "elicitation/create": {"action": "decline"},
    "roots/list": {"roots": []},
    "ping": {},
}
_BLOB = re.compile(r'"blob": "([A-Za-z0-9+/=]*)"')
_CLOCK = re.compile(r"\d{1,2}:\d{2}:\d{2}(\.\d+)?(\s?[AP]M)?")


@dataclass(frozen=True)
class Server:
    """One server, and what is asked of it."""

    command: list[str]
    requests: list[tuple[str, dict[str, Any]]]
    environment: dict[str, str] = field(default_factory=dict[str, str])


@pytest.fixture(scope="module")
def servers() -> RealServers:
    """What is installed."""
    try:
        return install()
    except NotAvailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def catalogue(servers: RealServers, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Server]:
    """All servers, each with data of its own."""
    folder = tmp_path_factory.mktemp("data")
    files = folder / "files"
    (files / "sub").mkdir(parents=True)
    (files / "a.txt").write_text("first line\nsecond line é😀\n", encoding="utf-8")
    (files / "written.txt").write_text("to be replaced")
    (files / "sub" / "b.json").write_text('{"b": [1, null]}', encoding="utf-8")
    repository = folder / "repository"
    _make_repository(repository)
    home = {"HOME": str(folder)}
    return {
        "everything": Server(servers.npm("server-everything"), EVERYTHING, home),
        "files": Server([*servers.npm("server-filesystem"), str(files)], _files(files), home),
        "memory": Server(servers.npm("server-memory"), MEMORY, home),
        "git": Server(servers.pypi("mcp-server-git"), _git(repository), home),
        "time": Server([*servers.pypi("mcp-server-time"), "--local-timezone", "UTC"], TIME, home),
    }


def _call(tool: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    return "tools/call", {"name": tool, "arguments": arguments}


EVERYTHING: list[tuple[str, dict[str, Any]]] = [
    _call("echo", message="hällo 😀\u2028 \u0000"),
    _call("echo"),
    _call("get-sum", a=2, b=40.5),
    _call("get-sum", a="no number", b=1),
    _call("get-annotated-message", messageType="error", includeImage=True),
    _call("get-resource-links", count=2),
    _call("get-resource-reference", resourceType="Blob", resourceId=3),
    _call("get-structured-content", location="Chicago"),
    _call("get-tiny-image"),
    _call("trigger-sampling-request", prompt="say something", maxTokens=5),
    _call("trigger-elicitation-request"),
    _call("no-such-tool"),
    (
        "tools/call",
        {
            "name": "trigger-long-running-operation",
            "arguments": {"duration": 0.2, "steps": 4},
            "_meta": {"progressToken": "p-1"},
        },
    ),
    ("resources/read", {"uri": "demo://resource/static/document/features.md"}),
    ("resources/read", {"uri": "demo://resource/dynamic/text/7"}),
    ("resources/read", {"uri": "demo://resource/dynamic/blob/7"}),
    ("resources/read", {"uri": "demo://resource/none"}),
    ("prompts/get", {"name": "simple-prompt"}),
    ("prompts/get", {"name": "args-prompt", "arguments": {"city": "Oslo", "state": "x"}}),
    ("prompts/get", {"name": "args-prompt", "arguments": {}}),
    (
        "prompts/get",
        {"name": "resource-prompt", "arguments": {"resourceType": "Text", "resourceId": "1"}},
    ),
    (
        "completion/complete",
        {
            "ref": {"type": "ref/prompt", "name": "completable-prompt"},
            "argument": {"name": "department", "value": "E"},
        },
    ),
    (
        "completion/complete",
        {
            "ref": {"type": "ref/prompt", "name": "completable-prompt"},
            "argument": {"name": "name", "value": ""},
            "context": {"arguments": {"department": "Sales"}},
        },
    ),
    (
        "completion/complete",
        {
            "ref": {"type": "ref/resource", "uri": "demo://resource/dynamic/text/{resourceId}"},
            "argument": {"name": "resourceId", "value": "1"},
        },
    ),
    ("logging/setLevel", {"level": "error"}),
    ("ping", {}),
]
_ADA = {"name": "ada", "entityType": "person", "observations": ["writes programs"]}
MEMORY: list[tuple[str, dict[str, Any]]] = [
    _call("create_entities", entities=[_ADA]),
    _call("add_observations", observations=[{"entityName": "ada", "contents": ["likes é"]}]),
    _call("add_observations", observations=[{"entityName": "nobody", "contents": ["x"]}]),
    _call("search_nodes", query="ada"),
    _call("read_graph"),
    ("resources/read", {"uri": "memory://knowledge-graph"}),
    _call("delete_entities", entityNames=["ada"]),
    _call("open_nodes", names=["ada"]),
]
TIME: list[tuple[str, dict[str, Any]]] = [
    _call("convert_time", source_timezone="UTC", time="12:30", target_timezone="Asia/Tokyo"),
    _call("convert_time", source_timezone="Nowhere/X", time="12:30", target_timezone="UTC"),
    _call("get_current_time", timezone="Europe/Oslo"),
    _call("get_current_time"),
]


def _files(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    path = str(folder)
    return [
        _call("read_text_file", path=f"{path}/a.txt"),
        _call("read_text_file", path=f"{path}/a.txt", head=1),
        _call("read_multiple_files", paths=[f"{path}/a.txt", f"{path}/none.txt"]),
        _call("list_directory", path=path),
        _call("directory_tree", path=path),
        _call("search_files", path=path, pattern="**/*.json"),
        _call("write_file", path=f"{path}/written.txt", content="w" * 100_000),
        _call("read_text_file", path=f"{path}/written.txt"),
        _call("read_text_file", path="/etc/hostname"),
        _call("list_allowed_directories"),
    ]


def _git(repository: Path) -> list[tuple[str, dict[str, Any]]]:
    path = str(repository)
    return [
        _call("git_status", repo_path=path),
        _call("git_log", repo_path=path, max_count=5),
        _call("git_diff_unstaged", repo_path=path),
        _call("git_show", repo_path=path, revision="HEAD"),
        _call("git_show", repo_path=path, revision="no-such-revision"),
        _call("git_status", repo_path="/no/such/folder"),
    ]


def _make_repository(folder: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    folder.mkdir()
    who = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]

    def git(*arguments: str) -> None:
        subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    (folder / "file.txt").write_text("one\n")
    git("add", "file.txt")
    git("commit", "-q", "-m", "First é")
    (folder / "file.txt").write_text("one\ntwo\n")


@pytest.fixture(scope="module")
def station(
    catalogue: dict[str, Server], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Station]:
    """All servers behind one station."""
    home = tmp_path_factory.mktemp("h")
    config = RELAY_ONLY + "first_list_wait_seconds = 50\n"
    for name, server in catalogue.items():
        environment = {**server.environment, **_data(home, name)}
        config += program(name, server.command, env=environment)
    with running_station(home, config) as running:
        yield running


def _data(folder: Path, name: str) -> dict[str, str]:
    """Variables by which a server keeps its data apart."""
    return {"MEMORY_FILE_PATH": str(folder / "memory.jsonl")} if name == "memory" else {}


@contextlib.asynccontextmanager
async def directly(server: Server, name: str, folder: Path) -> AsyncIterator[RawClient]:
    """The server itself."""
    environment = {"PATH": _path(), **server.environment, **_data(folder, name)}
    async with start_program(server.command, environment, kill=True) as client:
        yield client


def _path() -> str:
    return os.environ["PATH"]


async def _conversation(
    client: RawClient, requests: list[tuple[str, dict[str, Any]]], prefix: str
) -> list[Any]:
    """What comes back for each request: result or error, and the progress reported on the way."""
    found: list[Any] = []
    for method, params in requests:
        before = len(client.received)
        try:
            answer: Any = await client.request(method, _prefixed(params, prefix))
        except Refused as refused:
            answer = {"error": refused.error}
        progress = [
            message["params"]
            for message in client.received[before:]
            if message.get("method") == "notifications/progress"
        ]
        found.append([method, params, _plain(answer, prefix), progress])
    return found


def _prefixed(params: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    changed = dict(params)
    if "name" in changed:
        changed["name"] = prefix + changed["name"]
    if changed.get("ref", {}).get("name"):
        changed["ref"] = {**changed["ref"], "name": prefix + changed["ref"]["name"]}
    return changed


def _plain(answer: Any, prefix: str) -> Any:
    """Without the prefix, and without what a clock says (which one server also puts into base64)."""
    text = json.dumps(answer)
    text = _BLOB.sub(lambda found: f'"blob": {json.dumps(_decoded(found.group(1)))}', text)
    return json.loads(_CLOCK.sub("<clock>", text.replace(prefix, "") if prefix else text))


def _decoded(blob: str) -> str:
    return base64.b64decode(blob, validate=True).decode()


async def _lists(client: RawClient, prefix: str) -> dict[str, list[Any]]:
    """Everything listed that belongs to one server, in order."""
    found: dict[str, list[Any]] = {}
    for method, key in (
        ("tools/list", "tools"),
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
    ):
        try:
            items = (await client.request(method))[key]
        except Refused:
            items = []
        if key in ("tools", "prompts"):
            items = [item for item in items if item["name"].startswith(prefix)]
        found[key] = _plain(items, prefix)
    return found


@pytest.mark.parametrize("name", ["everything", "files", "memory", "git", "time"])
async def test_everything_comes_back_as_it_does_directly(
    station: Station, catalogue: dict[str, Server], name: str, tmp_path: Path
) -> None:
    server, prefix = catalogue[name], f"{name}__"
    async with directly(server, name, tmp_path) as direct:
        direct.answers = ANSWERS
        await direct.initialize("test", {**ABLE, **ROOTS})
        expected = await _conversation(direct, server.requests, "")
        lists = await _lists(direct, "")
    async with start_program([MMS, "connect"], station.environment) as host:
        host.answers = ANSWERS
        await host.initialize("test", {**ABLE, **ROOTS})
        found = await _conversation(host, server.requests, prefix)
        listed = await _lists(host, prefix)
    for one, other in zip(expected, found, strict=True):
        assert other == one
    for kind in ("tools", "prompts"):
        assert [_unattributed(item, name) for item in listed[kind]] == lists[kind]
    for kind in ("resources", "resourceTemplates"):
        assert [item for item in listed[kind] if item in lists[kind]] == lists[kind]


def _unattributed(item: dict[str, Any], name: str) -> dict[str, Any]:
    """A tool without the name of its upstream in the title that tool pickers show."""
    title = item.get("annotations", {}).get("title")
    if title is None:
        return item
    assert title.startswith(f"[{name}] ")
    return {**item, "annotations": {**item["annotations"], "title": title[len(name) + 3 :]}}


async def test_the_official_client_gets_the_same_typed_answers(
    station: Station, catalogue: dict[str, Server], tmp_path: Path
) -> None:
    server = catalogue["everything"]
    direct = await _with_the_sdk(server.command, {"PATH": _path(), **server.environment}, "")
    through = await _with_the_sdk([MMS, "connect"], station.environment, "everything__")
    assert through == direct
    assert len(direct) == 12
    assert direct[-1] == ["operation", 0.25, 0.5, 0.75, 1.0]


async def _with_the_sdk(
    command: list[str], environment: Mapping[str, str], prefix: str
) -> list[Any]:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    parameters = StdioServerParameters(command=command[0], args=command[1:], env=dict(environment))
    found: list[Any] = []
    progress: list[float] = []

    async def reported(done: float, total: float | None, message: str | None) -> None:
        progress.append(done / (total or 1))

    def keep(result: Any) -> None:
        dumped = result.model_dump(mode="json", by_alias=True, exclude_none=True)
        found.append(_plain(dumped, prefix))

    async with (
        stdio_client(parameters) as (read, write),
        ClientSession(read, write, read_timeout_seconds=PATIENCE) as session,
    ):
        await session.initialize()
        tools = await session.list_tools()
        names = [tool.name for tool in tools.tools if tool.name.startswith(prefix)]
        assert f"{prefix}echo" in names
        keep(await session.call_tool(f"{prefix}echo", {"message": "typed"}))
        keep(await session.call_tool(f"{prefix}get-sum", {"a": 1, "b": 2}))
        keep(await session.call_tool(f"{prefix}get-structured-content", {"location": "Chicago"}))
        keep(await session.call_tool(f"{prefix}get-tiny-image", {}))
        keep(await session.call_tool(f"{prefix}get-annotated-message", {"messageType": "debug"}))
        keep(await session.read_resource("demo://resource/dynamic/text/7"))
        keep(await session.get_prompt(f"{prefix}args-prompt", {"city": "Oslo"}))
        keep(await session.list_resource_templates())
        prompts = await session.list_prompts()
        found.append(
            [
                _plain(prompt.model_dump(mode="json", by_alias=True, exclude_none=True), prefix)
                for prompt in prompts.prompts
                if prompt.name.startswith(prefix)
            ]
        )
        keep(await session.send_ping())
        long = f"{prefix}trigger-long-running-operation"
        keep(
            await session.call_tool(long, {"duration": 0.2, "steps": 4}, progress_callback=reported)
        )
    found.append(["operation", *progress])
    return found


def test_the_inspector_gets_the_same_answers(
    station: Station, catalogue: dict[str, Server], servers: RealServers, tmp_path: Path
) -> None:
    server = catalogue["memory"]
    memory = {"MEMORY_FILE_PATH": str(tmp_path / "m.jsonl"), **server.environment}

    def inspect(command: list[str], environment: Mapping[str, str], *arguments: str) -> Any:
        pairs = [part for k, v in environment.items() for part in ("-e", f"{k}={v}")]
        ended = subprocess.run(
            [*servers.inspector, *pairs, *command, *arguments],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            env={"PATH": _path(), "HOME": str(tmp_path)},
        )
        assert ended.returncode == 0, ended.stderr[-500:]
        return json.loads(ended.stdout)

    direct = inspect(server.command, memory, "--method", "tools/list")
    through = inspect([MMS, "connect"], station.environment, "--method", "tools/list")
    mine = [tool for tool in through["tools"] if tool["name"].startswith("memory__")]
    assert [_unattributed(tool, "memory") for tool in _plain(mine, "memory__")] == direct["tools"]
    call = ("--method", "tools/call", "--tool-name")
    query = ("--tool-arg", "query=nothing-of-this-name")
    direct = inspect(server.command, memory, *call, "search_nodes", *query)
    through = inspect([MMS, "connect"], station.environment, *call, "memory__search_nodes", *query)
    assert through == direct


async def test_the_official_client_accepts_a_shortened_file_and_reads_the_whole_back(
    catalogue: dict[str, Server], tmp_path: Path
) -> None:
    """The filesystem server wraps texts into structured content, which that client validates."""
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    server, folder = catalogue["files"], tmp_path / "d"
    folder.mkdir()
    lines = [f"Line {n} of the handbook says {n * 7919 % 10007}.\r\n" for n in range(3_000)]
    lines[1_234] = "The safe opens with the number 4711.\r\n"
    whole = "".join(lines)
    (folder / "handbook.txt").write_bytes(whole.encode())
    command = [*server.command[:-1], str(folder)]
    config = "[proxy]\nfirst_list_wait_seconds = 50\n"
    config += program("files", command, env={**server.environment})
    with running_station(tmp_path / "h", config) as running:
        parameters = StdioServerParameters(command=MMS, args=["connect"], env=running.environment)
        async with (
            stdio_client(parameters) as (read, write),
            ClientSession(read, write, read_timeout_seconds=PATIENCE) as session,
        ):
            await session.initialize()
            await session.list_tools()
            path = str(folder / "handbook.txt")
            query = {"path": path, "_context_query": "which number opens the safe"}
            result = await session.call_tool("files__read_text_file", query)
            text = result.content[0].text  # type: ignore[union-attr]  # it is one text
            assert "4711" in text
            assert result.structured_content == {"content": text}
            key = re.search(r'key="([0-9a-f]{16})"', text)
            assert key is not None
            parts: list[str] = []
            offset = 0
            while offset < len(whole):
                arguments = {"key": key.group(1), "offset": offset}
                chunk = await session.call_tool("stm_proxy_read_more", arguments)
                body, token, footer = chunk.content[0].text.rpartition(  # type: ignore[union-attr]
                    "\n---\n[progressive: chars="
                )
                assert token
                parts.append(body)
                offset = int(footer.split("/", 1)[0].split("-")[1])
            assert "".join(parts) == whole
