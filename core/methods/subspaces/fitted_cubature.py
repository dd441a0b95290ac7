"""Cubature weights fitted to the forces in given deformations of a body, with additional points where they help.

Clusters (:mod:`.cubature`) give each point the volume of its cluster. In a body with muscles, whose deformations are
large and local, a few such points push unevenly. The fit minimises

    sum_k |L^-1 (sum_i w_i f_i(U_k) - f(U_k))|² / |L^-1 f(U_k)|² + ridge sum_i (w_i / w0_i - 1)²,     w >= 0

over the weights w, where f_i is the elastic force of a point per volume, f the force of all elements, L L^T the
stiffness of the subspace at rest, and w0 the volumes of the clusters. The deformations U_k are those of the muscles and
the lowest vibrations. Points are added where the gradient of the error is steepest, as in [An, Kim, James 2008,
"Optimizing cubature for efficient integration of subspace deformations"].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, eigh, solve_triangular

from ...foundation.progress import OnProgress, ignore_progress
from ...mechanics.assembly.tangent_blocks import tangent_blocks
from ..model.model import Model
from .cubature import Cubature
from .reduced_elastic import CubatureElastic
from .reduced_stiffness import ReducedStiffness, symmetric

VIBRATIONS = 20
"""Number of lowest vibrations in the fit."""

MOST_DEFORMATIONS = 24
"""Largest number of large deformations in the fit: of more, evenly spaced ones are used."""

CANDIDATES = 8
"""Elements among which additional points are searched, per additional point."""

MOST_CANDIDATES = 5_000
"""Largest number of such elements."""

ROUNDS = 8
"""Largest number of rounds in which points are added."""

RIDGE, LEAST = 0.01, 0.05
"""RIDGE: weight of the deviation from the clusters' volumes. LEAST: smallest factor on the volume of a cluster."""

NEW_RIDGE = 1e-3
"""Weight of the ridge of an additional point, relative to that of the points of clusters."""

SHIFT = 1e-10
"""Multiple of the mean stiffness added to the stiffness of free bodies."""

EXCHANGES = 200
"""Largest number of exchanges in a fit with bounds."""


def fitted_cubature(
    model: Model, basis: np.ndarray, cubature: Cubature, points: int, on_progress: OnProgress = ignore_progress
) -> Cubature:
    """Return a cubature of about ``points`` points: those of ``cubature`` and additional ones, with fitted weights.

    ``basis`` (n,r): free unknowns of the subspace, orthonormal by mass. ``model`` has activation modes. The clusters
    are those of ``cubature``: added points have none.
    """
    of, volumes = model.activation_modes, model.elastic.weights
    if len(cubature.elements) >= points:
        return cubature
    candidates = _candidates(
        of.elements, cubature.elements, min(CANDIDATES * (points - len(cubature.elements)), MOST_CANDIDATES)
    )
    system = _system(model, basis, cubature, candidates, on_progress)
    chosen = np.searchsorted(candidates, cubature.elements)
    prior = cubature.weights / volumes[cubature.elements]
    ridge, least = RIDGE / len(prior) / prior**2, LEAST * prior
    new_ridge = NEW_RIDGE * float(np.median(ridge))
    scales = np.maximum(np.linalg.norm(system.forces, axis=0), 1e-300)
    weights = _bounded(system, chosen, prior, ridge, least)
    batch = max(1, 2 * (points - len(prior)) // ROUNDS)
    for number in range(ROUNDS):
        on_progress(0.5 + 0.5 * number / ROUNDS)
        missing = min(batch, points - int((weights > 0.0).sum()))
        if missing <= 0:
            break
        missed = system.target - system.forces[:, chosen] @ weights.astype(np.float32)
        gain = (system.forces.T @ missed.astype(np.float32)) / scales
        gain[chosen] = 0.0
        new = np.argsort(-gain, kind="stable")[:missing]
        new = new[gain[new] > 0.0]
        if not len(new):
            break
        chosen = np.concatenate([chosen, new])
        none = np.zeros(len(new))
        prior, least = np.concatenate([prior, none]), np.concatenate([least, none])
        ridge = np.concatenate([ridge, none + new_ridge])
        weights = _bounded(system, chosen, prior, ridge, least)
    kept = weights > 0.0
    elements = candidates[chosen[kept]]
    return Cubature(elements, weights[kept] * volumes[elements], cubature.clusters)


class _System(NamedTuple):
    """Scaled forces (q,c) of the candidates at their own volume, and the scaled forces (q,) of all elements.

    ``forces`` are in single precision: they may take hundreds of megabytes.
    """

    forces: np.ndarray
    target: np.ndarray


def _candidates(is_muscle: np.ndarray, points: np.ndarray, count: int) -> np.ndarray:
    """Return the points and about ``count`` other elements, half of them in muscles, by index in ascending order."""
    rng, found = np.random.default_rng(0), [points]
    for rows in (np.flatnonzero(is_muscle), np.flatnonzero(~is_muscle)):
        found.append(rng.choice(rows, min(count // 2, len(rows)), replace=False))
    return np.unique(np.concatenate(found))


def _system(
    model: Model, basis: np.ndarray, cubature: Cubature, candidates: np.ndarray, on_progress: OnProgress
) -> _System:
    elastic, r = model.elastic, basis.shape[1]
    own = CubatureElastic(elastic, basis, candidates, elastic.weights[candidates])
    G, at_rest = own.G.reshape(-1, 3, r), own.tangent(own.deformation(np.zeros((r, 3))))
    # The candidates of muscles and of the rest stand for the volumes of both.
    is_muscle = model.activation_modes.elements
    volumes = own.weights.copy()
    for kind in (True, False):
        rows = is_muscle[candidates] == kind
        volumes[rows] *= elastic.weights[is_muscle == kind].sum() / max(volumes[rows].sum(), 1e-300)
    hessians, matrix = np.empty((len(candidates), 6, 3, 3)), np.zeros((3, r, 3, r))
    tangent_blocks(at_rest, volumes, hessians)
    ReducedStiffness(own.G, np.zeros((r, r))).assemble(hessians, matrix)
    K = symmetric(matrix)
    if model.anchors is not None:
        K += np.kron(np.eye(3), basis.T @ (model.anchors @ basis))
    K[np.diag_indices(len(K))] += SHIFT * np.trace(K) / len(K)
    L = cholesky(K, lower=True)
    forces, targets = [], []

    def add(stress: np.ndarray, total: np.ndarray) -> None:
        each = np.einsum("cij,cjr->irc", own.weights[:, None, None] * stress, G).reshape(3 * r, -1)
        target = solve_triangular(L, total.T.ravel(), lower=True)
        size = float(np.linalg.norm(target))
        if size > 0.0:
            forces.append((solve_triangular(L, each, lower=True) / size).astype(np.float32))
            targets.append(target / size)

    found = model.activation_modes.displacements
    found = found[np.unique(np.linspace(0, len(found) - 1, MOST_DEFORMATIONS).astype(int))]
    for k, moved in enumerate(found):
        on_progress(0.4 * k / len(found))
        U = basis.T @ (model.mass @ moved)
        exact = elastic.stress(elastic.deformation(model.mesh.rest_positions + basis @ U))
        add(own.stress(own.deformation(U)), basis.T @ elastic.nodal_forces(exact))
    _values, vectors = eigh(K, subset_by_index=[0, min(VIBRATIONS, len(K)) - 1])
    exact = elastic.tangent(elastic.deformation(model.mesh.rest_positions))
    for vector in vectors.T:
        U = np.ascontiguousarray(vector.reshape(3, r).T)
        total = basis.T @ elastic.nodal_forces(exact.stress_change(elastic.delta_F(basis @ U)))
        add(at_rest.stress_change(own.delta_F(U)), total)
    return _System(np.concatenate(forces), np.concatenate(targets))


def _bounded(
    system: _System, chosen: np.ndarray, prior: np.ndarray, ridge: np.ndarray, least: np.ndarray
) -> np.ndarray:
    """Return the factors z >= ``least`` that minimise ``|F z - b|² + ridge . (z - prior)²``, by principal pivoting.

    Sets of bound factors are exchanged as a whole while that lowers their number, else one by one [Judice, Pires 1994].
    """
    F = system.forces[:, chosen].astype(np.float64)
    H, g = F.T @ F, F.T @ system.target + ridge * prior
    H[np.diag_indices(len(H))] += ridge
    g -= H @ least
    free, y, slope = np.ones(len(g), dtype=bool), np.zeros(len(g)), -g
    fewest, tries = len(g) + 1, 3
    for _ in range(EXCHANGES):
        y[:] = 0.0
        if free.any():
            y[free] = cho_solve(cho_factor(H[np.ix_(free, free)]), g[free])
        slope = H @ y - g
        slope[free] = 0.0
        wrong = np.where(free, y < 0.0, slope < -1e-12 * np.abs(g).max())
        count = int(wrong.sum())
        if count == 0:
            break
        if count < fewest:
            fewest, tries = count, 3
        elif tries > 0:
            tries -= 1
        else:
            wrong &= np.arange(len(wrong)) == np.flatnonzero(wrong)[-1]
        free ^= wrong
    return least + np.maximum(y, 0.0)
