"""Start several programs of the demo with one import of the MCP SDK.

The SDK takes a second or more of processor time to import, and the demo needs it in four processes. So
one helper process imports it once and forks. A program of the demo (`console.demo.child`) is then a thin
front: it hands its standard streams to the helper and waits for its fork to end. Without a helper, or on
a system that cannot pass descriptors, the program imports the SDK itself; it is merely slower.

The helper ends when its own standard input does, so it never outlives the demo.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

_BACKLOG = 16
_LARGEST_REQUEST = 4096
"""Bytes of the arguments that a front sends."""
_SEPARATOR = b"\0"


def run_in_helper(helper: Path, argv: Sequence[str]) -> int | None:
    """Let the helper at ``helper`` run ``argv`` on our standard streams; its exit code.

    ``None`` when there is no helper. Blocks until the program has ended.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        try:
            line.connect(os.fspath(helper))
            request = _SEPARATOR.join(os.fsencode(part) for part in argv)
            socket.send_fds(line, [request], [0, 1, 2])
        except OSError:
            return None
        # The fork has its own copies now. Ours would keep the pipes open after it has ended.
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        os.close(nothing)
        try:
            answer = line.recv(1)
        except OSError:
            answer = b""
    return answer[0] if answer else 1


def listen(helper: Path) -> socket.socket:
    """The socket for a helper at ``helper``, listening already: fronts that come early wait in its queue."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(os.fspath(helper))
    listener.listen(_BACKLOG)
    return listener


def serve_forks(
    descriptor: int, prepare: Callable[[], None], run: Callable[[list[str]], int]
) -> int:
    """Be the helper: fork and ``run`` what fronts ask for, until standard input ends.

    ``descriptor`` is an inherited socket, made by `listen`; ``prepare`` does the imports.
    """
    with socket.socket(fileno=descriptor) as listener:
        prepare()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # forks are reaped by the system
        with selectors.DefaultSelector() as selector:
            selector.register(listener, selectors.EVENT_READ)
            selector.register(0, selectors.EVENT_READ)
            while True:
                ready = {key.fd for key, _ in selector.select()}
                if 0 in ready and not os.read(0, 1):
                    return 0
                if listener.fileno() in ready:
                    line, _ = listener.accept()
                    with line:
                        _fork(line, listener, run)


def _fork(line: socket.socket, listener: socket.socket, run: Callable[[list[str]], int]) -> None:
    request, descriptors, _, _ = socket.recv_fds(line, _LARGEST_REQUEST, 3)
    if len(descriptors) != 3 or os.fork():
        for descriptor in descriptors:
            os.close(descriptor)
        return
    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        listener.close()
        for target, descriptor in enumerate(descriptors):
            os.dup2(descriptor, target)
            os.close(descriptor)
        code = run([os.fsdecode(part) for part in request.split(_SEPARATOR)])
        sys.stdout.flush()
        line.send(bytes((code,)))
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 1
        line.send(bytes((code,)))
    except BaseException:  # the top of this process: say what the interpreter would say
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        # Never back into the helper's loop, whatever happened.
        os._exit(code)
