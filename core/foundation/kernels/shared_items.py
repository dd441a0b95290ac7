"""Kernels over few large items, which threads take one after another inside compiled code.

Threads do not acquire the interpreter lock between items: a handover costs as much as an item of a small body's
stiffness, and happens twice a call with the ranges of :class:`.jit.ParallelKernel`.
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
"""Indices of the counters of the next item, of all items and of finished ones, each in its own cache line."""

_LOOKS = 20_000
"""Iterations for which the caller spins before it sleeps until other threads finish: about 0.2 ms, since waking up
takes a quarter of that.
"""


class ItemKernel:
    """Kernel ``(items, ...)``, called with the number of items, that processes the items returned by :func:`take` and
    calls :func:`done` after each. It writes only to its items, so results are bitwise reproducible for any partition.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._compiled = kernel(function)
        functools.update_wrapper(self, function)

    def __call__(self, count: int, *arguments: Any) -> None:
        """Run the kernel over ``count`` items."""
        items = _items(count)
        helpers = min(THREADS, count) - 1
        others = [kernel_threads().submit(self._compiled, items, *arguments) for _ in range(helpers)]
        self._compiled(items, *arguments)
        # Tasks that have not begun would find no item left.
        begun = [each for each in others if not each.cancel()]
        if not _all_done(items, _LOOKS):
            for each in begun:
                each.result()

    def alone(self, count: int, *arguments: Any) -> None:
        """Run the kernel over ``count`` items in the calling thread only."""
        self._compiled(_items(count), *arguments)


def _items(count: int) -> np.ndarray:
    items = np.zeros(_DONE + 8, dtype=np.int64)
    items[_COUNT] = count
    return items


@intrinsic
def _add(_context, items, index, number):
    """Add to a number of an array atomically; return its previous value."""

    def build(context, builder, signature, arguments):
        array = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=arguments[0])
        pointer = builder.gep(array.data, [builder.sext(arguments[1], ir.IntType(64))])
        return builder.atomic_rmw("add", pointer, arguments[2], "seq_cst")

    return types.int64(items, types.int64, types.int64), build


@inner_kernel
def take(items):
    """Return the number of the next item; -1 if there is none."""
    item = _add(items, _NEXT, 1)
    return item if item < items[_COUNT] else -1


@inner_kernel
def done(items):
    """Count an item as finished."""
    _add(items, _DONE, 1)


@kernel
def _all_done(items, looks):
    for _ in range(looks):
        if _add(items, _DONE, 0) == items[_COUNT]:
            return True
    return False
