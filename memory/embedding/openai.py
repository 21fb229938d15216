"""Vectors from a server with OpenAI's ``/v1/embeddings``: Ollama, LM Studio, a gateway, OpenAI.

Texts leave this process: the caller hides secrets in them first. Redirects are not followed, since the key
and the texts would reach somebody else; answers are bounded; what goes wrong is told without any of the
texts, the key, or an address's path. Loads numpy and msgspec; httpx2 comes with the first request.
"""

from __future__ import annotations

import hashlib
import http
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from memory.embedding.json_http import JsonClient, NoReply, Reply
from memory.embedding.openai_wire import AnswerUnusable, decode_answer, encode_request
from memory.embedding.port import EmbedderUnavailable, Floats, ModelProfile
from memory.embedding.settings import EmbedderSettings
from memory.embedding.unit import unit_rows

MOST_TEXTS = 64
"""In one request; some servers refuse more."""
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 20.0
MOST_TRIES = 4
QUERY_SECONDS = 5.0
"""Somebody waits for the answer to a question, and can have one by words instead."""
REST_SECONDS = 15.0
"""So long after a failure no question is sent, so that a server that is away is not waited for each time."""
_ENDPOINT = "/embeddings"


@dataclass(frozen=True, slots=True)
class Waiting:
    """The clock, as a parameter, so that tests need not wait."""

    now: Callable[[], float]
    """Seconds that never run backwards."""
    pause: Callable[[threading.Event, float], object]
    """Wait so many seconds, or until the event."""


REAL_WAITING = Waiting(time.monotonic, lambda event, seconds: event.wait(seconds))


class OpenAiEmbedder:
    """Asks one server. The number of dimensions is the one of the first answer, then never another."""

    def __init__(self, settings: EmbedderSettings, waiting: Waiting = REAL_WAITING) -> None:
        """Opens no connection. Raises `EmbedderUnavailable` when the settings cannot be used."""
        if not settings.model:
            raise EmbedderUnavailable("No model for embeddings is named. Name one.")
        headers = {"authorization": f"Bearer {settings.key}"} if settings.key else {}
        try:
            self._client = JsonClient(_address(settings.url), headers)
        except NoReply as error:
            raise EmbedderUnavailable(f"The server for embeddings {error}.") from None
        self._settings = settings
        self._waiting = waiting
        self._batch = max(1, min(settings.batch, MOST_TEXTS))
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._dims = settings.dims
        self._rest: tuple[float, str] | None = None
        """Until when questions fail at once, and with what."""

    @property
    def profile(self) -> ModelProfile:
        """What the server makes; asks it, as a question, when the dimensions are not known yet.

        Raises `EmbedderUnavailable` when it must be asked and does not answer.
        """
        if not self._dims:
            self.embed_query("dimensions")
        return _profile(self._settings, self._dims)

    def embed_documents(self, texts: Sequence[str]) -> Floats:
        """One unit vector per text; waits and asks again where that may help.

        Takes three times the timeout of the settings at most. Raises `EmbedderUnavailable`.
        """
        if not texts:
            return np.zeros((0, self.profile.dims), dtype=np.float32)
        seconds = self._settings.timeout_seconds
        deadline = self._waiting.now() + 3 * seconds
        sent = [self._sendable(self._settings.document_prefix, text) for text in texts]
        return np.concatenate(
            [
                self._ask(sent[start : start + self._batch], seconds, deadline, MOST_TRIES)
                for start in range(0, len(sent), self._batch)
            ]
        )

    def embed_query(self, text: str) -> Floats:
        """One unit vector, or soon `EmbedderUnavailable`: asks once, and not at all just after a failure."""
        rest = self._rest
        if rest is not None and self._waiting.now() < rest[0]:
            raise EmbedderUnavailable(rest[1])
        seconds = min(QUERY_SECONDS, self._settings.timeout_seconds)
        sent = self._sendable(self._settings.query_prefix, text)
        return self._ask([sent], seconds, self._waiting.now() + seconds, 1)[0]

    def rest(self) -> None:
        """There is nothing to free."""

    def close(self) -> None:
        """Close the connections; a call that waits ends soon."""
        self._closed.set()
        self._client.close()

    def _ask(self, texts: list[str], seconds: float, deadline: float, tries: int) -> Floats:
        """The vectors. ``seconds``: for one try."""
        try:
            rows = self._tried(texts, seconds, deadline, tries)
        except EmbedderUnavailable as error:
            self._rest = (self._waiting.now() + REST_SECONDS, str(error))
            raise
        self._rest = None
        return rows

    def _tried(self, texts: list[str], seconds: float, deadline: float, tries: int) -> Floats:
        """One request, repeated while that may help."""
        request = encode_request(self._settings.model, texts)
        pause = FIRST_PAUSE_SECONDS
        for attempt in range(1, tries + 1):
            if self._closed.is_set():
                raise EmbedderUnavailable("The server for embeddings is not used any more.")
            seconds_left = max(0.1, deadline - self._waiting.now())
            try:
                reply = self._client.ask("POST", "", request, min(seconds, seconds_left))
                failure = _Failure.of(reply)
                if failure is None:
                    return self._checked(decode_answer(reply.body, len(texts)))
            except AnswerUnusable as error:
                raise EmbedderUnavailable(f"The server for embeddings {error}.") from None
            except NoReply as error:
                failure = _Failure(str(error), error.may_pass, 0.0)
            wait = min(max(pause, failure.wait_seconds), LONGEST_PAUSE_SECONDS)
            in_time = self._waiting.now() + wait < deadline
            if not failure.may_pass or attempt == tries or not in_time:
                raise EmbedderUnavailable(f"The server for embeddings {failure.reason}.")
            self._waiting.pause(self._closed, wait)
            pause *= 2
        raise AssertionError("the last try returns or raises")

    def _sendable(self, prefix: str, text: str) -> str:
        """Without half characters; some servers refuse empty texts, so those become a full stop."""
        cut = (prefix + text)[: self._settings.longest_text].encode("utf-8", "replace").decode()
        return cut if cut.strip() else "."

    def _checked(self, rows: Floats) -> Floats:
        dims = rows.shape[1]
        with self._lock:
            if not self._dims:
                self._dims = dims
        if dims != self._dims:
            raise EmbedderUnavailable(
                f"The server for embeddings answers {dims} dimensions instead of {self._dims}: its model "
                "is another one now. Restart the memory, which then makes all vectors anew."
            )
        try:
            return unit_rows(rows)
        except ValueError as error:
            raise EmbedderUnavailable(
                f"The server for embeddings answers what is no direction: {error}."
            ) from None


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why one try did not work."""

    reason: str
    may_pass: bool
    wait_seconds: float

    @classmethod
    def of(cls, reply: Reply) -> _Failure | None:
        """None when the request was served."""
        status = reply.status
        if status == 200:
            return None
        may_pass = status in (408, 425, 429) or status >= 500
        return cls(
            f"answers {_phrase(status)}{_advice(status)}", may_pass, reply.retry_after_seconds
        )


def _profile(settings: EmbedderSettings, dims: int) -> ModelProfile:
    # The same name on two servers may be two models, differently quantised for example.
    identity = msgspec.json.encode(
        [
            _address(settings.url),
            settings.model,
            dims,
            settings.longest_text,
            settings.query_prefix,
            settings.document_prefix,
        ]
    )
    digest = hashlib.sha256(identity).hexdigest()
    name = "".join(one if one.isascii() and one.isalnum() else "-" for one in settings.model)[:40]
    return ModelProfile(
        id=f"openai-{name}-{dims}-{digest[:8]}",
        provider="openai",
        name=settings.model,
        dims=dims,
        max_tokens=settings.longest_text // 4,
        digest=digest,
        duplicate_cosine=settings.duplicate_cosine,
        neighbour_cosine=settings.neighbour_cosine,
        fusion_alpha=settings.fusion_alpha,
        lexical=False,
    )


def _address(base: str) -> str:
    """The endpoint below a base address."""
    trimmed = base.strip().rstrip("/")
    if trimmed.endswith(_ENDPOINT):
        return trimmed
    return trimmed + (_ENDPOINT if trimmed.endswith("/v1") else f"/v1{_ENDPOINT}")


def _phrase(status: int) -> str:
    try:
        return f"{status} {http.HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def _advice(status: int) -> str:
    match status:
        case 401 | 403:
            return ": check its key"
        case 404 | 405:
            return ": check its address and the model's name"
        case 400 | 413 | 422:
            return ": check the model's name and how long a text it takes"
        case 429:
            return ": it limits how often it may be asked"
        case _ if 300 <= status < 400:
            return " (a redirect): write the address that it leads to"
        case _:
            return ""
