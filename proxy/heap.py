"""How the C library's heap gives memory back, told once for a process that moves large messages."""

from __future__ import annotations

import ctypes
import sys

KEPT_BYTES = 32 * 1024 * 1024
"""Free memory that the heap may keep at its end before it gives it back to the system."""
MAPPED_BYTES = 8 * 1024 * 1024
"""Blocks from this size on are mapped on their own, and given back as soon as they are free."""
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3


def keep_freed_memory() -> None:
    """Keep the memory of a relayed message for the next one (glibc; elsewhere nothing happens).

    By default each buffer of some 100 KB or more comes from the system as fresh pages and goes back when
    it is free. Clearing those pages and mapping them takes longer than all that is done with the bytes.
    """
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, MAPPED_BYTES)
        mallopt(_M_TRIM_THRESHOLD, KEPT_BYTES)
