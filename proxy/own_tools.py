"""The tools that mms itself answers: reading held text, and reports of what a shortened answer lacked."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

from config.schema import ProxySettings
from proxy import wire
from proxy.answers import Answers, FetchedText
from proxy.callers import Callers
from proxy.compress.notices import READ_MORE, SELECT_CHUNKS
from proxy.control_tools import (
    TOOLS,
    FeedbackArguments,
    parse_compression_feedback,
    parse_read_more,
    parse_select_chunks,
    text_result,
)
from proxy.host_tools import HostTools
from proxy.model import Outcome
from proxy.recorder import CallObservation
from proxy.session import HostSession

_log = logging.getLogger("mms.own_tools")
OWN_PREFIX = "stm_"
OWN_NAME = "mms"
"""Stands for an upstream in the records of these calls."""
_MARKER = f'"{READ_MORE}"'.encode()
_NOTHING_FETCHED = FetchedText("")


class CallRecorder(Protocol):
    """Where finished calls go; must return at once."""

    def next_call_id(self) -> int:
        """A number for the next call."""
        ...

    def observe(self, call: CallObservation, /) -> None:
        """A call has ended."""
        ...


class FeedbackSink(Protocol):
    """Where reports of agents go."""

    def report(self, feedback: FeedbackArguments, at: float, /) -> None:
        """Keep it; must return at once."""
        ...


class TraceBook(Protocol):
    """The traces of recent calls."""

    enabled: bool
    """Calls are traced now."""

    def latest(self, session: int, server: str, tool: str, /) -> str:
        """The trace id of the latest call of a tool; empty when there is none."""
        ...


class OwnTools:
    """Answers calls to our own tools and to those of ``host_tools``, each in a task of the engine's group."""

    def __init__(
        self,
        answers: Answers,
        feedback: FeedbackSink,
        upstream_tools: Callable[[], Mapping[str, frozenset[str]]],
        recorder: CallRecorder,
        host_tools: HostTools,
        settings: Callable[[], ProxySettings],
        callers: Callers,
        traces: TraceBook | None = None,
    ) -> None:
        """``upstream_tools``: the tools that hosts are offered now, by upstream."""
        self._answers = answers
        self._feedback = feedback
        self._upstream_tools = upstream_tools
        self._recorder = recorder
        self._host_tools = host_tools
        self._settings = settings
        self._callers = callers
        self._traces = traces

    def definitions(self) -> tuple[bytes, ...]:
        """What hosts are offered, in the order of the list."""
        ours = TOOLS if self._settings().advertise_control_tools else ()
        return (*ours, *self._host_tools.definitions)

    def answers(self, name: str) -> bool:
        """Whether a call is for us although the tool may not be offered: it is told why it can't be had."""
        return name.startswith(OWN_PREFIX) and name in self._host_tools.names

    def call(self, session: HostSession, id: wire.Raw, name: str, params: wire.Members) -> None:
        """Answer one call."""
        arguments = bytes(params.get("arguments", b"{}"))
        self._answers.spawn(self._answer(session, id, name, arguments))

    async def _answer(
        self, session: HostSession, id: wire.Raw, name: str, arguments: bytes
    ) -> None:
        started = time.time()
        clock = time.perf_counter()
        call_id = self._recorder.next_call_id()
        session.calls += 1
        if name in self._host_tools.names:
            answer = await self._host_tools.call(name, arguments, self._callers.of(session))
            body, is_error, about = answer.body, answer.is_error, _NOTHING_FETCHED
        else:
            about = await self._text(session, name, arguments)
            is_error = about.is_error
            body = text_result(about.text, is_error=is_error)
        session.reply(id, body)
        self._recorder.observe(
            CallObservation(
                call_id,
                started,
                (time.perf_counter() - clock) * 1000,
                session.name,
                session.id,
                OWN_NAME,
                name,
                Outcome.TOOL_ERROR if is_error else Outcome.OK,
                "",
                arguments,
                body,
                fetched_upstream=about.upstream,
                fetched_tool=about.tool,
            )
        )

    async def _text(self, session: HostSession, name: str, arguments: bytes) -> FetchedText:
        try:
            return await self._text_of(session, name, arguments)
        except Exception as error:  # the host waits: it is told even of a fault of ours
            _log.exception("%s failed inside mms", name)
            return FetchedText(
                f"mms itself failed ({type(error).__name__}); its log has more.", is_error=True
            )

    async def _text_of(self, session: HostSession, name: str, arguments: bytes) -> FetchedText:
        if name == READ_MORE:
            more = parse_read_more(arguments)
            if isinstance(more, str):
                return FetchedText(more, is_error=True)
            return await self._answers.read_more(session.id, more.key, more.offset, more.limit)
        if name == SELECT_CHUNKS:
            chosen = parse_select_chunks(arguments)
            if isinstance(chosen, str):
                return FetchedText(chosen, is_error=True)
            return await self._answers.select(session.id, chosen.key, chosen.sections)
        return self._take_feedback(session, arguments)

    def _take_feedback(self, session: HostSession, arguments: bytes) -> FetchedText:
        feedback = parse_compression_feedback(arguments)
        if isinstance(feedback, str):
            return FetchedText(feedback, is_error=True)
        tools = self._upstream_tools()
        if feedback.server not in tools:
            known = ", ".join(sorted(tools)) or "none"
            return FetchedText(
                f"There is no server {feedback.server!r}. The servers are: {known}.", is_error=True
            )
        if feedback.tool not in tools[feedback.server]:
            known = ", ".join(sorted(tools[feedback.server])[:30]) or "none"
            return FetchedText(
                f"Server {feedback.server!r} has no tool {feedback.tool!r}. Give its own name, "
                f"without the prefix. Its tools are: {known}.",
                is_error=True,
            )
        said = feedback.kind.value
        if not feedback.trace_id and self._traces is not None and self._traces.enabled:
            trace_id = self._traces.latest(session.id, feedback.server, feedback.tool)
            feedback = replace(feedback, trace_id=trace_id)
            said += "" if trace_id else ", trace_id unresolved"
        self._feedback.report(feedback, time.time())
        return FetchedText(
            f"Recorded ({said}). This does not bring the text back: "
            f"use {SELECT_CHUNKS} or {READ_MORE} with the key of the answer."
        )


def sees_own_tools(session: HostSession) -> bool:
    """Whether the tool list that the host holds has our tools; true when it never asked for one."""
    listed = session.listed.get("tools")
    return listed is None or _MARKER in listed
