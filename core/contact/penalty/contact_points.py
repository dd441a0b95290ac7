"""Contact points of a body: its surface vertices, and sample points on large surface faces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from ...geometry.mesh.embedding import Embedding, embed, embed_in_pieces
from ...geometry.mesh.farthest_points import Chosen, farthest_points
from ...geometry.mesh.surface_mesh import SurfaceMesh
from ...geometry.mesh.surface_samples import sample_surface
from ...geometry.mesh.tet_mesh import TetMesh
from ...geometry.mesh.vertex_normals import vertex_normals
from ...mechanics.assembly.deformation_gradient import shape_gradients
from ...mechanics.forces.embedded_points import EmbeddedPoints

SPACING = 1.0
"""Largest distance between neighbouring contact points, in mean tet edges. A body cannot deform on a finer scale."""


class ContactPoints:
    """Contact points embedded in the tets of a body.

    Attributes
    ----------
    points : EmbeddedPoints, the p contact points
    areas : (p,) m², surface area at rest that each point represents
    tets : (p,) index of the tet in which each point is embedded
    moduli : (p,) Pa
        Young's modulus of the body at each point.
    """

    def __init__(
        self,
        points: EmbeddedPoints,
        areas: np.ndarray,
        tets: np.ndarray,
        moduli: np.ndarray,
        directions: EmbeddedPoints,
    ) -> None:
        self.points, self.areas, self.tets, self.moduli = points, areas, tets, moduli
        self._directions = directions

    def outward(self, positions: np.ndarray) -> np.ndarray:
        """Return unit vectors (p,3) that point out of the body at each contact point.

        The vector is 0 where undefined. The rest normal is deformed by its tet's deformation gradient, so the result
        points inwards if the tet is inverted.

        ``positions`` (n,3), m: tet vertices.
        """
        along = self._directions.positions(positions)
        length = np.linalg.norm(along, axis=1, keepdims=True)
        return along / np.where(length > 0.0, length, 1.0)

    @classmethod
    def of(
        cls,
        surface: SurfaceMesh,
        mesh: TetMesh,
        moduli: np.ndarray,
        carry: Callable[[Embedding], EmbeddedPoints] | None = None,
        most: int | None = None,
        choose: Callable[[np.ndarray, int], Chosen] = farthest_points,
        pieces: np.ndarray | None = None,
    ) -> ContactPoints:
        """Return the contact points of a surface in the rest shape of a tet mesh.

        The points are the vertices of faces with a nonzero area, and sample points on large faces. The area of a face
        is divided among its corners and sample points.

        Parameters
        ----------
        moduli : (m,) Pa, Young's modulus of each tet
        carry : function that converts an :class:`Embedding` (tet and barycentric coordinates of each point) to points
            that depend on the solver's unknowns. ``carry`` is required if the unknowns are not the mesh's vertices.
        most : largest number of points. If there are more, the function ``choose`` selects points that are far apart.
            The area of each point that is not selected is added to the area of the nearest selected point.
        choose : function that selects a given number of points
        pieces : (s,) piece of each surface vertex if the mesh is split
        """
        at, normals, areas, vertices = _candidates(surface, mesh)
        if most is not None and most < len(at):
            chosen = choose(at, most)
            at, normals, vertices = at[chosen.points], normals[chosen.points], vertices[chosen.points]
            areas = np.bincount(chosen.nearest, areas, minlength=len(at))
        embedding = embed(at, mesh) if pieces is None else embed_in_pieces(at, pieces[vertices], mesh)
        tets = embedding.tet_indices
        slopes = np.einsum("pai,pi->pa", shape_gradients(mesh.rest_positions, mesh.tets)[tets], normals)
        carry = carry or partial(EmbeddedPoints, tets=mesh.tets, vertex_count=len(mesh.rest_positions))
        # The derivative along the rest normal is a combination of a tet's corners too, with weights that sum to zero.
        directions = carry(replace(embedding, barycentric=slopes))
        return cls(carry(embedding), areas, tets, moduli[tets], directions)


def _candidates(surface: SurfaceMesh, mesh: TetMesh) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the positions (p,3), m, outward normals (p,3), and areas (p,), m², of possible contact points.

    The last result (p,) is a vertex of the face of each point.
    """
    samples = sample_surface(surface.positions, surface.triangles, SPACING * mesh.mean_edge)
    corner = samples.barycentric.argmax(axis=1)
    at_corner = samples.barycentric[np.arange(len(corner)), corner] == 1.0
    vertex = surface.triangles[samples.triangle, corner]
    vertex_areas = np.bincount(vertex[at_corner], samples.area[at_corner], minlength=len(surface.positions))
    used = vertex_areas > 0.0
    at = np.concatenate(
        [surface.positions[used], samples.interpolate(surface.positions, surface.triangles)[~at_corner]]
    )
    normals = _outward_normals(surface)
    normals = np.concatenate([normals[used], samples.interpolate(normals, surface.triangles)[~at_corner]])
    areas = np.concatenate([vertex_areas[used], samples.area[~at_corner]])
    return at, normals, areas, np.concatenate([np.flatnonzero(used), vertex[~at_corner]])


def _outward_normals(surface: SurfaceMesh) -> np.ndarray:
    """Return vertex normals (s,3), not normalized, outwards even if the whole surface is inside out."""
    normals = vertex_normals(surface.positions, surface.triangles)
    corners = surface.positions[surface.triangles]
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    centred = corners[:, 0] - surface.positions.mean(axis=0)
    return -normals if np.einsum("ti,ti->", centred, cross) < 0.0 else normals
