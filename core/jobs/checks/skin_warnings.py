"""Warnings about a contact surface (skin) that differs from the body's visible surface."""

from __future__ import annotations

from ...contact.proxy.lattice_bridged_parts import bridged_parts
from ...foundation.unit_words import length_words
from ...geometry.mesh.surface_depth import SurfaceDepth
from ...geometry.mesh.surface_mesh import SurfaceMesh
from ...geometry.mesh.surface_samples import sample_surface
from ...geometry.mesh.tet_mesh import TetMesh
from ...geometry.mesh.vertex_normals import face_normals

SPACING, BESIDE = 0.25, 1e-3
"""SPACING: distance between sample points on the surface, in cells. BESIDE: distance of test points from the surface,
in cells.

At each sample point, one test point on each side of the surface is tested for being inside the body.
"""
OUTSIDE, NOTICEABLE, FAR = 0.5, 0.005, 1.0
"""Limits of the warnings.

OUTSIDE: distance outside the skin, in cells, above which a surface point counts as lost. NOTICEABLE: lost fraction of
the surface above which a warning is given. FAR: distance outside the skin, in cells, above which a single point causes
a warning. FAR finds thin rods, whose fraction of the surface is small.
"""


def skin_warnings(surface: SurfaceMesh, mesh: TetMesh, skin: SurfaceMesh, cells_across: int) -> list[str]:
    """Return warnings, each with a remedy, about parts that are too thin to collide or that the cells join together.

    ``surface``: visible surface of the body.
    ``mesh``: lattice with ``cells_across`` cells along the longest side.
    ``skin``: contact surface of the lattice.
    """
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
            f"The cells join {welded.surface_parts} parts of the body together into {welded.lattice_parts}, across "
            f"gaps down to {length_words(welded.gap)}: joined parts move as one and do not collide. Set Cells Across "
            f"to {welded.cells} to separate them."
        )
    return said


def lost(surface: SurfaceMesh, skin: SurfaceMesh, cell: float) -> tuple[float, float]:
    """Return the fraction of a surface that lies outside the contact surface ``skin``, and its largest distance, m.

    ``cell``: side of a lattice cell, m.

    Only distances of more than half a cell count. Parts of the surface inside the body do not count.
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
