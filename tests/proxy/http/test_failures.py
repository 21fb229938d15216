"""What a person reads when an upstream cannot be reached."""

from __future__ import annotations

import errno
import socket
import ssl

import httpx2
import pytest

from proxy.http.failures import describe_error, describe_redirect, describe_status, place_of

URL = httpx2.URL("https://user:tok-secret@api.test/mcp?key=tok-secret")


def caused(error: Exception, cause: BaseException) -> Exception:
    error.__cause__ = cause
    return error


def not_trusted() -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError("tok-secret")
    error.verify_message = "self-signed certificate"
    return error


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            caused(httpx2.ConnectError("tok-secret"), not_trusted()),
            "shows a certificate for api.test that is not accepted: self-signed certificate",
        ),
        (
            caused(httpx2.ConnectError("tok-secret"), ssl.SSLError(1, "tok-secret")),
            "cannot be reached at api.test:443 over TLS: handshake failed",
        ),
        (
            caused(httpx2.ConnectError(""), socket.gaierror(-2, "tok-secret")),
            "cannot be reached: the name api.test is not known",
        ),
        (
            caused(
                httpx2.ConnectError(""),
                ExceptionGroup("all", [OSError(errno.ECONNREFUSED, "tok-secret")]),
            ),
            "cannot be reached at api.test:443: nothing listens there (connection refused)",
        ),
        (
            httpx2.ConnectTimeout("tok-secret"),
            "cannot be reached at api.test:443: no connection within the time allowed",
        ),
        (
            httpx2.ProxyError("tok-secret"),
            "cannot be reached at api.test:443 through the HTTP proxy that the environment names",
        ),
        (httpx2.ConnectError("tok-secret"), "cannot be reached at api.test:443"),
        (httpx2.WriteTimeout("tok-secret"), "stopped reading at api.test:443"),
        (httpx2.ReadError("tok-secret"), "broke the connection to api.test:443"),
    ],
)
def test_every_failure_has_its_words_and_none_tells_a_secret(error: Exception, text: str) -> None:
    assert describe_error(error, URL) == text


def test_a_status_tells_what_to_check() -> None:
    assert describe_status(401).endswith("check headers.Authorization of this upstream")
    assert describe_status(500) == "answers 500 Internal Server Error"
    assert describe_status(799) == "answers 799"


def test_a_redirect_tells_where_to_without_path_and_query() -> None:
    away = httpx2.URL("https://other.test/x?key=tok-secret")
    assert "https://other.test:443" in describe_redirect(URL, away)
    assert "tok-secret" not in describe_redirect(URL, away)
    assert "check the path" in describe_redirect(URL, httpx2.URL("https://api.test/other"))


def test_a_place_is_written_as_people_write_it() -> None:
    assert place_of(httpx2.URL("http://[::1]:7/x")) == "[::1]:7"
    assert place_of(httpx2.URL("http://a.test")) == "a.test:80"
