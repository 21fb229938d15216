"""The heap of a process that relays large messages."""

from __future__ import annotations

import platform
import resource

import pytest

from proxy.heap import MAPPED_BYTES, keep_freed_memory


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the heap is not of glibc")
def test_a_message_as_large_as_the_last_one_costs_no_new_pages() -> None:
    keep_freed_memory()
    size = MAPPED_BYTES // 4
    pages = size // resource.getpagesize()
    for _ in range(4):
        _ = bytes(size)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        _ = bytes(size)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < pages


def test_it_may_be_asked_for_twice() -> None:
    keep_freed_memory()
    keep_freed_memory()
