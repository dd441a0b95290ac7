"""Kernels over few large items: each thread takes the next item from an atomic counter in compiled code.

Thus threads do not acquire Python's interpreter lock between items. When a small body's stiffness is assembled, passing
the lock to another thread takes as long as processing one item. A :class:`.jit.ParallelKernel` loses this time twice
per call, since it passes the lock on twice.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .jit import THREADS, inner_kernel, kernel, kernel_threads

_NEXT, _COUNT, _DONE = 0, 8, 16
"""Indices in the array of counters: next item, number of items, number of finished items. Each counter has a cache
line.
"""

_LOOKS = 20_000
"""Number of times that the calling thread polls whether the other threads have finished, before it sleeps.

All polls together take about 0.2 ms. Polling avoids the 0.05 ms that waking up a sleeping thread takes.
"""


class ItemKernel:
    """Kernel over few large items.

    The decorated function has the arguments ``(items, ...)``. The kernel is called as ``(count, ...)`` with the number
    of items. The function only passes ``items``, an array of counters, to :func:`take` and :func:`done`.

    Each thread runs the function. In a loop, the function gets an item's index from :func:`take`, processes the item
    and calls :func:`done`, until no item is left. The function writes only to the items it took, so results do not
    depend on the distribution over threads.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._compiled = kernel(function)
        functools.update_wrapper(self, function)

    def __call__(self, count: int, *arguments: Any) -> None:
        """Run the kernel over the items 0 to ``count`` - 1 in all threads."""
        items = _items(count)
        helpers = min(THREADS, count) - 1
        others = [kernel_threads().submit(self._compiled, items, *arguments) for _ in range(helpers)]
        self._compiled(items, *arguments)
        # Tasks that have not begun are cancelled, since no item is left for them.
        begun = [each for each in others if not each.cancel()]
        if not _all_done(items, _LOOKS):
            for each in begun:
                each.result()

    def alone(self, count: int, *arguments: Any) -> None:
        """Run the kernel over the items 0 to ``count`` - 1 in the calling thread only."""
        self._compiled(_items(count), *arguments)


def _items(count: int) -> np.ndarray:
    items = np.zeros(_DONE + 8, dtype=np.int64)
    items[_COUNT] = count
    return items


@intrinsic
def atomic_add(_context: Any, items: Any, index: Any, number: Any) -> Any:
    """Add ``number`` to ``items[index]`` atomically and return the previous value."""

    def build(context, builder, signature, arguments):
        array = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=arguments[0])
        pointer = builder.gep(array.data, [builder.sext(arguments[1], ir.IntType(64))])
        return builder.atomic_rmw("add", pointer, arguments[2], "seq_cst")

    return types.int64(items, types.int64, types.int64), build


@inner_kernel
def take(items):
    """Return the index of the next unprocessed item for the calling thread, or -1 if none is left."""
    item = atomic_add(items, _NEXT, 1)
    return item if item < items[_COUNT] else -1


@inner_kernel
def done(items):
    """Increase the number of finished items by one."""
    atomic_add(items, _DONE, 1)


@kernel
def _all_done(items, looks):
    for _ in range(looks):
        if atomic_add(items, _DONE, 0) == items[_COUNT]:
            return True
    return False
