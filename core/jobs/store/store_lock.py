"""Lock of a frame folder for one process: two Blenders with the same .blend would spoil each other's frames.

The lock is the operating system's, on a file in the folder. It is released when the process that holds it ends, for
any reason. The file may stay behind after a kill, and means nothing then.
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
"""Seconds for which a process that is being stopped may still hold a folder."""
PAUSE = 0.05
_PLACE = 1 << 30
"""Offset of the locked byte: Windows forbids reading locked bytes."""
_held: dict[str, list[Any]] = {}
"""Folders that this process holds: the locked file, and the number of holds. Generators may end in any order."""

P = ParamSpec("P")
R = TypeVar("R")


@contextlib.contextmanager
def locked(folder: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Hold a folder; this process may do so several times over.

    Raises
    ------
    StoreError
        Another process holds it for longer than ``patience`` (s), or the folder is not writable.
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
    """Let ``work(job, store, ...)`` hold the store's folder."""

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
            with contextlib.suppress(OSError):  # full disk: the owner stays unknown
                file.flush()
            return file
        whose = _whose(file)
        file.close()
        if time.monotonic() > until:
            raise StoreError(
                f"Another Blender works on {path.parent.name} ({whose}).",
                "Wait until it is done, or stop it there. To bake both, save one .blend under another name.",
            )
        time.sleep(PAUSE)


def _is_ours(file: IO[str], path: Path) -> bool:
    """Return True if the file could be locked and still exists: its last holder may have deleted it."""
    try:
        if os.name == "nt":
            file.seek(_PLACE)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:  # a network's file system without locks: treated as locked
        return True
    return path.is_file() and os.path.samestat(os.fstat(file.fileno()), path.stat())


def _whose(file: IO[str]) -> str:
    file.seek(0)
    return file.read(200).strip() or "another process"


def _let_go(path: Path, file: IO[str]) -> None:
    if os.name != "nt":  # Windows deletes no open file; elsewhere nobody else may take it meanwhile
        with contextlib.suppress(OSError):
            path.unlink()
    with contextlib.suppress(OSError):  # unwritten data on a full disk
        file.close()
    if os.name == "nt":
        with contextlib.suppress(OSError):
            path.unlink()
