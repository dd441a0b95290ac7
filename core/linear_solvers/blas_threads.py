"""How many threads the libraries of linear algebra that NumPy and SciPy bring may use."""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager

from threadpoolctl import ThreadpoolController


@functools.cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[object]:
    """A block in which the BLAS of this process has one thread; afterwards as many as before."""
    return _libraries().limit(limits=1, user_api="blas")
