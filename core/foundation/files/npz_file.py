"""Uncompressed ``.npz`` files, also from untrusted sources: all stated sizes are checked before the data are read."""

from __future__ import annotations

import math
import os
import re
import zipfile
from pathlib import Path
from typing import IO

import numpy as np

from .array_file import open_regular


def write_npz(file: IO[bytes], arrays: dict[str, np.ndarray]) -> None:
    """Write arrays as an uncompressed ``.npz`` without copying them. Raises OSError if the file cannot be written."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """Return the arrays of an uncompressed ``.npz``, by name.

    Raises ValueError, before memory is allocated, if the file is compressed or states sizes larger than the file.
    Raises OSError if the path is not that of a regular file.
    """
    arrays = {}
    with open_regular(path) as whole, zipfile.ZipFile(whole) as archive:
        members = archive.infolist()
        stored = all(m.compress_type == zipfile.ZIP_STORED and m.file_size == m.compress_size for m in members)
        if not stored or sum(m.file_size for m in members) > os.fstat(whole.fileno()).st_size:
            raise ValueError("it is compressed, or shorter than its header states")
        for member in members:
            with archive.open(member) as file:
                arrays[member.filename.removesuffix(".npy")] = _read_npy(file)
    return arrays


def _read_npy(file: IO[bytes]) -> np.ndarray:
    """Return the array of an opened ``.npy``.

    NumPy's reader is not used, since it evaluates the header and trusts its sizes.
    """
    data = file.read()
    at = 10 + int.from_bytes(data[8:10], "little")
    header = _NPY_HEADER.fullmatch(data[10:at])
    if data[:8] != _NPY_MAGIC or header is None:
        raise ValueError("it holds an array in a format that Sinew does not write")
    kind, fortran, sides = (group.decode() for group in header.groups())
    shape = tuple(int(side) for side in sides.replace(",", " ").split())
    if math.prod(shape) * np.dtype(kind).itemsize != len(data) - at:
        raise ValueError("the size of an array in it differs from its header")
    order = "F" if fortran == "True" else "C"
    return np.frombuffer(memoryview(data)[at:], dtype=kind).reshape(shape, order=order).copy()


_NPY_MAGIC = b"\x93NUMPY\x01\x00"
_NPY_HEADER = re.compile(
    rb"\{'descr': '([<|][fiub][1248])', 'fortran_order': (True|False), 'shape': \(([0-9, ]{0,200})\), \} *\n"
)
