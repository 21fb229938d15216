"""What hosts are offered."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.catalogue import Catalogue, Offer, OfferedUpstream, build, template_fits, tool_views
from proxy.model import WithheldReason, WithheldTool


def _tool(name: object, **more: Any) -> bytes:
    return json.dumps({"name": name, "inputSchema": {"type": "object"}, **more}).encode()


def _build(*upstreams: OfferedUpstream) -> Catalogue:
    return build(upstreams, lambda text: "ghp_" in text)


def _offering(prefix: str, *tools: bytes, hidden: frozenset[str] = frozenset()) -> OfferedUpstream:
    return OfferedUpstream(f"server-{prefix}", prefix, Offer(tools=tools), hidden)


def _listed(catalogue: Catalogue) -> list[dict[str, Any]]:
    return json.loads(catalogue.list_result("tools"))["tools"]


def test_a_tool_is_offered_under_its_prefix_and_all_else_is_kept() -> None:
    tool = (
        b'{"name":"read","x":{"big":12345678901234567890,"f":1.0},"inputSchema":{"type":"object"}}'
    )

    catalogue = _build(_offering("fs", tool))

    assert catalogue.list_result("tools") == (
        b'{"tools":[{"name":"fs__read","x":{"big":12345678901234567890,"f":1.0},'
        b'"inputSchema":{"type":"object"}}]}'
    )


def test_a_title_in_annotations_says_which_upstream_it_is() -> None:
    catalogue = _build(
        _offering("fs", _tool("a", annotations={"title": "Read file", "readOnlyHint": True})),
        _offering("gh", _tool("b", title="Only here", annotations={"readOnlyHint": True})),
    )

    first, second = _listed(catalogue)
    assert first["annotations"] == {"title": "[server-fs] Read file", "readOnlyHint": True}
    assert second["annotations"] == {"readOnlyHint": True}
    assert second["title"] == "Only here"


def test_bad_tools_are_withheld_with_a_reason_and_good_ones_stay() -> None:
    catalogue = _build(
        _offering(
            "up",
            _tool("good"),
            b'{"name":"noschema"}',
            b'{"name":"listschema","inputSchema":[]}',
            b'{"name":"notobject","inputSchema":{"type":"string"}}',
            b'{"inputSchema":{"type":"object"}}',
            _tool(7),
            _tool("numberdescription", description=5),
            _tool("has space"),
            _tool("\u0435cho"),
            _tool("x" * 130),
            _tool("leaky", description="use ghp_0123456789"),
            _tool("good"),
            b"[1]",
        )
    )

    assert [tool["name"] for tool in _listed(catalogue)] == ["up__good"]
    reasons = {tool.name: tool.reason for tool in catalogue.withheld["server-up"]}
    assert "no input schema" in reasons["noschema"]
    assert "not an object" in reasons["listschema"]
    assert "does not describe an object" in reasons["notobject"]
    assert "not a text" in reasons["numberdescription"]
    assert "characters other than" in reasons["has space"]
    assert "characters other than" in reasons["\u0435cho"]
    assert "134 characters" in reasons["x" * 130]
    assert "credential" in reasons["leaky"]
    assert "twice" in reasons["good"]
    assert len(catalogue.withheld["server-up"]) == 12


def test_a_tool_that_is_switched_off_is_withheld_and_cannot_be_called() -> None:
    catalogue = _build(_offering("up", _tool("a"), _tool("b"), hidden=frozenset({"b"})))

    assert [tool["name"] for tool in _listed(catalogue)] == ["up__a"]
    assert catalogue.find_tool("up__b") is None
    assert catalogue.withheld_reason("up__b") == (
        "switched off by upstreams.server-up.tools.b.enabled"
    )
    assert catalogue.withheld["server-up"] == (
        WithheldTool(
            "b",
            "switched off by upstreams.server-up.tools.b.enabled",
            WithheldReason.CONFIG_HIDDEN,
        ),
    )


def test_names_lead_to_their_upstream() -> None:
    catalogue = _build(
        _offering("a", _tool("only"), _tool("both"), _tool("b__c")), _offering("b", _tool("both"))
    )

    assert catalogue.find_tool("a__only") == ("server-a", "only")
    assert catalogue.find_tool("a__b__c") == ("server-a", "b__c")
    assert catalogue.find_tool("b__unlisted") == ("server-b", "unlisted")
    assert catalogue.find_tool("only") == ("server-a", "only")
    assert catalogue.find_tool("both") is None
    assert catalogue.find_tool("c__only") is None


def test_a_resource_leads_to_who_lists_it_else_to_whose_template_fits() -> None:
    first = OfferedUpstream(
        "one", "one", Offer(resources=(b'{"uri":"x://a","name":"a"}', b'{"name":"no uri"}'))
    )
    second = OfferedUpstream(
        "two",
        "two",
        Offer(
            resources=(b'{"uri":"x://a","name":"again"}',),
            templates=(b'{"uriTemplate":"repo://{owner}/{+path}{?ref}","name":"t"}',),
        ),
    )
    catalogue = _build(first, second)

    assert catalogue.upstreams_of_uri("x://a") == ("one",)
    assert catalogue.upstreams_of_uri("repo://me/src/x.py") == ("two",)
    assert catalogue.upstreams_of_uri("y://nowhere") == ()
    assert json.loads(catalogue.list_result("resources")) == {
        "resources": [{"uri": "x://a", "name": "a"}]
    }
    assert json.loads(catalogue.list_result("templates")) == {
        "resourceTemplates": [{"uriTemplate": "repo://{owner}/{+path}{?ref}", "name": "t"}]
    }


def test_prompts_have_prefixes_too() -> None:
    upstream = OfferedUpstream("one", "p", Offer(prompts=(b'{"name":"review","x":1}', b"5")))

    catalogue = _build(upstream)

    assert catalogue.list_result("prompts") == b'{"prompts":[{"name":"p__review","x":1}]}'
    assert catalogue.find_prompt("p__review") == ("one", "review")
    assert catalogue.find_prompt("review") == ("one", "review")


def test_a_list_in_another_order_stays_in_the_known_one() -> None:
    known = Offer(tools=(_tool("a"), _tool("b"), _tool("c")))

    assert Offer(tools=(_tool("c"), _tool("a"), _tool("b"))).in_known_order(known) == known
    grown = Offer(tools=(_tool("c"), _tool("a"), _tool("b"), _tool("d")))
    assert grown.in_known_order(known) == grown


def test_views_show_the_advertised_name_and_the_own_one() -> None:
    catalogue = _build(_offering("fs", _tool("read", title="Read", description="Reads.")))

    (view,) = tool_views(catalogue, "server-fs")

    assert (view.name, view.advertised_as) == ("read", "fs__read")
    assert (view.title, view.description) == ("Read", "Reads.")


@given(st.lists(st.binary(max_size=60)), st.randoms())
def test_no_offer_breaks_the_catalogue(items: list[bytes], chance: random.Random) -> None:
    offer = Offer(*(tuple(chance.sample(items, len(items))) for _ in range(4)))

    catalogue = build([OfferedUpstream("u", "u", offer)], lambda _: False)

    for kind in ("tools", "prompts", "resources", "templates"):
        json.loads(catalogue.list_result(kind))


def test_template_expressions_match_anything() -> None:
    assert template_fits("file:///{path}", "file:///a/b c")
    assert template_fits("x://{a}{?b}", "x://1?b=2")
    assert not template_fits("x://{a}", "y://1")
    assert not template_fits("x://a.b", "x://aXb")


def _asking(*tools: bytes) -> Catalogue:
    upstream = _offering("up", *tools)
    return build([upstream], lambda _: False, context_query=True)


def _with_schema(schema: bytes) -> bytes:
    return b'{"name":"t","inputSchema":' + schema + b',"x": 1.0}'


QUERY = (
    b'"_context_query":{"type":"string",'
    b'"description":"What you look for: a long answer is shortened around it"}'
)


@pytest.mark.parametrize(
    ("schema", "wanted"),
    [
        (b'{"type":"object"}', b'{"type":"object","properties":{%s}}' % QUERY),
        (b"{ }", b'{"properties":{%s} }' % QUERY),
        (b'{"properties":{ },"required":[]}', b'{"properties":{%s },"required":[]}' % QUERY),
        (
            b'{ "properties" : {"a":{"maximum":1e400}} , "additionalProperties":false}',
            b'{ "properties" : {"a":{"maximum":1e400},%s} , "additionalProperties":false}' % QUERY,
        ),
    ],
)
def test_a_query_is_asked_for_on_request_and_the_rest_of_the_schema_stays(
    schema: bytes, wanted: bytes
) -> None:
    text = _asking(_with_schema(schema)).tools["up__t"].text
    assert text == b'{"name":"up__t","inputSchema":' + wanted + b',"x":1.0}'


@pytest.mark.parametrize(
    "schema",
    [
        b'{"properties":{"_context_query":{"type":"integer"}}}',
        b'{"properties":true}',
        b'{"properties":{},"properties":{}}',
        b'{"properties":{"a":{}},"maxProperties":1}',
        b'{"properties":{"a":{}},"propertyNames":{"pattern":"^[a-z]$"}}',
        b'{"anyOf":[{"properties":{"a":{}},"additionalProperties":false}]}',
        b'{"$ref":"#/$defs/a","$defs":{"a":{"additionalProperties":false}}}',
    ],
)
def test_a_schema_that_has_the_argument_or_may_refuse_it_stays_as_it_is(schema: bytes) -> None:
    assert (
        _asking(_with_schema(schema)).tools == _build(_offering("up", _with_schema(schema))).tools
    )


OWN = (b'{"name":"stm_b","inputSchema":{"type":"object"}}', b'{"name":"up__a","inputSchema":{}}')


def test_our_own_tools_come_last_in_their_order_and_ask_for_no_query() -> None:
    upstreams = [_offering("zz", _tool("z"))]
    catalogue = build(upstreams, lambda _: False, context_query=True, own_tools=OWN)
    assert [tool["name"] for tool in _listed(catalogue)] == ["zz__z", "stm_b", "up__a"]
    assert catalogue.list_result("tools").endswith(b",".join(OWN) + b"]}")
    assert catalogue.own == {"stm_b", "up__a"}
    assert build([], lambda _: False, own_tools=OWN).list_result("tools") == (
        b'{"tools":[' + b",".join(OWN) + b"]}"
    )
    assert tool_views(catalogue, "stm_b") == ()


def test_names_of_our_own_tools_lead_to_no_upstream() -> None:
    upstreams = [_offering("up", _tool("a"), _tool("stm_b"), _tool("c"))]
    catalogue = build(upstreams, lambda _: False, own_tools=OWN)
    assert catalogue.withheld["server-up"] == (
        WithheldTool("a", "the name up__a is one of mms's own tools", WithheldReason.RESERVED_NAME),
    )
    assert catalogue.find_tool("up__a") is None
    assert catalogue.find_tool("stm_b") is None
    assert catalogue.find_tool("up__stm_b") == ("server-up", "stm_b")
    assert catalogue.find_tool("c") == ("server-up", "c")
