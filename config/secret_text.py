"""What the finders of secrets share: the replacement, and what is a placeholder rather than a secret."""

from __future__ import annotations

import re

MARK = "\u2039secret\u203a"
"""Stands where a secret was: the word in single angle quotation marks."""

Span = tuple[int, int]
"""Start and end of a secret in the text."""

_PLACEHOLDER = re.compile(
    r"""
      [x*•.\-_\#?0]+                        # xxxx, ****, ......
    | <[^<>]*> | \[[^\[\]]*\] | \{\{.*\}\}  # <token>, [token], {{ token }}
    | (?-i:\$(?:[A-Z][A-Z0-9_]*|[a-z_]+)) | \$\{.*\} | \$\(.*\)  # $TOKEN, ${TOKEN}, $(command)
    | %\w+% | %\(\w+\)s                     # %TOKEN%, %(token)s
    | your\b.* | your[_-].*                 # your password here, YOUR_API_KEY
    | my[_-](?:password|secret|token|api[_-]?key)
    | (?:change|replace)[_-]?(?:me|this) | placeholder | redacted | example | dummy | todo | tbd
    | none | null | nil | true | false | undefined | n/a | required | optional | hidden
    | str | string | int | number | bool | boolean | bytes | any | object | text | password | token
    | secret
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_TELLS = ("example", "placeholder", "your_", "your-", "xxxx")


def is_placeholder(value: str) -> bool:
    """``value`` stands for a secret and is none."""
    value = value.strip()
    return not value or value == MARK or _PLACEHOLDER.fullmatch(value) is not None


def is_dummy(credential: str) -> bool:
    """A string in a credential's format that a document uses as an example."""
    low = credential.lower()
    return len(set(low)) <= 8 or any(tell in low for tell in _TELLS)


def lowered(text: str) -> str:
    """Lower case of the same length (one character's lower case has two)."""
    return text.replace("\u0130", "I").lower()
