"""What each upstream last advertised, so that a restart lists the same bytes before it connects.

One JSON file, replaced as a whole. The catalogue's entries are raw JSON exactly as the upstream sent
it, and that may be odd (invalid UTF-8, lone surrogates): each is kept as a string in which every byte
that is not UTF-8 becomes one low surrogate, which JSON can escape and which comes back as that byte.
"""

from __future__ import annotations

import json
import os
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from proxy.store.damaged import set_aside

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class RememberedCatalogue:
    """One upstream as it was when it last answered. ``bytes`` are raw JSON, byte for byte."""

    identity: str
    """Digest of what is started (argv or URL, names of variables): another one is another server."""
    protocol: str
    server_info: bytes
    capabilities: bytes
    instructions: str
    tools: tuple[bytes, ...]
    resources: tuple[bytes, ...]
    templates: tuple[bytes, ...]
    prompts: tuple[bytes, ...]


class CatalogueStore:
    """The file of remembered catalogues. Safe to use from several threads of one process.

    Every method that touches the disk may take milliseconds (``save`` waits for the disk): call it
    off the engine's loop.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._known: dict[str, RememberedCatalogue] | None = None
        self._problem = ""

    @property
    def problem(self) -> str:
        """Why remembered catalogues were lost or cannot be read, for a person; empty if all is well."""
        return self._problem

    def load(self) -> dict[str, RememberedCatalogue]:
        """All remembered catalogues by upstream. A damaged file is set aside and counts as empty."""
        with self._lock:
            return dict(self._loaded())

    def save(self, name: str, catalogue: RememberedCatalogue) -> None:
        """Remember ``catalogue``; does nothing when it is the one already known.

        Raises `OSError` when the file cannot be written; what was there before stays.
        """
        with self._lock:
            known = self._loaded()
            if known.get(name) != catalogue:
                self._write({**known, name: catalogue})

    def forget(self, name: str) -> None:
        """Forget an upstream; raises `OSError` as `save` does."""
        with self._lock:
            known = self._loaded()
            if name in known:
                self._write({key: value for key, value in known.items() if key != name})

    def _loaded(self) -> dict[str, RememberedCatalogue]:
        if self._known is None:
            self._known = self._read()
        return self._known

    def _read(self) -> dict[str, RememberedCatalogue]:
        try:
            raw = self._file.read_bytes()
        except FileNotFoundError:
            return {}
        except OSError as error:
            self._problem = (
                f"The remembered tool lists in {self._file} cannot be read: {error.strerror}. "
                "Upstreams are asked again; check the file's owner and mode."
            )
            return {}
        try:
            return _decode(raw)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            self._problem = self._set_aside(str(error) or type(error).__name__)
            return {}

    def _set_aside(self, reason: str) -> str:
        try:
            directory = set_aside(self._file)
        except OSError as error:
            return (
                f"The remembered tool lists in {self._file} are damaged ({reason}) and could not be "
                f"moved away: {error.strerror}. Upstreams are asked again; delete the file."
            )
        return (
            f"The remembered tool lists were damaged ({reason}) and were moved to {directory}. "
            "Upstreams are asked again; nothing needs to be done."
        )

    def _write(self, catalogues: dict[str, RememberedCatalogue]) -> None:
        directory = self._file.parent
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=directory, prefix=f".{self._file.name}.")
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(_encode(catalogues))
                stream.flush()
                os.fsync(stream.fileno())
            Path(temporary).replace(self._file)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        self._known = catalogues


def _encode(catalogues: Mapping[str, RememberedCatalogue]) -> bytes:
    upstreams = {
        name: {
            "identity": catalogue.identity,
            "protocol": catalogue.protocol,
            "server_info": _text(catalogue.server_info),
            "capabilities": _text(catalogue.capabilities),
            "instructions": catalogue.instructions,
            "tools": [_text(entry) for entry in catalogue.tools],
            "resources": [_text(entry) for entry in catalogue.resources],
            "templates": [_text(entry) for entry in catalogue.templates],
            "prompts": [_text(entry) for entry in catalogue.prompts],
        }
        for name, catalogue in catalogues.items()
    }
    return json.dumps({"format": _FORMAT, "upstreams": upstreams}, indent=1).encode("ascii")


def _decode(raw: bytes) -> dict[str, RememberedCatalogue]:
    document = _object(json.loads(raw.decode("ascii")))
    if document["format"] != _FORMAT:
        raise ValueError(f"format {document['format']!r} is unknown")
    return {
        name: _catalogue(_object(entry)) for name, entry in _object(document["upstreams"]).items()
    }


def _catalogue(entry: dict[str, Any]) -> RememberedCatalogue:
    return RememberedCatalogue(
        identity=_string(entry["identity"]),
        protocol=_string(entry["protocol"]),
        server_info=_bytes(entry["server_info"]),
        capabilities=_bytes(entry["capabilities"]),
        instructions=_string(entry["instructions"]),
        tools=_entries(entry["tools"]),
        resources=_entries(entry["resources"]),
        templates=_entries(entry["templates"]),
        prompts=_entries(entry["prompts"]),
    )


def _entries(value: object) -> tuple[bytes, ...]:
    return tuple(_bytes(item) for item in _list(value))


def _object(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("an object was expected")
    return cast("dict[str, Any]", value)


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("a list was expected")
    return cast("list[Any]", value)


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a string was expected")
    return value


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _bytes(value: object) -> bytes:
    return _string(value).encode("utf-8", "surrogateescape")
