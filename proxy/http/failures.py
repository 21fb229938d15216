"""What went wrong on the way to an HTTP upstream, in words for a person. Pure.

Every text continues the sentence "upstream NAME …" and holds nothing but the address's host and port:
paths and queries of addresses may carry secrets, and so may messages of libraries.
"""

from __future__ import annotations

import errno
import http
import socket
import ssl
from collections.abc import Iterator

import httpx2

_REFUSED = {
    errno.ECONNREFUSED: "nothing listens there (connection refused)",
    errno.ENETUNREACH: "there is no network that leads there",
    errno.EHOSTUNREACH: "there is no way to that host",
    errno.ECONNRESET: "it closed the connection at once",
}
_ADVICE = {
    401: "check headers.Authorization of this upstream",
    403: "its credentials in headers are not allowed to do this",
    404: "check the path in url",
    405: "its url does not take POST; is it an address of streamable HTTP?",
    406: "it does not offer JSON or an event stream",
    407: "the HTTP proxy in the environment wants credentials",
    410: "check the path in url",
    429: "it limits how often it may be asked",
}


def place_of(url: httpx2.URL) -> str:
    """Host and port, as a person writes them."""
    host = f"[{url.host}]" if ":" in url.host else url.host
    return f"{host}:{url.port or (443 if url.scheme == 'https' else 80)}"


def describe_status(status: int) -> str:
    """``answers 401 Unauthorized: check …``."""
    try:
        phrase = f" {http.HTTPStatus(status).phrase}"
    except ValueError:
        phrase = ""
    advice = _ADVICE.get(status, "")
    return f"answers {status}{phrase}" + (f": {advice}" if advice else "")


def describe_redirect(url: httpx2.URL, target: httpx2.URL) -> str:
    """An answer that sends elsewhere, which is not followed."""
    if (target.scheme, target.host, target.port) == (url.scheme, url.host, url.port):
        return "redirects in a way that would lose the message; check the path in url"
    return (
        f"redirects to {target.scheme}://{place_of(target)}, and headers are not sent to another "
        "address; write that one as url if it is right"
    )


def describe_error(error: Exception, url: httpx2.URL) -> str:
    """Why no connection came about, or why it broke."""
    place = place_of(url)
    for cause in _causes(error):
        # Only errors that come from OpenSSL itself have these attributes.
        if isinstance(cause, ssl.SSLCertVerificationError):
            reason = getattr(cause, "verify_message", None) or "no reason is given"
            return f"shows a certificate for {url.host} that is not accepted: {reason}"
        if isinstance(cause, ssl.SSLError):
            reason = getattr(cause, "reason", None) or "handshake failed"
            reason = reason.replace("_", " ").lower()
            return f"cannot be reached at {place} over TLS: {reason}"
        if isinstance(cause, socket.gaierror):
            return f"cannot be reached: the name {url.host} is not known"
        if isinstance(cause, OSError) and cause.errno in _REFUSED:
            return f"cannot be reached at {place}: {_REFUSED[cause.errno]}"
    if isinstance(error, httpx2.ConnectTimeout):
        return f"cannot be reached at {place}: no connection within the time allowed"
    if isinstance(error, httpx2.ProxyError):
        return f"cannot be reached at {place} through the HTTP proxy that the environment names"
    if isinstance(error, httpx2.ConnectError):
        return f"cannot be reached at {place}"
    if isinstance(error, httpx2.TimeoutException):
        return f"stopped reading at {place}"
    return f"broke the connection to {place}"


def is_unreachable(error: Exception) -> bool:
    """Nothing was sent, since there was no connection to send it on."""
    return isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.ProxyError)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error, what caused it, and the members of groups among them."""
    seen: set[int] = set()
    todo = [error]
    while todo:
        at = todo.pop()
        if id(at) in seen:
            continue
        seen.add(id(at))
        yield at
        if isinstance(at, BaseExceptionGroup):
            todo.extend(at.exceptions)  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
        todo.extend(cause for cause in (at.__cause__, at.__context__) if cause is not None)
