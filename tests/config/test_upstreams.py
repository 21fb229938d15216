"""Rules for upstreams: names, prefixes, targets, expansion."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.problem import Severity
from config.upstreams import default_prefix

from .conftest import Load


def _reasons(load: Load, body: str, environ: dict[str, str] | None = None) -> list[str]:
    loaded = load(f"[upstreams.a]\n{body}\n", environ)
    if any(problem.severity is Severity.ERROR for problem in loaded.problems):
        assert loaded.settings.upstreams == {}
        assert {problem.upstream for problem in loaded.problems} == {"a"}
    return [f"{problem.key}: {problem.reason}. {problem.hint}" for problem in loaded.problems]


def test_references_and_home_are_expanded_in_every_field_that_starts_or_reaches_a_server(
    load: Load,
) -> None:
    environ = {"HOME": "/home/a", "BIN": "/opt/x", "TOKEN": "t0k", "EMPTY": "", "NESTED": "${BIN}"}
    loaded = load(
        """
        [upstreams.a]
        command = "${BIN}/run"
        args = ["~", "~/p", "a~/p", "${MISSING:-d e}", "${EMPTY:-x}", "${EMPTY}", "$${BIN}", "$BIN"]
        env = { A = "Bearer ${TOKEN}", B = "${NESTED}" }
        cwd = "~/w"
        [upstreams.b]
        url = "http://${HOST:-localhost}/mcp"
        headers = { Authorization = "Bearer ${TOKEN}" }
        """,
        environ,
    )
    assert loaded.problems == ()
    a, b = loaded.settings.upstreams["a"], loaded.settings.upstreams["b"]
    assert a.command == "/opt/x/run"
    assert a.args == ("/home/a", "/home/a/p", "a~/p", "d e", "x", "", "${BIN}", "$BIN")
    assert a.env == {"A": "Bearer t0k", "B": "${BIN}"}
    assert a.cwd == "/home/a/w"
    assert b.url == "http://localhost/mcp"
    assert b.headers == {"Authorization": "Bearer t0k"}
    assert loaded.variables == {"BIN", "EMPTY", "TOKEN", "NESTED"}


def test_a_missing_variable_names_the_field_and_how_to_mend_it(load: Load) -> None:
    body = 'command = "x"\nargs = ["a", "${A}"]\nenv.TOKEN = "${GITHUB_TOKEN}"'
    assert _reasons(load, body) == [
        (
            "upstreams.a.args[1]: variable A is not set. "
            "Set it where mms is started, or give a default: ${A:-…}."
        ),
        (
            "upstreams.a.env.TOKEN: variable GITHUB_TOKEN is not set. "
            "Set it where mms is started, or give a default: ${GITHUB_TOKEN:-…}."
        ),
    ]


def test_a_missing_variable_of_a_switched_off_upstream_is_only_a_warning(load: Load) -> None:
    loaded = load('[upstreams.a]\nenabled = false\ncommand = "${NOPE}"\n')
    [problem] = loaded.problems
    assert problem.severity is Severity.WARNING
    assert not loaded.settings.upstreams["a"].enabled


@pytest.mark.parametrize("reference", ["${}", "${1}", "${a b}", "${open", "${A:=b}"])
def test_a_reference_that_names_no_variable_is_an_error(load: Load, reference: str) -> None:
    [reason] = _reasons(load, f"command = '{reference}'")
    assert "names no variable" in reason


def test_without_a_home_directory_the_tilde_is_a_missing_variable(load: Load) -> None:
    [reason] = _reasons(load, 'command = "~/x"', {})
    assert "variable HOME is not set" in reason


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("", "neither command nor url is given"),
        ('command = ""', "neither command nor url is given"),
        ('command = "x"\nurl = "http://h"', "both command and url are given. Keep one"),
        ('command = "x"\ntransport = "http"', "transport: http needs a url, but a command"),
        ('url = "http://h"\ntransport = "stdio"', "transport: stdio needs a command, but a url"),
        ('url = "ftp://h"', "url: not an address"),
        ('url = "http://"', "url: not an address"),
        ('url = "http://[::1"', "url: not an address"),
        ('url = "http://h:99999"', "url: not an address"),
        ('url = "http://a b"', "url: not an address"),
        ('url = "/mcp"', "url: not an address"),
        ('command = "x"\ncwd = "here"', "cwd: a relative directory depends on where"),
        ('command = "x\\u0000"', "command: contains a null character"),
        ('command = "x"\nargs = ["a", "\\u0000"]', "args[1]: contains a null character"),
        ('command = "x"\nenv = { "A=B" = "c" }', 'env."A=B": not a valid variable'),
        ('url = "http://h"\nheaders = { "A B" = "c" }', "not a valid name of a header"),
        ('url = "http://h"\nheaders = { A = "b\\nC: d" }', "headers.A: contains a line break"),
        ('command = "x"\nprefix = "a b"', "prefix: not a valid prefix. Use 1 to 32 letters"),
        ('command = "x"\nprefix = ""', "prefix: not a valid prefix"),
        ('command = "x"\nprefix = "a__b"', "must not contain __ or end with _. Two under"),
        ('command = "x"\nprefix = "a_"', 'Try prefix = "a".'),
        ('command = "x"\nargs = "-y \'a b\' c"', 'Write args = ["-y", "a b", "c"].'),
        ('command = "x"\nargs = "it\'s"', """Write args = ["it's"]."""),
        ('command = "x"\nenv = { A = 5 }', "env.A: expected text in quotes, found a number."),
        (
            'comand = "x"\nurl = "http://h"',
            "comand: no such key. Did you mean upstreams.a.command?",
        ),
        ('command = "x"\ntools.t.enable = true', "Did you mean upstreams.a.tools.t.enabled?"),
    ],
)
def test_an_upstream_that_cannot_work_is_left_out_with_the_reason(
    load: Load, body: str, reason: str
) -> None:
    [found] = _reasons(load, body)
    assert reason in found


@pytest.mark.parametrize("name", ["", "a b", "../../etc", "x" * 33, "a.b", "é"])
def test_a_name_that_could_leave_its_place_is_refused(load: Load, name: str) -> None:
    loaded = load(f'[upstreams."{name}"]\ncommand = "x"\n')
    assert loaded.settings.upstreams == {}
    assert "not a valid name of an upstream" in str(loaded.problems[0])


def test_two_upstreams_with_one_prefix_keep_the_first(load: Load) -> None:
    loaded = load(
        '[upstreams.a]\ncommand = "x"\nprefix = "p"\n[upstreams.b]\ncommand = "y"\nprefix = "p"\n'
    )
    assert list(loaded.settings.upstreams) == ["a"]
    [problem] = loaded.problems
    assert (problem.upstream, problem.line) == ("b", 6)
    assert problem.reason == "upstream a already has the prefix p"


def test_a_default_prefix_can_collide_too(load: Load) -> None:
    loaded = load('[upstreams.a__b]\ncommand = "x"\n[upstreams.a_b]\ncommand = "y"\n')
    assert list(loaded.settings.upstreams) == ["a__b"]
    assert loaded.settings.upstreams["a__b"].prefix == "a_b"


@settings(deadline=None)
@given(st.from_regex(r"[A-Za-z0-9_-]{1,32}", fullmatch=True))
def test_the_default_prefix_is_always_valid(name: str) -> None:
    prefix = default_prefix(name)
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,32}", prefix)
    assert "__" not in f"{prefix}x"
    assert not prefix.endswith("_")


def test_no_problem_shows_the_value_of_a_secret(load: Load) -> None:
    loaded = load(
        """
        [upstreams.a]
        url = "ftp://user:canary@h/${SECRET}"
        headers = { "Bad Name" = "canary", Good = "canary\\n${SECRET}" }
        [upstreams.b]
        command = "x"
        env = "canary"
        headers = { A = "${SECRET}\\r" }
        """,
        {"SECRET": "canary", "HOME": "/home/a"},
    )
    assert len(loaded.problems) == 5
    assert not any("canary" in str(problem) for problem in loaded.problems)
    assert "canary" not in repr(loaded.provenance)
