"""An OTLP collector over HTTP on loopback: keeps the spans that it gets, or answers as it is told."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Generator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span


@dataclass
class Collector:
    """What arrived. Guarded by ``changed``."""

    endpoint: str = ""
    status: int = 200
    """What requests are answered with."""
    location: str = ""
    """Where a redirect leads."""
    requests: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    """The headers of each request, names in lower case."""
    bodies: list[bytes] = field(default_factory=list[bytes])
    paths: list[str] = field(default_factory=list[str])
    changed: threading.Condition = field(default_factory=threading.Condition)

    @property
    def spans(self) -> list[Span]:
        """In the order in which they came."""
        return [
            span
            for body in self.bodies
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def calls(self) -> list[dict[str, Span]]:
        """The spans of each call by name, in the order in which the calls came."""
        roots = [span for span in self.spans if span.name == "proxy_call"]
        return [
            {"proxy_call": root}
            | {span.name: span for span in self.spans if span.parent_span_id == root.span_id}
            for root in roots
        ]

    def wait_for(self, requests: int, seconds: float = 30.0) -> None:
        """Wait until so many requests have come."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.bodies) >= requests, seconds)

    def wait_for_calls(self, count: int, seconds: float = 30.0) -> list[dict[str, Span]]:
        """Wait until so many calls have come, and return all."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.calls()) >= count, seconds)
            return self.calls()


def said(span: Span) -> dict[str, object]:
    """The attributes of a span."""
    return {
        pair.key: getattr(pair.value, pair.value.WhichOneof("value") or "string_value")
        for pair in span.attributes
    }


@contextlib.contextmanager
def collecting(path: str = "/v1/traces") -> Generator[Collector]:
    """A collector that listens."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the name that the base class asks for
            body = self.rfile.read(int(self.headers["Content-Length"]))
            with collector.changed:
                collector.paths.append(self.path)
                collector.requests.append({k.lower(): v for k, v in self.headers.items()})
                collector.bodies.append(body)
                collector.changed.notify_all()
            self.send_response(collector.status)
            if collector.location:
                self.send_header("Location", collector.location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector.endpoint = f"http://127.0.0.1:{server.server_port}{path}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
