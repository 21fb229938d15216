"""Find credentials that have a recognisable format: a provider's prefix, a JWT, a PEM block, a URL.

Each format has a literal by which it is searched and a pattern that is tried there. The patterns
cannot be made slow: a run of characters is read once, since a format does not begin inside a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from config.secret_text import Span, is_dummy, is_placeholder

_WORD = "A-Za-z0-9"
_TOKEN = "A-Za-z0-9_-"

_PREFIXES: tuple[tuple[str, str, int], ...] = (
    # Each: literal prefix, characters of the rest, least number of them.
    *((f"gh{kind}_", _WORD, 30) for kind in "pousr"),  # GitHub
    ("github_pat_", f"{_WORD}_", 22),
    *((f"gl{kind}-", _TOKEN, 20) for kind in ("pat", "dt", "rt", "ptt", "soat")),  # GitLab
    ("sk-", _TOKEN, 20),  # OpenAI, Anthropic, OpenRouter, DeepSeek
    ("gsk_", _WORD, 32),  # Groq
    ("xai-", _WORD, 32),
    ("pplx-", _WORD, 32),
    ("hf_", _WORD, 30),  # Hugging Face
    ("r8_", _WORD, 30),  # Replicate
    *((f"xox{kind}-", _TOKEN, 10) for kind in "abeprs"),  # Slack
    ("xapp-", _TOKEN, 20),
    ("AIza", _TOKEN, 35),  # Google
    ("ya29.", _TOKEN, 20),
    ("GOCSPX-", _TOKEN, 20),
    *(
        (f"{kind}_{mode}_", _WORD, 16) for kind in ("sk", "rk") for mode in ("live", "test")
    ),  # Stripe
    ("whsec_", f"{_WORD}+/", 24),
    ("npm_", _WORD, 36),
    ("pypi-", _TOKEN, 50),
    ("dckr_pat_", _TOKEN, 20),  # Docker
    *((f"do{kind}_v1_", _WORD, 40) for kind in "por"),  # DigitalOcean
    *((f"shp{kind}_", _WORD, 32) for kind in ("at", "ss", "ca", "pa")),  # Shopify
    ("hvs.", _TOKEN, 24),  # HashiCorp Vault
    ("glsa_", f"{_WORD}_", 32),  # Grafana
    ("sntrys_", f"{_WORD}_+/=", 32),  # Sentry
    ("lin_api_", _WORD, 32),  # Linear
    ("ntn_", _WORD, 40),  # Notion
    ("figd_", _TOKEN, 32),  # Figma
    ("PMAK-", _TOKEN, 40),  # Postman
    ("sbp_", _WORD, 40),  # Supabase
    ("dapi", "a-f0-9", 32),  # Databricks
    ("tskey-", _TOKEN, 20),  # Tailscale
    ("AGE-SECRET-KEY-1", _WORD, 50),
)

_NOT_IN_WORD = f"(?<![{_WORD}])"

_PEM = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?!-----)[A-Za-z0-9+/=\s\\:,._-]){16,}+(?:-----END [A-Z0-9 ]{0,50}-----)?"
)

_SHAPES: tuple[tuple[str, str], ...] = (
    # Each: literal, pattern that begins with it. A group is the secret, else all of it is.
    *((kind, rf"{_NOT_IN_WORD}{kind}[A-Z0-9]{{16}}(?![A-Z0-9])") for kind in ("AKIA", "ASIA")),
    ("eyJ", rf"(?<![{_TOKEN}])eyJ[{_TOKEN}]{{8,}}+\.[{_TOKEN}]{{8,}}+(?:\.[{_TOKEN}]*+)?"),
    ("SG.", rf"{_NOT_IN_WORD}SG\.[{_TOKEN}]{{16,}}+\.[{_TOKEN}]{{16,}}+"),
    ("hooks.slack.com/", r"hooks\.slack\.com/\w{1,20}/(T\w{1,64}/B\w{1,64}/\w{8,128})"),
    ("/api/webhooks/", rf"/api/webhooks/(\d{{1,24}}/[{_TOKEN}]{{40,128}})"),
    (":AA", rf":(AA[{_TOKEN}]{{33}})(?![{_TOKEN}])"),  # Telegram
    ("sig=", r"(?<=[?&;])sig=([A-Za-z0-9%/+=]{20,})"),  # Azure SAS
    ("-----BEGIN ", _PEM),
    ("://", r"""://[^\s/?#:@"'<>\\`]{0,128}:([^\s/?#"'<>\\`]{1,256})@"""),
)

_BEARER = rf"(?i:bearer)(?:[ \t]|%20|\+){{1,8}}+([.~+/={_TOKEN}]{{16,}})"

_FORMATS: tuple[tuple[str, str], ...] = (
    *(
        (prefix, f"{_NOT_IN_WORD}{re.escape(prefix)}[{characters}]{{{least},}}+")
        for prefix, characters, least in _PREFIXES
    ),
    *_SHAPES,
    *((literal, _BEARER) for literal in ("Bearer ", "bearer ", "BEARER ", "Bearer%20")),
)

_NEED_A_DIGIT = frozenset({"sk-", "tskey-", "Bearer ", "bearer ", "BEARER ", "Bearer%20"})
"""Their rest is as loose as hyphenated words, so a digit must show that it is random."""


def format_spans(text: str) -> Iterator[Span]:
    """Every stretch of ``text`` that has a credential's format."""
    return (span for _, span in format_hits(text))


def format_hits(text: str) -> Iterator[tuple[str, Span]]:
    """The same, each with the literal by which its format was found, which is no secret."""
    for literal, pattern in _FORMATS:
        position = text.find(literal)
        while position >= 0:
            end = position + len(literal)
            match = _compiled(pattern).match(text, position)
            if match is not None:
                end = match.end()
                span = match.span(match.lastindex or 0)
                if _is_secret(literal, text[span[0] : span[1]]):
                    yield literal, span
            position = text.find(literal, end)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compiled when its literal is first met: all of them together would cost 10 ms at each start."""
    return re.compile(pattern)


def _is_secret(literal: str, value: str) -> bool:
    if literal in _NEED_A_DIGIT and not any(character.isdigit() for character in value):
        return False
    if literal == "://":
        return not is_placeholder(value)
    return not is_dummy(value)
