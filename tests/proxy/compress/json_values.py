"""JSON of every kind for tests, and whether one JSON value is a part of another."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from proxy.compress.notices import MARK

KEYS = st.one_of(
    st.sampled_from(
        ["id", "name", "items", "error", "status", "_mms", "_mms_", "a/b", "a~b", "@x", "#0"]
    ),
    st.just(""),
    st.text(max_size=8),
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=10**25, max_value=10**40),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
    st.text(alphabet=st.sampled_from(list('ab "\\/\n\u00e9\U0001f469@#')), max_size=60),
    st.sampled_from(["@1", "#0", "@@", "#", "ok", "https://example.com/a/b/c/d/e"]),
    st.sampled_from(["x" * 300, "one. two. three. " * 20]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=12),
        st.dictionaries(KEYS, inner, max_size=8),
        st.lists(
            st.fixed_dictionaries(
                {"id": st.integers(0, 99), "name": st.text(max_size=6), "x": SCALARS}
            ),
            min_size=2,
            max_size=20,
        ),
        st.lists(st.fixed_dictionaries({"k": inner, "n": SCALARS}), min_size=2, max_size=9),
        st.tuples(inner, st.integers(2, 6)).map(lambda pair: [pair[0]] * pair[1]),
    ),
    max_leaves=40,
)
"""Any value, often with rows and with parts that repeat."""
CONTAINERS = VALUES.filter(lambda value: isinstance(value, dict | list))
LAYOUTS = st.sampled_from(
    [
        {"separators": (",", ":")},
        {"ensure_ascii": False},
        {"indent": 2},
        {"indent": 1, "ensure_ascii": False},
    ]
)


def write(value: object, layout: dict[str, Any]) -> str:
    """JSON in one of the layouts; lone surrogates are escaped."""
    text = json.dumps(value, **layout)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value)
    return text


def is_part(part: object, whole: object) -> bool:
    """Whether ``part`` is ``whole`` with announced cuts: nothing in it is anything else."""
    if _is_announcement(part):
        return True
    if isinstance(whole, dict):
        if not isinstance(part, dict):
            return False
        keys = [key for key in part if key in whole]
        return (
            all(
                key in whole or (key.startswith("_mms") and _is_announcement(part[key]))
                for key in part
            )
            and keys == [key for key in whole if key in part]
            and all(is_part(part[key], whole[key]) for key in keys)
        )
    if isinstance(whole, list):
        if not isinstance(part, list):
            return False
        rest = iter(whole)
        return all(
            any(is_part(item, other) for other in rest)
            for item in part
            if not _is_announcement(item)
        )
    if isinstance(whole, str):
        return part == whole or (isinstance(part, str) and MARK in part)
    return type(part) is type(whole) and repr(part) == repr(whole)


def _is_announcement(value: object) -> bool:
    return isinstance(value, str) and value.startswith(MARK)


def says_what_is_missing(part: object, whole: object, *, top: bool = True) -> bool:
    """Whether everything that ``part`` lacks is announced beside where it was."""
    if _is_announcement(part):
        return True
    if isinstance(whole, dict) and isinstance(part, dict):
        announced = any(key not in whole for key in part)
        complete = all(key in part for key in whole)
        return (complete or announced) and all(
            says_what_is_missing(part[key], whole[key], top=False) for key in part if key in whole
        )
    if isinstance(whole, list) and isinstance(part, list):
        kept = [item for item in part if not _is_announcement(item)]
        return len(kept) >= len(whole) or len(kept) < len(part)
    return part == whole or (isinstance(part, str) and MARK in part)
