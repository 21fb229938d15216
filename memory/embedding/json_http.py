"""Requests with JSON to one server, bounded in time and size; blocking, from any thread.

Redirects are not followed and no cookies are kept. Reasons name nothing of an address but host and port.
Loads nothing heavy; httpx2 comes with the first client.
"""

from __future__ import annotations

import errno
import ipaddress
import logging
import ssl
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx2

LONGEST_BODY = 32 << 20
"""Bytes of an answer; 64 vectors of 4,096 numbers as text are some 6 MB."""


class NoReply(Exception):
    """There was no usable answer. ``str()`` continues "the server …"."""

    def __init__(self, reason: str, *, may_pass: bool) -> None:
        """``may_pass``: the same request may work later."""
        super().__init__(reason)
        self.may_pass = may_pass


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server answered."""

    status: int
    body: bytes
    retry_after_seconds: float
    """What the server asks to wait; 0 when it does not."""


class JsonClient:
    """Keeps connections to one server open."""

    def __init__(self, base: str, headers: Mapping[str, str]) -> None:
        """``base``: http or https, without query. Raises `NoReply` when address or headers are unusable."""
        import httpx2

        try:
            url = httpx2.URL(base)
            usable = (
                url.scheme in ("http", "https")
                and bool(url.host)
                and 0 <= (url.port or 0) <= 65_535
                and not url.query
                and not url.fragment
            )
        except (httpx2.InvalidURL, ValueError):
            usable = False
            url = httpx2.URL()
        if not usable:
            raise NoReply(
                "has no usable address: it must begin with http:// or https:// and have no query",
                may_pass=False,
            )
        if not all(value.isascii() and value.isprintable() for value in headers.values()):
            raise NoReply(
                "was not asked: its key holds characters that HTTP does not allow", may_pass=False
            )
        # It logs every address at INFO.
        logging.getLogger("httpx2").setLevel(logging.WARNING)
        self.place = _place(url)
        self._base = base.rstrip("/")
        self._client = httpx2.Client(
            headers={
                "user-agent": "mms",
                "accept": "application/json",
                "accept-encoding": "identity",
                "content-type": "application/json",
                **headers,
            },
            follow_redirects=False,
            # No HTTP proxy leads back to this machine.
            trust_env=not _is_loopback(url.host),
        )

    def ask(self, method: str, path: str, body: bytes | None, timeout_seconds: float) -> Reply:
        """One request below the base address; takes about ``timeout_seconds`` at most. Raises `NoReply`."""
        import httpx2

        deadline = time.monotonic() + timeout_seconds
        try:
            with self._client.stream(
                method, self._base + path, content=body, timeout=timeout_seconds
            ) as response:
                chunks: list[bytes] = []
                size = 0
                for chunk in response.iter_raw():
                    size += len(chunk)
                    if size > LONGEST_BODY:
                        raise NoReply(f"sent more than {LONGEST_BODY:,} bytes", may_pass=False)
                    if time.monotonic() > deadline:
                        raise NoReply(f"did not finish within {timeout_seconds:g} s", may_pass=True)
                    chunks.append(chunk)
                return Reply(
                    response.status_code,
                    b"".join(chunks),
                    _seconds(response.headers.get("retry-after", "")),
                )
        except httpx2.TimeoutException:
            raise NoReply(
                f"at {self.place} did not answer within {timeout_seconds:g} s", may_pass=True
            ) from None
        except httpx2.TransportError as error:
            raise NoReply(self._reason(error), may_pass=True) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, RuntimeError):
            raise NoReply(f"at {self.place} cannot be asked", may_pass=False) from None

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def _reason(self, error: BaseException) -> str:
        for cause in _causes(error):
            if isinstance(cause, ssl.SSLError):
                return f"at {self.place} cannot be reached over TLS"
            if isinstance(cause, OSError) and cause.errno == errno.ECONNREFUSED:
                return f"is not running: nothing listens at {self.place}"
        return f"cannot be reached at {self.place}"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    for _ in range(10):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def _place(url: httpx2.URL) -> str:
    host = f"[{url.host}]" if ":" in url.host else url.host
    return f"{host}:{url.port or (443 if url.scheme == 'https' else 80)}"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _seconds(text: str) -> float:
    """A ``Retry-After`` in seconds; a date counts as none."""
    return float(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0.0
