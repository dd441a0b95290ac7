"""Warnings about differences between a body and the skin of its draft lattice, the contact surface."""

from __future__ import annotations

from ...contact.proxy.lattice_bridged_parts import bridged_parts
from ...foundation.unit_words import length_words
from ...geometry.mesh.surface_depth import SurfaceDepth
from ...geometry.mesh.surface_mesh import SurfaceMesh
from ...geometry.mesh.surface_samples import sample_surface
from ...geometry.mesh.tet_mesh import TetMesh
from ...geometry.mesh.vertex_normals import face_normals

SPACING, BESIDE = 0.25, 1e-3
"""Distance between the sampled points of the surface, and offset of its sides, in cells."""
OUTSIDE, NOTICEABLE, FAR = 0.5, 0.005, 1.0
"""Cells by which a lost point sticks out of the skin; the part of the surface from which losses are reported; and the
cells from which any loss is reported, since a rod has little surface.
"""


def skin_warnings(surface: SurfaceMesh, mesh: TetMesh, skin: SurfaceMesh, cells_across: int) -> list[str]:
    """Return sentences, each with a remedy, about parts that others pass through, and parts that move as one."""
    said, cell = [], surface.size / (cells_across - 0.5)
    share, farthest = lost(surface, skin, cell)
    if share > NOTICEABLE or farthest > FAR * cell:
        said.append(
            f"{max(share, 0.001):.1%} of the surface are so much thinner than a cell ({length_words(cell)}) that "
            f"other bodies pass through there, up to {length_words(farthest)} deep: raise Cells Across, or make "
            "those parts thicker."
        )
    welded = bridged_parts(surface, mesh, cells_across)
    if welded.cells:
        said.append(
            f"The cells hold {welded.surface_parts} parts of the body together in {welded.lattice_parts}, across gaps "
            f"down to {length_words(welded.gap)}: they move as one part and do not collide. Set Cells Across to "
            f"{welded.cells} to separate them."
        )
    return said


def lost(surface: SurfaceMesh, skin: SurfaceMesh, cell: float) -> tuple[float, float]:
    """Return the part of a surface that sticks out of its skin by more than half a ``cell`` m, and the largest excess,
    m.

    Inner surfaces do not count.
    """
    samples = sample_surface(surface.positions, surface.triangles, SPACING * cell)
    points = samples.interpolate(surface.positions, surface.triangles)
    outside = -SurfaceDepth(skin).at(points)
    off = BESIDE * cell * face_normals(surface.positions[surface.triangles])[samples.triangle]
    body = SurfaceDepth(surface)
    shown = ~((body.at(points - off) > 0.0) & (body.at(points + off) > 0.0))
    out = shown & (outside > OUTSIDE * cell)
    if not out.any():
        return 0.0, 0.0
    return float(samples.area[out].sum() / samples.area[shown].sum()), float(outside[out].max())
