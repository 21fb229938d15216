"""Sends traces by OTLP over HTTP, with the SDK of OpenTelemetry. Blocking; for a thread of its own.

Nothing imports this before tracing is on: its packages are an extra and take a third of a second.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import requests
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, TraceFlags
from opentelemetry.trace.status import Status, StatusCode

from proxy.telemetry.trace import Attributes, CallTrace, Stage

CALL_SPAN = "proxy_call"
SEND_SECONDS = 5.0
"""How long one batch may take, retries included."""
_FLAGS = TraceFlags(TraceFlags.SAMPLED)
_HINTS = {
    401: "correct tracing.headers",
    403: "correct tracing.headers",
    404: "correct tracing.endpoint, whose path is often /v1/traces",
    405: "correct tracing.endpoint, whose path is often /v1/traces",
}


class RedirectRefused(requests.RequestException):
    """The collector sends us elsewhere; headers with secrets do not go there."""


class _Session(requests.Session):
    """Remembers how the last request ended, in words that hold nothing that others wrote."""

    def __init__(self) -> None:
        super().__init__()
        self.trouble = ""
        self.auth = _as_it_is

    def request(self, method: Any, url: Any, *args: Any, **kwargs: Any) -> requests.Response:
        kwargs["allow_redirects"] = False
        try:
            response = super().request(method, url, *args, **kwargs)
        except Exception as error:
            self.trouble = f"cannot be reached ({type(error).__name__})"
            raise
        status = response.status_code
        if 300 <= status < 400:
            # The SDK takes any status below 400 for a success.
            self.trouble = (
                f"answers with a redirect ({status}), which is refused; set the final address"
            )
            raise RedirectRefused(self.trouble)
        if status >= 400:
            hint = _HINTS.get(status)
            self.trouble = f"refuses them (HTTP {status})" + (f"; {hint}" if hint else "")
        else:
            self.trouble = ""
        return response


class OtlpExporter:
    """One collector."""

    def __init__(self, endpoint: str, headers: Mapping[str, str], version: str) -> None:
        """``endpoint``: the whole address. ``version``: of mms. Raises `ValueError` for a bad header."""
        _say_nothing()
        self._host = urlsplit(endpoint).hostname or "the collector"
        self._session = _Session()
        self._exporter = OTLPSpanExporter(
            endpoint=endpoint, headers=dict(headers), timeout=SEND_SECONDS, session=self._session
        )
        self._resource = Resource.create({"service.name": "mms", "service.version": version})
        self._scope = InstrumentationScope("mms", version)

    def send(self, traces: Sequence[CallTrace]) -> str:
        """Deliver them. Returns what went wrong, a part of a sentence; empty when they arrived."""
        spans = [span for trace in traces for span in self._spans(trace)]
        if self._exporter.export(spans) is SpanExportResult.SUCCESS:
            return ""
        return f"{self._host} {self._session.trouble or 'cannot be reached'}"

    def close(self) -> None:
        """Send nothing any more; ends a `send` that waits to try again. From any thread."""
        self._exporter.shutdown()

    def _spans(self, trace: CallTrace) -> list[ReadableSpan]:
        trace_id = int(trace.trace_id, 16)
        parent = None
        if trace.parent_id:
            parent = SpanContext(trace_id, int(trace.parent_id, 16), True, _FLAGS)
        root = SpanContext(trace_id, int(trace.span_id, 16), False, _FLAGS)
        spans = [
            self._span(
                CALL_SPAN,
                root,
                parent,
                SpanKind.SERVER,
                trace.attributes,
                (trace.start_ns, trace.end_ns),
                trace.failed,
            )
        ]
        for stage in trace.stages:
            kind = SpanKind.CLIENT if stage.stage is Stage.UPSTREAM else SpanKind.INTERNAL
            context = SpanContext(trace_id, random.getrandbits(64) or 1, False, _FLAGS)
            times = (stage.start_ns, stage.end_ns)
            spans.append(
                self._span(
                    stage.stage.value, context, root, kind, stage.attributes, times, stage.failed
                )
            )
        return spans

    def _span(
        self,
        name: str,
        context: SpanContext,
        parent: SpanContext | None,
        kind: SpanKind,
        attributes: Attributes,
        times: tuple[int, int],
        failed: bool,
    ) -> ReadableSpan:
        return ReadableSpan(
            name,
            context,
            parent,
            self._resource,
            {attribute.value: value for attribute, value in attributes.items()},
            kind=kind,
            status=Status(StatusCode.ERROR if failed else StatusCode.UNSET),
            start_time=times[0],
            end_time=times[1],
            instrumentation_scope=self._scope,
        )


def _as_it_is(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """Keeps requests from putting a login of ``.netrc`` in place of the header of the settings."""
    return request


def _say_nothing() -> None:
    """The SDK would log addresses and answers in its own words; `OtlpExporter.send` tells what went wrong."""
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL + 1)
