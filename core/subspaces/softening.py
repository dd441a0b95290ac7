"""Whether cubature points suffice: with too few a body is softer than it is, in the worst case limp ([SubMFEM23] Fig.
14).

What gives away too few points are movements that the points hardly feel: the lowest eigenvectors of the stiffness at
rest as the points see it. The energy that all tets give to such a movement tells how much of it the points have missed.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from ..model.model import Model
from ..progress import OnProgress, ignore_progress
from .reduced_model import ReducedModel, Subspace, find_cubature, in_basis
from .reduced_stiffness import symmetric

ENOUGH = 0.25
"""Share of its energy that a low movement must have left under cubature."""

DOUBLINGS = 3
"""How often the number of points is doubled in search of one that suffices."""

LOOKED_AT = 24
"""Lowest movements that are looked at, beside the rigid ones."""

COSTS_NOTHING = 1e-9
"""Part of the mean energy of these movements under which one is rigid."""


def felt_share(model: Model, space: ReducedModel, on_progress: OnProgress = ignore_progress) -> float:
    """The least part of its energy at rest, in tets and in springs that hold it, that a low movement has left under
    cubature: 1 is exact, 0 limp.
    """
    r = space.unknowns
    tangent = space.elastic.tangent(space.elastic.deformation(np.zeros((r, 3))))
    springs = np.zeros((r, r)) if model.anchors is None else space.basis.T @ (model.anchors @ space.basis)
    K = symmetric(space.stiffness(tangent, 0.0)) + np.kron(np.eye(3), springs)
    free = np.setdiff1d(np.arange(r), space.pinned)
    rows = np.concatenate([free + i * r for i in range(3)])
    mass = np.kron(np.eye(3), space.mass[np.ix_(free, free)])
    highest = min(LOOKED_AT + 6, len(rows)) - 1
    _values, vectors = eigh(K[np.ix_(rows, rows)], mass, subset_by_index=[0, highest])
    exact = model.elastic.tangent(model.elastic.deformation(model.mesh.rest_positions))
    felt, whole = np.empty(highest + 1), np.empty(highest + 1)
    for k, vector in enumerate(vectors.T):
        on_progress(k / len(felt))
        U = np.zeros((r, 3))
        U[free] = vector.reshape(3, -1).T
        held = np.sum(U * (springs @ U))
        felt[k] = held + np.sum(U * space.elastic.nodal_forces(tangent.stress_change(space.elastic.delta_F(U))))
        dF = model.elastic.delta_F(space.basis @ U)
        whole[k] = held + model.elastic.weights @ np.einsum("mij,mij->m", dF, exact.stress_change(dF))
    bends = whole > COSTS_NOTHING * whole.mean()
    return float((felt[bends] / whole[bends]).min(initial=1.0))


def points_that_suffice(model: Model, subspace: Subspace, on_progress: OnProgress = ignore_progress) -> int:
    """The number of points, doubled a few times, at which every low movement has :data:`ENOUGH` of its energy left; 0
    where there is none.
    """
    space = subspace.model
    points, most = len(subspace.parts.tets), len(model.mesh.tets)
    for k in range(DOUBLINGS):
        if points >= most:
            return 0
        points = min(2 * points, most)

        def so_far(part: float, before: int = k) -> None:
            on_progress((before + part) / DOUBLINGS)

        cubature = find_cubature(model, subspace.parts, points, so_far)
        finer = in_basis(model, space.basis, space.pinned, cubature, space.skinning)
        if felt_share(model, finer) >= ENOUGH:
            return points
    return 0
