"""Compilation of serial and parallel kernels with Numba, and a disk cache that cannot become stale.

Numba's own cache stores the import name of a kernel, and does not notice edits of other files whose functions the
kernel calls. Therefore the name of the cache folder contains this package's import name and a hash. The hash covers the
processor and the sources that kernels can depend on: the files that contain kernels and all that these import. Nodes of
a render farm that share a parent folder thus never read each other's machine code.

``SINEW_KERNEL_CACHE``, read once at import, sets the parent folder. The default is in the user's cache folder, which
all Blender versions share. Numba's index files are pickles, which can execute code when read. Therefore a folder that
other users can write to is rejected.

If the folder cannot be used, kernels are stored in a temporary folder for the lifetime of the process, and
:func:`cache_warning` returns a warning. Numba's own fallback would write beside the sources.
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
"""Days without use after which kernels of other versions of the sources are deleted."""

THREADS = min(numba_config.NUMBA_NUM_THREADS, numba_config.NUMBA_DEFAULT_NUM_THREADS)
"""Maximum number of threads of a kernel: as set by NUMBA_NUM_THREADS, but at most one per core."""

FEW = 1024
"""Number of items below which a kernel runs in the calling thread only, since threads would cost more."""

SHARES = 2
"""Number of chunks per thread into which a range of items is divided."""

_PACKAGE = __name__.rpartition(".foundation.")[0]
_LIBRARY = Path(__file__).resolve().parents[2]
"""Path of the package ``core``."""

_KERNEL = re.compile(r"^@\w*kernel\b|^@inlined\b|\bkernel\(", re.M)
_IMPORT = re.compile(r"^ *from (\.+)([\w.]*) import (?:\(([^)]*)\)|(.*))", re.M)


def _imported(path: Path, text: str) -> set[Path]:
    """Return the paths of all files to which the relative imports in a source file may refer."""
    found = set()
    for dots, module, several, names in _IMPORT.findall(text):
        module_path = path.parents[len(dots) - 1].joinpath(*filter(None, module.split(".")))
        modules = [module_path, *(module_path / name for name in re.findall(r"\w+", several or names))]
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
    # NumPy 2 renames modules that occur in Numba's pickles.
    sha.update(f"{numba.__version__} {np.__version__.split('.')[0]} {sys.version_info[:2]} {processor}".encode())
    return sha.hexdigest()[:16]


def _wanted_folder() -> Path:
    parent = os.environ.get("SINEW_KERNEL_CACHE")
    if not parent:
        # A relative path would depend on the working directory, which may be that of an untrusted .blend.
        users = filter(os.path.isabs, (os.environ.get(name, "") for name in ("XDG_CACHE_HOME", "LOCALAPPDATA")))
        parent = Path(next(users, None) or Path.home() / ".cache", "sinew", "kernels")
    if not os.path.isabs(parent):
        raise PermissionError(f"{parent} is a relative path")
    folder = Path(parent, f"{_PACKAGE}-{_source_hash()}")
    return Path(_of_any_length(str(folder))) if os.name == "nt" else folder


def _of_any_length(path: str) -> str:
    """Return an absolute Windows path with the prefix that permits more than 259 characters."""
    if path.startswith("\\\\?\\"):
        return path
    return "\\\\?\\UNC" + path[1:] if path.startswith("\\\\") else "\\\\?\\" + path


def _probed(folder: Path) -> Path:
    """Create a private folder if it is missing, check write access, and return its resolved path."""
    make_private(folder)
    folder = checked_private(folder)
    for directory in (folder, *(entry for entry in folder.iterdir() if entry.is_dir())):
        tempfile.TemporaryFile(dir=directory).close()
    os.utime(folder)  # its modification time tells _prune that the folder is in use
    return folder


def _prune(own: Path) -> None:
    """Delete the old kernel caches of other versions of this package, beside the folder ``own``."""
    sibling = re.compile(re.escape(_PACKAGE) + "-[0-9a-f]{16}")
    oldest = time.time() - KEPT_DAYS * 86400
    with contextlib.suppress(OSError):  # another process may prune at once; the next start continues
        for folder in own.parent.iterdir():
            old = folder != own and sibling.fullmatch(folder.name) and not folder.is_symlink()
            if old and folder.stat().st_mtime < oldest:
                shutil.rmtree(folder)


def _temporary_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="sinew-kernels-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _open_cache() -> tuple[Path, str | None]:
    """Return the cache folder, and a warning with a remedy if the folder is temporary, else None."""
    try:
        folder = _probed(_wanted_folder())
    except (OSError, RuntimeError) as error:  # RuntimeError: the user has no home folder
        return _temporary_folder(), (
            f"Compiled kernels cannot be kept ({error}): every start compiles them again. "
            "Set SINEW_KERNEL_CACHE to the full path of a folder to which only you can write."
        )
    _prune(folder)
    return folder, None


_folder, _warning = _open_cache()


def cache_folder() -> Path:
    """Return the folder of compiled kernels of this version of the sources."""
    return _folder


def cache_warning() -> str | None:
    """Return a warning, with a remedy, if compiled kernels cannot be cached, or None."""
    return _warning


class Locator(UserProvidedCacheLocator):
    """Numba cache locator that names each cache subfolder after the folder of the source file.

    The name begins with ``core`` and continues with the folders below ``core``, joined by hyphens.
    """

    @classmethod
    def get_suitable_cache_subpath(cls, py_file: str) -> str:
        """Return the name of the subfolder for the kernels in ``py_file``."""
        directory = Path(py_file).resolve().parent
        if not directory.is_relative_to(_LIBRARY):
            return super().get_suitable_cache_subpath(py_file)
        return "-".join((_LIBRARY.name, *directory.relative_to(_LIBRARY).parts))


@contextlib.contextmanager
def _own_cache() -> Iterator[None]:
    """Context in which Numba uses this package's cache folder and locator."""
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
"""Random part of the names of this process's cache files.

Numba only numbers the files of a function. Two processes that compile the function for different types at the same time
could otherwise write to the same file.
"""


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    with _own_cache():
        made = numba.njit(cache=True, nogil=True, error_model="numpy", no_cfunc_wrapper=True, **options)(function)
    files = made._cache._cache_file
    files._data_name_pattern = f"{files._data_name_pattern.removesuffix('.nbc')}.{_PROCESS_ID}.nbc"
    return made


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function to a serial kernel that releases the interpreter lock. The first call compiles."""
    return _compiled(function)


def summing_kernel(function: Callable[..., Any]) -> Any:
    """Compile a function to a serial kernel with reordered sums, so that the compiler can vectorize the sums.

    The first call compiles. The last bits of the sums depend on the SIMD width of the processor, as in a BLAS.
    """
    return _compiled(function, fastmath={"reassoc", "contract"})


class _InnerType(numba.types.Dispatcher):
    """Numba type of a kernel that other kernels call, without a separate compilation for each constant argument."""

    def get_call_type(self, context: Any, args: Sequence[Any], kws: dict[str, Any]) -> Any:
        return super().get_call_type(context, tuple(map(numba.types.unliteral, args)), kws)


register_model(_InnerType)(models.OpaqueModel)


class InnerKernel:
    """Function that only other kernels call, compiled without a Python wrapper.

    Compiling the wrapper would take as long as compiling a small function body. A call from Python runs the uncompiled
    function.
    """

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        self._compiled = _compiled(function, no_cpython_wrapper=True, **options)
        self._numba_type_ = _InnerType(self._compiled)
        functools.update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        return self.__wrapped__(*arguments)


def inner_kernel(function: Callable[..., Any]) -> InnerKernel:
    """Decorate a function that only kernels call: the function is compiled without a Python wrapper."""
    return InnerKernel(function)


def inlined(function: Callable[..., Any]) -> InnerKernel:
    """Decorate a small function that kernels call for every item: the compiler inlines the function in its callers."""
    return InnerKernel(function, forceinline=True)


class ParallelKernel:
    """Kernel over many small items, which threads process in chunks.

    The decorated function has the arguments ``(begin, end, ...)``, a range of items. The kernel is called as ``(count,
    ...)`` with the number of items. The calling thread alone processes fewer than ``FEW`` items. For few large items
    see :mod:`.shared_items`.

    The function writes only to items in its range (no reductions), so results are bitwise reproducible for any
    partition. Numba's parallel loops are not used: they take longer to compile, and end the process if two threads
    enter them. On a busy machine, their overhead also exceeds the whole work of a small body.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._compiled = kernel(function)
        functools.update_wrapper(self, function)

    def __call__(self, count: int, *arguments: Any) -> None:
        """Run the kernel over the items 0 to ``count`` - 1. Every chunk gets the ``arguments``."""
        if count < FEW or THREADS == 1:
            self._compiled(0, count, *arguments)
            return
        step = max(FEW // 2, count // (SHARES * THREADS))
        begins = iter(range(0, count, step))

        def work() -> None:
            # Each thread takes the next chunk, since items differ in cost.
            for begin in begins:
                self._compiled(begin, min(begin + step, count), *arguments)

        others = [kernel_threads().submit(work) for _ in range(min(THREADS, -(-count // step)) - 1)]
        work()
        for each in others:
            if not each.cancel():  # a cancelled task would have found no chunk left
                each.result()


@functools.cache
def kernel_threads() -> ThreadPoolExecutor:
    """Return the pool of threads that all kernels share."""
    return ThreadPoolExecutor(THREADS, "sinew-kernel")


def end_threads() -> None:
    """Shut the kernels' thread pool down. The next kernel that needs threads creates another pool."""
    if kernel_threads.cache_info().currsize:
        kernel_threads().shutdown()
        kernel_threads.cache_clear()


def parallel_kernel(function: Callable[..., Any]) -> ParallelKernel:
    """Decorate a function ``(begin, end, ...)`` over a range of items, and divide the items among threads.

    The result is a :class:`ParallelKernel`, called as ``(count, ...)``.
    """
    return ParallelKernel(function)


def lock_folder(name: str) -> Path:
    """Return the path of the lock folder of the kernel group ``name``, without creating the folder.

    The process that holds the lock compiles the group, so that only one process at a time compiles.
    """
    return _folder / f"{name}.stage"


def is_compiled(name: str) -> bool:
    """Return True if :func:`mark_compiled` has recorded the kernel group ``name`` as compiled."""
    return _mark(name).is_file()


def mark_compiled(name: str) -> None:
    """Record that the kernel group ``name`` is compiled and in the cache folder.

    If the record cannot be written, :func:`cache_warning` returns the reason.
    """
    global _warning
    try:
        make_private(_folder)
        _mark(name).write_text("compiled\n")
    except OSError as error:
        _warning = f"{_folder} cannot be written any more ({error}). Free disk space, or set SINEW_KERNEL_CACHE."


def _mark(name: str) -> Path:
    return _folder / f"{name}.compiled"
