"""Keys are found where they stand, in every notation of TOML."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from config.locate import Position, locate_keys

_TEXT = '''\
# comment with [brackets] and = signs
top = "a # no comment"
long = """
[not.a.table]
x = 1 \\""" "" """
raw = \'\'\'
y = 2\'\'\'
[a]
  b.c = [ # comment ]
    "]", { d = 1, "e f" = { g = \'}\' } },
  ]
when = 2000-01-01 10:00:00 # c
[ "q.r" . 's' ]
last = {}
[[many]]
n = 1
[[many]]
n = 2'''


def test_every_notation_of_a_key_is_found() -> None:
    found = locate_keys(_TEXT)
    assert found[("top",)] == Position(2, 1)
    assert found[("long",)] == Position(3, 1)
    assert found[("raw",)] == Position(6, 1)
    assert found[("a",)] == Position(8, 1)
    assert found[("a", "b")] == found[("a", "b", "c")] == Position(9, 3)
    assert found[("a", "b", "c", "d")] == Position(10, 12)
    assert found[("a", "b", "c", "e f", "g")] == Position(10, 29)
    assert found[("a", "when")] == Position(12, 1)
    assert found[("q.r", "s")] == Position(13, 1)
    assert found[("q.r", "s", "last")] == Position(14, 1)
    assert found[("many", "n")] == Position(16, 1)
    assert ("not", "a", "table") not in found
    assert ("y",) not in found


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="ab.=[]{}'\"\\#, \n\r\t1", max_size=40))
def test_broken_text_never_crashes_the_scanner(text: str) -> None:
    lines = text.split("\n")
    for position in locate_keys(text).values():
        assert 1 <= position.line <= len(lines)
        assert 1 <= position.column <= len(lines[position.line - 1])
