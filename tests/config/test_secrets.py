"""Secrets are known and hidden, and plain things stay readable."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.schema import Settings, UpstreamSettings
from config.secrets import (
    SECRET_MARK,
    known_secrets,
    shown_arguments,
    shown_target,
    shown_url,
)

from .conftest import Load

_TOKEN = "ghp_" + "a1B2" * 9


@pytest.mark.parametrize(
    ("argument", "shown"),
    [
        (_TOKEN, SECRET_MARK),
        (f"--header=Authorization: Bearer {_TOKEN}", f"--header=Authorization: {SECRET_MARK}"),
        (f"Authorization: Bearer {_TOKEN}", f"Authorization: {SECRET_MARK}"),
        ("X-Api-Key: abc", f"X-Api-Key: {SECRET_MARK}"),
        ("--api-key=abc", f"--api-key={SECRET_MARK}"),
        ("API_KEY=abc", f"API_KEY={SECRET_MARK}"),
        ("postgres://me:pw@h/db", f"postgres://{SECRET_MARK}@h/db"),
        ("--db=postgres://me:pw@h/db", f"--db=postgres://{SECRET_MARK}@h/db"),
        ("0123456789abcdef0123456789abcdef", SECRET_MARK),
    ],
)
def test_arguments_that_hold_a_secret_are_hidden(argument: str, shown: str) -> None:
    assert shown_arguments((argument,)) == (shown,)


@pytest.mark.parametrize(
    "argument",
    [
        "-y",
        "@modelcontextprotocol/server-filesystem",
        "mcp-server-git==2025.9.25",
        "~/projects/some/long/path-1A/with_words",
        "https://example.com/mcp",
        "--mode=fast",
        "C:/x",
        "",
        "a: b",
    ],
)
def test_ordinary_arguments_stay_readable(argument: str) -> None:
    assert shown_arguments((argument,)) == (argument,)


def test_the_argument_after_an_option_that_names_a_secret_is_hidden() -> None:
    assert shown_arguments(("--token", "abc", "--key-file", "/etc/k", "--max-tokens", "4000")) == (
        *("--token", SECRET_MARK, "--key-file", "/etc/k", "--max-tokens", "4000"),
    )
    assert shown_arguments(("--token", "--verbose")) == ("--token", "--verbose")


def test_an_address_keeps_its_host_and_the_names_of_its_query() -> None:
    assert shown_url("https://u:p@h:8/a/b?x=1&y=#f") == (
        f"https://{SECRET_MARK}@h:8/a/b?x={SECRET_MARK}&y={SECRET_MARK}#{SECRET_MARK}"
    )
    assert shown_url(f"https://h/{_TOKEN}/mcp") == f"https://h/{SECRET_MARK}/mcp"
    assert shown_url("https://h?justasecret") == f"https://h?{SECRET_MARK}"
    assert shown_url("http://[::1") == SECRET_MARK


def test_the_target_of_an_upstream_is_one_line_without_secrets() -> None:
    stdio = UpstreamSettings(command="npx", args=("-y", "a b", "--token", "abc"))
    assert shown_target(stdio) == f"npx -y 'a b' --token {SECRET_MARK}"
    assert shown_target(UpstreamSettings(url="http://u:p@h/")) == f"http://{SECRET_MARK}@h/"


def test_what_must_not_appear_anywhere_is_known(load: Load) -> None:
    environ = {
        "HOME": "/home/somebody",
        "MY_TOKEN": "from-the-environment",
        "DB_PASSWORD": "hunter22",
        "UNUSED_TOKEN": "not-used-by-mms",
    }
    loaded = load(
        """
        [upstreams.a]
        command = "x"
        args = ["--dsn=pg://me:${DB_PASSWORD}@h/db", "~/p", "plain-argument"]
        env = { A = "canary-env", P = "/usr/lib/x", L = "5", SHORT = "abc", U = "http://u:url-pass@h/" }
        [upstreams.b]
        url = "https://user-info@h/mcp?key=query-value"
        headers = { Authorization = "Bearer ${MY_TOKEN}", Accept = "application/json" }
        [surfacing.ltm]
        env = { LTM_KEY = "canary-ltm" }
        [tracing]
        endpoint = "https://h/v1/traces?key=trace-query"
        headers = { Authorization = "Basic trace-login" }
        """,
        environ,
    )
    assert loaded.problems == ()
    known = known_secrets(loaded.settings, environ, loaded.variables)
    assert known >= {
        "canary-env",
        "url-pass",
        "hunter22",
        "user-info",
        "query-value",
        "from-the-environment",
        "Bearer from-the-environment",
        "canary-ltm",
        "trace-query",
        "Basic trace-login",
        "trace-login",
    }
    for harmless in ("/usr/lib/x", "abc", "application/json", "/home/somebody", "not-used-by-mms"):
        assert harmless not in known
    assert "plain-argument" not in known


def test_without_upstreams_nothing_is_secret() -> None:
    assert known_secrets(Settings(), {"TOKEN": "whatever"}) == frozenset()


@settings(deadline=None)
@given(st.lists(st.text(max_size=20), max_size=5))
def test_any_arguments_can_be_shown(args: list[str]) -> None:
    upstream = UpstreamSettings(command="x", args=tuple(args))
    assert len(shown_arguments(upstream.args)) == len(args)
    known_secrets(Settings(upstreams={"a": upstream}), {})


@settings(deadline=None)
@given(st.from_regex(r"[A-Za-z0-9!_.-]{6,30}", fullmatch=True))
def test_a_secret_is_never_shown(secret: str) -> None:
    upstream = UpstreamSettings(
        command="x", args=("--password", f"_{secret}", f"--token={secret}", f"pg://u:{secret}@h")
    )
    assert f"={secret}" not in shown_target(upstream)
    assert f"_{secret}" not in shown_target(upstream).split()
    assert f"{secret}@" not in shown_target(upstream)
