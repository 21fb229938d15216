"""Which host calls, as everybody outside the relay knows it: one identity per session, never given twice."""

from __future__ import annotations

import time

from proxy.host_tools import Caller
from proxy.session import HostSession


class Callers:
    """Names sessions. A station's start and the session's number are unique among all stations."""

    def __init__(self) -> None:
        self._started = f"{time.time_ns():x}"

    def of(self, session: HostSession) -> Caller:
        """Who the host of this session is."""
        return Caller(session.name, f"{self._started}-{session.id}", session.peer.space)
