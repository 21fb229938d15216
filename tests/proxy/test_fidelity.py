"""Texts that other proxies damage: untouched within the budget, recovered exactly over it."""

from __future__ import annotations

import json

import pytest

from config.schema import Compression
from proxy.answer import key_of_bytes
from proxy.compress.model import CharacterGauge
from proxy.jobs import Fetched, ReadJob, ReduceJob
from proxy.pipeline import reduce_answer, run
from tests.bench.quality.product import WIDE, Product, texts_of

SMALL = {
    "code with comparisons and generics": "if (a<b && c>d) { std::vector<int> v; }",
    "CLI help": "Usage:\n  cp <source> <dest>\n  cp [-r] <source>... <directory>\n",
    "XML": (
        '<?xml version="1.0"?>\n<project>\n  <groupId>org.x</groupId>\n'
        "  <version>1.2</version>\n</project>\n"
    ),
    "JSX diff": (
        "--- a/App.jsx\n+++ b/App.jsx\n@@ -1,3 +1,3 @@\n"
        "-  <Button onClick={go}>Go</Button>\n+  <Button onClick={stop}>Stop</Button>\n"
        "   <p>{count < 3 && <b>few</b>}</p>\n"
    ),
    "link list": "".join(f"- [Result {n}](https://example.org/r/{n})\n" for n in range(12)),
    "repeated lines": "12:00 retry\n12:00 retry\n\nsame paragraph\n\nsame paragraph\n",
    "Windows line ends": "first\r\nsecond\r\n\r\n\r\n\r\nthird\r\n",
    "indented first line": "    return x\n  done   \n",
    "trailing spaces and blank lines": "  a  \n\n\n\n\nb\t\n  ",
    "HTML fragment": "<h2>signal</h2><p>Buffer",
    "markup in JSON": '{"html": "<b>bold</b>", "n": 1.0, "u": "\\u00e9"}',
    "fenced code": "Try:\n\n```html\n<script>run()</script>\n<!-- keep -->\n```\n",
    "bidi, emoji, control characters": "a\u202eb \U0001f600 \u200bx\x1b[31mred\x1b[0m \x07",
    "lone surrogate": "cut \ud83d here",
    "empty": "",
}


def _xml() -> str:
    dependencies = "".join(
        f"  <dependency><groupId>org.lib{n}</groupId><version>{n}.{n * 3}</version></dependency>\n"
        for n in range(160)
    )
    return f'<?xml version="1.0"?>\n<project>\n{dependencies}</project>\n'


LARGE = {
    "code with comparisons and generics": "".join(
        f"template<typename T{n}> bool less{n}(T{n} a, T{n} b) {{\n"
        f"    if (a<b && b>a) {{ std::vector<int> v{n}; return v{n}.size()<{n}; }}\n"
        "    return false;\n}\n\n"
        for n in range(90)
    ),
    "CLI help": "Usage: tool <command> [<args>...]\n\n"
    + "".join(
        f"  copy{n} <source{n}> <dest{n}>   Copies <n> files to <dest{n}>\n" for n in range(200)
    ),
    "XML": _xml(),
    "JSX diff": "".join(
        f"diff --git a/src/C{n}.jsx b/src/C{n}.jsx\n--- a/src/C{n}.jsx\n+++ b/src/C{n}.jsx\n"
        f"@@ -{n + 1},2 +{n + 1},2 @@\n-  <Button onClick={{go{n}}}>Go</Button>\n"
        f"+  <Button onClick={{stop{n}}}>Stop</Button>\n   {{count < {n} && <b>few</b>}}\n"
        for n in range(70)
    ),
    "link list": "".join(
        f"- [Result {n}](https://example.org/r/{n}?q=<{n}>)\n" for n in range(300)
    ),
    "repeated lines": "2026-01-02 10:00:00 WARN retrying\n" * 400
    + "2026-01-02 10:00:01 INFO done\n",
    "repeated paragraphs": "The same paragraph.\nOnce more.\n\n" * 400,
    "Windows line ends": "".join(
        f"Line {n} ends as Windows does.   \r\n\r\n\r\n\r\n" for n in range(300)
    ),
    "HTML document": "<!DOCTYPE html>\r\n<html><head><script>var a = '<p>';</script></head><body>"
    + "".join(f"<h2>Part {n}</h2><p>Text  of &lt;part&gt; {n}.</p>\n" for n in range(250))
    + "</body></html>\n",
    "terminal output": "".join(
        f"\x1b[32mPASS\x1b[0m test_{n}   \r\x1b[Kchecking {n}\n" for n in range(300)
    ),
    "JSON with odd numbers": json.dumps(
        {"rows": [{"id": n, "html": f"<b>{n}</b>", "ratio": "r"} for n in range(300)]}, indent=1
    ).replace('"r"', "1.50e+2"),
    "JSON lines": "".join(json.dumps({"n": n, "tag": f"<i>{n}</i>"}) + "\r\n" for n in range(300)),
    "table": "id\tname\tremark\n" + "".join(f"{n}\tname {n}\t  padded {n}  \n" for n in range(300)),
    "indented first line": "        deep:\n"
    + "".join(f"      - item <{n}>   \n" for n in range(400)),
    "one long line": "word <tag> & more; " * 800,
    "lone surrogates": "".join(f"broken \ud83d number {n}\n" for n in range(400)),
    "no spaces": "x<y>" * 4_000,
}
assert all(len(text) > 6_000 for text in LARGE.values())

STRATEGIES = [strategy.value for strategy in Compression if strategy is not Compression.NONE]
BUDGETS = (400, 1_000, 4_000)
"""Characters; 400 is the least that can be configured."""


def _result(text: str) -> bytes:
    return json.dumps({"content": [{"type": "text", "text": text}]}).encode()


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", SMALL)
def test_within_the_budget_nothing_is_changed(name: str, strategy: str) -> None:
    text = SMALL[name]
    job = ReduceJob(_result(text), strategy, CharacterGauge().size(text))
    reduced = reduce_answer(job, CharacterGauge())
    assert (reduced.body, reduced.key, reduced.fault) == (b"", "", "")


@pytest.mark.parametrize("name", LARGE)
def test_a_large_text_that_just_fits_is_not_changed_either(name: str) -> None:
    text = LARGE[name]
    job = ReduceJob(_result(text), "auto", CharacterGauge().size(text))
    assert reduce_answer(job, CharacterGauge()).body == b""


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", LARGE)
def test_over_the_budget_it_fits_and_comes_back_exactly(
    name: str, strategy: str, budget: int
) -> None:
    product = Product(CharacterGauge())
    output = product.reduce(LARGE[name], "part 17", budget, strategy)
    assert output.fault == ""
    assert output.tokens <= budget
    assert product.recovers(output) == ""


@pytest.mark.parametrize("budget", [0, 40, 150])
@pytest.mark.parametrize("name", LARGE)
def test_where_no_handle_fits_into_the_text_the_result_names_it_beside(
    name: str, budget: int
) -> None:
    output = Product(CharacterGauge()).reduce(LARGE[name], "", budget)
    assert output.tokens <= budget
    about = json.loads(output.body)["_meta"]["mms"]
    assert about["key"] == key_of_bytes(output.original) == output.parts[0][0]


@pytest.mark.parametrize("name", LARGE)
def test_the_whole_result_can_be_read_back_by_its_own_key(name: str) -> None:
    body = _result(LARGE[name])
    reduced = reduce_answer(ReduceJob(body, "auto", 1_000), CharacterGauge())
    job = ReadJob(body, "", reduced.key, 0, len(body), WIDE)
    fetched = run(job, CharacterGauge())
    assert isinstance(fetched, Fetched)
    assert fetched.text.startswith(body.decode()[: fetched.end])
    assert fetched.end == fetched.total == len(body)


@pytest.mark.parametrize("name", LARGE)
def test_what_is_sent_is_a_valid_result_with_one_text(name: str) -> None:
    output = Product(CharacterGauge()).reduce(LARGE[name], "", 1_000)
    assert len(texts_of(output.body)) == 1
