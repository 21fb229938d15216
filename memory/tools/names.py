"""Names of the twelve tools, in the order in which a tool list shows them."""

from __future__ import annotations

STORE_SEMANTIC = "memory_store_semantic"
STORE_EPISODIC = "memory_store_episodic"
STORE_PROCEDURAL = "memory_store_procedural"
QUERY = "memory_query"
BEST_PROCEDURES = "memory_best_procedures"
RECENT_EPISODES = "memory_recent_episodes"
SESSION_EPISODES = "memory_session_episodes"
RECORD_OUTCOME = "memory_record_outcome"
FORGETTING_PREVIEW = "memory_forgetting_preview"
FORGETTING_RUN = "memory_forgetting_run"
RESOLVE_SUPERSESSION = "memory_resolve_supersession"
OVERVIEW = "memory_overview"

NAMES = (
    STORE_SEMANTIC,
    STORE_EPISODIC,
    STORE_PROCEDURAL,
    QUERY,
    BEST_PROCEDURES,
    RECENT_EPISODES,
    SESSION_EPISODES,
    RECORD_OUTCOME,
    FORGETTING_PREVIEW,
    FORGETTING_RUN,
    RESOLVE_SUPERSESSION,
    OVERVIEW,
)
READING_TOOLS = frozenset(
    {
        QUERY,
        BEST_PROCEDURES,
        RECENT_EPISODES,
        SESSION_EPISODES,
        FORGETTING_PREVIEW,
        OVERVIEW,
    }
)
"""Tools that change no memory. A preview keeps its plan for a later run, nothing else."""
