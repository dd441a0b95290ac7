"""Transfer of painted weights from the surface's vertices to the tets.

1. Weights are interpolated over the triangles, at samples half a tet apart.
2. A tet that the surface crosses gets the mean weights of the surface within the tet: borders are as sharp as one tet.
3. All other tets get the harmonic extension of the surface's weights. The deeper a tet, the more the extension blurs
   sharp borders. So the weights of a tet are sharpened where the surrounding weights are pure (see below). Fully
   sharpened weights are the fractions of the tet's volume in which each material has the largest extended weight.

The purity of the weights w around a tet is ``(<w.w> - <w>.<w>) / (1 - <w>.<w>)``, like a variance. Here <.> is the
value that harmonic extension from the surface gives in the tet; in tets that the surface crosses, it is the mean over
the surface in the tet. Purity is 0 if all surrounding weights are equal, 1 if each point has one material, 1/3 for a
linear ramp from 0 to 1. Sharpness is the degree of sharpening. Sharpness rises from 0 at purity 1/3, so that painted
gradients are kept, to 1 at purity 2/3. A tet with a sharpness above 1/2 counts as cut by a sharp border.
"""

from __future__ import annotations

import numpy as np

from ...geometry.mesh.embedding import Embedding, embed
from ...geometry.mesh.surface_mesh import SurfaceMesh
from ...geometry.mesh.surface_samples import sample_surface
from ...geometry.mesh.tet_mesh import TetMesh
from .harmonic import extend_harmonically

PROBES = (
    np.array([(i, j, k, 3 - i - j - k) for i in range(4) for j in range(4 - i) for k in range(4 - i - j)]) + 0.25
) / 4.0
"""Sample points of a tet, (20,4) barycentric: centroids of 20 tets similar to it, with edges a quarter as long."""


def transfer_weights(
    mesh: TetMesh, embedding: Embedding, surface: SurfaceMesh | None, painted: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the material weights of the tets, (m,k), and a mask of the tets cut by a sharp border, (m,).

    ``painted`` (n,k): weights at the surface's vertices; rows sum to 1. ``embedding``: tets and barycentric coordinates
    of the n vertices. Without ``surface``, only the vertices are sampled, not the triangles. Weights are 0 in connected
    components of the mesh that the surface does not touch.
    """
    m = len(mesh.tets)
    if len(painted) == 0:
        return np.zeros((m, painted.shape[1])), np.zeros(m, dtype=bool)
    if (painted == painted[0]).all():
        return np.tile(painted[0], (m, 1)), np.zeros(m, dtype=bool)
    area = np.ones(len(painted))
    if surface is not None:
        spacing = 0.5 * float(mesh.volumes.mean()) ** (1.0 / 3.0)
        samples = sample_surface(surface.positions, surface.triangles, spacing)
        if len(samples.area):
            embedding = embed(samples.interpolate(surface.positions, surface.triangles), mesh)
            painted, area = samples.interpolate(painted, surface.triangles), samples.area / samples.area.max()
    squares = (painted**2).sum(axis=1)
    known, at_vertices = _vertex_means(mesh, embedding, np.column_stack([painted, squares]), area)
    values, _reached = extend_harmonically(mesh, known, at_vertices)
    weights, sharp = _sharpened(values[mesh.tets, :-1], values[mesh.tets, -1].mean(axis=1))
    crossed, means = _tet_means(m, embedding, np.column_stack([painted, squares]), area)
    weights[crossed] = means[crossed, :-1]
    sharp[crossed] = _sharpness(weights[crossed], means[crossed, -1])
    return weights, sharp > 0.5


def transfer_map(mesh: TetMesh, embedding: Embedding, surface: SurfaceMesh | None, values: np.ndarray) -> np.ndarray:
    """Return the values of a map in the tets, (m,). ``values`` (n,), 0 to 1: map at the surface's vertices."""
    weights, _is_cut = transfer_weights(mesh, embedding, surface, np.column_stack([values, 1.0 - values]))
    return np.clip(weights[:, 0], 0.0, 1.0)


def _sharpened(corners: np.ndarray, squares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the tets' weights (m,k) after sharpening, and the sharpness (m,), 0 to 1 (see the module).

    ``corners`` (m,4,k): weights w at the tets' corners. ``squares`` (m,): squared norms w.w in the tets.
    """
    mean = corners.mean(axis=1)
    sharp = _sharpness(mean, squares)
    mixed = np.flatnonzero(sharp > 0.0)
    largest = (PROBES @ corners[mixed]).argmax(axis=2)
    parts = (largest[:, :, None] == np.arange(mean.shape[1])).mean(axis=1)
    mean[mixed] += sharp[mixed, None] * (parts - mean[mixed])
    return mean, sharp


def _sharpness(mean: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """Return the sharpness (m,), 0 to 1 (see the module), of the material weights w around each tet.

    ``mean`` (m,k): mean of w around the tet; ``squares`` (m,): mean of the squared norm w.w around the tet.
    """
    of_mean = (mean**2).sum(axis=1)
    rest = np.maximum(1.0 - of_mean, 1e-9)
    return np.where(of_mean < 1.0 - 1e-9, np.clip(3.0 * (squares - of_mean) / rest - 1.0, 0.0, 1.0), 0.0)


def _vertex_means(
    mesh: TetMesh, embedding: Embedding, painted: np.ndarray, area: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return a mask (n,) of the tet vertices near surface points, and the mean weights (n,k) of these points.

    Each surface point divides its ``area`` (s,) among the corners of its tet. A least-squares fit would overshoot at a
    sharp border; a mean stays between the ``painted`` values (s,k).
    """
    n = len(mesh.rest_positions)
    share = np.maximum(embedding.barycentric, 0.0)
    share *= (area / share.sum(axis=1))[:, None]
    corners = mesh.tets[embedding.tet_indices].ravel()
    total = np.bincount(corners, share.ravel(), n)
    known = total > 1e-9 * float(total.max())
    sums = [np.bincount(corners, (share * column[:, None]).ravel(), n) for column in painted.T]
    return known, np.divide(np.stack(sums, axis=1), total[:, None], out=np.zeros((n, len(sums))), where=known[:, None])


def _tet_means(m: int, embedding: Embedding, painted: np.ndarray, area: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a mask (m,) of the tets that contain surface points, and the points' area-weighted mean weights (m,k)."""
    total = np.bincount(embedding.tet_indices, area, m)
    crossed = total > 0.0
    sums = [np.bincount(embedding.tet_indices, area * column, m) for column in painted.T]
    return crossed, np.divide(
        np.stack(sums, axis=1), total[:, None], out=np.zeros((m, len(sums))), where=crossed[:, None]
    )
