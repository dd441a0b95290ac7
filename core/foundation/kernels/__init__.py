"""Numba kernels: compilation with a disk cache, threads, and 3 x 3 algebra."""

from __future__ import annotations

import os

THREADS_VARIABLE = "NUMBA_NUM_THREADS"


def _checked_thread_count() -> str:
    """Remove an invalid number of threads from the environment, and return a warning for it, or "".

    Numba cannot be imported with such a number, so this runs before.
    """
    told = os.environ.get(THREADS_VARIABLE, "1")
    if told.isdecimal() and int(told) > 0:
        return ""
    del os.environ[THREADS_VARIABLE]
    return f"{THREADS_VARIABLE} is “{told}”, not a number of threads: all cores are used. Set it to 1 or more."


THREADS_WARNING = _checked_thread_count()
"""Warning about the environment's number of threads, or ""."""
