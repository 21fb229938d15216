"""``mms memory export`` and ``import``: JSON Lines of our own, and files of other programs."""

from __future__ import annotations

import argparse
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from console.cli.actions import AddAction
from console.cli.context import Context
from console.cli.context import run as run_async
from console.cli.errors import CliError, ExitCode, UsageError
from console.cli.memory_asking import PERSON, space_of
from console.cli.output import complain, note
from console.cli.progress import Progress
from memory.model import Actor, Origin

if TYPE_CHECKING:
    from memory.api import MemoryPort
    from memory.exchange.foreign import ForeignFile
    from memory.exchange.readers import Format

FORMATS = ("auto", "mms", "mcp-memory", "mem0", "markdown")
IMPORTER = Actor(Origin.IMPORT, "mms")
"""Who stores what another program's file says: it is trusted less than a person or an agent."""
_LONGEST_FILE = 67_108_864
"""Bytes of a foreign file, which is read as a whole."""
_PAGE_LINES = 500
_PAGE_SIZE = 4_194_304
"""Characters of lines that are sent together."""
_TOLD = 20
"""Refused entries that are told one by one to a person."""
_NUMBERED = re.compile(r"line (\d+): ")


@dataclass(slots=True)
class Taken:
    """What became of a file."""

    format: str
    dry_run: bool
    added: int = 0
    repeated: int = 0
    """Were there already."""
    refused: list[str] = field(default_factory=list[str])
    """A sentence per entry that was not taken, with its place in the file."""
    secrets_replaced: int = 0


def configure(action: AddAction) -> None:
    """Add the actions."""
    export = action("export", "write everything of a space as JSON Lines")
    export.add_argument("file", metavar="FILE", nargs="?", default="-", help="- is the output")
    export.set_defaults(do=_export)
    taken = action("import", "take in an export, or the memories of another program")
    taken.add_argument(
        "file", metavar="FILE|FOLDER", type=Path, help="a folder: its Markdown notes"
    )
    taken.add_argument("--format", choices=FORMATS, default="auto")
    taken.add_argument(
        "--quarantine",
        action="store_true",
        help="let each wait for review; not for our own exports",
    )
    taken.add_argument("--dry-run", action="store_true", help="only read the file")
    taken.set_defaults(do=_import)


# Export


def _export(arguments: argparse.Namespace, context: Context) -> int:
    space = space_of(arguments, context)
    if arguments.file == "-":
        run_async(_write(context, space, context.out.raw))
        return ExitCode.OK
    file = Path(arguments.file)
    lines = _export_to(file, space, context)
    if context.out.as_json:
        context.out.json({"file": str(file), "space": space, "lines": lines})
    else:
        context.out.line(f"{lines} lines of space {space} are in {file}.")
    return ExitCode.OK


def _export_to(file: Path, space: str, context: Context) -> int:
    """Write the file as a whole or not at all; only its owner may read it."""
    descriptor, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        # A descriptor, not a path.
        with open(descriptor, "w", encoding="ascii", newline="\n") as stream:  # noqa: PTH123
            lines = run_async(_write(context, space, lambda line: stream.write(line + "\n")))
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).replace(file)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
    return lines


async def _write(context: Context, space: str, write: Callable[[str], object]) -> int:
    from memory.api import Export, GetPosition

    count, after = 0, ""
    async with context.memory() as memory:
        before = (await memory.ask(GetPosition(space), PERSON)).position
        while True:
            page = await memory.ask(Export(space, after=after), PERSON)
            for line in page.lines:
                write(line)
            count += len(page.lines)
            after = page.next
            if not after:
                break
        if (await memory.ask(GetPosition(space), PERSON)).position != before:
            note("The memory was changed meanwhile: some lines may be older than others.")
    return count


# Import


def _import(arguments: argparse.Namespace, context: Context) -> int:
    from memory.exchange.readers import Format

    file: Path = arguments.file
    format = _format(file, arguments.format)
    taken = Taken(format.value, arguments.dry_run)
    space = space_of(arguments, context)
    if format is Format.MMS:
        if arguments.quarantine:
            raise UsageError("--quarantine: an export keeps the states that its memories have.")
        if arguments.dry_run:
            _check_own(file, taken)
        else:
            run_async(_take_own(context, file, space, taken))
    else:
        read = _read(file, format)
        taken.refused += read.refused
        if arguments.dry_run:
            taken.added = len(read.found)
        else:
            run_async(_take(context, read, space, arguments.quarantine, taken))
    _tell(taken, context)
    return ExitCode.FAILED if taken.refused else ExitCode.OK


def _tell(taken: Taken, context: Context) -> None:
    if context.out.as_json:
        context.out.json(taken)
        return
    verb = "would be taken in" if taken.dry_run else "taken in"
    context.out.line(
        f"{taken.format}: {taken.added} {verb}, {taken.repeated} were there already, "
        f"{len(taken.refused)} refused."
    )
    for sentence in taken.refused[:_TOLD]:
        complain(sentence)
    if len(taken.refused) > _TOLD:
        complain(f"and {len(taken.refused) - _TOLD} more; --json lists them all")
    if taken.secrets_replaced:
        note(f"{taken.secrets_replaced} secrets in the texts were replaced.")


def _format(file: Path, named: str) -> Format:
    """The format that is named, or the one that the file seems to have. Raises `CliError`."""
    from memory.exchange.readers import Format, format_of

    if file.is_dir():
        if named not in ("auto", Format.MARKDOWN.value):
            raise UsageError(f"--format {named}: {file} is a folder; only Markdown notes are.")
        return Format.MARKDOWN
    if named != "auto":
        return Format(named)
    if file.suffix.lower() in (".md", ".markdown"):
        return Format.MARKDOWN
    with file.open(encoding="utf-8", errors="replace") as stream:
        found = format_of(stream.read(1_000_000))
    if found is None:
        raise CliError(f"{file} is in no format that is known. Name one with --format.")
    return found


def _read(file: Path, format: Format) -> ForeignFile:
    from memory.exchange.foreign import ForeignFile
    from memory.exchange.markdown import read_markdown
    from memory.exchange.readers import Format, UnreadableFile, read_mcp_memory, read_mem0

    if format is Format.MARKDOWN:
        notes: list[tuple[str, str]] = []
        refused: list[str] = []
        for name, path in _notes(file):
            try:
                notes.append((name, _text(path)))
            except CliError as error:
                refused.append(str(error))
        return ForeignFile(read_markdown(notes).found, tuple(refused))
    text = _text(file)
    if format is Format.MCP_MEMORY:
        return read_mcp_memory(text, file.name)
    try:
        return read_mem0(text, file.name)
    except UnreadableFile as error:
        raise CliError(f"{file}: {error}.") from None


def _notes(file: Path) -> list[tuple[str, Path]]:
    """Markdown files with their names below the folder; what is hidden is left out."""
    if not file.is_dir():
        return [(file.name, file)]
    found = [
        (path.relative_to(file), path)
        for pattern in ("*.md", "*.markdown")
        for path in file.rglob(pattern)
        if path.is_file()
    ]
    shown = [
        (name.as_posix(), path)
        for name, path in found
        if not any(part.startswith(".") for part in name.parts)
    ]
    return sorted(shown)


def _text(file: Path) -> str:
    size = file.stat().st_size
    if size > _LONGEST_FILE:
        raise CliError(f"{file} has {size:,} bytes; {_LONGEST_FILE:,} are possible.")
    try:
        return file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise CliError(f"{file} is not UTF-8 at byte {error.start + 1}.") from None


async def _take(
    context: Context, read: ForeignFile, space: str, quarantine: bool, taken: Taken
) -> None:
    from memory.errors import FaultCode, MemoryFault

    bar = Progress()
    try:
        async with context.memory() as memory:
            for done, one in enumerate(read.found):
                bar.show(done, len(read.found))
                try:
                    stored = await memory.ask(one.request(space, quarantine=quarantine), IMPORTER)
                except MemoryFault as fault:
                    if fault.code not in (FaultCode.INVALID, FaultCode.REFUSED):
                        raise
                    taken.refused.append(f"{one.place}: {fault}")
                    continue
                taken.added += not stored.repeated
                taken.repeated += stored.repeated
                taken.secrets_replaced += stored.redacted
    finally:
        bar.end()


async def _take_own(context: Context, file: Path, space: str, taken: Taken) -> None:
    async with context.memory() as memory:
        for first, page in _pages(_lines(file)):
            await _take_page(memory, first, page, space, taken)


async def _take_page(
    memory: MemoryPort, first: int, page: tuple[str, ...], space: str, taken: Taken
) -> None:
    from memory.api import Import

    refused = {
        number: "it is not UTF-8" for number, line in enumerate(page, first) if not _is_text(line)
    }
    sent = tuple("" if number in refused else line for number, line in enumerate(page, first))
    result = await memory.ask(Import(sent, space), PERSON)
    taken.added += result.added
    taken.repeated += result.repeated
    for sentence in result.refused:
        number = _NUMBERED.match(sentence)
        assert number is not None
        refused[first + int(number[1]) - 1] = sentence[number.end() :]
    taken.refused += [f"line {number}: {refused[number]}" for number in sorted(refused)]


def _is_text(line: str) -> bool:
    """Whether all its bytes were UTF-8."""
    return line.isascii() or not any("\ud800" <= character <= "\udfff" for character in line)


def _check_own(file: Path, taken: Taken) -> None:
    """Read an export without a memory: only the form of its lines is looked at."""
    from memory.exchange.lines import BadLine, Header, read_line

    for number, line in enumerate(_lines(file), 1):
        if not line.strip():
            continue
        try:
            taken.added += not isinstance(read_line(line), Header)
        except BadLine as error:
            taken.refused.append(f"line {number}: {error}")


def _lines(file: Path) -> Iterator[str]:
    """The lines of a file. One that is too long is cut there, which no reader of lines takes."""
    from memory.exchange.lines import LONGEST_LINE

    with file.open(encoding="utf-8", errors="surrogateescape", newline="\n") as stream:
        while line := stream.readline(LONGEST_LINE + 1):
            yield line.rstrip("\n")
            while line and not line.endswith("\n"):
                line = stream.readline(LONGEST_LINE)


def _pages(lines: Iterable[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Lines to be sent together, with the number of the first."""
    page: list[str] = []
    first, size = 1, 0
    for number, line in enumerate(lines, 1):
        if page and (len(page) == _PAGE_LINES or size + len(line) > _PAGE_SIZE):
            yield first, tuple(page)
            page, first, size = [], number, 0
        page.append(line)
        size += len(line)
    if page:
        yield first, tuple(page)
