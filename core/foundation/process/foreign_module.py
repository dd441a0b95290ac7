"""Compiled modules of packages whose own Python layer wants more than is here (PyVista): found beside that layer and
loaded alone.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import socket
import sys
import tempfile
from collections.abc import Iterator
from importlib.machinery import PathFinder
from types import ModuleType

from ..errors import MeshError


def compiled_module(package: str, name: str, label: str, remedy: str) -> ModuleType:
    """The compiled module ``name`` of an installed package, without the package; the import system's own cache keeps
    it. MeshError, which calls it ``label``, when it is missing, with the ``remedy`` for that, or cannot be loaded.
    """
    full_name = f"{package}.{name}"
    if full_name in sys.modules:
        return sys.modules[full_name]
    folders = _folders(package)
    spec = PathFinder.find_spec(name, folders) if folders else None
    if spec is None or spec.loader is None:
        raise MeshError(f"{label} is not installed.", remedy)
    _show_libraries(package, folders)
    try:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except ImportError as error:
        raise MeshError(f"{label} cannot be loaded: {error}.", "Choose the Draft method.") from error
    sys.modules[full_name] = module
    return module


def is_installed(package: str) -> bool:
    """Return True if a package is there to load a compiled module from."""
    return bool(_folders(package))


def _folders(package: str) -> list[str]:
    found = PathFinder.find_spec(package)
    return list(found.submodule_search_locations or ()) if found else []


def _show_libraries(package: str, folders: list[str]) -> None:
    """Tell Windows where a wheel keeps the libraries of its compiled modules (``PACKAGE.libs`` beside the package), as
    the package's own Python layer would.
    """
    for folder in folders:
        libraries = os.path.join(os.path.dirname(os.path.abspath(folder)), f"{package}.libs")
        if sys.platform == "win32" and os.path.isdir(libraries):
            os.add_dll_directory(libraries)


@contextlib.contextmanager
def kept_apart() -> Iterator[None]:
    """Around C++ code that prints and leaves files: its standard output is standard error, its working folder is a
    temporary one, which tells the process that may be ended meanwhile.
    """
    prefix = temporary_mark(os.getpid())
    with _stdout_to_stderr(), tempfile.TemporaryDirectory(prefix=prefix) as folder, contextlib.chdir(folder):
        yield


def temporary_mark(pid: int | str) -> str:
    """How the names of a process's temporary folders begin. They say on which computer it is, too: containers may share
    a temporary folder, and know nothing of each other's processes.
    """
    computer = re.sub(r"\W", "_", socket.gethostname())
    return f"sinew-{computer}-{pid}-"


@contextlib.contextmanager
def _stdout_to_stderr() -> Iterator[None]:
    """Send what C++ code writes to file descriptor 1, which may be a channel of the caller's, to descriptor 2."""
    if sys.stdout is not None:  # None in a windowed program without a console
        sys.stdout.flush()
    try:
        kept = os.dup(1)
    except OSError:  # no descriptor 1, nothing to protect
        yield
        return
    try:
        os.dup2(2, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
