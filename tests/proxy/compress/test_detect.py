from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.compress.detect import detect
from proxy.compress.model import ContentType

CASES = {
    ContentType.JSON_OBJECT: ['{"a": 1}', ' \n{"a": NaN}', '{"a": "\ud800"}', '{"a": 1e999}'],
    ContentType.JSON_ARRAY: ["[1, 2]", "[]", "[" * 10_000 + "]" * 10_000],
    ContentType.JSON_LINES: ['{"a": 1}\n{"a": 2}\n', '{"a": 1}\r\n\r\n{"b": [2]}'],
    ContentType.MARKDOWN: [
        "# Title\n\nSome text.\n\n## Part\n\n- a\n- b\n",
        "Text\n\n```\ncode\n```\n\nMore `code` and [a](http://x) and [b](http://y).\n",
        "Title\n=====\n\nText of it.\n\nNext\n----\n\nMore text.\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n**bold**\n",
    ],
    ContentType.HTML: [
        "<!DOCTYPE html><html><body><p>x</p></body></html>",
        "<div><p>Hello</p><ul><li>a</li></ul></div>",
    ],
    ContentType.XML: [
        '<?xml version="1.0"?><a><b>1</b></a>',
        "<project><modelVersion>4</modelVersion></project>",
    ],
    ContentType.CODE: [
        "import os\n\n\ndef main():\n    return os.name\n\n\nif __name__ == '__main__':\n    main()\n",
        'import React from "react";\nexport function A() {\n  return <div>hi</div>;\n}\n',
        "#include <vector>\nint main() {\n  std::vector<int> v;\n  return 0;\n}\n",
        "CREATE TABLE x (\n  id INT,\n  name TEXT\n);\nSELECT * FROM x;\n",
    ],
    ContentType.DIFF: [
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+b\n c\n",
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
    ],
    ContentType.TABLE: [
        "a,b,c\n1,2,3\n4,5,6\n",
        "a\tb\n1\t2\n3\t4\n",
        'name;note\n"x;y";1\nz;2\nw;3\n',
    ],
    ContentType.LOG: [
        "2024-01-01 10:00:00 INFO a\n2024-01-01 10:00:01 WARN b\n2024-01-01 10:00:02 ERROR c\n",
        "Jan  1 10:00:00 host sshd[1]: hi\n" * 4,
        '127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.0" 200 2326\n' * 4,
        "[INFO] started\n[WARN] slow\n[INFO] done\n",
    ],
    ContentType.TRACE: [
        'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    x()\nKeyError: 1\n',
        "java.lang.NullPointerException: x\n\tat com.a.B.c(B.java:1)\n\tat com.a.B.d(B.java:2)\n",
        "TypeError: x is not a function\n    at foo (/a/b.js:1:2)\n    at bar (/a/c.js:3:4)\n",
        "panic: oh\n\ngoroutine 1 [running]:\nmain.f(...)\n\t/tmp/x.go:3\nmain.main()\n\t/tmp/x.go:8\n",
        "thread 'main' panicked at src/main.rs:2:5:\nboom\n   0: 0x55 - std::x\n   1: 0x56 - y\n",
        "System.Exception: x\n   at A.B.C(Int32 d) in c.cs:line 3\n   at A.B.D()\n",
    ],
    ContentType.PROSE: [
        "",
        "This is a sentence. And this is another one, with more words in it than the first.",
        "东京是日本的首都。人口很多。",
        "ประเทศไทยมีเมืองหลวงคือกรุงเทพมหานคร และมีประชากรจำนวนมาก",
    ],
    ContentType.MIXED: [
        "usage: cp <source> <dest>\n\noptions:\n  -h  help\n  -v  verbose\n",
        '{"a": 1',
        "[see the note] of this",
    ],
}


@pytest.mark.parametrize(
    ("expected", "text"), [(kind, text) for kind, texts in CASES.items() for text in texts]
)
def test_a_text_is_recognised(expected: ContentType, text: str) -> None:
    assert detect(text) is expected


def test_a_document_about_json_is_not_json() -> None:
    assert detect('{"a": 1} is what the server answered.\n') is not ContentType.JSON_OBJECT


def test_markdown_with_a_diff_in_a_fence_is_markdown() -> None:
    text = "# Change\n\nSee:\n\n```diff\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n```\n"

    assert detect(text) is ContentType.MARKDOWN


@given(st.text())
def test_any_text_is_something(text: str) -> None:
    assert detect(text) is detect(text)


@given(st.text(alphabet='{}[]",: \n\\a1'))
def test_any_almost_json_is_judged_without_an_error(text: str) -> None:
    detect("{" + text)
    detect("[" + text + "]")


@pytest.mark.parametrize(
    "piece", ["a", " ", "\n", "<a ", '"', "|", "#", "[", "{", "at x(", "a.b=", "-"]
)
def test_a_megabyte_of_one_piece_is_no_bomb(piece: str) -> None:
    detect(piece * (1_000_000 // len(piece)))


@pytest.mark.parametrize("begin", ["", "--", "|", "---|", "at ", "<a ", ";", ")", "a = ", "Jan"])
def test_a_line_full_of_spaces_is_no_bomb(begin: str) -> None:
    detect("one\n" + begin + " " * 200_000 + "x\ntwo\n")


def test_hindi_is_prose() -> None:
    text = (
        "\u092f\u0939 \u092a\u0939\u0932\u093e \u0935\u093e\u0915\u094d\u092f \u0939\u0948\u0964 "
        * 5
    )

    assert detect(text) is ContentType.PROSE
