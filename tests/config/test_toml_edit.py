"""Edits of text: what is asked for changes, every other line stays, comments stay where they belong."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from config.toml_edit import UnusualLayoutError, append_table, remove, set_value

_FILE = """\
# My settings

# about the proxy
[proxy] # p
max_in_flight = 5 # five
# why not more

# about fs
[upstreams.fs]
command = "npx" # c
args = [
  "-y", # yes
]
# end of fs

[upstreams.fs.tools.read]
enabled = false

# about the screen
[console]
theme = "x"
"""


def _set(text: str, key: str, value: str) -> str:
    return set_value(text, tuple(key.split(".")), value)


def test_a_value_is_replaced_in_place_and_its_comment_stays() -> None:
    changed = _set(_FILE, "proxy.max_in_flight", "7")
    assert changed == _FILE.replace("= 5 # five", "= 7 # five")


def test_an_array_over_several_lines_is_replaced_as_a_whole() -> None:
    changed = _set(_FILE, "upstreams.fs.args", '["a"]')
    assert changed == _FILE.replace('[\n  "-y", # yes\n]', '["a"]')


def test_a_new_key_goes_behind_the_last_key_of_its_table() -> None:
    changed = _set(_FILE, "proxy.max_queued", "7")
    assert changed == _FILE.replace("# five\n", "# five\nmax_queued = 7\n")


def test_a_new_key_of_the_top_goes_before_the_first_table_and_its_comment() -> None:
    changed = _set(_FILE, "advertise_observability_tools", "true")
    assert changed == _FILE.replace(
        "# about the proxy", "advertise_observability_tools = true\n\n# about the proxy"
    )
    assert _set("a = 1 # c\n[b]\n", "d", "2") == "a = 1 # c\nd = 2\n[b]\n"
    assert _set("", "d", "2") == "d = 2\n"
    assert _set("# only this", "d", "2") == "# only this\nd = 2\n"


def test_a_new_table_goes_to_the_end_behind_a_blank_line() -> None:
    assert _set(_FILE, "proxy.http.port", "1") == _FILE + "\n[proxy.http]\nport = 1\n"
    assert append_table("a = 1", ("b",), {"c": "2", "d e": "3"}) == (
        'a = 1\n\n[b]\nc = 2\n"d e" = 3\n'
    )


def test_a_key_joins_the_dotted_keys_of_its_table() -> None:
    assert _set("[proxy]\nhttp.port = 1 # c\n[x]\n", "proxy.http.enabled", "true") == (
        "[proxy]\nhttp.port = 1 # c\nhttp.enabled = true\n[x]\n"
    )
    assert _set("[p]\na.b = 1\na.c = 2\nz = 3\n", "p.a.d", "4") == (
        "[p]\na.b = 1\na.c = 2\na.d = 4\nz = 3\n"
    )
    assert _set("proxy.http.port = 1\n", "proxy.max_queued", "2") == (
        "proxy.http.port = 1\nproxy.max_queued = 2\n"
    )


def test_a_key_joins_an_inline_table() -> None:
    assert _set("proxy = { a = 1 } # c\n", "proxy.b", "2") == "proxy = { a = 1, b = 2 } # c\n"
    assert _set("proxy = {}\n", "proxy.b.c", "2") == "proxy = { b.c = 2 }\n"
    assert _set("p = { a = { b = 1 }, c = 2 }\n", "p.a.d", "3") == (
        "p = { a = { b = 1, d = 3 }, c = 2 }\n"
    )
    assert _set("p = { a = { b = 1 } }\n", "p.a.b", "3") == "p = { a = { b = 3 } }\n"
    assert append_table("upstreams = {}\n", ("upstreams", "a"), {"command": '"x"'}) == (
        'upstreams = { a = { command = "x" } }\n'
    )


def test_an_entry_of_a_table_of_texts_stays_with_its_upstream() -> None:
    path = ("upstreams", "fs", "env", "A")
    assert set_value(_FILE, path, '"b"', in_table_of_texts=True) == _FILE.replace(
        "]\n# end of fs", ']\nenv.A = "b"\n# end of fs'
    )
    with_header = _FILE + "\n[upstreams.fs.env]\nX = '1'\n"
    assert set_value(with_header, path, '"b"', in_table_of_texts=True) == with_header + 'A = "b"\n'


def test_windows_line_ends_are_kept() -> None:
    assert _set("[a]\r\nb = 1\r\n", "a.c", "2") == "[a]\r\nb = 1\r\nc = 2\r\n"
    assert _set("[a]\r\nb = 1\r\n", "d.c", "2") == "[a]\r\nb = 1\r\n\r\n[d]\r\nc = 2\r\n"


def test_a_missing_last_line_end_is_added_first() -> None:
    assert _set("[a]\nb = 1 # c", "a.d", "2") == "[a]\nb = 1 # c\nd = 2\n"


def test_a_removed_upstream_takes_its_tables_and_comments_and_nothing_else() -> None:
    assert remove(_FILE, ("upstreams", "fs")) == (
        "# My settings\n\n# about the proxy\n[proxy] # p\nmax_in_flight = 5 # five\n"
        '# why not more\n\n# about the screen\n[console]\ntheme = "x"\n'
    )


def test_a_removed_key_takes_its_line() -> None:
    assert remove(_FILE, ("proxy", "max_in_flight")) == _FILE.replace(
        "max_in_flight = 5 # five\n", ""
    )
    assert remove(_FILE, ("upstreams", "fs", "args")) == _FILE.replace(
        'args = [\n  "-y", # yes\n]\n', ""
    )


@pytest.mark.parametrize(
    ("before", "gone", "after"),
    [
        ("p = { a = 1, b = 2, c = 3 } # x\n", "p.a", "p = { b = 2, c = 3 } # x\n"),
        ("p = { a = 1, b = 2, c = 3 }\n", "p.b", "p = { a = 1, c = 3 }\n"),
        ("p = { a = 1, b = 2, c = 3 }\n", "p.c", "p = { a = 1, b = 2 }\n"),
        ("p = { a = 1 }\n", "p.a", "p = { }\n"),
        ("p = {a=1}\n", "p.a", "p = {}\n"),
        ("[u]\na.x = 1\na.y = 2\nb.x = 3\n", "u.a", "[u]\nb.x = 3\n"),
        ("[u.a]\nx = 1\n[z]\n[u.a.t]\ny = 1\n", "u.a", "[z]\n"),
        ("# top\n[u.a]\nx = 1\n", "u.a", "# top\n"),
        ("[u.a]\nx = 1\n# about b\n[u.b]\n", "u.a", "# about b\n[u.b]\n"),
    ],
)
def test_removal_works_in_every_notation(before: str, gone: str, after: str) -> None:
    assert remove(before, tuple(gone.split("."))) == after


def test_tables_of_one_kind_with_others_in_between_are_edited_where_they_stand() -> None:
    text = "[u.a]\nx = 1\n\n# about p\n[p]\n\n# about b\n[u.b]\ny = 1\n# about z\n[z]\n"
    assert _set(text, "u.b.y", "2") == text.replace("y = 1", "y = 2")
    assert _set(text, "u.a.new", "2") == text.replace("x = 1\n", "x = 1\nnew = 2\n")
    assert _set(text, "u.b.new", "2") == text.replace("y = 1\n", "y = 1\nnew = 2\n")
    assert _set(text, "p.new", "2") == text.replace("[p]\n", "[p]\nnew = 2\n")
    assert remove(text, ("u", "a")) == text.replace("[u.a]\nx = 1\n\n", "")
    assert remove(text, ("u", "b")) == text.replace("# about b\n[u.b]\ny = 1\n", "")
    assert remove(text, ("p",)) == text.replace("# about p\n[p]\n\n", "")


def test_a_table_that_only_its_tables_name_gets_no_second_header() -> None:
    assert _set("[u.a.t]\nx = 1\n", "u.a.y", "2") == "[u.a.t]\nx = 1\n\n[u.a]\ny = 2\n"
    assert _set("[u]\na.x = 1\n[u.b]\n", "u.a.y", "2") == "[u]\na.x = 1\na.y = 2\n[u.b]\n"
    assert _set("a.x = 1\n[a.b]\ny = 1\n", "a.b.z", "2") == "a.x = 1\n[a.b]\ny = 1\nz = 2\n"


def test_a_key_is_found_however_it_is_quoted_and_spaced() -> None:
    text = "[ 'u' . \"a b\" ] # h\n  \"t.x\" . 'y'   =\t1 # c\n"
    assert set_value(text, ("u", "a b", "t.x", "y"), "2") == text.replace("\t1", "\t2")
    assert set_value(text, ("u", "a b", "t.x", "z"), "2") == text + '  "t.x".z = 2\n'


def test_a_new_key_is_as_far_to_the_right_as_the_key_above() -> None:
    assert _set("[a]\n    b = 1\n", "a.c", "2") == "[a]\n    b = 1\n    c = 2\n"


def test_the_last_lines_of_a_file_may_lack_their_ends() -> None:
    assert _set("[a]\n  ", "b.c", "2") == "[a]\n  \n[b]\nc = 2\n"
    assert _set("[a]", "a.b", "2") == "[a]\nb = 2\n"
    assert remove("[a]\nb = 1\n[u]\nc = 1 # d", ("u",)) == "[a]\nb = 1\n"


def test_free_comments_of_a_removed_table_stay() -> None:
    text = "[a]\n[u]\nx = 1\n# end of u\n\n# a chapter\n\n# about z\n[z]\n"
    assert remove(text, ("u",)) == "[a]\n\n# a chapter\n\n# about z\n[z]\n"


def test_the_space_between_the_items_of_a_changed_inline_table_becomes_even() -> None:
    assert _set("p = {a='1' , b.c=2}\n", "p.d", "3") == "p = {a='1', b.c=2, d = 3}\n"
    assert _set("p = { b.c = 1, b.d = 2 }\n", "p.b", "{}") == "p = { b = {} }\n"
    assert remove("p = { b.c = 1, b.d = 2 }\n", ("p", "b", "c")) == "p = { b.d = 2 }\n"


@pytest.mark.parametrize(
    "text",
    [
        "[[a]]\n[b]\n[[a]]\n",  # tomlkit puts the parts of an array next to each other
        "[ a ]\n[[a.b]]\n",  # and writes an array's header with the spaces of another one
        "d = { when = 2000-01-01 }\n",  # and loses the space behind a date
    ],
)
def test_what_would_be_written_in_another_way_is_refused(text: str) -> None:
    tomllib.loads(text)
    for edit in (
        lambda: _set(text, "z.x", "1"),
        lambda: append_table(text, ("z",), {}),
        lambda: remove(text, ("b",)),
    ):
        with pytest.raises(UnusualLayoutError):
            edit()


def test_the_editor_is_loaded_without_tomlkit() -> None:
    program = "import sys, config.edit; print('tomlkit' in sys.modules)"
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.strip() == "False"
