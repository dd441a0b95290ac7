"""Unknowns at the first frame of a body that does not begin in its rest shape."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu
from scipy.spatial import cKDTree

from ...foundation.kernels.small_matrix import batch_svd
from ...foundation.unit_words import length_words
from ...geometry.mesh.embedding import Embedding
from ...geometry.mesh.tet_mesh import TetMesh
from ...jobs.job.job import Job
from ...mechanics.constraints.pins import PinSchedule
from ...mechanics.forces.embedded_points import EmbeddedPoints
from ...methods.subspaces.reduced_points import ReducedPoints

BESIDE = 0.01
"""Largest distance from the initial shape, as a fraction of the body's size, without a warning."""


NEIGHBOURS = 12
"""Number of surface vertices that a tet vertex follows.

The number is large enough to fit a rotation, and small enough to follow a bend.
"""

OPEN_TURN = 1e-6
"""Weight of the identity in the fit of a rotation. It matters only if the points do not determine the rotation."""

PRIOR = 1e-4
"""Weight of the displacements of tet vertices in the least-squares correction of their positions.

The distance of the surface from its initial shape has the weight 1.
"""


def initial_positions(job: Job, mesh: TetMesh, embedding: Embedding, pins: PinSchedule) -> np.ndarray | None:
    """Return the tet vertices (n,3), m, at the job's first frame, or None at rest.

    Each tet vertex first follows the surface around it rigidly. A least-squares correction then brings the embedded
    surface to its initial shape. Prescribed vertices begin at their pins' targets.
    """
    if job.body.initial_shape is None:
        return None
    positions = _follow_rigidly(
        mesh.rest_positions, embedding.apply(mesh.rest_positions, mesh.tets), job.body.initial_shape
    )
    P = embedding.matrix(mesh.tets, len(positions)).tocsc()
    correct = splu((P.T @ P + PRIOR * sp.identity(len(positions))).tocsc())
    positions += correct.solve(P.T @ (job.body.initial_shape - P @ positions))
    positions[pins.corners[pins.held[0]]] = pins.targets[0][pins.held[0]]
    return positions


def _follow_rigidly(X: np.ndarray, rest: np.ndarray, moved: np.ndarray) -> np.ndarray:
    """Return the vertices X (n,3), m, moved rigidly with the nearest surface points from ``rest`` to ``moved``."""
    count = min(NEIGHBOURS, len(rest))
    distance, near = cKDTree(rest).query(X, k=count)
    distance, near = distance.reshape(len(X), count), near.reshape(len(X), count)
    reach = np.maximum(distance[:, -1:], 1e-300)
    weights = np.exp(-2.0 * (distance / reach) ** 2)
    weights /= weights.sum(axis=1, keepdims=True)
    centre, there = (np.einsum("qk,qki->qi", weights, points[near]) for points in (rest, moved))
    arms = rest[near] - centre[:, None]
    scale = np.einsum("qk,qki,qki->q", weights, arms, arms)
    scale = np.where(scale > 0.0, scale, 1.0)[:, None, None]
    A = np.einsum("qk,qki,qkj->qij", weights, moved[near] - there[:, None], arms) / scale
    U, _sigma, V = batch_svd(A + OPEN_TURN * np.eye(3))
    return there + np.einsum("qij,qkj,qk->qi", U, V, X - centre)


def initial_unknowns(job: Job, points: ReducedPoints, pins: PinSchedule) -> np.ndarray | None:
    """Return the unknowns (r,3) of a subspace at the job's first frame, or None at rest.

    The unknowns minimise the squared distance of the surface from its initial shape, weighted by area. Unknowns that
    pins prescribe are at their targets. The interior has no weight, since the initial shape is known on the surface
    only.

    ``points``: surface vertices in the subspace.
    """
    if job.body.initial_shape is None:
        return None
    held = pins.held[0]
    return points.unknowns_at(
        job.body.initial_shape, job.body.surface.vertex_areas, pins.corners[held], pins.targets[0][held]
    )


def initial_warnings(job: Job, points: EmbeddedPoints | ReducedPoints, start: np.ndarray | None) -> list[str]:
    """Return a warning with its remedy if the body cannot begin in its initial shape, else [].

    ``points``: surface vertices as functions of the unknowns.
    ``start``: unknowns at the first frame, or None at rest.
    """
    if start is None:
        return []
    beside = np.linalg.norm(points.positions(start) - job.body.initial_shape, axis=1)
    farthest, size = float(beside.max()), job.body.surface.size
    if farthest <= BESIDE * size:
        return []
    if job.body.solver.kind.takes_modes:
        reason, remedy = "The modes of its subspace cannot represent", "Raise Modes, or choose another solver."
    else:
        reason, remedy = "The tetrahedra are too coarse to represent", "Raise Cells Across."
    mean = float(np.average(beside, weights=job.body.surface.vertex_areas))
    return [
        f"{reason} the initial shape of the body: the error is up to {length_words(farthest)} "
        f"({farthest / size:.0%} of its size), {length_words(mean)} on average. {remedy}"
    ]
