"""Atomic file writes, and files of named arrays with a checksum.

A file of arrays consists of a magic word, the length of a JSON header, the header's SHA-256, the header and the arrays'
bytes, little-endian. The header contains names, types and shapes of the arrays, the SHA-256 of their bytes, and
``about``, a JSON object of the caller. A checksum does not make a file trustworthy. Therefore all sizes in the header
are checked against limits and the file's length before they are used. Pickled data are never read.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import math
import os
import stat
import struct
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..errors import CorruptFrameError, StoreError, refusing

MAGIC = b"SINEW\x00\x00\x01"
HEADER_LIMIT = 16 * 2**20
"""Maximum size of a header, bytes. A header with step reports usually has some kilobytes. With 1,000 substeps per frame
the header has some megabytes.
"""
SIDES, SIDE, ARRAYS = 8, 2**53, 1000
"""Maximum number of dimensions of an array, maximum size of a dimension, and maximum number of arrays in a file."""
LISTS = 200_000
"""Maximum number of JSON lists and objects in a header: Python takes seconds to create millions of them."""
WRITE_REMEDY = "Free disk space, or choose a folder that can be written. In Blender, save the .blend in that folder."
PAUSES = (0.02, 0.05, 0.1, 0.2, 0.4) if os.name == "nt" else ()
"""Delays, s, before the retries of a failed file operation (Windows only)."""
_TYPES = ("<f8", "<f4", "<i4", "<i8", "|b1", "|u1")


def open_own(path: Path, mode: str) -> IO[Any]:
    """Open a file for writing, without following links.

    Other users may control the folder, such as a render farm's store. A symbolic link, hard link, pipe or device of
    that name is deleted first. Raises OSError as ``open`` does.
    """
    with contextlib.suppress(FileNotFoundError):
        if _leads_elsewhere(os.lstat(path)):
            path.unlink()
    return open(path, mode, encoding=None if "b" in mode else "utf-8", opener=_open_unlinked)


def _leads_elsewhere(entry: os.stat_result) -> bool:
    """Return True if a folder entry is a symbolic or hard link, a pipe or a device."""
    if stat.S_ISDIR(entry.st_mode):
        return False
    return not stat.S_ISREG(entry.st_mode) or entry.st_nlink > 1


def _open_unlinked(path: str, flags: int) -> int:
    # The file is checked again before it is truncated, since a link could have been created since the caller's check.
    handle = os.open(path, flags & ~os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o666)
    try:
        if _leads_elsewhere(os.fstat(handle)):
            raise OSError(errno.ELOOP, "it is a link", path)
        if flags & os.O_TRUNC:
            os.ftruncate(handle, 0)
    except OSError:
        os.close(handle)
        raise
    return handle


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """Context that writes a file atomically.

    Data go to a temporary file in the same folder. At the end, the temporary file is flushed to disk and renamed. A
    link of that name is replaced; its target is unchanged.

    Raises StoreError if the disk is full, the folder is not writable, or the name is that of a device or a pipe. Then
    an existing file is unchanged, and the temporary file is removed.
    """
    temporary = path.parent / f"{path.name}.part"
    with refusing(f"{path.name} cannot be written", WRITE_REMEDY):
        # Without this check an administrator's process could replace /dev/null.
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise OSError(errno.EINVAL, "a device or a pipe has that name")
        try:
            with open_own(temporary, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            _patiently(lambda: os.replace(temporary, path))
            _sync_folder(path.parent)
        except OSError:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise


@contextlib.contextmanager
def whole_files(folder: Path) -> Iterator[Path]:
    """Context with a temporary folder, for programs that write several files by name.

    At the end, the files in the temporary folder replace files of equal names in ``folder``, and the temporary folder
    is removed. Files in subfolders (``textures/``) move to subfolders of equal names in ``folder``, but replace nothing
    there.

    Raises OSError if a file operation fails, or if a subfolder of ``folder`` is a link to another folder.
    """
    with tempfile.TemporaryDirectory(prefix=".sinew-part-", dir=folder) as private:
        part = Path(private)
        yield part
        for file in sorted(path for path in part.rglob("*") if path.is_file()):
            target = folder / file.relative_to(part)
            if target.parent == folder:
                _patiently(partial(os.replace, file, target))
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            if os.path.realpath(target.parent) != os.path.join(os.path.realpath(folder), file.parent.relative_to(part)):
                raise OSError(errno.ELOOP, "a link leads elsewhere", str(target.parent))
            if not os.path.lexists(target):
                _patiently(partial(os.replace, file, target))


def remove(path: Path) -> None:
    """Delete a file if it exists. Raises StoreError if the system does not permit the deletion."""
    remedy = "Close programs that use it, or choose a folder that can be written: for a .blend, save it elsewhere."
    with refusing(f"{path.name} cannot be deleted", remedy):
        _patiently(lambda: path.unlink(missing_ok=True))


def write_arrays(path: Path, arrays: dict[str, np.ndarray], about: dict[str, Any]) -> None:
    """Write named arrays and the JSON object ``about`` to one file atomically.

    Raises StoreError if the file cannot be written, or if its header would be too large.
    """
    little = {k: np.ascontiguousarray(a, dtype=a.dtype.newbyteorder("<")) for k, a in arrays.items()}
    sha = hashlib.sha256()
    for array in little.values():
        sha.update(array.ravel())
    header = json.dumps(
        {
            "arrays": [[k, a.dtype.str, list(a.shape)] for k, a in little.items()],
            "sha256": sha.hexdigest(),
            "about": about,
        }
    ).encode()
    if len(header) > HEADER_LIMIT or _lists(header) > LISTS:
        problem = (
            f"{path.name} would have a header of {len(header)} bytes with {_lists(header)} lists, which is too large"
        )
        raise StoreError(f"{problem}.", "Lower Substeps or Iterations, since the header holds a report of each.")
    with whole_file(path) as file:
        for part in (MAGIC, struct.pack("<Q", len(header)), hashlib.sha256(header).digest(), header):
            file.write(part)
        for array in little.values():
            file.write(array.ravel())


def read_arrays(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return the named arrays and the JSON object ``about`` of a file.

    Raises CorruptFrameError if the file is damaged, and StoreError if the file cannot be read.
    """
    path = Path(path)
    described, payload = _read(path, with_arrays=True)
    with _damage(path):
        if hashlib.sha256(payload).hexdigest() != described["sha256"]:
            raise ValueError("its content is truncated or altered")
        return dict(_arrays(described["arrays"], payload)), described["about"]


def read_about(path: Path, limit: int = HEADER_LIMIT) -> dict[str, Any]:
    """Return the JSON object ``about`` of an array file, without reading the arrays.

    Raises CorruptFrameError if the header is damaged or longer than ``limit`` bytes. Raises StoreError if the file
    cannot be read.
    """
    return _read(Path(path), with_arrays=False, limit=limit)[0]["about"]


def open_regular(path: Path) -> IO[bytes]:
    """Open a regular file for reading. Raises OSError for pipes and devices, from which a read could block forever."""
    if not stat.S_ISREG(os.stat(path).st_mode):  # opening a pipe would block
        raise OSError(errno.EINVAL, "it is not a file")
    return open(path, "rb")


def _read(path: Path, with_arrays: bool, limit: int = HEADER_LIMIT) -> tuple[dict[str, Any], bytes]:
    """Return the header of an array file and the bytes of its arrays, or b"" instead of the bytes."""
    with refusing(f"{path.name} cannot be read", "Bake again."):
        with open_regular(path) as file, _damage(path):
            described = _header(file, limit)
            if not with_arrays:
                return described, b""
            if len(described["arrays"]) > ARRAYS:
                raise ValueError(f"its header lists {len(described['arrays'])} arrays, too many")
            claimed = sum(_size(kind, shape) for _, kind, shape in described["arrays"])
            there = os.fstat(file.fileno()).st_size - file.tell()
            if claimed != there:
                raise ValueError(f"it is {'shorter' if claimed > there else 'longer'} than its header states")
            return described, file.read(claimed)


def _header(file: IO[bytes], limit: int) -> dict[str, Any]:
    start = file.read(48)
    if start[:8] != MAGIC or len(start) < 48:
        raise ValueError("it is not a file of Sinew")
    length = struct.unpack_from("<Q", start, 8)[0]
    if length > limit:
        raise ValueError(f"its header has {length} bytes, more than the maximum of {limit}")
    header = file.read(length)
    if hashlib.sha256(header).digest() != start[16:]:
        raise ValueError("its header is damaged")
    if (lists := _lists(header)) > LISTS:
        raise ValueError(f"its header has {lists} lists, more than the maximum of {LISTS}")
    described = json.loads(header)
    if not isinstance(described["about"], dict) or not isinstance(described["arrays"], list):
        raise ValueError("its header does not describe Sinew's arrays")
    return described


def _lists(header: bytes) -> int:
    """Return an upper bound on the number of lists and objects in a JSON text."""
    return header.count(b"[") + header.count(b"{")


def _size(kind: Any, shape: Any) -> int:
    """Return the size of an array in bytes, from its type and shape in a file's header."""
    if kind not in _TYPES:
        raise ValueError(f"it holds values of type {kind[:20] if isinstance(kind, str) else type(kind).__name__}")
    sides = shape if isinstance(shape, list) and len(shape) <= SIDES else [None]
    if not all(type(side) is int and 0 <= side <= SIDE for side in sides):
        raise ValueError("the shape of an array in it is invalid")
    return math.prod(shape) * np.dtype(kind).itemsize  # Python integers: a NumPy product could overflow


@contextlib.contextmanager
def _damage(path: Path) -> Iterator[None]:
    """Context that converts parsing errors to a CorruptFrameError with the file's name."""
    try:
        yield
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise CorruptFrameError(f"{path.name} is damaged: {error}.", "Resume the bake to compute it again.") from error


def _arrays(described: Any, payload: bytes) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the name and a copy of each array that a header describes."""
    payload, at = memoryview(payload), 0
    for name, kind, shape in described:
        if not isinstance(name, str):
            raise ValueError("the name of an array in it is not text")
        size = _size(kind, shape)
        yield name, np.frombuffer(payload[at : at + size], dtype=kind).reshape(shape).copy()
        at += size


def _patiently(action: Callable[[], None]) -> None:
    """Run a file operation. On Windows, retry while another process has the file open."""
    for wait in PAUSES:
        try:
            return action()
        except PermissionError:
            time.sleep(wait)
    action()


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # Windows keeps renames in order and cannot open a folder.
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
