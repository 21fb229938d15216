"""Redaction: every invented secret goes, look-alikes stay, twice is once, and no text makes it slow.

All credentials are made up at run time, so that no scanner finds one in this file.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.secret_text import MARK
from proxy.redact import Redactor

LETTERS = "abcdefghijklmnopqrstuvwxyz"
ALNUM = LETTERS + LETTERS.upper() + "0123456789"
HEX = "0123456789abcdef"
DASHES = "-" * 5

redact = Redactor().redact


def pick(rng: random.Random, alphabet: str, count: int) -> str:
    return "".join(rng.choice(alphabet) for _ in range(count))


def secrets(seed: int) -> dict[str, tuple[str, str]]:
    """By kind: a text with an invented secret, and the part of it that must not be seen."""
    rng = random.Random(seed)

    def whole(prefix: tuple[str, ...], alphabet: str, count: int) -> tuple[str, str]:
        value = "".join(prefix) + pick(rng, alphabet, count - 2) + "A7"
        return value, value

    def segment(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    jwt = ".".join((segment({"alg": "none"}), segment({"sub": seed}), pick(rng, ALNUM, 43)))
    body = [pick(rng, ALNUM + "+/", 64) for _ in range(6)]
    pem = "\n".join(
        (f"{DASHES}BEGIN RSA PRIVATE KEY{DASHES}", *body, f"{DASHES}END RSA PRIVATE KEY{DASHES}")
    )
    url_password, bearer, aws = (
        pick(rng, ALNUM, 16),
        pick(rng, ALNUM, 39) + "7",
        pick(rng, ALNUM, 40),
    )
    password, plain = pick(rng, ALNUM + "!$%", 14), pick(rng, LETTERS, 12)
    return {
        "github": whole(("gh", "p_"), ALNUM, 36),
        "github fine": whole(("github", "_pat_"), ALNUM, 60),
        "gitlab": whole(("gl", "pat-"), ALNUM, 20),
        "aws id": whole(("AK", "IA"), LETTERS.upper() + "234567", 16),
        "openai": whole(("sk", "-proj-"), ALNUM, 48),
        "anthropic": whole(("sk", "-ant-api03-"), ALNUM + "-_", 93),
        "slack": whole(("xo", "xb-"), ALNUM, 50),
        "google": whole(("AI", "za"), ALNUM, 35),
        "stripe": whole(("sk", "_live_"), ALNUM, 24),
        "npm": whole(("np", "m_"), ALNUM, 36),
        "pypi": whole(("py", "pi-"), ALNUM, 80),
        "hugging face": whole(("h", "f_"), ALNUM, 34),
        "sendgrid": (value := f"S{'G'}.{pick(rng, ALNUM, 22)}.{pick(rng, ALNUM, 43)}", value),
        "slack hook": (
            f"https://hooks.slack.com/services/T0AB/B0CD/{(hook := pick(rng, ALNUM, 24))}",
            hook,
        ),
        "jwt": (jwt, jwt),
        "pem": (pem, body[3]),
        "url": (f"postgresql://app:{url_password}@db.internal:5432/prod", url_password),
        "bearer header": (f"Authorization: Bearer {bearer}", bearer),
        "bearer": (f"curl -H 'x: Bearer {bearer}'", bearer),
        "aws key": (f"aws_secret_access_key: {aws}", aws),
        "password": (f'password = "{password}"', password),
        "ini": (f"db_password = {plain}", plain),
        "shell": (f"export API_KEY={plain}\n", plain),
        "yaml": (f"database:\n  password: {plain}\n", plain),
        "query": (f"https://x.example/cb?access_token={plain}&state=1", plain),
        "cookie": (f"Set-Cookie: sid={plain}; Path=/", plain),
        "option": (f"mysql --password {plain} --host x", plain),
        "xml": (f"<password>{plain}</password>", plain),
        "json name": (json.dumps({"clientSecret": plain}), plain),
        "json number": ('{"token": 918273645}', "918273645"),
        "json list": (json.dumps({"api_keys": ["x1", plain]}), plain),
        "escaped": (json.dumps({"password": f'{plain}"\\{plain}'}), plain),
    }


KINDS = sorted(secrets(0))

FORMS: dict[str, Callable[[str], str]] = {
    "alone": lambda text: text,
    "in a line": lambda text: f"first\n{text}\nlast",
    "in JSON": lambda text: json.dumps({"content": [{"type": "text", "text": text}]}),
    "in JSON in JSON": lambda text: json.dumps({"text": json.dumps({"text": text})}, indent=2),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", sorted(FORMS))
def test_every_kind_of_secret_is_hidden(kind: str, form: str) -> None:
    for seed in range(8):
        text, hidden = secrets(seed)[kind]
        redacted = redact(FORMS[form](text))
        assert hidden not in redacted
        assert MARK in redacted
        assert redact(redacted) == redacted


DECOYS = (
    "commit " + hashlib.sha1(b"x").hexdigest(),
    "sha256:" + hashlib.sha256(b"x").hexdigest(),
    "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
    "integrity sha512-" + base64.b64encode(hashlib.sha512(b"x").digest()).decode(),
    "password: <your password here>",
    "api_key=YOUR_API_KEY",
    "token=${TOKEN}",
    'password = "$DB_PASSWORD"',
    "secret: xxxxxxxx",
    '"token": "{{ token }}"',
    "password: ********",
    '{"max_tokens": 4096, "nextPageToken": "abc123def456", "total_tokens": 17}',
    '{"password": null, "token": true, "secret": ""}',
    "def login(password: str, token: str | None = None) -> None:",
    "login(password=password, token=self.token)",
    "token = next(stream)",
    'if password == "":',
    "The secret: be patient. A token: the unit of text.",
    "gh" + "p_" + "x" * 36,
    "AK" + "IA" + "IOSFODNN7EXAMPLE",
    "task-force-of-the-northern-region risk-free-and-well-known-method",
    "http://localhost:8080/path and git@github.com:owner/name.git",
    "https://user:${PASSWORD}@host/",
    "PWD=/home/someone",
    '{"token": {"type": "string"}}',
)


@pytest.mark.parametrize("text", DECOYS)
def test_look_alikes_stay(text: str) -> None:
    assert redact(text) == text
    assert redact(json.dumps(text)) == json.dumps(text)


def test_what_surrounds_a_secret_stays() -> None:
    assert (
        redact('{"user": "ann", "password": "p\\"w", "id": 7}')
        == f'{{"user": "ann", "password": "{MARK}", "id": 7}}'
    )
    assert redact("redis://:abcdef@cache:6379/0") == f"redis://:{MARK}@cache:6379/0"


def test_a_value_cut_in_the_middle_is_hidden_to_the_end() -> None:
    assert redact('{"password": "abc def') == f'{{"password": "{MARK}'


def test_an_unclosed_quote_hides_no_more_than_its_line() -> None:
    assert redact("token = 'abc\nnext line") == f"token = '{MARK}\nnext line"


def test_known_values_are_hidden_wherever_they_stand() -> None:
    known = Redactor(frozenset({"plain-word", 'with "quotes" ü/é', "plain-word-longer", "short"}))
    assert known.redact("a plain-word-longer b plain-word") == f"a {MARK} b {MARK}"
    assert "quotes" not in known.redact(json.dumps({"x": 'with "quotes" ü/é'}))
    assert "quotes" not in known.redact(json.dumps({"x": 'with "quotes" ü/é'}, ensure_ascii=False))
    assert "quotes" not in known.redact("?q=with%20%22quotes%22%20%C3%BC%2F%C3%A9")
    assert known.redact("a short word") == "a short word"


@pytest.mark.parametrize("known", ["secret", f"{MARK[2:]}{MARK[0]}", MARK, f"x{MARK[1:]}{MARK[0]}"])
def test_a_known_value_that_looks_like_the_mark_does_no_harm(known: str) -> None:
    redactor = Redactor(frozenset({known}))
    once = redactor.redact(f"password: {known} {known}{known}")
    assert redactor.redact(once) == once
    assert len(once) < 100


PIECES = st.sampled_from(
    [
        *(text for text, _ in secrets(1).values()),
        *DECOYS,
        *("password", "token", "secret", "cookie", "api_key", "authorization", "--", "<", ">"),
        *('"', "'", "`", "\\", '\\"', "=", ":", " ", "\n", "\\n", "[", "]", ",", "://", "@", MARK),
        *("Bearer ", "eyJ", "sk-", "İ", "é", "\ud800", "known-value", "'''", '"""'),
    ]
)


@given(st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=12).map("".join))
def test_any_text_is_redacted_once_and_for_all(text: str) -> None:
    redactor = Redactor(frozenset({"known-value"}))
    once = redactor.redact(text)
    assert redactor.redact(once) == once
    assert "known-value" not in once


@pytest.mark.parametrize(
    "unit",
    [
        "token",
        "token=",
        '"token":"',
        "password='",
        "eyJ",
        "sk-",
        "://a:",
        '"token":["a",',
        "--token ",
    ],
)
def test_time_is_linear_in_hostile_text(unit: str) -> None:
    def seconds(count: int) -> float:
        text = unit * count
        begin = time.thread_time()
        redact(text)
        return time.thread_time() - begin

    small = min(seconds(1_000) for _ in range(3))
    large = seconds(8_000)
    assert large < 8 * small * 5 + 0.05
