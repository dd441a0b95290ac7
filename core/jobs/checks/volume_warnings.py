"""Comparison of the volume of the tetrahedra with that of the mesh, since the displayed mass is the tetrahedra's."""

from __future__ import annotations

from ...geometry.mesh.surface_mesh import SurfaceMesh
from ...geometry.mesh.tet_mesh import TetMesh
from ...geometry.tetrahedra.enclosed_volume import enclosed_volume
from ...geometry.tetrahedra.tet_count import measure_surface
from ..job.job import Job

WARNED = 0.03
"""Relative difference from the enclosed volume that is not reported."""
SHEET = 1e-6
"""Least part of the cube of its size that a mesh encloses, if it is not a sheet."""

CLOSED = 1e-9
"""Sum of all face normals by area, over the area: of a closed surface it is round-off."""


def volume_warnings(job: Job, mesh: TetMesh) -> list[str]:
    """Return a sentence with a remedy if volume, and so mass, differ from the mesh's own; else none."""
    filled = float(mesh.body_volumes.sum())
    if _encloses(job.body.surface, filled):
        return []
    enclosed = enclosed_volume(job.body.surface)
    if enclosed < SHEET * job.body.surface.size**3:
        return [
            "The mesh encloses nothing (a sheet): its mass and volume follow from the resolution alone. Give it a "
            "thickness (Solidify) if they matter."
        ]
    off = filled / enclosed - 1.0
    if abs(off) <= WARNED:
        return []
    said = f"Mass and volume are {abs(off):.0%} {'above' if off > 0.0 else 'below'} what the mesh encloses"
    if not job.body.is_lattice:
        return [f"{said}: raise Cells Across, or choose Draft."]
    if off > 0.0:  # the lattice measures all else
        return [f"{said}: faces without an inside (sheets) count as thin bodies. Give them a thickness (Solidify)."]
    return [f"{said}: raise Cells Across."]


def _encloses(surface: SurfaceMesh, filled: float) -> bool:
    """Return True if a closed surface encloses about ``filled``, m³, by the divergence theorem: cheap, for dense
    surfaces.

    Parts that cross each other or are inside out give another volume, and need the exact measure.
    """
    measure = measure_surface(surface)
    if measure is None or measure.openness > CLOSED or not measure.is_solid:
        return False
    return abs(filled / measure.volume - 1.0) <= WARNED
