"""Check that cubature points suffice: with too few points a body is too soft ([SubMFEM23] Fig. 14).

The check uses the displacements with the lowest cubature energy: the lowest eigenvectors of the cubature stiffness at
rest. The exact energy of these displacements, over all tets, shows how much energy the points miss.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from ...foundation.progress import OnProgress, ignore_progress
from ..model.model import Model
from .reduced_model import ReducedModel, Subspace, find_cubature, in_basis
from .reduced_stiffness import symmetric

ENOUGH = 0.25
"""Least acceptable cubature energy of a low mode, as a fraction of the mode's exact energy."""

DOUBLINGS = 3
"""Largest number of doublings in the search for a sufficient number of cubature points."""

LOOKED_AT = 24
"""Number of lowest modes to check, besides six rigid ones."""

COSTS_NOTHING = 1e-9
"""Largest exact energy of a rigid mode, relative to the mean exact energy of all computed modes.

Modes with a smaller energy are not checked.
"""


def cubature_energy_fraction(model: Model, space: ReducedModel, on_progress: OnProgress = ignore_progress) -> float:
    """Return the least ratio of cubature energy to exact energy among the modes with the lowest cubature energy.

    The ratio is 1 for exact cubature, and 0 if a deformation costs no cubature energy. Both energies include the
    springs of pins and the stabilization.
    """
    r = space.unknowns
    tangent = space.elastic.tangent(space.elastic.deformation(np.zeros((r, 3))))
    springs = np.zeros((r, r)) if model.anchors is None else space.basis.T @ (model.anchors @ space.basis)
    K = symmetric(space.stiffness(tangent, 0.0)) + np.kron(np.eye(3), springs)
    if space.elastic.stabilization is not None:
        springs = springs + space.elastic.stabilization.stiffness
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


def sufficient_point_count(model: Model, subspace: Subspace, on_progress: OnProgress = ignore_progress) -> int:
    """Return a number of cubature points with which each low mode has enough of its exact energy.

    :data:`ENOUGH` is the fraction that counts as enough. The current number is doubled up to DOUBLINGS times. The
    result is 0 if no number suffices.
    """
    space = subspace.model
    points, most = len(subspace.parts.elements), len(model.elements)
    for k in range(DOUBLINGS):
        if points >= most:
            return 0
        points = min(2 * points, most)

        def so_far(part: float, before: int = k) -> None:
            on_progress((before + part) / DOUBLINGS)

        cubature = find_cubature(model, subspace.parts, points, so_far)
        finer = in_basis(model, space.basis, space.pinned, cubature, space.skinning)
        if cubature_energy_fraction(model, finer) >= ENOUGH:
            return points
    return 0
