"""A document is seen as lines in the order of its text, whatever table tomlkit hangs them to."""

from __future__ import annotations

import tomlkit

from config.toml_lines import LineKind, lines_of

_TEXT = """\
# top
a.b = 1

[u.x] # h
  "k l" . m = [ 1 ] # c
# about y
[u.x.y]

# about p
[p]
[[many]]
n = 1
[u.z]
i = { j = 1 }
"""


def test_lines_come_in_the_order_of_the_text_with_their_paths() -> None:
    seen = [(line.kind.name, ".".join(line.path)) for line in lines_of(tomlkit.parse(_TEXT))]
    assert seen == [
        ("COMMENT", ""),
        ("KEY", "a.b"),
        ("BLANK", ""),
        ("HEADER", "u.x"),
        ("KEY", "u.x.k l.m"),
        ("COMMENT", ""),
        ("HEADER", "u.x.y"),
        ("BLANK", ""),
        ("COMMENT", ""),
        ("HEADER", "p"),
        ("HEADER", "many"),
        ("KEY", "many.n"),
        ("HEADER", "u.z"),
        ("KEY", "u.z.i"),
    ]


def test_a_line_knows_its_section_and_where_the_next_one_goes() -> None:
    document = tomlkit.parse(_TEXT)
    lines = lines_of(document)
    comment = next(n for n, line in enumerate(lines) if line.section == ("u", "x", "y"))
    assert lines[comment - 1].kind is LineKind.COMMENT
    assert lines[comment - 1].section == ("u", "x")
    for line in lines:
        body, at = line.behind()
        body.insert(at, (None, tomlkit.ws("#\n")))
    doubled = [part for line in _TEXT.splitlines() for part in (line, "#")]
    assert document.as_string().splitlines() == doubled
