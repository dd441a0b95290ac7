"""Thread limits for the linear algebra libraries of NumPy and SciPy."""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager

from threadpoolctl import ThreadpoolController


@functools.cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[object]:
    """Return a context in which the BLAS of this process has one thread."""
    return _libraries().limit(limits=1, user_api="blas")
