"""Settings from all sources: precedence, strictness, and texts that help."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from config.load import Loaded, Provenance, Source, problems_in
from config.paths import Paths
from config.problem import Severity
from config.schema import Settings, UpstreamTransport

from .conftest import Load


def _texts(loaded: Loaded, paths: Paths) -> list[str]:
    """The problems as a person reads them, without the directory."""
    return [str(p).replace(f"{paths.config_file.parent}/", "") for p in loaded.problems]


def test_without_any_file_the_defaults_are_in_force(load: Load, paths: Paths) -> None:
    loaded = load()
    assert loaded.settings == Settings()
    assert loaded.problems == ()
    assert loaded.files == (paths.config_file,)


def test_a_flag_beats_the_environment_beats_the_project_beats_the_user_beats_the_default(
    load: Load, tmp_path: Path, paths: Paths
) -> None:
    keys = ["call_timeout_seconds", "max_in_flight", "max_queued", "max_result_bytes"]
    user = (
        "[proxy]\ncall_timeout_seconds = 1\nmax_in_flight = 1\nmax_queued = 1\n"
        "max_result_bytes = 70000\n"
    )
    project = tmp_path / "project"
    project.mkdir()
    (project / ".mms.toml").write_text(
        "[proxy]\nmax_in_flight = 2\nmax_queued = 2\ncall_timeout_seconds = 2\n"
    )
    environ = {
        "MEMTOMEM_STM_PROXY__MAX_QUEUED": "3",
        "MEMTOMEM_STM_PROXY__CALL_TIMEOUT_SECONDS": "3",
    }
    loaded = load(user, environ, project=project, flags={"proxy.call_timeout_seconds": "4"})
    proxy = loaded.settings.proxy
    assert loaded.problems == ()
    assert proxy.call_timeout_seconds == 4
    assert proxy.max_queued == 3
    assert proxy.max_in_flight == 2
    assert proxy.max_result_bytes == 70000
    assert proxy.connect_timeout_seconds == 60
    assert loaded.files == (paths.config_file, project / ".mms.toml")
    sources = [loaded.provenance_of(f"proxy.{key}").source for key in keys]
    assert sources == [Source.FLAG, Source.PROJECT_FILE, Source.ENVIRONMENT, Source.USER_FILE]


def test_provenance_names_the_line_or_the_variable(load: Load, paths: Paths) -> None:
    loaded = load("# one\n[proxy]\nmax_in_flight = 5\n", {"MEMTOMEM_STM_FORMATION__ENABLED": "yes"})
    assert loaded.provenance_of("proxy.max_in_flight") == Provenance(
        Source.USER_FILE, f"{paths.config_file}:3"
    )
    assert loaded.provenance_of("formation.enabled") == Provenance(
        Source.ENVIRONMENT, "MEMTOMEM_STM_FORMATION__ENABLED"
    )
    assert loaded.provenance_of("proxy.max_queued") == Provenance(Source.DEFAULT, "")
    assert loaded.settings.formation.enabled


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("ADVERTISE_OBSERVABILITY_TOOLS", lambda s: s.advertise_observability_tools),
        ("PROXY__RECOVER_UPSTREAM_DESCRIPTION", lambda s: s.proxy.recover_upstream_description),
        ("FORMATION__ENABLED", lambda s: s.formation.enabled),
        ("PROXY__HTTP__ENABLED", lambda s: s.proxy.http.enabled),
    ],
)
@pytest.mark.parametrize("word", ["true", "1", "yes", "on", "TRUE", " On "])
def test_the_documented_variables_switch_their_settings_on(
    load: Load, name: str, read: object, word: str
) -> None:
    assert callable(read)
    assert read(load(None, {f"MEMTOMEM_STM_{name}": word}).settings) is True
    assert read(load(None, {f"MEMTOMEM_STM_{name}": "off"}).settings) is False


def test_an_unknown_variable_is_a_warning_with_the_nearest_name(load: Load) -> None:
    [problem] = load(None, {"MEMTOMEM_STM_FORMATION_ENABLED": "1"}).problems
    assert problem.severity is Severity.WARNING
    assert "Did you mean MEMTOMEM_STM_FORMATION__ENABLED?" in str(problem)


def test_a_wrong_variable_is_named_and_leaves_the_default(load: Load) -> None:
    loaded = load(None, {"MEMTOMEM_STM_PROXY__MAX_IN_FLIGHT": "many"})
    [problem] = loaded.problems
    assert problem.severity is Severity.ERROR
    assert str(problem) == (
        "environment: proxy.max_in_flight: MEMTOMEM_STM_PROXY__MAX_IN_FLIGHT: "
        'expected a whole number, found the text "many".'
    )
    assert loaded.settings == Settings()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[proxy]\nmax_in_flight = 0\n", ":2: proxy.max_in_flight: 0 is too small. Allowed are 1"),
        ("[proxy]\nmax_in_flight = 5.0\n", "expected a whole number, found the number 5.0"),
        ("[proxy]\nmax_in_flight = true\n", "expected a whole number, found true"),
        ("[proxy]\nmax_in_flight = 9999\n", "9999 is too large"),
        ("[proxy]\ncall_timeout_seconds = inf\n", "expected a number"),
        ("[proxy]\ncall_timeout_seconds = nan\n", "expected a number"),
        (
            "formation.enabled = 1\n",
            "formation.enabled: expected true or false, found the number 1",
        ),
        ("formation = 1\n", ":1: formation: expected a table, found the number 1"),
        ("upstreams = []\n", "upstreams: expected a table, found an array"),
        ("upstreams.a = 1979-05-27\n", "upstreams.a: expected a table, found a date or time"),
        ("[console]\ntheme = 5\n", "console.theme: expected text in quotes, found the number 5"),
        ("[console.keys]\nquit = 5\n", ":2: console.keys.quit: expected text in quotes"),
        ("[proxi]\n", ":1: proxi: no such key. Did you mean proxy?"),
        ("[proxy]\nmax_inflight = 1\n", ":2: proxy.max_inflight: no such key. Did you mean proxy"),
        ("max_in_flight = 1\n", "Did you mean proxy.max_in_flight?"),
        ("qqq = 1\n", "Valid here: advertise_observability_tools, proxy, upstreams"),
        ('[proxy.http]\nhost = "0.0.0.0"\n', "only this machine may connect. Write 127.0.0.1"),
        ('[proxy.http]\nallowed_origins = ["x"]\n', "an origin is a scheme, a host"),
        ('[proxy.http]\nallowed_origins = ["http://a", 5]\n', "allowed_origins[1]: expected text"),
    ],
)
def test_a_wrong_value_is_reported_with_line_key_and_hint(
    load: Load, paths: Paths, text: str, problem: str
) -> None:
    loaded = load(text)
    [found] = _texts(loaded, paths)
    assert found.startswith("config.toml:")
    assert problem in found
    assert loaded.settings == Settings()


def test_every_problem_is_reported_and_everything_valid_is_kept(load: Load) -> None:
    loaded = load(
        "[proxy]\nmax_in_flight = 0\nmax_queued = 7\nwrong = 1\n"
        '[upstreams.good]\ncommand = "x"\n[upstreams.bad]\ncommand = 5\n'
    )
    assert [problem.line for problem in loaded.problems] == [2, 4, 8]
    assert loaded.settings.proxy.max_queued == 7
    assert list(loaded.settings.upstreams) == ["good"]
    assert [problem.upstream for problem in loaded.problems] == [None, None, "bad"]


def test_whole_numbers_are_taken_where_fractions_are_allowed(load: Load) -> None:
    value = load("[proxy]\ncall_timeout_seconds = 5\n").settings.proxy.call_timeout_seconds
    assert value == 5
    assert isinstance(value, float)


def test_bounds_are_inclusive(load: Load) -> None:
    for bound in (1, 4096):
        loaded = load(f"[proxy]\nmax_in_flight = {bound}\n")
        assert loaded.problems == ()
        assert loaded.settings.proxy.max_in_flight == bound


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("[proxy]\nmax_queued = \n", (2, 14), "not valid TOML: invalid value"),
        ("a = 1\na = 2\n", (2, 6), "not valid TOML: cannot overwrite a value"),
        ('a = "open', (1, None), "not valid TOML: unterminated string"),
        ("a = " + "[" * 5000, (None, None), "nested too deeply"),
        ("a = " + "1" * 5000, (None, None), "not valid TOML"),
    ],
)
def test_a_syntax_error_is_reported_where_it_is(
    load: Load, text: str, place: tuple[int | None, int | None], reason: str
) -> None:
    loaded = load(text)
    [problem] = loaded.problems
    assert reason in problem.reason
    assert (problem.line, problem.column) == place
    assert loaded.settings == Settings()


def test_bytes_that_are_no_text_are_reported_with_their_line(load: Load, paths: Paths) -> None:
    paths.config_file.write_bytes(b"# fine\nx = '\xff'\n")
    paths.config_file.chmod(0o600)
    [problem] = load().problems
    assert (problem.line, problem.reason) == (2, "is not UTF-8 text")


def test_a_byte_order_mark_and_windows_line_ends_are_fine(load: Load) -> None:
    loaded = load("\ufeff[proxy]\r\nmax_queued = 7\r\n")
    assert loaded.problems == ()
    assert loaded.settings.proxy.max_queued == 7


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_is_refused_with_the_command_that_closes_it(
    load: Load, paths: Paths, mode: int
) -> None:
    load('[upstreams.a]\ncommand = "x"\n')
    paths.config_file.chmod(mode)
    loaded = load()
    assert loaded.settings == Settings()
    [problem] = loaded.problems
    assert f"mode {mode:04o}" in problem.reason
    assert problem.hint == f"Close it: chmod go-w {paths.config_file}"


def test_a_file_of_another_user_is_refused(
    load: Load, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    load('[upstreams.a]\ncommand = "x"\n')
    if os.getuid() == 0:
        os.chown(paths.config_file, 12345, -1)
    else:
        monkeypatch.setattr(os, "getuid", lambda: 12345)
    loaded = load()
    assert loaded.settings == Settings()
    assert "belongs to user" in loaded.problems[0].reason
    assert "chown" in loaded.problems[0].hint


def test_a_pipe_or_a_directory_in_the_place_of_the_file_does_not_hang(
    load: Load, paths: Paths
) -> None:
    os.mkfifo(paths.config_file, 0o600)
    assert "is not a regular file" in str(load().problems[0])
    paths.config_file.unlink()
    paths.config_file.mkdir()
    assert "is not a regular file" in str(load().problems[0])


def test_a_huge_file_is_not_read(load: Load) -> None:
    assert "is larger than 1048576 bytes" in str(load("#" * (1024 * 1024 + 1)).problems[0])


def test_a_project_file_cannot_start_programs_or_open_a_port(load: Load, tmp_path: Path) -> None:
    (tmp_path / ".mms.toml").write_text(
        '[upstreams.evil]\ncommand = "sh"\n[proxy]\nmax_queued = 1\n[proxy.http]\nenabled = true\n'
    )
    loaded = load(project=tmp_path)
    assert loaded.settings.upstreams == {}
    assert not loaded.settings.proxy.http.enabled
    assert loaded.settings.proxy.max_queued == 1
    assert [(p.line, p.key, p.reason) for p in loaded.problems] == [
        (1, "upstreams", "a project file cannot define upstreams"),
        (5, "proxy.http", "a project file cannot open a port"),
    ]


def test_tables_of_texts_from_two_files_are_merged(load: Load, tmp_path: Path) -> None:
    (tmp_path / ".mms.toml").write_text('[console.keys]\nquit = "x"\n')
    loaded = load('[console.keys]\nhelp = "h"\nquit = "q"\n', project=tmp_path)
    assert loaded.settings.console.keys == {"help": "h", "quit": "x"}


def test_flags_are_checked_like_any_other_source(load: Load) -> None:
    flags = {"proxy.max_queued": "x", "proxy": "1", "a b": "1", "upstreams.a.command": "x"}
    flags |= {"console.keys.quit": "z"}
    loaded = load(flags=flags)
    assert [p.file for p in loaded.problems] == ["command line"] * 4
    assert loaded.settings.console.keys == {"quit": "z"}
    assert loaded.settings.upstreams == {}


def test_the_same_text_gives_the_same_problems_before_it_is_written(
    load: Load, paths: Paths
) -> None:
    text = "[proxy]\nmax_queued = -1\nnope = 1\n"
    assert problems_in(text, paths.config_file, {}) == load(text).problems


def test_settings_are_frozen_through_and_through(load: Load) -> None:
    loaded = load('[upstreams.a]\ncommand = "x"\nenv = { A = "b" }\n')
    with pytest.raises(dataclasses.FrozenInstanceError):
        loaded.settings.proxy = None  # type: ignore[assignment]  # that is the point
    for table in (loaded.settings.upstreams, loaded.settings.upstreams["a"].env):
        with pytest.raises(TypeError):
            table["b"] = None  # type: ignore[index]  # that is the point


def test_a_transport_is_read_as_an_enumeration(load: Load) -> None:
    loaded = load('[upstreams.a]\nurl = "http://h/mcp"\ntransport = "http"\n')
    assert loaded.settings.upstreams["a"].transport is UpstreamTransport.HTTP
    [problem] = load('[upstreams.a]\nurl = "http://h"\ntransport = "htpp"\n').problems
    assert problem.hint == "Did you mean http?"


_WORDS = st.sampled_from(
    [
        *"[]{}=.,#\"'\n\r\t -_",
        "'''",
        '"""',
        "\\",
        "\\u0000",
        "[[",
        "proxy",
        "upstreams",
        "console",
        "keys",
        "http",
        "a",
        "command",
        "args",
        "env",
        "url",
        "true",
        "1",
        "-1e9",
        "inf",
        "1979-05-27",
        "${X}",
        "${",
        "http://[",
        "é",
        "\x00",
    ]
)


@settings(max_examples=100, deadline=None)
@given(st.lists(_WORDS, max_size=40).map("".join) | st.text(max_size=80))
@example('a."b.c"=1\n[upstreams."\\u0000"]\ncommand="x"')
@example('[upstreams.a]\nurl="http://[::1"')
def test_no_text_crashes_the_loader(text: str) -> None:
    for problem in problems_in(text, Path("/c/config.toml"), {"X": "1"}):
        assert str(problem).startswith("/c/config.toml")


_VALUES = st.recursive(
    st.booleans() | st.integers(-3, 9) | st.floats(0, 9) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["a", "http", "tools", "env", "command", "url", "prefix", "enabled"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@settings(max_examples=80, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["proxy", "upstreams", "console", "formation", "x"]), _VALUES, max_size=3
    )
)
def test_no_structure_crashes_the_loader_and_each_error_has_its_line(
    raw: dict[str, object],
) -> None:
    from config.toml_text import toml_value

    text = "".join(f"{name} = {toml_value(value)}\n" for name, value in raw.items())
    for problem in problems_in(text, Path("/c/config.toml"), {}):
        assert problem.line is not None


def test_a_file_of_twenty_upstreams_is_read_whole(load: Load) -> None:
    text = "".join(
        f'[upstreams.s{n}]\ncommand = "npx"\nargs = ["-y", "@scope/s{n}", "~/p/{n}"]\n'
        f'env = {{ A = "${{HOME}}", B = "x" }}\ncall_timeout_seconds = 5\n'
        f"[upstreams.s{n}.tools.read]\nenabled = false\n\n"
        for n in range(20)
    )
    assert len(load(text).settings.upstreams) == 20
