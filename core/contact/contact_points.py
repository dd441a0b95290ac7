"""Where a body may touch: the vertices of its surface, and samples on faces that are large beside its tets."""

from __future__ import annotations

import numpy as np

from ..forces.embedded_points import EmbeddedPoints
from ..mesh.embedding import embed
from ..mesh.surface_mesh import SurfaceMesh
from ..mesh.surface_samples import sample_surface
from ..mesh.tet_mesh import TetMesh

SPACING = 1.0
"""Largest distance of neighbouring points in mean edges of the tets: the body cannot yield between them any finer."""


class ContactPoints:
    """Points carried by the tets, each standing for a piece of the surface.

    Attributes
    ----------
    points : EmbeddedPoints, p of them
    areas : (p,) m² at rest
    """

    def __init__(self, points: EmbeddedPoints, areas: np.ndarray) -> None:
        self.points, self.areas = points, areas

    @classmethod
    def of(cls, surface: SurfaceMesh, mesh: TetMesh) -> ContactPoints:
        """The points of a surface in the rest shape of its tets.

        A face shares its area among its samples, corners included. Vertices of no face, or only of faces without area,
        touch nothing.
        """
        edge = 2.04 * float(np.mean(mesh.volumes)) ** (1.0 / 3.0)  # of a regular tet of the mean volume
        samples = sample_surface(surface.positions, surface.triangles, SPACING * edge)
        corner = samples.barycentric.argmax(axis=1)
        at_corner = samples.barycentric[np.arange(len(corner)), corner] == 1.0
        vertex = surface.triangles[samples.triangle, corner]
        vertex_areas = np.bincount(vertex[at_corner], samples.area[at_corner], minlength=len(surface.positions))
        used = vertex_areas > 0.0
        at = np.concatenate(
            [surface.positions[used], samples.interpolate(surface.positions, surface.triangles)[~at_corner]]
        )
        points = EmbeddedPoints(embed(at, mesh), mesh.tets, len(mesh.rest_positions))
        return cls(points, np.concatenate([vertex_areas[used], samples.area[~at_corner]]))
