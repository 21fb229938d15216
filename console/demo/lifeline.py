"""Children of the demo end when their standard input does, so that none outlives whoever started them."""

from __future__ import annotations

import os
import signal
import threading


def end_with_input() -> None:
    """From now on, the end of standard input is a SIGTERM to this process."""

    def watch() -> None:
        while os.read(0, 4096):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="demo-lifeline", daemon=True).start()
