"""Loading of compiled modules without the Python code of their package, whose dependencies (PyVista) are missing."""

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
    """Import the compiled module ``name`` of a package without running the package's own Python code.

    ``label``: name of the module in messages.
    ``remedy``: remedy in the error for a missing module.

    The module is cached in ``sys.modules``. Raises MeshError if the module is missing or cannot be loaded.
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
        raise MeshError(f"{label} cannot be loaded: {error}.", "Choose the Draft method (lattice).") from error
    sys.modules[full_name] = module
    return module


def is_installed(package: str) -> bool:
    """Return True if a package is installed, even if Python cannot import the package."""
    return bool(_folders(package))


def _folders(package: str) -> list[str]:
    found = PathFinder.find_spec(package)
    return list(found.submodule_search_locations or ()) if found else []


def _show_libraries(package: str, folders: list[str]) -> None:
    """Add the folder ``PACKAGE.libs`` beside a package to Windows' search path of shared libraries."""
    for folder in folders:
        libraries = os.path.join(os.path.dirname(os.path.abspath(folder)), f"{package}.libs")
        if sys.platform == "win32" and os.path.isdir(libraries):
            os.add_dll_directory(libraries)


@contextlib.contextmanager
def kept_apart() -> Iterator[None]:
    """Context that isolates C++ code that prints and writes files.

    Standard output goes to standard error. The working folder is a temporary folder. Its name contains the process id,
    so that the folder can be deleted after the process is killed.
    """
    prefix = temporary_mark(os.getpid())
    with _stdout_to_stderr(), tempfile.TemporaryDirectory(prefix=prefix) as folder, contextlib.chdir(folder):
        yield


def temporary_mark(pid: int | str) -> str:
    """Return the prefix of the names of the temporary folders of the process ``pid``.

    The prefix contains the host name, since containers may share a temporary folder and use the same process ids.
    """
    computer = re.sub(r"\W", "_", socket.gethostname())
    return f"sinew-{computer}-{pid}-"


@contextlib.contextmanager
def _stdout_to_stderr() -> Iterator[None]:
    """Context that redirects the standard output of C++ code to standard error."""
    if sys.stdout is not None:  # None in a windowed program without a console
        sys.stdout.flush()
    try:
        kept = os.dup(1)
    except OSError:  # no descriptor 1 to protect
        yield
        return
    try:
        os.dup2(2, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
