"""The hosts' side: their sessions, and what each of their messages sets in motion."""

from __future__ import annotations

import itertools

from proxy import wire
from proxy.backchannel import Backchannel
from proxy.event_stream import EventFeed
from proxy.events import HostConnected, HostLeft
from proxy.greeting import initialize_result
from proxy.router import Router
from proxy.session import HostSession, Outlet, Peer


class Front:
    """The backend of every session, over router and backchannel."""

    def __init__(
        self, router: Router, backchannel: Backchannel, feed: EventFeed, version: str
    ) -> None:
        self._router = router
        self._backchannel = backchannel
        self._feed = feed
        self._version = version
        self._ids = itertools.count(1)

    def open_session(self, peer: Peer, outlet: Outlet) -> HostSession:
        """A host has connected."""
        session = HostSession(next(self._ids), peer, outlet, self)
        self._router.sessions[session.id] = session
        return session

    def end_sessions(self) -> None:
        """Hang up on every host."""
        for session in list(self._router.sessions.values()):
            session.end()

    # what a session asks of its backend

    def initialize_result(self, revision: str) -> bytes:
        """What a host is told about mms."""
        introductions = [
            (upstream.settings.prefix or upstream.name, upstream.introduction)
            for upstream in self._router.upstreams.values()
        ]
        return initialize_result(revision, self._version, introductions)

    def host_ready(self, session: HostSession) -> None:
        """A host finished its handshake."""
        self._feed.publish(HostConnected(session.view()))

    def request(
        self, session: HostSession, id: wire.Raw, method: str, params: wire.Members | None
    ) -> None:
        """A host's request."""
        if method == "logging/setLevel":
            self._backchannel.set_level(session, id, params or {})
        elif method == "resources/subscribe":
            self._backchannel.subscribe(session, id, params or {})
        elif method == "resources/unsubscribe":
            self._backchannel.unsubscribe(session, id, params or {})
        else:
            self._router.request(session, id, method, params)

    def cancel(self, session: HostSession, id: bytes, note: wire.Members) -> None:
        """A host no longer wants an answer."""
        self._router.cancel(session, id, note)

    def notify(self, session: HostSession, method: str, message: wire.Members) -> None:
        """A host's notification."""
        self._backchannel.host_notified(session, method, message)

    def left(self, session: HostSession) -> None:
        """A host's connection has ended."""
        self._router.forget(session)
        self._router.sessions.pop(session.id, None)
        self._backchannel.host_left(session)
        if session.initialized:
            self._feed.publish(HostLeft(session.view()))
