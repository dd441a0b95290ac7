"""Tetrahedral meshing of a surface by the method in the resolution settings."""

from __future__ import annotations

import numpy as np

from ...foundation.errors import MeshError
from ...foundation.schema.settings import ResolutionSettings
from ..mesh.surface_mesh import SurfaceMesh
from ..mesh.tet_mesh import TetMesh
from .ftetwild_mesh import robust_tets
from .lattice import lattice_tets
from .rigid_tet import rigid_tet
from .tetgen_mesh import clean_tets


def tetrahedralize(surface: SurfaceMesh, resolution: ResolutionSettings, fineness: np.ndarray | None = None) -> TetMesh:
    """Return tetrahedra that fill a surface.

    Parameters
    ----------
    surface : SurfaceMesh
        In metres. It may be open, non-manifold, self-intersecting or inside-out, except for the methods ``clean`` and
        ``rigid``.
    resolution : ResolutionSettings
        Method and cell size.
    fineness : (n,) or None
        Painted refinement at each vertex, 0 to 1 (``ResolutionSettings.refine_factor``).

    Raises
    ------
    MeshError
        The surface encloses nothing, is not valid for the method, or needs too many tets.
    """
    surface.validate()
    tets = METHODS[resolution.method](surface, resolution.cells_across, fineness, resolution.refine_factor)
    if len(tets.tets) == 0:
        raise MeshError(
            "The mesh encloses nothing.", "Close its holes, or use the Draft method (lattice), which also fills sheets."
        )
    return tets


METHODS = {"lattice": lattice_tets, "robust": robust_tets, "clean": clean_tets, "rigid": rigid_tet}
"""Meshing functions by the name of the method, ``ResolutionSettings.method``."""
