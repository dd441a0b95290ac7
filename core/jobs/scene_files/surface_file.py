"""Readers of surface files (OBJ, STL, PLY, ``.npz``, or any format of meshio, if installed) and of tetrahedra."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import numpy as np

from ...foundation.errors import MeshError, refusing
from ...foundation.files.array_file import open_regular
from ...foundation.files.text_file import LONGEST_MARK, encoding_of
from ...foundation.schema.declared_types import checked
from ...geometry.mesh.polygons import triangulate
from ...geometry.mesh.surface_mesh import SurfaceMesh
from ...geometry.mesh.tet_mesh import oriented
from .surface_formats import READERS

PAIR = (".node", ".ele")
"""Extensions of TetGen's two files, which are read together."""
XML = (".vtu", ".vtp", ".xdmf", ".xmf", ".xml", ".svg")
"""Extensions of XML files, which may begin with a byte order mark."""


@checked(MeshError)
def read_surface(path: Path | str) -> SurfaceMesh:
    """Return the surface in a file, with polygons split into triangles.

    The formats are OBJ, STL, PLY, ``.npz`` (arrays positions, triangles) and all other formats of meshio. Raises
    MeshError if the file is missing, damaged or of an unknown format.
    """
    path = _existing(path)
    ending = path.suffix.lower()
    try:
        if ending == ".npz":
            surface = SurfaceMesh(*_read_npz(path))
        else:
            read = READERS.get(ending)
            positions, counts, corners = read(path.read_bytes()) if read else _read_any(path)
            surface = SurfaceMesh(positions, triangulate(positions, counts, corners))
        surface.validate()
    except MeshError as error:
        raise MeshError(f"{path.name}: {error.message}", error.remedy) from error
    # Readers raise arbitrary exceptions for damaged files; meshio even exits.
    except (Exception, SystemExit) as error:
        raise MeshError(
            f"{path.name} cannot be read ({error or type(error).__name__}).", "Check its format, and that it is whole."
        ) from error
    return surface


def _existing(path: Path | str) -> Path:
    """Return the path if a readable file is there; raise MeshError otherwise."""
    path, remedy = Path(path), "Check the path; in a scene file, paths are relative to that file."
    with refusing(f"{path.name:.80} cannot be opened", remedy, MeshError, (OSError, ValueError)):
        try:
            open_regular(path).close()
        except (FileNotFoundError, NotADirectoryError) as error:
            raise MeshError(f"There is no file {path.name:.80}.", remedy) from error
    return path


def _read_npz(path: Path) -> tuple[np.ndarray, np.ndarray]:
    data = np.load(path, allow_pickle=False)
    if not isinstance(data, np.lib.npyio.NpzFile):
        raise MeshError("Not an .npz file.", "Save positions and triangles with numpy.savez.")
    with data:
        if not {"positions", "triangles"} <= set(data.files):
            raise MeshError("The array positions or triangles is missing.", "Save both.")
        return data["positions"], data["triangles"]


@checked(MeshError)
def read_tets(path: Path | str) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices (n,3) and tetrahedra (m,4) in a file that meshio can read (.msh, .vtu, .mesh ...).

    Both arrays can be passed to ``Body.of_tets``. Tets are positively oriented. Flat tets and unused vertices are left
    out. Raises MeshError if the file cannot be read, or has no tetrahedra.
    """
    path = _existing(path)
    try:
        mesh = _by_meshio(path)
        tets = [block.data for block in mesh.cells if block.type == "tetra"]
        if not tets:
            raise MeshError("The file has no tetrahedra with four vertices.", "Give another file, or read its surface.")
        found = oriented(np.asarray(mesh.points, dtype=np.float64), np.concatenate(tets))
    except MeshError as error:
        raise MeshError(f"{path.name}: {error.message}", error.remedy) from error
    except (Exception, SystemExit) as error:  # as in read_surface
        raise MeshError(f"{path.name} cannot be read ({error}).", "Check its format, and that it is whole.") from error
    return found.rest_positions, found.tets


def _by_meshio(path: Path) -> Any:
    try:
        import meshio
    except ImportError as error:
        raise MeshError(
            f"Reading {path.suffix} needs meshio.", "Install meshio, or give an .obj, .stl, .ply or .npz file."
        ) from error
    _check_mark(path)
    said = io.StringIO()
    try:
        # meshio prints the reason of an error before it exits; the raised error shows it instead.
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            return meshio.read(path)
    except SystemExit as error:
        raise MeshError(
            f"It cannot be read ({' '.join(said.getvalue().split())}).", "Check that the file is complete."
        ) from error


def _check_mark(path: Path) -> None:
    """Raise MeshError if a file begins with a byte order mark (BOM), unless the format is XML."""
    pair = [path.with_suffix(ending) for ending in PAIR] if path.suffix.lower() in PAIR else [path]
    for each in filter(Path.is_file, pair):
        with open(each, "rb") as file:
            mark, _ = encoding_of(file.read(LONGEST_MARK))
        if mark and path.suffix.lower() not in XML:
            raise MeshError(f"{each.name} begins with a byte order mark (BOM).", "Save it as UTF-8 without BOM.")


def _read_any(path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    mesh = _by_meshio(path)
    faces = [b.data for b in mesh.cells if b.type in ("triangle", "quad") or b.type.startswith("polygon")]
    points = np.asarray(mesh.points)[:, :3]
    points = np.pad(points, ((0, 0), (0, 3 - points.shape[1])))
    counts = np.concatenate([np.full(len(face), face.shape[1]) for face in faces] or [np.empty(0, int)])
    return points, counts, np.concatenate([face.ravel() for face in faces] or [np.empty(0, int)]).astype(np.int64)
