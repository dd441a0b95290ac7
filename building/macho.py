"""Reader of macOS libraries in the Mach-O format (``mach-o/loader.h``)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from posixpath import normpath

ARM64 = b"\xcf\xfa\xed\xfe\x0c\x00\x00\x01"
"""First bytes of a library for ARM: 64-bit magic number, little-endian; CPU_TYPE_ARM64."""
_FAT = 0xCAFEBABE
_HEADER = 32
_LOAD, _LOAD_WEAK, _LOAD_AGAIN = 0xC, 0x80000018, 0x8000001F
_RPATH, _SIGNATURE = 0x8000001C, 0x1D
_SYSTEM = ("/usr/lib/", "/System/Library/")


@dataclass(frozen=True)
class MachO:
    """Header of a library.

    Attributes
    ----------
    needs : paths of the libraries that it loads, as stored
    places : paths that replace ``@rpath`` in ``needs``, as stored
    is_signed : True if it has a code signature, which Macs with ARM processors require
    """

    needs: tuple[str, ...]
    places: tuple[str, ...]
    is_signed: bool


def parts(data: bytes) -> list[bytes]:
    """Return the images of a library: one per processor in a universal binary (``fat_header``)."""
    magic, count = struct.unpack_from(">2I", data.ljust(8))
    if magic != _FAT:
        return [data]
    spans = [struct.unpack_from(">8x2I", data, 8 + 20 * k) for k in range(count)]
    return [data[start : start + size] for start, size in spans]


def read(data: bytes) -> MachO:
    """Return the header of a library for ARM processors."""
    needs, places, is_signed = [], [], False
    for kind, command in _commands(data):
        if kind in (_LOAD, _LOAD_WEAK, _LOAD_AGAIN):
            needs.append(_text(command))
        elif kind == _RPATH:
            places.append(_text(command))
        is_signed |= kind == _SIGNATURE
    return MachO(tuple(needs), tuple(places), is_signed)


def missing(name: str, library: MachO, files: set[str]) -> list[str]:
    """Return the paths in ``library.needs`` that are neither libraries of macOS nor among the ``files`` of the wheel.
    ``name`` is the library's own path in the wheel.
    """
    own = PurePosixPath(name).parent

    def found(need: str) -> bool:
        starts = [place.rstrip("/") for place in library.places] if need.startswith("@rpath/") else [""]
        for start in starts:
            path = need.replace("@rpath", start, 1) if start else need
            if path.startswith(_SYSTEM):
                return True
            if path.startswith("@loader_path/") and normpath(str(own / path.removeprefix("@loader_path/"))) in files:
                return True
        return False

    return [need for need in library.needs if not found(need)]


def _commands(data: bytes) -> Iterator[tuple[int, bytes]]:
    (count,) = struct.unpack_from("<16xI", data)
    at = _HEADER
    for _ in range(count):
        kind, size = struct.unpack_from("<2I", data, at)
        yield kind, data[at : at + size]
        at += size


def _text(command: bytes) -> str:
    (start,) = struct.unpack_from("<8xI", command)
    return command[start:].split(b"\0", 1)[0].decode()
