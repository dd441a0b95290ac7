"""Import of cvxopt with an OpenBLAS that uses all vector instructions of the processor.

OpenBLAS chooses kernels by the processor's model number when it is loaded. The copy in cvxopt's wheels uses kernels of
2004 (SSE3) for models that it does not know. The factorisation then took 2.2 times as long on a processor with AVX-512.
So ``OPENBLAS_CORETYPE`` names the kernels while cvxopt is being loaded, unless the user has set it.
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
    """Return OpenBLAS's name of the kernels for an x86 processor; None lets OpenBLAS choose. ``features``: LLVM's names
    of instruction sets, True if the processor has them. ``machine``: the processor's architecture.
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
    """Return a context in which a loaded OpenBLAS uses this processor's best kernels, unless the user chose kernels."""
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
