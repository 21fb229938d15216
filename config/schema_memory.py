"""The settings of the agent's memory: ``[memory]`` and its tables."""

# ruff: noqa: RUF009  # setting() and section() return dataclass fields, not shared defaults

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from config.setting import section, setting


class Approval(Enum):
    """Who decides that one memory replaces another."""

    OPERATOR = "operator"
    """Agents propose, the person decides."""
    AUTO = "auto"
    """An agent's word counts at once, unless the text that would go has the higher trust."""


class ForgettingBy(Enum):
    """Who may run a previewed forgetting plan."""

    AGENT = "agent"
    """Agents, too: everything that a run does can be undone."""
    OPERATOR = "operator"
    """An agent's wish becomes a decision for the person."""


class SecretPolicy(Enum):
    """What happens to a text with a key or token in it that shall be remembered."""

    REFUSE = "refuse"
    REDACT = "redact"
    ALLOW = "allow"


class EmbedderKind(Enum):
    """What turns texts into vectors."""

    MINILM = "minilm"
    """all-MiniLM-L6-v2, int8 weights, on this machine."""
    HASHING = "hashing"
    """Hashed words: no model, finds words rather than meanings."""
    OPENAI = "openai"
    """Any OpenAI-compatible endpoint."""


class VectorIndexKind(Enum):
    """Where vectors are searched."""

    AUTO = "auto"
    BRUTE = "brute"
    CHROMA = "chroma"
    CHROMA_HTTP = "chroma-http"


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    """Vectors of texts: ``[memory.embedder]``."""

    provider: EmbedderKind = setting(
        EmbedderKind.MINILM, "minilm (a model in the package), hashing (none) or openai (by url)."
    )
    url: str = setting(
        "", "Base URL of an OpenAI-compatible API, for example http://localhost:11434/v1."
    )
    model: str = setting("", "Name of the model at url.")
    api_key_variable: str = setting(
        "OPENAI_API_KEY", "Environment variable that holds the key; unset: none is sent."
    )
    timeout_seconds: float = setting(
        30.0, "Deadline of one request to url.", minimum=0.5, maximum=300
    )


@dataclass(frozen=True, slots=True)
class VectorSettings:
    """Search by vectors: ``[memory.vectors]``."""

    index: VectorIndexKind = setting(
        VectorIndexKind.AUTO,
        "auto, brute (exact, in memory), chroma (a folder of ours) or chroma-http (a server).",
    )
    url: str = setting("http://127.0.0.1:8000", "Address of the Chroma server of chroma-http.")


@dataclass(frozen=True, slots=True)
class ForgettingSettings:
    """When forgetting archives: ``[memory.policy]``."""

    superseded_after_days: float = setting(
        30.0, "A superseded memory is archived after so many days.", minimum=0
    )
    min_age_days: float = setting(7.0, "Younger memories are left alone.", minimum=0)
    stale_need: float = setting(
        0.02,
        "Archive when the probability of being needed within 60 days is below this.",
        minimum=0,
        maximum=1,
    )
    max_share: float = setting(
        0.10, "Most of the active memories that one run archives.", minimum=0, maximum=1
    )
    max_records: int = setting(500, "Most memories that one run archives.", minimum=1)


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """The agent's memory: ``[memory]``."""

    advertise: bool = setting(True, "Offer hosts the memory's twelve tools.")
    approval: Approval = setting(
        Approval.OPERATOR, "operator or auto: who decides that one memory replaces another."
    )
    forgetting: ForgettingBy = setting(
        ForgettingBy.AGENT, "agent or operator: who may run a previewed forgetting plan."
    )
    space: str = setting(
        "default",
        "Space of hosts that name none (mms connect --space NAME). Spaces share nothing.",
    )
    secrets: SecretPolicy = setting(
        SecretPolicy.REFUSE, "refuse, redact or allow texts that hold keys or tokens."
    )
    url: str = setting(
        "",
        "Database: sqlite:///PATH or postgresql://USER@HOST/NAME; the default is a file of mms.",
        live=False,
        secret=True,
        expand=True,
    )
    idle_seconds: float = setting(
        900.0,
        "Without a request for so long the memory's process ends and frees its memory.",
        minimum=1,
    )
    embedder: EmbedderSettings = section(EmbedderSettings, "Vectors of texts.")
    vectors: VectorSettings = section(VectorSettings, "Search by vectors.")
    policy: ForgettingSettings = section(ForgettingSettings, "When forgetting archives.")
