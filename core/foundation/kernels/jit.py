"""Compilation of kernels: one decorator for serial ones, one for parallel ones, and a disk cache that cannot go stale.

Numba stores the import name of a kernel in its cache and does not see edits in kernels that it calls from other files.
So the cache folder is named after this package's import name and a hash of the sources that kernels can read: the files
that hold some, and all that these import. Another name or another source is another folder, and another processor too:
nodes of a farm that share a folder never read each other's machine code. ``SINEW_KERNEL_CACHE`` names its parent; by
default it lies in the user's cache folder, which all Blenders and their profiles share. It is read once, when this
module is imported. Numba's index files are pickles: a folder that others may write to is refused.

Left alone, Numba would write beside the sources when it cannot write there. Here it never does: the kernels then live
in a temporary folder for as long as the process, and :func:`cache_warning` says so.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import os
import platform
import re
import shutil
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba
import numba.core.config as numba_config
import numpy as np
from numba.core.caching import UserProvidedCacheLocator
from numba.core.codegen import get_host_cpu_features
from numba.extending import models, register_model

from ..files.private_folder import checked_private, make_private

KEPT_DAYS = 30

THREADS = numba_config.NUMBA_NUM_THREADS
"""Threads that a kernel's work is shared among, at most."""

FEW = 1024
"""Items under which threads are not worth waking."""

SHARES = 2
"""Parts a thread that a range falls into."""

_PACKAGE = __name__.rpartition(".foundation.")[0]
_LIBRARY = Path(__file__).resolve().parents[2]
"""The folder ``core``."""

_KERNEL = re.compile(r"^@\w*kernel\b|^@inlined\b|\bkernel\(", re.M)
_IMPORT = re.compile(r"^ *from (\.+)([\w.]*) import (?:\(([^)]*)\)|(.*))", re.M)


def _imported(path: Path, text: str) -> set[Path]:
    """Files of this package that a source imports."""
    found = set()
    for dots, module, several, names in _IMPORT.findall(text):
        place = path.parents[len(dots) - 1].joinpath(*filter(None, module.split(".")))
        modules = [place, *(place / name for name in re.findall(r"\w+", several or names))]
        found.update(each for module in modules for each in (module.with_suffix(".py"), module / "__init__.py"))
    return found


def _source_hash() -> str:
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(_LIBRARY.rglob("*.py"))}
    read: set[Path] = set()
    waiting = {path for path, text in texts.items() if _KERNEL.search(text)}
    while waiting:
        path = waiting.pop()
        read.add(path)
        waiting |= (_imported(path, texts[path]) & texts.keys()) - read
    sha = hashlib.sha256()
    for path in sorted(read):
        sha.update(texts[path].encode())
    processor = platform.machine(), llvmlite.binding.get_host_cpu_name(), get_host_cpu_features()
    # NumPy 2 has other names for what Numba pickles.
    sha.update(f"{numba.__version__} {np.__version__.split('.')[0]} {sys.version_info[:2]} {processor}".encode())
    return sha.hexdigest()[:16]


def _wanted_folder() -> Path:
    parent = os.environ.get("SINEW_KERNEL_CACHE")
    if not parent:
        # A relative one would lie in the folder that Python is started in, which may be that of a stranger's .blend.
        users = filter(os.path.isabs, (os.environ.get(name, "") for name in ("XDG_CACHE_HOME", "LOCALAPPDATA")))
        parent = Path(next(users, None) or Path.home() / ".cache", "sinew", "kernels")
    if not os.path.isabs(parent):
        raise PermissionError(f"{parent} is a relative path")
    folder = Path(parent, f"{_PACKAGE}-{_source_hash()}")
    return Path(_of_any_length(str(folder))) if os.name == "nt" else folder


def _of_any_length(path: str) -> str:
    """An absolute path of Windows in the form that may have more than 259 characters: under a user's folder for an
    extension of Blender, with Numba's names after it, kernels would not be kept otherwise.
    """
    if path.startswith("\\\\?\\"):
        return path
    return "\\\\?\\UNC" + path[1:] if path.startswith("\\\\") else "\\\\?\\" + path


def _probed(folder: Path) -> Path:
    """Make a folder and return its path without links; OSError when others may write to it, or when files cannot be
    made in it or in the folders that Numba has made there.
    """
    make_private(folder)
    folder = checked_private(folder)
    for place in (folder, *(entry for entry in folder.iterdir() if entry.is_dir())):
        tempfile.TemporaryFile(dir=place).close()
    os.utime(folder)  # it is in use: see _prune
    return folder


def _prune(own: Path) -> None:
    """Remove the kernels of other sources under this import name that nobody has used for ``KEPT_DAYS``."""
    sibling = re.compile(re.escape(_PACKAGE) + "-[0-9a-f]{16}")
    oldest = time.time() - KEPT_DAYS * 86400
    with contextlib.suppress(OSError):  # another process may be pruning too; what stays is pruned next time
        for folder in own.parent.iterdir():
            old = folder != own and sibling.fullmatch(folder.name) and not folder.is_symlink()
            if old and folder.stat().st_mtime < oldest:
                shutil.rmtree(folder)


def _temporary_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="sinew-kernels-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _open_cache() -> tuple[Path, str | None]:
    """The cache folder, and what to say when it is not the lasting one."""
    try:
        folder = _probed(_wanted_folder())
    except (OSError, RuntimeError) as error:  # RuntimeError: the user has no home folder
        return _temporary_folder(), (
            f"Compiled kernels cannot be kept ({error}): every start compiles them again. "
            "Set SINEW_KERNEL_CACHE to the full path of a folder that you, and nobody else, may write."
        )
    _prune(folder)
    return folder, None


_folder, _warning = _open_cache()


def cache_folder() -> Path:
    """Folder of the compiled kernels of this source under this import name."""
    return _folder


def cache_warning() -> str | None:
    """Why compiled kernels do not outlast this process, and the remedy; None when they do."""
    return _warning


class Locator(UserProvidedCacheLocator):
    """Numba's of the folder, by where a file lies in this package: another profile, or another machine, that shares the
    folder finds what one has compiled, wherever its package lies.
    """

    @classmethod
    def get_suitable_cache_subpath(cls, py_file: str) -> str:
        """The folder in the folder that the kernels of a file have."""
        place = Path(py_file).resolve().parent
        if not place.is_relative_to(_LIBRARY):
            return super().get_suitable_cache_subpath(py_file)
        return "-".join((_LIBRARY.name, *place.relative_to(_LIBRARY).parts))


@contextlib.contextmanager
def _own_cache() -> Iterator[None]:
    """Numba reads its settings of the cache when a function is decorated; other users of Numba keep theirs."""
    own = {"CACHE_DIR": str(_folder), "CACHE_LOCATOR_CLASSES": f"{__name__}.{Locator.__name__}"}
    before = {name: getattr(numba_config, name) for name in own}
    for name, value in own.items():
        setattr(numba_config, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(numba_config, name, value)


_PROCESS_ID = uuid.uuid4().hex[:8]
"""Part of the names of the cache files that this process writes. Numba only numbers the files of a function: two
processes that compile it for different types at the same time could write to the same file.
"""


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    with _own_cache():
        made = numba.njit(cache=True, nogil=True, error_model="numpy", no_cfunc_wrapper=True, **options)(function)
    files = made._cache._cache_file
    files._data_name_pattern = f"{files._data_name_pattern.removesuffix('.nbc')}.{_PROCESS_ID}.nbc"
    return made


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a serial kernel; the interpreter lock is released while it runs."""
    return _compiled(function)


def summing_kernel(function: Callable[..., Any]) -> Any:
    """The same for one that sums along rows: several parts of a sum are made side by side, so that its last bits depend
    on how wide the processor's registers are, as the BLAS's do.
    """
    return _compiled(function, fastmath={"reassoc", "contract"})


class _InnerType(numba.types.Dispatcher):
    """Numba type of a kernel that kernels call: constant arguments are numbers like any others, so that it is not
    compiled again for each.
    """

    def get_call_type(self, context: Any, args: Sequence[Any], kws: dict[str, Any]) -> Any:
        return super().get_call_type(context, tuple(map(numba.types.unliteral, args)), kws)


register_model(_InnerType)(models.OpaqueModel)


class InnerKernel:
    """A function that only kernels call: no way in from Python is compiled for it, which takes as long as a small body.
    Python runs it uncompiled.
    """

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        self._compiled = _compiled(function, no_cpython_wrapper=True, **options)
        self._numba_type_ = _InnerType(self._compiled)
        functools.update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        return self.__wrapped__(*arguments)


def inner_kernel(function: Callable[..., Any]) -> InnerKernel:
    """Compile a function that kernels call: see :class:`InnerKernel`."""
    return InnerKernel(function)


def inlined(function: Callable[..., Any]) -> InnerKernel:
    """The same for a small one that they call for every item: its body is put in place of the call."""
    return InnerKernel(function, forceinline=True)


class ParallelKernel:
    """A kernel over many small items, called with their number: they are shared among threads, few are done by the
    caller. Few large ones: :mod:`.shared_items`.

    Its first arguments are the range of items, ``(begin, end, ...)``, and it writes nothing but what belongs to them
    (no reductions), so that the same input gives the same bits however it is shared. Numba's own parallel loops were
    left: they take longer to compile, cost more than the work of a small body on a busy machine, and end the
    process when two threads enter them.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._compiled = kernel(function)
        functools.update_wrapper(self, function)

    def __call__(self, count: int, *arguments: Any) -> None:
        """Run it over ``count`` items."""
        if count < FEW or THREADS == 1:
            self._compiled(0, count, *arguments)
            return
        step = max(FEW // 2, count // (SHARES * THREADS))
        begins = iter(range(0, count, step))

        def work() -> None:
            # Whoever is done takes the next part: items differ in their work.
            for begin in begins:
                self._compiled(begin, min(begin + step, count), *arguments)

        others = [kernel_threads().submit(work) for _ in range(min(THREADS, -(-count // step)) - 1)]
        work()
        for each in others:
            if not each.cancel():  # one that has not begun finds nothing left
                each.result()


@functools.cache
def kernel_threads() -> ThreadPoolExecutor:
    """The threads that kernels share."""
    return ThreadPoolExecutor(THREADS, "sinew-kernel")


def end_threads() -> None:
    """End the threads that kernels share; the next one that wants them starts others."""
    if kernel_threads.cache_info().currsize:
        kernel_threads().shutdown()
        kernel_threads.cache_clear()


def parallel_kernel(function: Callable[..., Any]) -> ParallelKernel:
    """Compile a kernel ``(begin, end, ...)`` that is called as ``kernel(count, ...)``: see :class:`ParallelKernel`."""
    return ParallelKernel(function)


def lock_folder(name: str) -> Path:
    """Return the folder that a process locks while it compiles these kernels; it may not exist yet."""
    return _folder / f"{name}.stage"


def is_compiled(name: str) -> bool:
    """Return True if an earlier :func:`mark_compiled` found these kernels, by the name that they have together, in the
    cache folder.
    """
    return _mark(name).is_file()


def mark_compiled(name: str) -> None:
    """Note that these kernels of this source are in the cache folder; without it they are only looked up again."""
    global _warning
    try:
        make_private(_folder)
        _mark(name).write_text("compiled\n")
    except OSError as error:
        _warning = f"{_folder} cannot be written any more ({error}). Free disk space, or set SINEW_KERNEL_CACHE."


def _mark(name: str) -> Path:
    return _folder / f"{name}.compiled"
