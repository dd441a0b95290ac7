"""Volume that a surface encloses, for comparison with the volume of its tetrahedra."""

from __future__ import annotations

import numpy as np

from ..mesh.surface_mesh import SurfaceMesh
from ..mesh.surface_samples import proper_faces
from ..mesh.tet_mesh import oriented
from ..mesh.winding_number import WindingNumber
from .cut_cell_volume import volume_fractions
from .sizing_field import cubes

ALONG = 8
"""Number of cubes along the surface's longest side. For closed surfaces any number gives the same volume."""
FLATTEST = 0.01
"""Lower bound on each side of the box around a surface, as a fraction of the longest side.

The box is divided into cubes, and a flat surface would give cubes of no thickness.
"""


def enclosed_volume(surface: SurfaceMesh) -> float:
    """Return the volume, m³, with ``|winding number| > 1/2``.

    The volume is exact for closed surfaces without self-intersections.
    """
    triangles = proper_faces(surface)
    if len(triangles) == 0:
        return 0.0
    used = surface.positions[triangles.ravel()]
    low, high = used.min(axis=0), used.max(axis=0)
    size = float((high - low).max())
    sides = np.maximum((high - low) / size, FLATTEST)
    counts = np.ceil(ALONG * sides).astype(np.int64)
    # With a margin, no side of a cube coincides with a face of an axis-aligned surface.
    points, tets = cubes(counts)
    points = (points / counts - 0.5) * (1.01 * sides)
    mesh = oriented(points, tets)
    winding = WindingNumber((surface.positions - 0.5 * (low + high)) / size, triangles)
    fill = volume_fractions(mesh.rest_positions[mesh.tets], winding).fill
    return float(fill @ mesh.volumes) * size**3
