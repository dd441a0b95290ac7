"""A few large items of a kernel, shared among threads that take them one after the other inside compiled code.

Between its items a thread never asks for the interpreter: to hand its lock over costs as much as an item of a small
body's stiffness, twice a call where ranges are shared as in :class:`.jit.ParallelKernel`.
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
"""Places of the next item, of how many there are and of how many are done, each in a line of the cache of its own."""

_LOOKS = 20_000
"""How often the caller looks whether others are done before it sleeps until they are: about 0.2 milliseconds, since to
be woken takes a quarter of that.
"""


class ItemKernel:
    """A kernel ``(items, ...)``, called with the number of items, that does those that :func:`take` gives it and says
    :func:`done` of each. It writes nothing but what belongs to an item, so that the same input gives the same bits
    however they are shared.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._compiled = kernel(function)
        functools.update_wrapper(self, function)

    def __call__(self, count: int, *arguments: Any) -> None:
        """Run it over ``count`` items."""
        items = _items(count)
        helpers = min(THREADS, count) - 1
        others = [kernel_threads().submit(self._compiled, items, *arguments) for _ in range(helpers)]
        self._compiled(items, *arguments)
        # One that has not begun would find nothing left.
        begun = [each for each in others if not each.cancel()]
        if not _all_done(items, _LOOKS):
            for each in begun:
                each.result()

    def alone(self, count: int, *arguments: Any) -> None:
        """The same, shared with nobody."""
        self._compiled(_items(count), *arguments)


def _items(count: int) -> np.ndarray:
    items = np.zeros(_DONE + 8, dtype=np.int64)
    items[_COUNT] = count
    return items


@intrinsic
def _add(_context, items, place, number):
    """Add to a number of an array in one go, whoever else does; what it was before."""

    def build(context, builder, signature, arguments):
        array = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=arguments[0])
        pointer = builder.gep(array.data, [builder.sext(arguments[1], ir.IntType(64))])
        return builder.atomic_rmw("add", pointer, arguments[2], "seq_cst")

    return types.int64(items, types.int64, types.int64), build


@inner_kernel
def take(items):
    """The number of an item that nobody has taken; -1 when there is none."""
    item = _add(items, _NEXT, 1)
    return item if item < items[_COUNT] else -1


@inner_kernel
def done(items):
    """Say that an item is done."""
    _add(items, _DONE, 1)


@kernel
def _all_done(items, looks):
    for _ in range(looks):
        if _add(items, _DONE, 0) == items[_COUNT]:
            return True
    return False
