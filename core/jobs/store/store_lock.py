"""Lock of a frame folder for one process, since two Blenders with the same .blend would overwrite each other's frames.

The operating system locks a file in the folder. When the process that holds the lock ends, for any reason, the system
releases the lock. After a kill the file may remain. The file is then unlocked and has no effect.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import IO, Any, Concatenate, ParamSpec, TypeVar

from ...foundation.errors import StoreError, refusing
from ...foundation.files.array_file import WRITE_REMEDY, open_own

if os.name == "nt":
    import msvcrt
else:
    import fcntl

LOCK_NAME = "lock"
PATIENCE = 2.0
"""Largest waiting time for the lock, s. A process may hold the lock for that long after a request to stop."""
PAUSE = 0.05
_PLACE = 1 << 30
"""Offset of the locked byte, beyond the end of the file's text.

Windows forbids reading a locked byte, but other processes read the text.
"""
_held: dict[str, list[Any]] = {}
"""Locks held by this process. Key: folder. Value: locked file, and number of active :func:`locked` contexts."""

P = ParamSpec("P")
R = TypeVar("R")


@contextlib.contextmanager
def locked(folder: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Context in which this process holds the lock of a folder. Contexts of one folder may be nested.

    Raises
    ------
    StoreError
        Another process holds the lock for longer than ``patience`` (s), or the folder is not writable.
    """
    key, path = os.path.realpath(folder), folder / LOCK_NAME
    if key not in _held:
        _held[key] = [_take(path, time.monotonic() + patience), 0]
    held = _held[key]
    held[1] += 1
    try:
        yield
    finally:
        held[1] -= 1
        if not held[1]:
            del _held[key]
            _let_go(path, held[0])


def alone(work: Callable[Concatenate[Any, Any, P], R]) -> Callable[Concatenate[Any, Any, P], R]:
    """Decorate a function ``work(job, store, ...)`` to hold the lock of the store's folder while it runs."""

    @wraps(work)
    def held(job: Any, store: Any, *args: P.args, **keywords: P.kwargs) -> R:
        with locked(store.folder):
            return work(job, store, *args, **keywords)

    return held


def _take(path: Path, until: float) -> IO[str]:
    while True:
        with refusing(f"{path} cannot be written", WRITE_REMEDY):
            file = open_own(path, "a+")
            is_ours = _is_ours(file, path)
        if is_ours:
            file.truncate(0)
            file.write(f"process {os.getpid()} on {socket.gethostname()}")
            with contextlib.suppress(OSError):  # on a full disk the name of the owner is not stored
                file.flush()
            return file
        whose = _whose(file)
        file.close()
        if time.monotonic() > until:
            raise StoreError(
                f"Another process works on {path.parent.name} ({whose}).",
                "Wait until it is done, or stop it. To bake both, save one .blend under another name.",
            )
        time.sleep(PAUSE)


def _is_ours(file: IO[str], path: Path) -> bool:
    """Try to lock the open ``file``, and return True if ``path`` still names the locked file."""
    try:
        if os.name == "nt":
            file.seek(_PLACE)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:  # a network file system without locks: treated as locked by this process
        return True
    return path.is_file() and os.path.samestat(os.fstat(file.fileno()), path.stat())


def _whose(file: IO[str]) -> str:
    file.seek(0)
    return file.read(200).strip() or "another process"


def _let_go(path: Path, file: IO[str]) -> None:
    if os.name != "nt":  # Windows cannot delete open files; elsewhere, delete while no other process can lock it
        with contextlib.suppress(OSError):
            path.unlink()
    with contextlib.suppress(OSError):  # closing can fail with unwritten data on a full disk
        file.close()
    if os.name == "nt":
        with contextlib.suppress(OSError):
            path.unlink()
