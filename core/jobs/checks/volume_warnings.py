"""Comparison of the volume of the tets, which determines the displayed mass, and the volume inside the surface."""

from __future__ import annotations

from ...geometry.mesh.surface_mesh import SurfaceMesh
from ...geometry.mesh.tet_mesh import TetMesh
from ...geometry.tetrahedra.enclosed_volume import enclosed_volume
from ...geometry.tetrahedra.tet_count import measure_surface
from ..job.job import Job

WARNED = 0.03
"""Largest difference between the tets' volume and the enclosed volume without a warning, relative to the enclosed
volume.
"""
SHEET = 1e-6
"""Enclosed volume, relative to the cube of the mesh's size, below which a mesh counts as a sheet."""

CLOSED = 1e-9
"""Largest openness of a surface that counts as closed.

The openness is the norm of the sum of all face normals times face areas, divided by the total area.
"""


def volume_warnings(job: Job, mesh: TetMesh) -> list[str]:
    """Return warnings about a tet volume that differs from the enclosed volume of the mesh.

    The list has at most one warning.
    """
    filled = float(mesh.body_volumes.sum())
    if _encloses(job.body.surface, filled):
        return []
    enclosed = enclosed_volume(job.body.surface)
    if enclosed < SHEET * job.body.surface.size**3:
        return [
            "The mesh encloses nothing (a sheet), so its mass depends on the resolution: give it a "
            "thickness (Solidify) if the mass matters."
        ]
    off = filled / enclosed - 1.0
    if abs(off) <= WARNED:
        return []
    said = f"The tetrahedra's volume and mass are {abs(off):.0%} {'above' if off > 0.0 else 'below'} those of the mesh"
    if not job.body.is_lattice:
        return [f"{said}: raise Cells Across, or choose Draft (lattice)."]
    if off > 0.0:  # a lattice measures all volumes but those of sheets
        return [f"{said}: sheets (faces that enclose no volume) count as bodies. Give them a thickness (Solidify)."]
    return [f"{said}: raise Cells Across."]


def _encloses(surface: SurfaceMesh, filled: float) -> bool:
    """Return True if a surface is closed and encloses the volume ``filled``, m³, up to a fraction WARNED."""
    measure = measure_surface(surface)
    if measure is None or measure.openness > CLOSED or not measure.is_solid:
        return False
    return abs(filled / measure.volume - 1.0) <= WARNED
