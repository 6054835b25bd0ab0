"""Memory of this process: how much it took, and how it is kept."""

from __future__ import annotations

import ctypes
import resource
import sys
from contextlib import suppress

# Names in glibc's malloc.h.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
KEPT = 1 << 30
"""Bytes at the end of the heap that are not given back."""
SMALL = 32 << 20
"""Buffers up to so many bytes come from the heap; glibc takes no greater number."""


def keep_memory() -> None:
    """Keeps glibc from giving buffers back to the system, only to ask for them again at once.

    A step of learning frees and allocates the same few megabytes: without this a seventh of its
    time goes into the thousands of pages that the system clears for it.
    """
    if sys.platform == "linux":
        with suppress(AttributeError, OSError):
            libc = ctypes.CDLL(None)
            libc.mallopt(M_MMAP_THRESHOLD, SMALL)
            libc.mallopt(M_TRIM_THRESHOLD, KEPT)


def peak_memory() -> int:
    """Bytes that this process held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
