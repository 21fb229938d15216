"""What in the settings may be secret: how it is shown, and which texts others must redact.

Shown values keep names and shape, so that a person recognises the line. A value that only might be
secret is hidden: showing it cannot be undone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote, unquote_plus, urlsplit, urlunsplit

from config.keys import Key, Kind
from config.schema import Settings, UpstreamSettings
from config.toml_text import KeyPath, toml_value

SECRET_MARK = "‹secret›"  # noqa: RUF001  # marks that no shell, TOML or URL gives a meaning
SHORTEST_SECRET = 6
"""Characters. Redacting shorter texts would riddle every screen."""

_SECRET_NAME = re.compile(
    r"(?i)(token|secret|passw|pwd|credential|bearer|authorization|cookie|signature|session"
    r"|(?:^|[_.-])(?:key|auth|pat|pass|sig)(?:$|[_.-])|apikey|api[_-]?key|access[_-]?key)"
)
_SECRET_SHAPE = re.compile(
    r"(?:gh[pousr]_|github_pat_|glpat-|sk-|pk_|sk_|rk_|xox[abposr]-|AKIA|ASIA|AIza|ya29\.|eyJ|npm_"
    r"|pypi-|hf_|dop_v1_|shpat_|lin_api_|ntn_|secret_)[A-Za-z0-9_./+=-]{8,}"
)
_RANDOM = re.compile(r"[A-Za-z0-9+_=-]{24,}\Z")
_PAIR = re.compile(r"(-{0,2}[A-Za-z_][\w-]*)(=|: ?)(?!//)(.+)\Z", re.DOTALL)
_HARMLESS_VALUE = re.compile(r"(?:[~.]{0,2}/[^\s]*|[0-9]{1,5}|true|false)\Z", re.IGNORECASE)
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s\"']+")
_HARMLESS_HEADERS = frozenset(
    {
        "accept",
        "accept-encoding",
        "accept-language",
        "content-type",
        "mcp-protocol-version",
        "user-agent",
    }
)
_SCHEMES = frozenset({"bearer", "basic", "token", "digest", "apikey"})


def shown_value(path: KeyPath, key: Key, value: Any) -> str:
    """The value as TOML text with every secret replaced by `SECRET_MARK`."""
    if key.secret:
        if isinstance(value, Mapping):
            return toml_value(dict.fromkeys(value, SECRET_MARK))  # pyright: ignore[reportUnknownArgumentType]  # the checked entries
        return toml_value(SECRET_MARK) if value else toml_value(value)
    if path == ("tracing", "endpoint") and isinstance(value, str):
        return toml_value(shown_url(value))
    if path[:1] == ("upstreams",):
        if key.name == "url" and isinstance(value, str):
            return toml_value(shown_url(value))
        if key.kind is Kind.TEXTS:
            return toml_value(shown_arguments(value))
    return toml_value(value)


def shown_target(upstream: UpstreamSettings) -> str:
    """The command line or the address of an upstream on one line, for people."""
    if upstream.url:
        return shown_url(upstream.url)
    import shlex

    # The mark has no meaning to a shell, so quotes around it would only disturb.
    words = (upstream.command, *shown_arguments(upstream.args))
    return " ".join(word if SECRET_MARK in word else shlex.quote(word) for word in words)


def shown_url(url: str) -> str:
    """Without user, password and the values of the query."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return SECRET_MARK
    host = parts.netloc.rpartition("@")[2]
    netloc = f"{SECRET_MARK}@{host}" if "@" in parts.netloc else host
    pairs = (item.partition("=") for item in parts.query.split("&") if item)
    query = "&".join(f"{name}={SECRET_MARK}" if sign else SECRET_MARK for name, sign, _ in pairs)
    path = "/".join(SECRET_MARK if _looks_secret(part) else part for part in parts.path.split("/"))
    return urlunsplit((parts.scheme, netloc, path, query, SECRET_MARK if parts.fragment else ""))


def shown_arguments(args: tuple[str, ...]) -> tuple[str, ...]:
    """Arguments with what looks like a token, or follows an option that names one, hidden."""
    return tuple(shown for shown, _ in _judged(args))


def known_secrets(
    settings: Settings, environ: Mapping[str, str], variables: frozenset[str] = frozenset()
) -> frozenset[str]:
    """Texts of at least `SHORTEST_SECRET` characters that must not appear anywhere.

    Values of upstreams' and the external memory's variables, of headers, the part behind
    ``Bearer``, passwords and query values of addresses, token-like arguments, and the values of
    ``variables`` (those that the settings refer to) as far as their name or value suggests a
    secret. Paths, plain numbers and headers like ``Accept`` are left out: redacting those would
    hide half of every log.
    """
    found: set[str] = set()
    for name, value in settings.tracing.headers.items():
        if name.lower() not in _HARMLESS_HEADERS:
            found.update(_parts(value))
    found.update(_in_url(settings.tracing.endpoint))
    for value in settings.surfacing.ltm.env.values():
        found.update(_parts(value))
    for upstream in settings.upstreams.values():
        for value in upstream.env.values():
            found.update(_parts(value))
        for name, value in upstream.headers.items():
            if name.lower() not in _HARMLESS_HEADERS:
                found.update(_parts(value))
        if upstream.url:
            found.update(_in_url(upstream.url))
        for _, holders in _judged(upstream.args):
            for text in holders:
                found.update(_in_url(text) if "://" in text else _parts(text))
        # A variable can be used inside an argument or an address, too.
        texts = (upstream.command, upstream.url, *upstream.args)
        for name, value in environ.items():
            used = name in variables or any(value and value in text for text in texts)
            if used and (_SECRET_NAME.search(name) or _looks_secret(value)):
                found.add(value)
    return frozenset(
        text for text in found if len(text) >= SHORTEST_SECRET and not _HARMLESS_VALUE.match(text)
    )


def _judged(args: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each argument as it is shown, and the texts in it that are or hold a secret."""
    after_secret_option = False
    for argument in args:
        secret = _secret_end(argument)
        if after_secret_option and not argument.startswith("-"):
            is_harmless = _HARMLESS_VALUE.match(argument) is not None
            yield (argument, ()) if is_harmless else (SECRET_MARK, (argument,))
        elif secret:
            yield argument.removesuffix(secret) + SECRET_MARK, (secret,)
        else:
            addresses = (text for text in _ADDRESS.findall(argument) if text != shown_url(text))
            yield _ADDRESS.sub(lambda match: shown_url(match[0]), argument), tuple(addresses)
        after_secret_option = (
            argument.startswith("-")
            and "=" not in argument
            and _SECRET_NAME.search(argument) is not None
        )


def _secret_end(text: str) -> str:
    """The end of the text that is a secret: all of it, or behind ``NAME=`` or ``Name: ``."""
    if _looks_secret(text):
        return text
    pair = _PAIR.match(text)
    if pair is None:
        return ""
    return pair[3] if _SECRET_NAME.search(pair[1]) else _secret_end(pair[3])


def _looks_secret(text: str) -> bool:
    """A well-known form of a token, or a long run without words: capitals, small letters, digits."""
    if _SECRET_SHAPE.match(text):
        return True
    return bool(
        _RANDOM.match(text)
        and re.search(r"[0-9]", text)
        and re.search(r"[a-z]", text)
        and (re.search(r"[A-Z]", text) or re.fullmatch(r"[0-9a-f]{32,}", text))
    )


def _in_url(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url)
        user, password = parts.username, parts.password
    except ValueError:
        return
    for text in (password, user if password is None else None):
        if text:
            yield text
            yield unquote(text)
    for item in parts.query.split("&"):
        name, sign, value = item.partition("=")
        text = value if sign else name
        yield text
        yield unquote_plus(text)
    for part in parts.path.split("/"):
        if _looks_secret(part):
            yield part


def _parts(value: str) -> Iterator[str]:
    """A value, what stands behind ``Bearer`` in it, and the password in an address."""
    if not value:
        return
    yield value
    scheme, space, rest = value.partition(" ")
    if space and scheme.lower() in _SCHEMES:
        yield rest.strip()
    if "://" in value:
        yield from _in_url(value)
