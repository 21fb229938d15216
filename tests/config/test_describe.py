"""Every key is described for people, editors and the documentation."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from config.describe import UnknownKeyError, get, json_schema, reference_markdown, setting_rows
from config.keys import find_key, leaf_keys
from config.load import Source
from config.schema import Settings, UpstreamSettings
from config.secrets import SECRET_MARK
from config.toml_text import dotted, split_key

from .conftest import Load

ROOT = Path(__file__).parents[2]


def test_the_reference_page_is_current() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert page == reference_markdown(), "run: python -m config.describe > docs/settings.md"


def test_every_key_is_on_the_reference_page_and_has_a_sentence() -> None:
    page = reference_markdown()
    for path, key in [*leaf_keys(), *leaf_keys(UpstreamSettings, ("upstreams", "NAME"))]:
        assert f"| `{path[-1]}` |" in page
        assert key.help.endswith("."), dotted(path)


def test_rows_tell_value_default_and_source(load: Load) -> None:
    loaded = load("[proxy]\nmax_in_flight = 5\n", {"MEMTOMEM_STM_FORMATION__ENABLED": "1"})
    rows = {row.key: row for row in setting_rows(loaded)}
    assert [dotted(path) for path, _ in leaf_keys()] == list(rows)
    row = rows["proxy.max_in_flight"]
    assert (row.value, row.default, row.source) == ("5", "32", Source.USER_FILE)
    assert row.where.endswith("config.toml:2")
    assert rows["proxy.max_queued"].source is Source.DEFAULT
    assert rows["proxy.max_queued"].where == ""
    row = rows["formation.enabled"]
    assert (row.value, row.source) == ("true", Source.ENVIRONMENT)
    assert row.where == "MEMTOMEM_STM_FORMATION__ENABLED"


def test_rows_of_an_upstream_show_what_is_given_and_hide_secrets(load: Load) -> None:
    loaded = load(
        '[upstreams.a]\ncommand = "x"\nargs = ["--token", "canary"]\nenv = { T = "canary" }\n'
        "tools.t.enabled = false\n"
        '[upstreams.b]\nurl = "http://u:canary@h/"\nheaders = { A = "canary" }\n'
    )
    rows = {row.key: row.value for row in setting_rows(loaded) if row.key.startswith("upstreams")}
    assert rows == {
        "upstreams.a.prefix": '"a"',
        "upstreams.a.command": '"x"',
        "upstreams.a.args": f'["--token", "{SECRET_MARK}"]',
        "upstreams.a.env": f'{{ T = "{SECRET_MARK}" }}',
        "upstreams.a.enabled": "true",
        "upstreams.a.tools.t.enabled": "false",
        "upstreams.b.prefix": '"b"',
        "upstreams.b.url": f'"http://{SECRET_MARK}@h/"',
        "upstreams.b.headers": f'{{ A = "{SECRET_MARK}" }}',
        "upstreams.b.enabled": "true",
    }


def test_one_setting_is_found_by_its_key(load: Load) -> None:
    loaded = load('[upstreams.a]\ncommand = "x"\nenv = { T = "canary" }\n[console.keys]\nq = "w"\n')
    assert get(loaded, "proxy.max_queued").value == "256"
    assert get(loaded, "upstreams.a.max_in_flight").value == ""
    assert get(loaded, "upstreams.a.prefix").default == '"a"'
    assert get(loaded, "upstreams.a.env.T").value == f'"{SECRET_MARK}"'
    assert get(loaded, "upstreams.a.env.T").where.endswith(":3")
    assert get(loaded, "console.keys.q").value == '"w"'


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("proxy.max_queue", "Did you mean proxy.max_queued?"),
        ("proxy", "is a table, not a key. Its keys: first_list_wait_seconds"),
        ("upstreams.b.command", "no such entry"),
        ("console.keys.q", "no such entry"),
        ("a b", "no such key"),
        ("proxy.max_queued.x", "no such key"),
    ],
)
def test_a_key_that_does_not_exist_is_an_error_with_a_hint(load: Load, key: str, hint: str) -> None:
    with pytest.raises(UnknownKeyError, match=re.escape(hint)):
        get(load(), key)


def test_the_json_schema_describes_every_key_with_its_bounds() -> None:
    schema: dict[str, Any] = json.loads(json.dumps(json_schema()))
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    for path, key in leaf_keys():
        at = schema
        for name in path:
            assert at["additionalProperties"] is False
            at = at["properties"][name]
        assert at["description"].startswith(key.help)
        assert at.get("minimum") == key.minimum
        assert at.get("maximum") == key.maximum
    assert schema["properties"]["proxy"]["properties"]["max_in_flight"]["default"] == 32
    upstreams = schema["properties"]["upstreams"]
    assert upstreams["propertyNames"] == {"pattern": "^[A-Za-z0-9_-]{1,32}$"}
    upstream = upstreams["additionalProperties"]
    assert upstream["properties"]["transport"]["enum"] == ["auto", "stdio", "http"]
    assert upstream["oneOf"] == [{"required": ["command"]}, {"required": ["url"]}]


def test_keys_are_found_through_tables_and_entries() -> None:
    for key in ("proxy.http.port", "upstreams.x.env.A", 'upstreams.x.tools."a.b".enabled'):
        path = split_key(key)
        assert path is not None
        assert find_key(path) is not None
        assert dotted(path) == key
    assert find_key(("proxy", "http", "port", "x")) is None
    assert find_key(("upstreams", "x", "name")) is None
    assert Settings().upstreams == {}
