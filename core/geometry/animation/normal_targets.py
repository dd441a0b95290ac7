"""Normals of morph targets that blend to the normals of the frames.

Engines blend the normals of targets with the weights of the targets. The normals of the shape of one target alone are
far from what the blend needs, since normals are not linear in the positions. So the targets' normals are fitted to the
normals of all frames by least squares.
"""

from __future__ import annotations

import numpy as np

from ..mesh.vertex_normals import vertex_normals


def normal_targets(rest: np.ndarray, targets: np.ndarray, weights: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return the differences (k,n,3) from the normals at rest whose blend is closest to the normals of the frames.

    ``rest`` (n,3); ``targets`` (k,n,3): displacements; ``weights`` (f,k); ``triangles`` (t,3): vertex indices.
    """
    found, at_rest = np.zeros(targets.shape), _unit_normals(rest, triangles)
    for w, share in zip(weights, np.linalg.pinv(weights).T):
        change = _unit_normals(rest + np.tensordot(w, targets, axes=1), triangles) - at_rest
        found += share[:, None, None] * change
    return found


def _unit_normals(positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    normals = vertex_normals(positions, triangles)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    return normals / np.where(lengths > 0.0, lengths, 1.0)
