"""What a host launches: a pump between its own input and output and the station's socket.

Standard library only, and as little of it as can be: a host waits for this. If no station runs, one is
started in the background. If the station goes away and comes back, the host does not notice: the
handshake is repeated on the new connection, and only requests that were under way are answered with an
error.
"""

from __future__ import annotations

import gc
import os
import select
import socket
import sys
import time

from proxy.bridge_ledger import Ledger, request_of

TYPE_CHECKING = False  # known to type checkers; importing `typing` costs start-up time
if TYPE_CHECKING:
    import subprocess

START_SECONDS = 15.0
"""How long a station that is being started may take to answer."""
_CHUNK = 1 << 18
"""Bytes read at once, into a buffer made once: a new one of this size would be mapped and unmapped by the
system for each message, which costs more than all else that the bridge does."""
_LARGE = 1 << 16
"""Bytes that a pipe holds by default: a piece of this size shows that the host writes more than that."""
_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031
_FIRST_PAUSE = 0.005
_RETRY_SECONDS = 0.25
_USAGE = """usage: mms connect [--no-start] [--space NAME]

Connect a host to the station: the host launches this command and speaks MCP on its input and output.
If no station runs, one is started in the background.

  --no-start      do not start a station; answer with an error when none runs
  --space NAME    use this space of the memory; default: the setting memory.space
  --print CLIENT  print what to put into the configuration of CLIENT
"""


class _HostLeft(Exception):
    """The host closed our input or output."""


class Bridge:
    """One host, and one station at a time."""

    def __init__(self, path: str, *, start: bool, space: str = "") -> None:
        self._path = path
        self._start = start
        self._space = space
        self._starting: subprocess.Popen[bytes] | None = None
        self._station: socket.socket | None = None
        self._ledger = Ledger()
        self._buffer = bytearray(_CHUNK)
        self._view = memoryview(self._buffer)
        self._wide = False

    def run(self) -> int:
        """Pump until the host leaves. Returns the exit code."""
        gc.disable()  # a pump makes no cycles
        try:
            if not self._connect(wait=True):
                return self._explain()
            while True:
                self._pump()
        except (_HostLeft, KeyboardInterrupt):
            return 0

    # the station's side

    def _connect(self, *, wait: bool) -> bool:
        """Connect, starting a station if none runs and that is wanted."""
        end = time.monotonic() + (START_SECONDS if wait else 0.0)
        pause = _FIRST_PAUSE
        while True:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                connection.connect(self._path)
            except OSError:
                connection.close()
            else:
                self._station = connection
                hello = '{"mms":"host","version":1,"pid":%d,"directory":%s,"space":%s}\n'
                about = os.getppid(), _quoted(_directory()), _quoted(self._space)
                connection.sendall((hello % about).encode())
                return True
            if not wait or time.monotonic() > end:
                return False
            if self._starting is None:
                if not self._start:
                    return False
                self._starting = _start_station()
            elif self._starting.poll():
                return False  # it could not start; waiting longer is of no use
            time.sleep(pause)
            pause = min(pause * 1.5, 0.05)

    def _lost(self) -> None:
        """The station went away: answer what it can no longer answer."""
        if self._station is not None:
            self._station.close()
        self._station = None
        self._wide = False
        for id in self._ledger.station_lost():
            self._to_host(
                b'{"jsonrpc":"2.0","id":' + id + b',"error":{"code":-32000,"message":'
                b'"mms: the station stopped before it answered"}}\n'
            )
        self._starting = None

    def _resume(self) -> None:
        """Introduce the host to the new station as it introduced itself to the old one."""
        if self._station is None or not self._ledger.initialize:
            return
        self._station.sendall(self._ledger.repeat_handshake())
        for kind in (b"tools", b"prompts", b"resources"):
            self._to_host(
                b'{"jsonrpc":"2.0","method":"notifications/' + kind + b'/list_changed"}\n'
            )

    # the pump

    def _pump(self) -> None:
        poll = select.poll()
        poll.register(0, select.POLLIN)
        station = self._station
        if station is not None:
            poll.register(station, select.POLLIN)
        while True:
            timeout = None if station is not None else _RETRY_SECONDS * 1000
            for descriptor, _ in poll.poll(timeout):
                if descriptor == 0:
                    if not self._from_host():
                        return
                elif not self._from_station():
                    return
            if station is None and self._connect(wait=False):
                self._resume()
                return

    def _from_host(self) -> bool:
        """Pass on what the host sent; False when the connection to the station changed."""
        size = os.readv(0, (self._buffer,))
        if not size:
            self._finish()
            raise _HostLeft
        changed = False
        if self._station is None:
            if not self._connect(wait=True):
                self._refuse(bytes(self._view[:size]))
                return True
            self._resume()
            changed = True
        assert self._station is not None
        piece = self._view[:size]
        try:
            self._station.sendall(piece)
        except OSError:
            self._note_host(piece)
            self._lost()
            return False
        # Once it is on its way: the host waits for the station, not for us.
        self._note_host(piece)
        if size >= _LARGE and not self._wide:
            self._widen()
        return not changed

    def _note_host(self, piece: memoryview) -> None:
        if self._buffer.find(b"\n", 0, len(piece)) < 0:
            self._ledger.host_goes_on(piece)
        else:
            self._ledger.from_host(bytes(piece))

    def _from_station(self) -> bool:
        """Pass on what the station sent; False when it is gone."""
        assert self._station is not None
        try:
            size = self._station.recv_into(self._buffer)
        except OSError:
            size = 0
        if not size:
            self._lost()
            return False
        piece = self._view[:size]
        if self._ledger.repeating:
            self._to_host(self._ledger.from_station(bytes(piece)))
            return True
        self._to_host(piece)
        if self._buffer.find(b"\n", 0, size) < 0:
            self._ledger.station_goes_on(piece)
        else:
            self._ledger.from_station(bytes(piece))
        if size >= _LARGE and not self._wide:
            self._widen()
        return True

    def _widen(self) -> None:
        """Large messages go through: let pipes and socket hold more, so that nobody waits in between."""
        self._wide = True
        import fcntl  # not at the top: few hosts send so much

        for descriptor in (0, 1) if sys.platform == "linux" else ():
            try:
                fcntl.fcntl(descriptor, _F_SETPIPE_SZ, _PIPE_BYTES)
            except OSError:
                continue  # no pipe, or the system keeps it small
        assert self._station is not None
        self._station.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _PIPE_BYTES)

    def _finish(self) -> None:
        """The host is done: let the station know, and pass on what is still to come."""
        if self._station is None:
            return
        try:
            self._station.shutdown(socket.SHUT_WR)
            self._station.settimeout(2.0)
            while data := self._station.recv(_CHUNK):
                self._to_host(data)
        except OSError:
            pass

    def _to_host(self, data: bytes | memoryview) -> None:
        try:
            sent = os.write(1, data)
            while sent < len(data):
                sent += os.write(1, memoryview(data)[sent:])
        except OSError:
            raise _HostLeft from None

    # when there is no station

    def _explain(self) -> int:
        """Answer the host's first request with what to do, so that a person sees it."""
        data = b""
        while b"\n" not in data:
            chunk = os.read(0, _CHUNK)
            if not chunk:
                break
            data += chunk
        self._refuse(data)
        sys.stderr.write(f"mms: {self._advice()}\n")
        return 3

    def _refuse(self, data: bytes) -> None:
        message = _quoted(f"mms: {self._advice()}").encode()
        for line in data.split(b"\n"):
            found = request_of(line)
            id = found[1] if found else None
            if id is not None:
                self._to_host(
                    b'{"jsonrpc":"2.0","id":'
                    + id
                    + b',"error":{"code":-32000,"message":'
                    + message
                    + b"}}\n"
                )

    def _advice(self) -> str:
        if not self._start:
            return "no station runs. Start one with: mms serve"
        return (
            f"no station answers on {self._path}, and starting one did not help. "
            "Run this to see why: mms serve"
        )


def main(arguments: list[str]) -> int:
    """Run ``mms connect``."""
    if any(argument in ("-h", "--help") for argument in arguments):
        sys.stdout.write(_USAGE)
        return 0
    start, space = True, ""
    given = iter(arguments)
    for argument in given:
        name, _, value = argument.partition("=")
        if argument == "--no-start":
            start = False
        elif name == "--space" and (value := value or next(given, "")):
            space = value
        else:
            sys.stderr.write(f"mms connect: {argument} is not known\n\n{_USAGE}")
            return 2
    if not _is_space(space):
        sys.stderr.write(
            f"mms connect: --space {space!r}: a space's name is 1 to 64 letters, digits, dots, - and _\n"
        )
        return 2
    from config.paths import paths_for

    return Bridge(str(paths_for(os.environ).socket), start=start, space=space).run()


def _is_space(name: str) -> bool:
    """Whether it may be a space's name; empty: none is asked for. `re` would cost start-up time."""
    known = name.isascii() and name.replace("-", "").replace("_", "").replace(".", "").isalnum()
    return not name or (known and len(name) <= 64)


def _start_station() -> subprocess.Popen[bytes]:
    """Start ``mms serve`` in a session of its own, so that it outlives this host."""
    import subprocess

    script = os.path.abspath(sys.argv[0])  # noqa: PTH100  # pathlib costs start-up time
    own = [script] if os.path.isfile(script) else ["-m", "mms"]  # noqa: PTH113  # as above
    return subprocess.Popen(
        [sys.executable, *own, "serve", "--background"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",  # a host's project folder must not stay in use
    )


def _directory() -> str:
    try:
        return os.getcwd()  # noqa: PTH109  # pathlib costs start-up time
    except OSError:
        return ""


def _quoted(text: str) -> str:
    """A JSON string; `json` itself would cost a third of our start-up."""
    out = ['"']
    for character in text:
        code = ord(character)
        if character in '"\\':
            out.append("\\" + character)
        elif 32 <= code < 127:
            out.append(character)
        elif code < 0x10000:
            out.append(f"\\u{code:04x}")
        else:
            code -= 0x10000
            out.append(f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}")
    out.append('"')
    return "".join(out)
