"""Atomic file writes, and files of named arrays with a checksum.

A file of arrays contains a magic word, the length of a JSON header, the header's SHA-256, the header (names, types and
shapes of arrays, SHA-256 of their bytes, and ``about``, a JSON object of the caller's) and the arrays' bytes,
little-endian. A checksum does not make a file trustworthy: all sizes that the header states are checked against bounds
and the file's length before anything is computed or allocated from them. Nothing is ever unpickled.
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
"""Maximum size of a header, bytes. Most of it are step reports: kilobytes, or megabytes with 1,000 substeps."""
SIDES, SIDE, ARRAYS = 8, 2**53, 1000
"""Maximum number of dimensions of an array, maximum size of a dimension, and maximum number of arrays in a file."""
LISTS = 200_000
"""Maximum number of JSON lists and objects in a header: Python takes seconds to create millions of them."""
WRITE_REMEDY = "Free disk space, or choose a folder that can be written: for a .blend, save it elsewhere."
PAUSES = (0.02, 0.05, 0.1, 0.2, 0.4) if os.name == "nt" else ()
"""Delays, s, before the retries of a failed file operation (Windows only)."""
_TYPES = ("<f8", "<f4", "<i4", "<i8", "|b1", "|u1")


def open_own(path: Path, mode: str) -> IO[Any]:
    """Open a file for writing. A symbolic link, hard link or pipe of that name, as an untrusted folder or a render
    farm's store may contain, is deleted and never written to. Raises OSError as ``open`` does.
    """
    with contextlib.suppress(FileNotFoundError):
        if _leads_elsewhere(os.lstat(path)):
            path.unlink()
    return open(path, mode, encoding=None if "b" in mode else "utf-8", opener=_open_unlinked)


def _leads_elsewhere(entry: os.stat_result) -> bool:
    """Return True if writing to a folder entry would write elsewhere: a link, a pipe or a device."""
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
    """Context that writes a file atomically: to a temporary file in the same folder, which is flushed to disk and
    renamed at the end. If a link has that name, the link is replaced and its target is unchanged.

    Raises StoreError if the disk is full, the folder is not writable, or a device or pipe has that name; the existing
    file is then unchanged and the temporary one is removed.
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
    """Context with a temporary folder for programs that write files by name; at the end its files replace those in
    ``folder``, and it is removed. Files in its subfolders (``textures/``) are moved into subfolders of the same name,
    where no existing file is replaced. Raises OSError from the file system, or if such a subfolder is a link.
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
    """Delete a file if it exists; raise StoreError if the system does not permit it."""
    remedy = "Close programs that use it, or choose a folder that can be written: for a .blend, save it elsewhere."
    with refusing(f"{path.name} cannot be deleted", remedy):
        _patiently(lambda: path.unlink(missing_ok=True))


def write_arrays(path: Path, arrays: dict[str, np.ndarray], about: dict[str, Any]) -> None:
    """Write named arrays and ``about``, a dict for JSON, to one file by :func:`whole_file`, which raises StoreError."""
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
        raise StoreError(f"{problem}.", "Lower Substeps or Iterations, whose reports it holds.")
    with whole_file(path) as file:
        for part in (MAGIC, struct.pack("<Q", len(header)), hashlib.sha256(header).digest(), header):
            file.write(part)
        for array in little.values():
            file.write(array.ravel())


def read_arrays(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return the arrays and ``about`` of a file; raise CorruptFrameError if it is damaged, StoreError if unreadable."""
    path = Path(path)
    described, payload = _read(path, with_arrays=True)
    with _damage(path):
        if hashlib.sha256(payload).hexdigest() != described["sha256"]:
            raise ValueError("its content is truncated or altered")
        return dict(_arrays(described["arrays"], payload)), described["about"]


def read_about(path: Path, limit: int = HEADER_LIMIT) -> dict[str, Any]:
    """Return ``about`` from a file's header of at most ``limit`` bytes. The arrays are neither read nor checked. Raises
    the errors of :func:`read_arrays`.
    """
    return _read(Path(path), with_arrays=False, limit=limit)[0]["about"]


def open_regular(path: Path) -> IO[bytes]:
    """Open a file for reading. Raise OSError if it is not a regular file, since a read from a pipe or a device, as in
    an untrusted archive, could block forever.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):  # opening a pipe would block
        raise OSError(errno.EINVAL, "it is not a file")
    return open(path, "rb")


def _read(path: Path, with_arrays: bool, limit: int = HEADER_LIMIT) -> tuple[dict[str, Any], bytes]:
    """Return a file's header, and the bytes of its arrays if ``with_arrays``, else b""."""
    with refusing(f"{path.name} cannot be read", "Bake again."):
        with open_regular(path) as file, _damage(path):
            described = _header(file, limit)
            if not with_arrays:
                return described, b""
            if len(described["arrays"]) > ARRAYS:
                raise ValueError(f"it claims {len(described['arrays'])} arrays")
            claimed = sum(_size(kind, shape) for _, kind, shape in described["arrays"])
            there = os.fstat(file.fileno()).st_size - file.tell()
            if claimed != there:
                raise ValueError(
                    f"it {'claims more than it holds' if claimed > there else 'holds more than it claims'}"
                )
            return described, file.read(claimed)


def _header(file: IO[bytes], limit: int) -> dict[str, Any]:
    start = file.read(48)
    if start[:8] != MAGIC or len(start) < 48:
        raise ValueError("it is not a file of Sinew")
    length = struct.unpack_from("<Q", start, 8)[0]
    if length > limit:
        raise ValueError(f"its header claims {length} bytes, more than {limit}")
    header = file.read(length)
    if hashlib.sha256(header).digest() != start[16:]:
        raise ValueError("its header is damaged")
    if (lists := _lists(header)) > LISTS:
        raise ValueError(f"its header has {lists} lists, more than {LISTS}")
    described = json.loads(header)
    if not isinstance(described["about"], dict) or not isinstance(described["arrays"], list):
        raise ValueError("its header does not describe Sinew's arrays")
    return described


def _lists(header: bytes) -> int:
    """Return an upper bound on the number of lists and objects in a JSON text: all opening brackets."""
    return header.count(b"[") + header.count(b"{")


def _size(kind: Any, shape: Any) -> int:
    """Return the size, bytes, of an array that a header describes; raise ValueError if its description is invalid."""
    if kind not in _TYPES:
        raise ValueError(f"it holds values of type {kind[:20] if isinstance(kind, str) else type(kind).__name__}")
    sides = shape if isinstance(shape, list) and len(shape) <= SIDES else [None]
    if not all(type(side) is int and 0 <= side <= SIDE for side in sides):
        raise ValueError("it holds an array of an impossible shape")
    return math.prod(shape) * np.dtype(kind).itemsize  # Python integers: a NumPy product could overflow


@contextlib.contextmanager
def _damage(path: Path) -> Iterator[None]:
    """Context that converts errors of parsing a file to a CorruptFrameError that names the file."""
    try:
        yield
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise CorruptFrameError(f"{path.name} is damaged: {error}.", "Resume the bake to compute it again.") from error


def _arrays(described: Any, payload: bytes) -> Iterator[tuple[str, np.ndarray]]:
    """Yield name and copy of each array described in a header, from all bytes; ValueError if their number differs."""
    payload, at = memoryview(payload), 0
    for name, kind, shape in described:
        if not isinstance(name, str):
            raise ValueError("it holds an array whose name is of another type")
        size = _size(kind, shape)
        yield name, np.frombuffer(payload[at : at + size], dtype=kind).reshape(shape).copy()
        at += size


def _patiently(action: Callable[[], None]) -> None:
    """Run a file operation, with retries on Windows, which does not move or delete a file while another process, such
    as a virus scanner, has it open.
    """
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
