"""Kernels of several phases, between which threads wait in compiled code.

Iterative methods alternate between loops over rows and sums that all threads need. One call per loop would pass
Python's interpreter lock on and wake threads up each time, which takes as long as the loops of a body of 20,000 tets.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .jit import FEW, THREADS, inner_kernel, kernel, kernel_threads
from .shared_items import atomic_add

PARTS = 64
"""Number of parts into which each phase divides its rows. It does not depend on the number of threads."""

_NEXT, _FINISHED, _OPEN, _PAUSED, _ENDED = 0, 8, 16, 24, 32
"""Indices in the array of counters: next part, finished parts, completed phases, 1 in a pause, and 1 after the end.
Each counter has a cache line.
"""

_LOOKS = 4_000_000
"""Number of times that a thread polls for a part, before it leaves the kernel. All polls take about 2 ms."""

_NAP = 5e-5
"""Seconds that the calling thread sleeps if it finds no part: another thread's part is suspended by the system."""


class PhaseKernel:
    """Kernel over rows that is divided into phases.

    The decorated function has the arguments ``(is_caller, counters, ...)``. It only passes the first two to
    :func:`take_part`, and ``counters`` to :func:`is_last`, :func:`open_next`, :func:`pause` and :func:`end`.

    Each thread runs the function. In a loop, the function gets a part from :func:`take_part` and processes the part's
    rows in the part's phase. The thread for which :func:`is_last` returns True sums the results of all parts, and calls
    :func:`open_next` to start the next phase, :func:`pause` or :func:`end`. The function may run several times in a
    thread, so it keeps all state in its arguments. Results do not depend on the distribution over threads, if each part
    writes to its own rows and sums only.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._compiled = kernel(function)
        functools.update_wrapper(self, function)

    def __call__(self, count: int, in_pauses: Callable[[], None], *arguments: Any) -> None:
        """Run the kernel over ``count`` rows in all threads; with less than ``FEW`` rows in the calling thread.

        The calling thread calls ``in_pauses`` in each pause. Then the next phase starts.
        """
        counters = np.zeros(_ENDED + 8, dtype=np.int64)
        helpers = 0 if count < FEW else min(THREADS, PARTS) - 1
        others = [self._begin(counters, arguments) for _ in range(helpers)]
        self._compiled(True, counters, *arguments)
        while not counters[_ENDED]:
            if counters[_PAUSED]:
                in_pauses()
                _resume(counters)
                others = [self._begin(counters, arguments) if each.done() else each for each in others]
            else:
                time.sleep(_NAP)
            self._compiled(True, counters, *arguments)
        for each in others:
            each.cancel()  # those that have begun find no part and return

    def _begin(self, counters: np.ndarray, arguments: tuple[Any, ...]) -> Future[None]:
        return kernel_threads().submit(self._compiled, False, counters, *arguments)


@inner_kernel
def take_part(is_caller, counters):
    """Return the number ``PARTS * phase + part`` of the next part of the current phase.

    Return -1 if the kernel has ended, if it pauses and ``is_caller`` is True, or if no part becomes free for a while. A
    thread waits without holding a part.
    """
    for _ in range(_LOOKS):
        if _load(counters, _ENDED) or (is_caller and _load(counters, _PAUSED)):
            return -1
        item = _load(counters, _NEXT)
        if item < PARTS * (_load(counters, _OPEN) + 1) and _replace(counters, _NEXT, item, item + 1):
            return item
    return -1


@inner_kernel
def is_last(counters):
    """Count a part as finished, and return True if it was the last part of its phase."""
    return atomic_add(counters, _FINISHED, 1) % PARTS == PARTS - 1


@inner_kernel
def open_next(counters):
    """Start the next phase."""
    atomic_add(counters, _OPEN, 1)


@inner_kernel
def pause(counters):
    """Pause between two phases, for work of the calling thread outside compiled code."""
    atomic_add(counters, _PAUSED, 1)


@kernel
def _resume(counters):
    atomic_add(counters, _PAUSED, -1)
    atomic_add(counters, _OPEN, 1)


@inner_kernel
def end(counters):
    """End the kernel in all threads."""
    atomic_add(counters, _ENDED, 1)


def _pointer(context, builder, array_type, array, index):
    data = cgutils.create_struct_proxy(array_type)(context, builder, value=array).data
    return builder.gep(data, [builder.sext(index, ir.IntType(64))])


@intrinsic
def _load(_context, counters, index):
    """Return ``counters[index]`` as other threads have last written it."""

    def build(context, builder, signature, arguments):
        return builder.load_atomic(_pointer(context, builder, signature.args[0], *arguments), "seq_cst", 8)

    return types.int64(counters, types.int64), build


@intrinsic
def _replace(_context, counters, index, old, new):
    """Set ``counters[index]`` to ``new`` if it is ``old``, atomically; return True if it was."""

    def build(context, builder, signature, arguments):
        array, index, old, new = arguments
        pointer = _pointer(context, builder, signature.args[0], array, index)
        return builder.extract_value(builder.cmpxchg(pointer, old, new, "seq_cst", "seq_cst"), 1)

    return types.boolean(counters, types.int64, types.int64, types.int64), build
