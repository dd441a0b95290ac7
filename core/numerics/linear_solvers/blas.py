"""BLAS of this process: number of threads, and instructions of the copy in cvxopt.

OpenBLAS chooses kernels by the processor's model number when it is loaded. The copy in cvxopt's wheels is older than
many processors. For unknown models this copy uses kernels of 2004 (SSE3). With these kernels the factorisation took 2.2
times as long on a processor with AVX-512. So ``OPENBLAS_CORETYPE`` names the kernels while cvxopt is loaded, unless the
user has set the variable. Other libraries never see the variable.
"""

from __future__ import annotations

import contextlib
import functools
import os
import platform
from collections.abc import Iterator, Mapping
from types import ModuleType

from llvmlite import binding
from threadpoolctl import ThreadpoolController

VARIABLE = "OPENBLAS_CORETYPE"
AVX512 = ("avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl")
AVX2 = ("avx2", "fma")


def core_type(features: Mapping[str, bool], machine: str) -> str | None:
    """Return OpenBLAS's name of the kernels for an x86 processor, or None to let OpenBLAS choose.

    ``features``: True for each instruction set of the processor, by LLVM's name. ``machine``: architecture of the
    processor.
    """
    if machine.lower() not in ("x86_64", "amd64"):
        return None
    if all(features.get(name, False) for name in AVX512):
        return "SkylakeX"
    if all(features.get(name, False) for name in AVX2):
        return "Haswell"
    return None


@contextlib.contextmanager
def chosen_kernels() -> Iterator[None]:
    """Return a context in which OpenBLAS is loaded with the kernels that fit this processor.

    Kernels chosen by the user in ``OPENBLAS_CORETYPE`` are kept.
    """
    wanted = None if VARIABLE in os.environ else core_type(binding.get_host_cpu_features(), platform.machine())
    if wanted is None:
        yield
        return
    os.environ[VARIABLE] = wanted
    try:
        yield
    finally:
        del os.environ[VARIABLE]


def load_cvxopt() -> ModuleType:
    """Import and return the package ``cvxopt``, with OpenBLAS kernels that fit this processor."""
    with chosen_kernels():
        import cvxopt
        import cvxopt.amd
        import cvxopt.cholmod
    return cvxopt


@functools.cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


def one_blas_thread() -> contextlib.AbstractContextManager[object]:
    """Return a context in which the BLAS of this process has one thread."""
    return _libraries().limit(limits=1, user_api="blas")
