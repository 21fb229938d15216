"""Which budget and strategy a tool's answers have: its own settings, its upstream's, the proxy's."""

from __future__ import annotations

import pytest

from config.schema import (
    CachePolicy,
    CacheSettings,
    Compression,
    ProxySettings,
    ToolSettings,
    UpstreamSettings,
)
from proxy.answer_rules import default_budget, rules_for, window_of


def test_without_any_setting_an_answer_has_four_thousand_tokens_and_auto() -> None:
    rules = rules_for(ProxySettings(), UpstreamSettings(), "read")
    assert (rules.budget, rules.unit, rules.strategy) == (4000, "tokens", Compression.AUTO)
    assert rules.delta
    assert not rules.clean
    assert rules.cache_ttl_seconds == 0
    assert rules.cache_policy is CachePolicy.STRICT


def test_the_tool_comes_before_its_upstream_and_that_before_the_proxy() -> None:
    proxy = ProxySettings(
        compression=Compression.EXTRACT,
        delta=False,
        cache=CacheSettings(ttl_seconds=5),
        default_max_result_tokens=900,
    )
    upstream = UpstreamSettings(
        compression=Compression.HYBRID,
        max_result_tokens=800,
        cache_ttl_seconds=10,
        tools={"read": ToolSettings(max_result_tokens=700, delta=True, cache_ttl_seconds=0)},
    )
    own = rules_for(proxy, upstream, "read")
    assert (own.strategy, own.budget, own.delta) == (Compression.HYBRID, 700, True)
    assert own.cache_ttl_seconds == 0
    other = rules_for(proxy, upstream, "write")
    assert (other.budget, other.delta, other.cache_ttl_seconds) == (800, False, 10)
    assert rules_for(proxy, UpstreamSettings(), "read").strategy is Compression.EXTRACT
    assert rules_for(proxy, UpstreamSettings(), "read").budget == 900


def test_tokens_come_before_characters_in_one_table_but_not_across_tables() -> None:
    both = UpstreamSettings(max_result_tokens=500, max_result_chars=900)
    assert rules_for(ProxySettings(), both, "t").unit == "tokens"
    own = UpstreamSettings(max_result_tokens=500, tools={"t": ToolSettings(max_result_chars=900)})
    rules = rules_for(ProxySettings(), own, "t")
    assert (rules.budget, rules.unit) == (900, "characters")


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("claude-sonnet-4-5", 10_000),
        ("anthropic/claude-opus-4", 10_000),
        ("us.anthropic.claude-3-haiku", 10_000),
        ("gpt-4o-mini", 6_400),
        ("GPT-5", 16_000),
        ("gemini-2.5-pro", 16_000),
        ("gpt-3.5-turbo", 1_000),
        ("something-new", 4_000),
        ("", 4_000),
    ],
)
def test_the_model_that_reads_decides_the_default_budget(model: str, tokens: int) -> None:
    assert default_budget(ProxySettings(consumer_model=model)) == tokens


def test_a_stated_budget_comes_before_the_models() -> None:
    settings = ProxySettings(consumer_model="gpt-4o", default_max_result_tokens=123)
    assert default_budget(settings) == 123


def test_the_large_window_of_a_model_is_known_by_its_suffix() -> None:
    assert window_of("claude-sonnet-4-5[1m]") == 1_000_000


def test_an_answer_with_fewer_bytes_than_the_budget_needs_no_counting() -> None:
    rules = rules_for(ProxySettings(default_max_result_tokens=100), UpstreamSettings(), "t")
    assert not rules.may_exceed(100)
    assert rules.may_exceed(101)
    switched_off = UpstreamSettings(compression=Compression.NONE)
    assert not rules_for(ProxySettings(), switched_off, "t").may_exceed(10**9)
