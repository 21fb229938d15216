"""The loopback endpoint of a station: streamable HTTP for hosts that cannot start a program.

Off unless ``proxy.http.enabled``. Never reachable from other machines, never without the token.
"""

from __future__ import annotations

import asyncio
import errno
import importlib
import logging
from typing import Protocol

from config.paths import Paths
from config.schema import HttpSettings
from config.store import SettingsStore
from proxy.http.app import HttpApp
from proxy.http.guard import PATH, rules_for
from proxy.http.server import NotLoopbackError, bind_loopback, serving
from proxy.http.token import UnsafeTokenError, load_or_create_token
from proxy.session import HostSession, Outlet, Peer

RETRY_SECONDS = 5.0
_log = logging.getLogger("mms.http")


class HttpEngine(Protocol):
    """What the endpoint needs of the station."""

    http_url: str
    http_problem: str

    @property
    def paths(self) -> Paths:
        """Where the token is kept."""
        ...

    @property
    def store(self) -> SettingsStore:
        """The settings in force."""
        ...

    def open_session(self, peer: Peer, outlet: Outlet) -> HostSession:
        """A host has connected."""
        ...


async def serve_http(engine: HttpEngine, settings: HttpSettings) -> None:
    """Serve until cancelled.

    What prevents it (port in use, unsafe token file) is told in ``engine.http_problem`` and tried again;
    ``engine.http_url`` is set while it serves.
    """
    # a quarter of a second of imports, for which calls under way should not wait
    await asyncio.to_thread(importlib.import_module, "uvicorn.protocols.http.h11_impl")
    while True:
        try:
            token = await asyncio.to_thread(load_or_create_token, engine.paths.http_token_file)
            bound = bind_loopback(settings.host, settings.port)
        except NotLoopbackError as error:
            _report(engine, f"the HTTP endpoint is off: proxy.http.host = {error}")
            await asyncio.Event().wait()  # only another setting helps, and that starts this anew
            return
        except (OSError, UnsafeTokenError) as error:
            _report(engine, f"the HTTP endpoint is off: {_reason(error, settings)}")
            await asyncio.sleep(RETRY_SECONDS)
            continue
        host, port = bound.getsockname()[:2]
        app = HttpApp(
            rules_for(host, port, settings.allowed_origins, token),
            engine.open_session,
            lambda: engine.store.current.proxy.max_host_frame_bytes,
        )
        async with serving(app, bound, app.end_all):
            engine.http_problem = ""
            engine.http_url = f"http://{f'[{host}]' if ':' in host else host}:{port}{PATH}"
            _log.info("hosts are served at %s", engine.http_url)
            try:
                await app.sweep()
            finally:
                engine.http_url = ""  # before the stop, within which a successor may set its own


def _reason(error: Exception, settings: HttpSettings) -> str:
    if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
        return (
            f"port {settings.port} is in use by another program; it is tried again every "
            f"{RETRY_SECONDS:.0f} s. Choose another: mms config set proxy.http.port PORT"
        )
    if isinstance(error, OSError) and error.errno == errno.EACCES:
        return f"port {settings.port} may not be opened by this user, or the token file not be read"
    return str(error)


def _report(engine: HttpEngine, problem: str) -> None:
    if engine.http_problem != problem:
        _log.warning("%s", problem)
    engine.http_problem = problem
