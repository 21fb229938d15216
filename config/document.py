"""One TOML file on its way from bytes to checked values.

Reading comes first and is careful, because a settings file starts programs: whoever can write the
user's file can act as the user.
"""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from config.check import Checker, Values
from config.locate import Position, locate_keys
from config.problem import Problem
from config.schema import Settings
from config.toml_text import KeyPath

MAX_FILE_BYTES = 1024 * 1024
"""A larger file is no settings file of ours."""

_POSITION = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


class Document:
    """One file; its problems gather in ``checker``."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._positions: Mapping[KeyPath, Position] = {}
        self.is_missing = False
        self.checker = Checker(str(file), self._locate)

    def read(self, *, own: bool) -> str | None:
        """The text; ``None`` when there is no file or it must not be used.

        ``own``: the file can start programs, so nobody else may be able to write it.
        """
        try:
            # A pipe in the file's place must not make us wait for a writer.
            handle = os.open(self._file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            self.is_missing = True
            return None
        except OSError as error:
            return self._refuse(f"cannot be read: {error.strerror}", "Check its permissions.")
        try:
            return self._read_checked(handle, own=own)
        except OSError as error:
            return self._refuse(f"cannot be read: {error.strerror}", "Check the disk.")
        finally:
            os.close(handle)

    def _read_checked(self, handle: int, *, own: bool) -> str | None:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            return self._refuse("is not a regular file", "Move it away.")
        if own and status.st_uid not in (os.getuid(), 0):
            return self._refuse(
                f"belongs to user {status.st_uid}, who could start programs as you",
                f"Make it yours: chown {os.getuid()} {self._file}",
            )
        if own and status.st_mode & 0o022:
            return self._refuse(
                "can be changed by other users "
                f"(mode {stat.S_IMODE(status.st_mode):04o}), who could start programs as you",
                f"Close it: chmod go-w {self._file}",
            )
        with open(handle, "rb", closefd=False) as stream:  # a descriptor, not a path
            data = stream.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            return self._refuse(f"is larger than {MAX_FILE_BYTES} bytes", "Check what it is.")
        return self._decode(data)

    def check(self, text: str | None, *, own: bool) -> Values:
        """Parse and check. Not ``own``: a repository's file, which must not start programs."""
        values: Values = {}
        raw = {} if text is None else self._parse(text)
        if text is not None and raw:
            self._positions = locate_keys(text)
        if not own:
            self._keep_harmless(raw)
        self.checker.section(raw, Settings, (), values)
        return values

    def where(self, path: KeyPath) -> str:
        """``file:line`` of a key."""
        at = self._locate(path)
        return str(self._file) if at is None else f"{self._file}:{at.line}"

    def _decode(self, data: bytes) -> str | None:
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            return self._refuse("is not UTF-8 text", "Save it as UTF-8.", line)

    def _parse(self, text: str) -> dict[str, Any]:
        try:
            return tomllib.loads(text)
        except RecursionError:
            self._refuse("is nested too deeply", "Check what it is.")
        except ValueError as error:
            message = str(error)
            found = _POSITION.search(message)
            line = column = None
            if found and found[1]:
                line, column = int(found[1]), int(found[2])
            elif found:
                line = text.count("\n") + 1
            reason = message[: found.start()] if found else message
            self._refuse(
                f"not valid TOML: {reason[:1].lower()}{reason[1:]}",
                "Mend the line; nothing of the file is used until then.",
                line,
                column,
            )
        return {}

    def _keep_harmless(self, raw: dict[str, Any]) -> None:
        """A repository's file must not start programs or open a port."""
        hint = "Put it into your own settings file if you want it."
        if raw.pop("upstreams", None) is not None:
            self.checker.report(("upstreams",), "a project file cannot define upstreams", hint)
        proxy = raw.get("proxy")
        if isinstance(proxy, dict) and "http" in proxy:
            del proxy["http"]
            self.checker.report(("proxy", "http"), "a project file cannot open a port", hint)

    def _refuse(
        self, reason: str, hint: str, line: int | None = None, column: int | None = None
    ) -> None:
        self.checker.problems.append(Problem(str(self._file), line, column, "", reason, hint))

    def _locate(self, path: KeyPath) -> Position | None:
        """The position of a key, or of the nearest table around it."""
        for end in range(len(path), 0, -1):
            if path[:end] in self._positions:
                return self._positions[path[:end]]
        return None
