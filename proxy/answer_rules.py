"""What the settings say about one tool's answers, decided once per tool. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from config.schema import AnswerSettings, CachePolicy, Compression, ProxySettings, UpstreamSettings

DEFAULT_TOKENS = 4000
WINDOW_SHARE = 20
"""One answer may fill a twentieth of the model's window."""
LEAST_BY_MODEL = 1000
MOST_BY_MODEL = 16_000
WINDOWS: tuple[tuple[str, int], ...] = (
    ("claude", 200_000),
    ("gpt-5", 400_000),
    ("gpt-4.1", 1_000_000),
    ("gpt-4o", 128_000),
    ("gpt-4", 128_000),
    ("gpt-3.5", 16_000),
    ("o1", 200_000),
    ("o3", 200_000),
    ("o4", 200_000),
    ("gemini", 1_000_000),
    ("grok-4", 256_000),
    ("grok", 128_000),
    ("deepseek", 128_000),
    ("qwen3-coder", 256_000),
    ("qwen", 128_000),
    ("kimi", 256_000),
    ("glm", 128_000),
    ("mistral", 128_000),
    ("devstral", 128_000),
    ("codestral", 256_000),
    ("llama-4", 1_000_000),
    ("llama", 128_000),
    ("phi", 128_000),
    ("gemma", 128_000),
)
"""Context windows in tokens by the beginning of a model's name; the first that fits counts."""


@dataclass(frozen=True, slots=True)
class AnswerRules:
    """Settings of one tool's answers, every default filled in."""

    strategy: Compression
    budget: int
    unit: str
    """``tokens`` or ``characters``."""
    delta: bool
    clean: bool
    cache_ttl_seconds: float
    cache_policy: CachePolicy

    def may_exceed(self, bytes: int) -> bool:
        """Whether a result of so many bytes can be over the budget.

        A token or character has at least one byte, so a shorter result needs no counting. JSON's
        escapes only make the bytes more than the text's.
        """
        return self.strategy is not Compression.NONE and bytes > self.budget


def rules_for(proxy: ProxySettings, upstream: UpstreamSettings, tool: str) -> AnswerRules:
    """The tool's own settings, else the upstream's, else the proxy's."""
    own = upstream.tools.get(tool)
    layers: tuple[AnswerSettings, ...] = (upstream,) if own is None else (own, upstream)
    budget, unit = _budget(proxy, layers)
    compression = next((one.compression for one in layers if one.compression), proxy.compression)
    delta = next((one.delta for one in layers if one.delta is not None), proxy.delta)
    clean = next((one.clean for one in layers if one.clean is not None), proxy.clean)
    ttls = [one.cache_ttl_seconds for one in layers if one.cache_ttl_seconds is not None]
    return AnswerRules(
        compression,
        budget,
        unit,
        delta,
        clean,
        ttls[0] if ttls else proxy.cache.ttl_seconds,
        proxy.cache.policy,
    )


def default_budget(proxy: ProxySettings) -> int:
    """Tokens that one answer may have where nothing else is said."""
    if proxy.default_max_result_tokens is not None:
        return proxy.default_max_result_tokens
    window = window_of(proxy.consumer_model)
    if window is None:
        return DEFAULT_TOKENS
    return max(LEAST_BY_MODEL, min(MOST_BY_MODEL, window // WINDOW_SHARE))


def window_of(model: str) -> int | None:
    """Tokens of a model's context window by its name, whoever serves it; ``None``: not known."""
    name = model.strip().lower().rsplit("/", 1)[-1].rsplit(".anthropic.", 1)[-1]
    if "1m" in name.split("[")[-1] and name.startswith("claude"):
        return 1_000_000
    return next((window for start, window in WINDOWS if name.startswith(start)), None)


def _budget(proxy: ProxySettings, layers: tuple[AnswerSettings, ...]) -> tuple[int, str]:
    for layer in layers:
        if layer.max_result_tokens is not None:
            return layer.max_result_tokens, "tokens"
        if layer.max_result_chars is not None:
            return layer.max_result_chars, "characters"
    return default_budget(proxy), "tokens"
