"""Linear blend skinning: the map from a subspace's unknowns to the vertices of the body.

    x(p) = p + sum_k w_k(p) (c(p) @ H_k)

Weights w_k belong to the vertices, coordinates c(p) are affine in the rest position, and the handles H_k (4,3) are
linear in the unknowns ([SubMFEM23] Eq. 10, Sec. 6). A graphics card can evaluate the map, since a point needs only its
weights.

Skinning is inaccurate for points between the vertices of a tet. Let b be the barycentric coordinates of such a point.
Skinning moves the point by interpolated weights, and the tet moves the point by interpolated displacements. The first
displacement minus the second is ``-sum over pairs of corners i<j of b_i b_j (w_i - w_j) (c_i - c_j) @ H``. The
difference is small relative to the handles, but not relative to the displacement if many large handles nearly cancel
each other. Therefore such points follow their tets, and separate handles display them (``display_handles.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...geometry.mesh.embedding import Embedding
from ...geometry.mesh.tet_mesh import TetMesh
from .skinning_basis import skinning_columns


class Coordinates(NamedTuple):
    """Homogeneous coordinates of rest positions p, centred and scaled: ``c(p) = [(p - centre) / size, 1]``.

    Attributes
    ----------
    centre : (3,) m, centre of the body's bounding box
    size : longest side of the bounding box, m
    """

    centre: np.ndarray
    size: float

    @classmethod
    def around(cls, rest_positions: np.ndarray) -> Coordinates:
        """Return coordinates that map the bounding box of a body into the range from -1/2 to 1/2.

        ``rest_positions`` (n,3), m.
        """
        low, high = rest_positions.min(axis=0), rest_positions.max(axis=0)
        return cls(0.5 * (low + high), float((high - low).max()))

    def of(self, points: np.ndarray) -> np.ndarray:
        """Return the homogeneous coordinates (p,4) of rest positions (p,3) m."""
        return np.column_stack([(points - self.centre) / self.size, np.ones(len(points))])


def skinned(rest: np.ndarray, weights: np.ndarray, coordinates: Coordinates, handles: np.ndarray) -> np.ndarray:
    """Return the positions (p,3), m, of p points after linear blend skinning.

    The positions are ``rest + sum_k w_k (c @ H_k)``. ``rest`` (p,3), m: positions at rest. ``weights`` (p,h): the
    weights w_k, which blend the handles. ``coordinates``: map from rest positions to homogeneous coordinates c (4,),
    which have no unit. ``handles`` (h,4,3), m: the affine displacements H_k.
    """
    at = np.einsum("ph,hij->pij", weights, handles, optimize=True)
    return rest + np.einsum("pi,pij->pj", coordinates.of(rest), at)


@dataclass(frozen=True)
class Skinning:
    """Linear blend skinning as the map from the unknowns (r,3) of a subspace to the displacements of the vertices.

    Attributes
    ----------
    mesh : TetMesh, n vertices
    weights : (n,h) skinning weights of h handles: first of the modes, then of the pins
    coordinates : Coordinates
    transform : (4h,r) maps unknowns to handles, four rows per handle
    """

    mesh: TetMesh
    weights: np.ndarray
    coordinates: Coordinates
    transform: np.ndarray

    def weights_at(self, embedding: Embedding) -> np.ndarray:
        """Return the skinning weights (p,h) of p points that are embedded in the tets."""
        return embedding.apply(self.weights, self.mesh.tets)

    def basis(self) -> np.ndarray:
        """Return the scalar basis (n,r): the displacement of each vertex per unknown, equal for x, y and z."""
        columns = skinning_columns(self.weights, self.coordinates.of(self.mesh.rest_positions))
        return np.ascontiguousarray(columns @ self.transform)
