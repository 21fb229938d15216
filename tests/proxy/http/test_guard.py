"""Who is let in: every combination of host, origin, token and type, and only one of them right."""

from __future__ import annotations

import itertools

import pytest

from proxy.http.guard import Refusal, check, headers_of, rules_for

TOKEN = "t" * 43
RULES = rules_for("127.0.0.1", 7337, ["http://localhost:3000/"], TOKEN)
GOOD = {
    "host": "127.0.0.1:7337",
    "authorization": f"Bearer {TOKEN}",
    "content-type": "application/json; charset=utf-8",
    "accept": "application/json, text/event-stream",
}


def status(method: str = "POST", path: str = "/mcp", **changes: str | None) -> int:
    changed = {name.replace("_", "-"): value for name, value in changes.items()}
    headers = {k: v for k, v in {**GOOD, **changed}.items() if v is not None}
    refusal = check(method, path, headers, RULES)
    return 0 if refusal is None else refusal.status


def test_only_the_one_right_combination_is_let_in() -> None:
    hosts = ["127.0.0.1:7337", "evil.test:7337", "127.0.0.1"]
    origins = [
        None,
        "http://localhost:3000",
        "http://evil.test",
        "null",
        "http://127.0.0.1",
        "http://127.0.0.1:8000",
    ]
    tokens = [f"Bearer {TOKEN}", "Bearer wrong", f"Basic {TOKEN}", None]
    types = ["application/json", "text/plain", "application/x-www-form-urlencoded", None]
    for host, origin, token, type in itertools.product(hosts, origins, tokens, types):
        expected = (
            421
            if host != hosts[0]
            else 403
            if origin not in origins[:2]
            else 401
            if token != tokens[0]
            else 415
            if type != types[0]
            else 0
        )
        found = status(host=host, origin=origin, authorization=token, content_type=type)
        assert found == expected, (host, origin, token, type)


@pytest.mark.parametrize(
    "host",
    [
        "",
        "localhost",
        "127.0.0.1:7338",
        "127.0.0.1:07337",
        "[::1]:7337",
        "127.0.0.1:7337.evil.test",
    ],
)
def test_a_host_that_is_not_exactly_ours_is_refused(host: str) -> None:
    assert status(host=host) == 421


@pytest.mark.parametrize("host", ["localhost:7337", "LocalHost:7337", "127.0.0.1:7337"])
def test_our_own_names_are_let_in(host: str) -> None:
    assert status(host=host) == 0
    assert status(host=host, origin=f"http://{host}") == 0
    assert status(host=host, origin=f"https://{host}") == 403


def test_on_the_usual_port_clients_leave_it_out() -> None:
    rules = rules_for("::1", 80, [], TOKEN)
    assert rules.hosts == {"localhost", "localhost:80", "[::1]", "[::1]:80"}


@pytest.mark.parametrize(
    "shown",
    ["", "Bearer", "Bearer ", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN}t", "Bearer é", TOKEN],
)
def test_a_token_that_is_not_exactly_ours_is_refused(shown: str) -> None:
    assert status(authorization=shown) == 401


def test_path_method_and_accept_are_told_apart() -> None:
    assert status(path="/") == 404
    assert status(path="/mcp/x") == 404
    assert status("PUT") == 405
    assert status("OPTIONS") == 405
    assert status(accept="application/json") == 406
    assert status(accept="*/*") == 0
    assert status(accept=None) == 0
    assert status("GET", accept="application/json") == 406
    assert status("GET", accept="text/event-stream", content_type=None) == 0
    assert status("DELETE", accept=None, content_type=None) == 0


def test_nothing_but_the_head_and_never_the_token_is_in_a_refusal() -> None:
    refusal = check("POST", "/mcp", {**GOOD, "authorization": "Bearer x"}, RULES)
    assert isinstance(refusal, Refusal)
    assert TOKEN not in str(refusal)
    assert (b"www-authenticate", b'Bearer realm="mms"') in refusal.headers


def test_a_decisive_header_that_comes_twice_is_refused() -> None:
    assert headers_of([(b"host", b"a"), (b"Host", b"b")]) is None
    assert headers_of([(b"accept", b"a"), (b"Accept", b"b")]) == {"accept": "a, b"}
