"""Export of frames for other programs: VTU and PVD for ParaView, PC2 point caches."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from ..foundation.errors import SettingsError
from ..foundation.files.array_file import whole_file
from ..foundation.files.point_cache import write_point_cache
from ..foundation.schema.declared_types import checked, declared
from .frames import Frame

TETRA = 10
"""Code of VTK for tetrahedra."""
_TYPES = {"f8": "Float64", "i4": "Int32", "i8": "Int64", "u1": "UInt8"}


@checked(SettingsError)
def write(path: Path | str, frames: Frame | Iterable[Frame]) -> list[Path]:
    """Write a frame, or the frames of ``simulate``, to files.

    Return the paths of the files. The suffix of ``path`` selects the format:

    - ``.vtu``: the tetrahedra of one frame. Vertices have the ``displacement`` (m). Tets have ``energy_density``
      (J/m³), ``first_piola``, ``cauchy``, ``von_mises``, ``youngs_modulus`` (all Pa) and ``volume`` (m³).
    - ``.pvd``: a list of .vtu files with times, for all frames and bodies. The files ``NAME_0001.vtu`` and so on are
      written beside the list.
    - ``.pc2``: the surface vertices over all frames.

    The first body is written to ``path``; the file name of each other body ends with the body's name. Raises
    SettingsError if the format is unknown, if there is no frame, or if the format cannot hold the frames.
    """
    path = Path(path)
    frames, kind = (frames,) if isinstance(frames, Frame) else frames, path.suffix.lower()
    given = (declared(frame, Frame, SettingsError, "write: frames") for frame in frames)
    if kind not in (".vtu", ".pvd", ".pc2"):
        raise SettingsError(
            f"The format of “{path.name}” is not known.", "Name a file that ends in .vtu, .pvd or .pc2."
        )
    if (frame := next(given, None)) is None:
        raise SettingsError(
            "There is no frame to write.", "The frames of simulate can be read only once: keep them in a list."
        )
    if kind == ".pvd":
        return _write_series(path, chain([frame], given))
    if kind == ".pc2":
        return _write_point_caches(path, chain([frame], given))
    if next(given, None) is not None:
        raise SettingsError(f"“{path.name}” can hold only one frame.", "Pass one frame, or name a .pvd file.")
    written = [_of_body(path, name, k) for k, name in enumerate(frame.bodies)]
    for file, each in zip(written, frame.bodies.values()):
        _write_vtu(file, each)
    return written


def _of_body(path: Path, name: str, k: int) -> Path:
    return path.with_name(f"{path.stem}.{name}{path.suffix}") if k else path


def _write_series(path: Path, frames: Iterable[Frame]) -> list[Path]:
    written, lines = [], []
    for frame in frames:
        for k, (name, each) in enumerate(frame.bodies.items()):
            file = _of_body(path.with_name(f"{path.stem}_{frame.number:04d}.vtu"), name, k)
            _write_vtu(file, each)
            written.append(file)
            lines.append(
                f'<DataSet timestep="{frame.time!r}" part="{k}" name={quoteattr(name)} file={quoteattr(file.name)}/>'
            )
    with whole_file(path) as out:
        out.write(_document("Collection", "\n".join(lines)))
    return [path, *written]


def _write_point_caches(path: Path, frames: Iterable[Frame]) -> list[Path]:
    numbers, positions = [], {}
    for frame in frames:
        numbers.append(frame.number)
        for name, each in frame.bodies.items():
            positions.setdefault(name, []).append(each.positions)
    steps = set(np.diff(numbers).tolist()) or {1}
    if len(steps) > 1:
        raise SettingsError(f"“{path.name}” needs equally spaced frames.", "Pass all frames without gaps.")
    written = [_of_body(path, name, k) for k, name in enumerate(positions)]
    for file, each in zip(written, positions.values()):
        write_point_cache(file, numbers[0], each, len(each), len(each[0]), max(steps))
    return written


def _write_vtu(path: Path, frame: Frame) -> None:
    solid, x = frame.solid, frame.vertices
    m = len(solid.tets)
    of_tets = {
        "energy_density": solid.energy_density(x),
        "first_piola": solid.first_piola(x).reshape(m, 9),
        "cauchy": solid.cauchy(x).reshape(m, 9),
        "von_mises": solid.von_mises(x),
        "youngs_modulus": solid.model.youngs_modulus,
        "volume": solid.volumes,
    }
    cells = {
        "connectivity": solid.tets.ravel(),
        "offsets": np.arange(4, 4 * m + 1, 4),
        "types": np.full(m, TETRA, dtype=np.uint8),
    }
    body = f'<Piece NumberOfPoints="{len(x)}" NumberOfCells="{m}">' + "".join(
        f"<{name}>{''.join(_array(*each) for each in arrays.items())}</{name}>"
        for name, arrays in (
            ("Points", {"positions": x}),
            ("Cells", cells),
            ("PointData", {"displacement": x - solid.rest}),
            ("CellData", of_tets),
        )
    )
    with whole_file(path) as file:
        file.write(_document("UnstructuredGrid", f"{body}</Piece>"))


def _array(name: str, values: np.ndarray) -> str:
    little = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    content = base64.b64encode(np.uint64(little.nbytes).astype("<u8").tobytes() + little.tobytes()).decode()
    columns = f' NumberOfComponents="{values.shape[1]}"' if values.ndim == 2 else ""
    return (
        f'<DataArray type="{_TYPES[little.dtype.str[1:]]}" Name="{name}"{columns} format="binary">{content}</DataArray>'
    )


def _document(kind: str, content: str) -> bytes:
    head = f'<VTKFile type="{kind}" version="1.0" byte_order="LittleEndian" header_type="UInt64">'
    return f'<?xml version="1.0"?>\n{head}<{kind}>{content}</{kind}></VTKFile>\n'.encode()
