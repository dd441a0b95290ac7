"""Loads cvxopt so that the OpenBLAS in it uses what the processor has.

OpenBLAS chooses kernels by the processor's model number when it is loaded. The copy in cvxopt's wheels is older than
many processors, and gives a model that it does not know the kernels of 2004 (SSE3): on such a one with AVX-512 the
factorisation took 2.2 times as long. So it is told by ``OPENBLAS_CORETYPE``, unless the user has set that, while it
is being loaded; other libraries never see the variable.
"""

from __future__ import annotations

import contextlib
import os
import platform
from collections.abc import Iterator, Mapping
from types import ModuleType

from llvmlite import binding

VARIABLE = "OPENBLAS_CORETYPE"
AVX512 = ("avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl")
AVX2 = ("avx2", "fma")


def core_type(features: Mapping[str, bool], machine: str) -> str | None:
    """OpenBLAS's name of the kernels for an x86 processor with these features; None where it should choose itself."""
    if machine.lower() not in ("x86_64", "amd64"):
        return None
    if all(features.get(name, False) for name in AVX512):
        return "SkylakeX"
    if all(features.get(name, False) for name in AVX2):
        return "Haswell"
    return None


@contextlib.contextmanager
def chosen_kernels() -> Iterator[None]:
    """While it is open, an OpenBLAS that is loaded uses the kernels that fit this processor."""
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
    """The package ``cvxopt``; the first import in a process chooses the kernels."""
    with chosen_kernels():
        import cvxopt
        import cvxopt.amd
        import cvxopt.cholmod
    return cvxopt
