"""One question to a language model behind an OpenAI-compatible ``/chat/completions``.

Redirects are not followed, since the key and the text would reach somebody else; answers are bounded.
What goes wrong is told without any of the texts, the key, or an address's path.
"""

from __future__ import annotations

import asyncio
import http
import ipaddress
import logging
from dataclasses import dataclass
from typing import Any

import httpx2
import msgspec

from proxy.http.failures import describe_error

LONGEST_ANSWER = 1 << 20
"""Bytes of a whole response."""
_ENDPOINT = "/chat/completions"
_OTHER_DIALECT = (b"max_completion_tokens", b"max_tokens", b"temperature")


class ChatFailed(Exception):
    """There is no answer. ``str()`` continues "the model …"."""


@dataclass(frozen=True, slots=True)
class ChatQuestion:
    """What is asked, and of whom."""

    url: str
    """Base URL of the API."""
    model: str
    key: str
    """Sent as a bearer token; empty: none is."""
    system: str
    user: str
    most_tokens: int
    """Of the answer, as the model counts."""


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """What the model wrote."""

    text: str
    complete: bool
    """It ended by itself and was not cut off at ``most_tokens``."""


class _Message(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _Message = msgspec.field(default_factory=_Message)
    finish_reason: str | None = None


class _Completion(msgspec.Struct):
    choices: list[_Choice]


_COMPLETION = msgspec.json.Decoder(_Completion)


async def ask(question: ChatQuestion, timeout_seconds: float) -> ChatAnswer:
    """Ask once, all in all no longer than ``timeout_seconds``. Raises `ChatFailed`."""
    url = _address(question.url)
    headers = _headers(question.key)
    # It logs every address with its query at INFO, and those may hold secrets.
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    try:
        async with asyncio.timeout(timeout_seconds):
            # Reading the certificates takes some hundredths of a second.
            client = await asyncio.to_thread(_client, headers, url)
            async with client:
                return await _ask(client, url, question)
    except TimeoutError:
        raise ChatFailed(f"did not answer within {timeout_seconds:g} s") from None
    except httpx2.HTTPError as error:
        raise ChatFailed(describe_error(error, url)) from None


async def _ask(client: httpx2.AsyncClient, url: httpx2.URL, question: ChatQuestion) -> ChatAnswer:
    body: dict[str, Any] = {
        "model": question.model,
        "messages": [
            {"role": "system", "content": question.system},
            {"role": "user", "content": question.user},
        ],
        "stream": False,
    }
    usual = body | {"max_tokens": question.most_tokens, "temperature": 0}
    status, answer = await _post(client, url, usual)
    if status == 400 and any(word in answer for word in _OTHER_DIALECT):
        # Some models refuse the usual names and any temperature.
        newer = body | {"max_completion_tokens": question.most_tokens}
        status, answer = await _post(client, url, newer)
    if 300 <= status < 400:
        raise ChatFailed(
            f"redirects ({status}); write the address that it leads to as proxy.llm.url"
        )
    if status != 200:
        raise ChatFailed(f"answers {_phrase(status)}{_advice(status)}")
    return _read(answer)


async def _post(
    client: httpx2.AsyncClient, url: httpx2.URL, body: dict[str, Any]
) -> tuple[int, bytes]:
    try:
        content = msgspec.json.encode(body)
    except UnicodeEncodeError:
        raise ChatFailed("was not asked: the text holds half a character") from None
    async with client.stream("POST", url, content=content) as response:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise ChatFailed("compresses its answers although asked not to")
        chunks: list[bytes] = []
        size = 0
        async for chunk in response.aiter_raw():
            size += len(chunk)
            if size > LONGEST_ANSWER:
                raise ChatFailed(f"sent more than {LONGEST_ANSWER:,} bytes")
            chunks.append(chunk)
        return response.status_code, b"".join(chunks)


def _read(answer: bytes) -> ChatAnswer:
    try:
        completion = _COMPLETION.decode(answer)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        completion = None
    if completion is None or not completion.choices:
        raise ChatFailed("answers something that is no chat completion; check proxy.llm.url")
    choice = completion.choices[0]
    return ChatAnswer(choice.message.content or "", choice.finish_reason != "length")


def _address(text: str) -> httpx2.URL:
    base = text.rstrip("/")
    try:
        url = httpx2.URL(base if base.endswith(_ENDPOINT) else base + _ENDPOINT)
        fits = url.scheme in ("http", "https") and bool(url.host) and 0 <= (url.port or 0) <= 65535
    except (httpx2.InvalidURL, ValueError):
        fits = False
        url = httpx2.URL()
    if not fits:
        raise ChatFailed("has no usable address: proxy.llm.url must begin with http:// or https://")
    return url


def _headers(key: str) -> dict[str, str]:
    headers = {
        "user-agent": "mms",
        "accept": "application/json",
        "accept-encoding": "identity",
        "content-type": "application/json",
    }
    if key:
        if not (key.isascii() and key.isprintable()):
            raise ChatFailed("was not asked: its key holds characters that HTTP does not allow")
        headers["authorization"] = f"Bearer {key}"
    return headers


def _client(headers: dict[str, str], url: httpx2.URL) -> httpx2.AsyncClient:
    # No HTTP proxy leads back to this machine.
    return httpx2.AsyncClient(
        headers=headers, timeout=None, follow_redirects=False, trust_env=not _is_loopback(url.host)
    )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _phrase(status: int) -> str:
    try:
        return f"{status} {http.HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def _advice(status: int) -> str:
    match status:
        case 401 | 403:
            return ": check the variable that proxy.llm.api_key_variable names"
        case 404 | 405:
            return ": check proxy.llm.url and proxy.llm.model"
        case _:
            return ""
