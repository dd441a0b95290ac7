"""Robust method: tetrahedra that follow any surface, by fTetWild [Hu, Schneider, Wang, Zorin, Panozzo 2020].

Traps: fTetWild may write to the process's standard output, which may be a pipe to the caller, and leaves a file in the
working folder. So during the run output goes to standard error, and the working folder is a temporary one. The tets
differ a little from run to run, even with one thread. Callers that need the same tets twice must store them.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np

from ...foundation.errors import MeshError
from ...foundation.process.foreign_module import compiled_module, kept_apart
from ..mesh.surface_mesh import SurfaceMesh
from ..mesh.surface_samples import faces_with_area
from ..mesh.tet_mesh import TetMesh, oriented
from .sizing_field import BackgroundMesh, background_mesh, is_finer
from .tet_count import MAX_TETS

_MODULE = "PyfTetWildWrapper"
_ENVELOPE = 1e-3
"""Allowed distance from the surface, as a fraction of the bounding box's diagonal: fTetWild's default."""
_EVENLY = BackgroundMesh(np.empty((0, 3)), np.empty((0, 4), dtype=np.int32), np.empty(0))


def robust_tets(
    surface: SurfaceMesh, cells_across: int, fineness: np.ndarray | None = None, finest: float = 1.0
) -> TetMesh:
    """Return tets that fill a surface.

    Edges are about as long as the surface's longest side divided by ``cells_across``. The tets follow the surface
    within a thousandth of its size, so vertices of the surface may lie outside by as much. Meshing takes seconds to
    minutes.

    ``fineness`` (n,), 0 to 1, or None: painted refinement per vertex.
    ``finest``: factor by which edges are shorter where ``fineness`` is 1.

    Raises
    ------
    MeshError
        fTetWild is not installed or fails, the surface encloses nothing, or the painted refinement needs too many tets.
    """
    wrapper = compiled_module(
        "pytetwild", _MODULE, "fTetWild", "Choose the Draft method (lattice), or install the package pytetwild."
    )
    used, triangles = np.unique(faces_with_area(surface).ravel(), return_inverse=True)
    low = surface.positions[used].min(axis=0)
    size = surface.size
    points = np.ascontiguousarray((surface.positions[used] - low) / size)
    triangles = triangles.reshape(-1, 3).astype(np.uint32)
    sizing = _EVENLY
    if is_finer(fineness, finest):
        field = background_mesh(SurfaceMesh(cells_across * points, triangles), fineness[used], finest, MAX_TETS)
        sizing = BackgroundMesh(field.points / cells_across, field.tets, field.sizes / cells_across)
    vertices, tets = _run(wrapper, points, triangles, 1.0 / cells_across, sizing)
    if len(tets) == 0:
        raise MeshError(
            "The mesh encloses nothing.", "Close its holes, or use the Draft method (lattice), which also fills sheets."
        )
    return oriented(vertices * size + low, tets)


def _run(
    wrapper: ModuleType, points: np.ndarray, triangles: np.ndarray, edge: float, sizing: BackgroundMesh
) -> tuple[np.ndarray, np.ndarray]:
    """Return fTetWild's vertices (n,3) and tets (m,4) for a surface in the unit box."""
    optimize, skip_simplify, coarsen, quiet, vtk_ordering, keep_outside = True, False, False, True, False, False
    edge_ratio, stop_energy, threads, rounds, log_level = 0.05, 10.0, 0, 80, 6  # fTetWild's defaults; log: critical
    shape = (optimize, skip_simplify, edge_ratio, edge, _ENVELOPE, stop_energy, coarsen)
    manner = (threads, rounds, log_level, quiet, vtk_ordering, keep_outside)
    try:
        with kept_apart():
            return wrapper.tetrahedralize_mesh(points, triangles, *shape, *manner, *sizing)
    except (RuntimeError, ValueError) as error:
        raise MeshError(
            f"fTetWild failed: {error}.", "Choose the Draft method (lattice), or lower Cells Across."
        ) from error
