"""Change the user's file as a person would: one key, the rest byte for byte as it was.

An edit is checked with the loader before anything is written, and written so that a reader sees the
old file or the new one. A second editor of ours waits; an editor of somebody else is noticed.
"""

from __future__ import annotations

import contextlib
import copy
import fcntl
import os
import time
import tomllib
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any, cast

from config.check import Checker, Values
from config.document import Document
from config.environment import suggest_key
from config.file_writes import make_parents, replace_file, stamp_of
from config.keys import Key, Kind, find_key, keys_of
from config.load import problems_in
from config.problem import Problem, new_errors
from config.schema import UpstreamSettings
from config.toml_edit import UnusualLayoutError, append_table, remove, set_value
from config.toml_text import KeyPath, dotted, split_key, toml_value
from config.typed_text import parse_typed

LOCK_SECONDS = 5.0
"""How long an edit waits for another one."""
_ATTEMPTS = 3
_HEADER = """\
# Settings of mms. "mms config show" lists every key with its value, default and meaning.

"""

_Table = dict[str, Any]


class EditRefusedError(Exception):
    """Nothing was written. ``str()`` says why and what to do."""

    def __init__(self, message: str, problems: tuple[Problem, ...] = ()) -> None:
        super().__init__(message or "\n".join(str(problem) for problem in problems))
        self.problems = problems


def set_key(
    file: Path, dotted_key: str, text_value: str, *, environ: Mapping[str, str] | None = None
) -> None:
    """Write one key. ``text_value`` is what a person types: TOML, else bare text.

    Raises `EditRefusedError`; so do all functions here.
    """
    _edit(file, _setting(file, {dotted_key: text_value}), environ)


def set_keys(
    file: Path,
    values: Mapping[str, str],
    *,
    environ: Mapping[str, str] | None = None,
    keep: Callable[[bytes, str], None] | None = None,
) -> None:
    """Write several keys at once, or none of them.

    ``keep`` is given the file as it is and the text that will replace it, right before that happens.
    """
    _edit(file, _setting(file, values), environ, keep)


def edited(
    file: Path, values: Mapping[str, str], *, environ: Mapping[str, str] | None = None
) -> tuple[str, str]:
    """The file's text, and what `set_keys` would make of it now; nothing is written."""
    target = file.resolve()
    change = _setting(file, values)
    seen = ""

    def look(text: str, data: _Table) -> str:
        nonlocal seen
        seen = text
        return change(text, data)

    new = _changed_text(target, look, os.environ if environ is None else environ)
    return seen, seen if new is None else new


def replace_text(
    file: Path,
    text: str,
    *,
    unless: Callable[[str], str],
    environ: Mapping[str, str] | None = None,
) -> None:
    """Put another text in the file's place.

    ``unless`` is given the present text and says what is against it; empty: nothing.
    """

    def change(present: str, data: _Table) -> str:
        refusal = unless(present)
        if refusal:
            raise EditRefusedError(refusal)
        data.clear()
        data.update(_parsed(file, text))
        return text

    _edit(file, change, environ)


def _setting(file: Path, values: Mapping[str, str]) -> Callable[[str, _Table], str]:
    """What writes these keys into a text."""
    checked: list[tuple[KeyPath, object, bool]] = []
    for dotted_key, text_value in values.items():
        path, key = _known_key(dotted_key)
        value = _checked(path, key, parse_typed(key, text_value), file)
        parent = find_key(path[:-1])
        checked.append((path, value, parent is not None and parent.kind is Kind.TABLE))

    def change(text: str, data: _Table) -> str:
        for path, value, is_entry in checked:
            _require_upstream(path, data)
            _put(data, path, value)
            text = set_value(text, path, toml_value(value), in_table_of_texts=is_entry)
        return text

    return change


def unset_key(file: Path, dotted_key: str, *, environ: Mapping[str, str] | None = None) -> bool:
    """Take one key out, so that its default counts again. False when it was not there.

    A key that does not exist in this version can be taken out too: that mends the file.
    """
    path = split_key(dotted_key)
    is_known = path is None or find_key(path) is not None
    if path is None or is_known:
        path, _ = _known_key(dotted_key)
    found = False

    def change(text: str, data: _Table) -> str:
        nonlocal found
        found = _take(data, path)
        return remove(text, path) if found else text

    _edit(file, change, environ)
    if not found and not is_known:
        _known_key(dotted_key)  # neither in the file nor anywhere
    return found


def add_upstream(
    file: Path,
    name: str,
    table: Mapping[str, object],
    *,
    environ: Mapping[str, str] | None = None,
) -> None:
    """Add ``[upstreams.NAME]``. Keys that are empty or ``None`` are left out."""
    path = ("upstreams", name)
    given = {
        key: _plain(value) for key, value in table.items() if value not in (None, "", (), [], {})
    }
    unknown = [key for key in given if key not in keys_of(UpstreamSettings)]
    if unknown:
        raise EditRefusedError(
            f"{dotted((*path, unknown[0]))}: no such key. {suggest_key((*path, unknown[0]))}"
        )

    def change(text: str, data: _Table) -> str:
        if name in _upstreams(data):
            raise EditRefusedError(
                f"{file}: upstream {name} exists already. Choose another name, or remove it first."
            )
        _put(data, path, given)
        return append_table(text, path, {key: toml_value(value) for key, value in given.items()})

    _edit(file, change, environ)


def remove_upstream(file: Path, name: str, *, environ: Mapping[str, str] | None = None) -> None:
    """Take an upstream out, with all its tables and the comment right above it."""
    path = ("upstreams", name)

    def change(text: str, data: _Table) -> str:
        _require_upstream(path, data)
        _take(data, path)
        return remove(text, path)

    _edit(file, change, environ)


def set_upstream_enabled(
    file: Path, name: str, enabled: bool, *, environ: Mapping[str, str] | None = None
) -> None:
    """Write ``enabled`` of an upstream."""
    set_key(file, dotted(("upstreams", name, "enabled")), toml_value(enabled), environ=environ)


def _known_key(dotted_key: str) -> tuple[KeyPath, Key]:
    path = split_key(dotted_key)
    key = find_key(path) if path else None
    if path is None or key is None:
        hint = suggest_key(path) if path else "Write it like proxy.max_in_flight."
        raise EditRefusedError(f"{dotted_key}: no such key. {hint}")
    if key.kind in (Kind.SECTION, Kind.SECTIONS):
        names = "" if key.section is None else f" Its keys: {', '.join(keys_of(key.section))}."
        raise EditRefusedError(f"{dotted_key} is a table, not a key.{names}")
    return path, key


def _checked(path: KeyPath, key: Key, value: object, file: Path) -> object:
    """The value as it will be written; refused here when its type or bounds are wrong."""
    checker = Checker(str(file))
    values: Values = {}
    checker.leaf(path, key, value, values)
    if checker.problems:
        raise EditRefusedError("", tuple(checker.problems))
    return value


def _require_upstream(path: KeyPath, data: _Table) -> None:
    if path[0] != "upstreams":
        return
    names = list(_upstreams(data))
    if path[1] not in names:
        have = f"There are {', '.join(names)}." if names else "There are none yet."
        raise EditRefusedError(f"There is no upstream {path[1]}. {have} Add one with mms add.")


def _edit(
    file: Path,
    change: Callable[[str, _Table], str],
    environ: Mapping[str, str] | None,
    keep: Callable[[bytes, str], None] | None = None,
) -> None:
    """Read, change, check and write, alone."""
    variables = os.environ if environ is None else environ
    target = file.resolve()
    try:
        make_parents(target.parent)
        with _locked(target):
            for _ in range(_ATTEMPTS):
                before = stamp_of(target)
                new = _changed_text(target, change, variables)
                if new is None:
                    return
                if stamp_of(target) == before:
                    if keep is not None:
                        keep(target.read_bytes() if before else b"", new)
                    replace_file(target, new)
                    return
    except OSError as error:
        raise EditRefusedError(
            f"{error.filename or target}: {error.strerror}. Nothing was changed."
        ) from error
    raise EditRefusedError(f"{target}: another program keeps changing it. Try again.")


def _changed_text(
    target: Path, change: Callable[[str, _Table], str], environ: Mapping[str, str]
) -> str | None:
    """The new text, or ``None`` when nothing is to be written."""
    document = Document(target)
    found = document.read(own=True)
    if document.checker.problems:
        raise EditRefusedError("", tuple(document.checker.problems))
    old = _HEADER if found is None else found
    data = _parsed(target, old)
    wanted = copy.deepcopy(data)
    try:
        new = change(old, wanted)
    except UnusualLayoutError:
        raise _unusual(target) from None
    if new == old:
        return None
    _require_text(new, target)
    after, before = problems_in(new, target, environ), problems_in(old, target, environ)
    fresh = new_errors(after, before)
    if fresh:
        raise EditRefusedError("", fresh)
    if _without_empty(_parsed(target, new)) != _without_empty(wanted):
        raise _unusual(target)
    return new


def _unusual(target: Path) -> EditRefusedError:
    return EditRefusedError(
        f"{target}: its layout is too unusual to be changed by a program. Edit it by hand."
    )


def _require_text(new: str, target: Path) -> None:
    """Bytes of a terminal that are no text arrive as lone surrogates."""
    try:
        new.encode("utf-8")
    except UnicodeEncodeError:
        raise EditRefusedError(f"{target}: the value is not valid text (UTF-8).") from None


def _parsed(target: Path, text: str) -> _Table:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        found = problems_in(text, target, {})
        raise EditRefusedError("", found) from None


def _without_empty(table: _Table) -> _Table:
    """Without empty tables, since a header without keys says nothing."""
    out: _Table = {}
    for name, value in table.items():
        inner = _without_empty(cast("_Table", value)) if isinstance(value, dict) else value
        if inner != {}:
            out[name] = inner
    return out


def _put(data: _Table, path: KeyPath, value: object) -> None:
    for size, name in enumerate(path[:-1], 1):
        data = _as_table(data.setdefault(name, {}), path[:size])
    data[path[-1]] = _plain(value)


def _take(data: _Table, path: KeyPath) -> bool:
    for size, name in enumerate(path[:-1], 1):
        data = _as_table(data.get(name, {}), path[:size])
    return data.pop(path[-1], None) is not None


def _upstreams(data: _Table) -> _Table:
    return _as_table(data.get("upstreams", {}), ("upstreams",))


def _as_table(value: object, path: KeyPath) -> _Table:
    if isinstance(value, dict):
        return cast("_Table", value)
    raise EditRefusedError(f"{dotted(path)} is not a table in the file. Edit it by hand.")


def _plain(value: object) -> object:
    """As `tomllib` would give it back."""
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, object]", value)
        return {name: _plain(entry) for name, entry in entries.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in cast("list[object]", value)]
    return getattr(value, "value", value)


@contextlib.contextmanager
def _locked(target: Path) -> Generator[None]:
    """Hold the lock beside the file. It stays there: removing a lock file would open a race."""
    lock = target.with_name(f".{target.name}.lock")
    handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        deadline = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise EditRefusedError(
                        f"{target}: another mms is changing it. Try again in a moment."
                    ) from None
                time.sleep(0.02)
        yield
    finally:
        os.close(handle)
