"""An upstream behind streamable HTTP.

Written on an HTTP client alone, because the official SDK's transport cannot relay: it reads messages
into models (drops members it does not know, fails on lone surrogates), gives up the GET stream after
two attempts, reports a lost session as an error of single calls, and needs half a second of imports.
"""

from __future__ import annotations

import asyncio
import importlib
import ipaddress

from config.schema import UpstreamSettings
from proxy.links.link import Link, LinkFailed, LinkListener, LinkLost

FRAME_LIMIT = 64 * 1024 * 1024


async def open_http(
    settings: UpstreamSettings, listener: LinkListener, frame_limit: int = FRAME_LIMIT
) -> Link:
    """Get ready to speak to a server; the first frame connects. ``frame_limit`` in bytes.

    Raises `LinkFailed` for an address or headers that can never work.
    """
    # 0.3 s of imports, which calls through other upstreams need not wait for
    await asyncio.to_thread(importlib.import_module, "httpx2")
    import httpx2

    from proxy.http.client import HttpClient
    from proxy.http.link import HttpLink

    try:
        url = httpx2.URL(settings.url)
        if not 0 <= (url.port or 0) <= 65535:
            raise ValueError("no such port")
    except (httpx2.InvalidURL, ValueError):
        raise LinkFailed(LinkLost("has a url that cannot be read", permanent=True)) from None
    if url.scheme not in ("http", "https") or not url.host:
        reason = "needs a url that begins with http:// or https://"
        raise LinkFailed(LinkLost(reason, permanent=True))
    try:
        headers = _checked_headers(settings)
    except ValueError as error:
        raise LinkFailed(LinkLost(str(error), permanent=True)) from None
    # no HTTP proxy leads back to this machine
    client = HttpClient(url, headers, frame_limit, direct=_is_loopback(url.host))
    link = HttpLink(settings.name, client, listener)
    await link.start()
    return link


def _checked_headers(settings: UpstreamSettings) -> dict[str, str]:
    """The configured headers. Raises `ValueError` without ever naming a value."""
    for name, value in settings.headers.items():
        if not name.isascii() or not name.replace("-", "").replace("_", "").isalnum():
            raise ValueError(f"has a header name that HTTP does not allow: {name!r}")
        if not (value.isascii() and value.isprintable()):
            raise ValueError(f"has a value in headers.{name} that HTTP does not allow")
    return dict(settings.headers)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
