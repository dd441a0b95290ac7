"""Surfaces from files: ``.npz``, or any format that meshio reads."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import numpy as np

from ..errors import MeshError
from ..mesh.surface_mesh import SurfaceMesh


def read_surface(path: Path) -> SurfaceMesh:
    """A surface from ``.npz`` (positions, triangles) or any format that meshio reads; other polygons are split into
    triangles. MeshError when there is none, or it is torn or of another kind.
    """
    try:
        if not path.is_file():
            raise MeshError(f"There is no file {path.name}.", "Check the path; it is relative to the scene file.")
        read = _read_npz if path.suffix.lower() == ".npz" else _read_any
        return _checked(path.name, *read(path))
    except MeshError:
        raise
    # Readers raise whatever a broken file leads them to; meshio's even exits.
    except (Exception, SystemExit) as error:
        raise MeshError(
            f"{path.name} cannot be read ({error or type(error).__name__}).", "Check that it is whole, and its format."
        ) from error


def _read_npz(path: Path) -> tuple[np.ndarray, np.ndarray]:
    data = np.load(path, allow_pickle=False)
    if not isinstance(data, np.lib.npyio.NpzFile):
        raise MeshError(f"{path.name} is no .npz file.", "Save positions and triangles with numpy.savez.")
    with data:
        if not {"positions", "triangles"} <= set(data.files):
            raise MeshError(f"{path.name} lacks the arrays positions and triangles.", "Save both.")
        return data["positions"], data["triangles"]


def _read_any(path: Path) -> tuple[np.ndarray, np.ndarray]:
    try:
        import meshio
    except ImportError as error:
        raise MeshError(f"Reading {path.suffix} needs meshio.", "Install meshio, or give an .npz file.") from error
    # meshio searches for the end of a torn PLY header for ever.
    if path.suffix.lower() == ".ply" and b"end_header" not in path.read_bytes():
        raise MeshError(f"{path.name} is torn: its header has no end.", "Save it again.")
    said = io.StringIO()
    try:
        # What meshio prints when it gives up is the reason; it must not stand beside our own line.
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            mesh = meshio.read(path)
    except SystemExit as error:
        raise MeshError(
            f"{path.name} cannot be read ({' '.join(said.getvalue().split())}).", "Check that it is whole."
        ) from error
    faces = [b.data for b in mesh.cells if b.type in ("triangle", "quad") or b.type.startswith("polygon")]
    triangles = [face[:, [0, k, k + 1]] for face in faces for k in range(1, face.shape[1] - 1)]
    points = np.asarray(mesh.points)[:, :3]
    points = np.pad(points, ((0, 0), (0, 3 - points.shape[1])))
    return points, np.concatenate(triangles) if triangles else np.empty((0, 3), dtype=np.int64)


def _checked(name: str, positions: np.ndarray, triangles: np.ndarray) -> SurfaceMesh:
    """Refuse what the conversion to (n,3) float64 and (t,3) int32 would bend into shape, and what has no area."""
    for word, array, kinds in (("positions", positions, "iuf"), ("triangles", triangles, "iu")):
        if array.ndim != 2 or array.shape[1] != 3 or array.dtype.kind not in kinds:
            raise MeshError(
                f"The {word} in {name} are {array.dtype} of shape {array.shape}.",
                "Save positions (n,3) as floats and triangles (t,3) as integers.",
            )
    if len(triangles) and (triangles.min() < 0 or triangles.max() >= len(positions)):
        raise MeshError(f"A triangle in {name} names a vertex that does not exist.", "Check the triangle indices.")
    surface = SurfaceMesh(positions, triangles)
    surface.validate()
    return surface
