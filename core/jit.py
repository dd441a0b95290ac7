"""Compilation of kernels: one decorator for serial ones, one for parallel ones, and a disk cache that cannot go stale.

Numba stores the import name of a kernel in its cache and does not see edits in kernels that it calls from other files.
So the cache folder is named after this package's import name and a hash of all of the library's sources: another name
or another source is another folder. ``SINEW_KERNEL_CACHE`` names its parent; by default it lies in the user's cache
folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import numba.core.config as numba_config

_PACKAGE = __name__.rpartition(".")[0]


def _source_hash() -> str:
    sha = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        sha.update(path.read_bytes())
    sha.update(f"{numba.__version__} {sys.version_info[:2]} {platform.machine()}".encode())
    return sha.hexdigest()[:16]


def cache_folder() -> Path:
    """Folder of the compiled kernels of this source under this import name."""
    parent = os.environ.get("SINEW_KERNEL_CACHE")
    if not parent:
        home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or os.path.expanduser("~/.cache")
        parent = os.path.join(home, "sinew", "kernels")
    return Path(parent) / f"{_PACKAGE}-{_SOURCE_HASH}"


_SOURCE_HASH = _source_hash()


@contextlib.contextmanager
def _own_cache() -> Iterator[None]:
    """Numba reads its cache folder when a function is decorated; other users of Numba keep theirs."""
    before = numba_config.CACHE_DIR
    numba_config.CACHE_DIR = str(cache_folder())
    try:
        yield
    finally:
        numba_config.CACHE_DIR = before


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a serial kernel; the interpreter lock is released while it runs."""
    with _own_cache():
        return numba.njit(cache=True, nogil=True, error_model="numpy")(function)


def parallel_kernel(function: Callable[..., Any]) -> Any:
    """Compile a kernel whose ``prange`` loops write disjoint outputs (no reductions: the same input gives the same
    bits).
    """
    with _own_cache():
        return numba.njit(cache=True, nogil=True, parallel=True, error_model="numpy")(function)


def is_compiled() -> bool:
    """Whether an earlier :func:`mark_compiled` found every kernel in the cache folder."""
    return (cache_folder() / "complete").is_file()


def mark_compiled() -> None:
    """Note that every kernel of this source is in the cache folder."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "complete").write_text("all kernels compiled\n")
