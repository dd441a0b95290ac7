"""Linear blend skinning fitted to an animated mesh: ``x(t) = sum_j w_j (R_j(t) X + T_j(t))``.

Smooth skinning decomposition with rigid bones [Le and Deng 2012]. Vertices are grouped by their motion, each group
moves as a rigid bone, and then the weights of the vertices and the motions of the bones are fitted in turns. Each is a
least-squares problem: the weights by :mod:`skinning_weights`, the motion of a bone, with the others kept, as the
nearest rotation. Bones are rigid, since engines have no shear, and some ignore the scale of bones.

The frames enter through inner products alone, so a turn costs the same for any number of frames. Bones are fitted to a
sample of the vertices, and then to all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .frame_checks import check_count, check_tolerance, largest_distance
from .rigid_motions import homogeneous, rigid_motions
from .skinning_weights import BoneMoments, fitted_weights

INFLUENCES = 4
"""Largest number of bones of a vertex, which all engines can play."""
FEWEST, MOST = 4, 128
"""First and largest number of bones that are tried for a tolerance."""
SAMPLE = 2000
"""Largest number of vertices in the fit of the bones, before the last turns."""
ROUNDS, LAST, GAIN = 60, 4, 2e-3
"""Largest number of turns with the sample and with all vertices. They end earlier if a turn decreases the error by
less than the part :data:`GAIN`.
"""
SWEEPS = 5
"""Sweeps over the bones in each turn."""
GROUPINGS, SPARE = 4, 3
"""Turns of grouping, after each split of the groups, and groups per bone from which the bones are chosen."""
EXCHANGES = 4
"""Times that each bone is chosen."""
CORES, CORE = 20, 0.1
"""Turns in which the rigid core of each group is found, and the smallest part of the group that is its core."""


class SkinnedSkeleton(NamedTuple):
    """Rigid bones that move a mesh from its rest pose, the shape of its first frame.

    Attributes
    ----------
    rest : (n,3)
    weights : (n,b), from 0 to 1 with the sum 1, at most :data:`INFLUENCES` per vertex
    motions : (b,f,3,4), rigid motion of each bone in each frame
    """

    rest: np.ndarray
    weights: np.ndarray
    motions: np.ndarray

    def positions(self) -> np.ndarray:
        """Return the vertices (f,n,3) of each frame that an engine shows."""
        flat = self.motions.transpose(0, 3, 1, 2).reshape(4 * len(self.motions), -1)
        return (_columns(homogeneous(self.rest), self.weights) @ flat).reshape(len(self.rest), -1, 3).swapaxes(0, 1)

    def joints(self) -> np.ndarray:
        """Return the centres of the bones in the rest pose, (b,3)."""
        return self.weights.T @ self.rest / self.weights.sum(axis=0)[:, None]


def skinned_skeleton(positions: np.ndarray, tolerance: float, count: int = 0) -> SkinnedSkeleton:
    """Return a skeleton fitted to the frames of a mesh.

    Parameters
    ----------
    positions : (f,n,3), vertices of each frame
    tolerance : largest distance of a vertex from its position in any frame, as a fraction of the mesh's size. The
        number of bones is doubled until it is kept, or :data:`MOST` are reached
    count : number of bones regardless of the tolerance, or 0

    Raises
    ------
    SettingsError
        The tolerance is not positive, or there are fewer vertices than bones.
    """
    check_tolerance(tolerance)
    check_count(count, positions.shape[1], "bones")
    bones = count or 1
    while True:
        found = _fitted(positions, bones)
        more = min(max(2 * bones, FEWEST), MOST, positions.shape[1])
        if count or more == bones or largest_distance(positions, found.positions()) <= tolerance:
            return found
        bones = more


def _fitted(positions: np.ndarray, count: int) -> SkinnedSkeleton:
    """Return the skeleton of ``count`` bones, or fewer if fewer have weights, fitted to the frames (f,n,3)."""
    f, n, _ = positions.shape
    centres = (positions - positions[0]).mean(axis=1)
    h = homogeneous(positions[0])
    moved = (positions - centres[:, None]).swapaxes(0, 1).reshape(n, 3 * f)  # far paths would cost digits
    some = np.arange(0, n, -(-n // max(SAMPLE, 8 * count)))
    labels, motions = _grouped(h[some], moved[some], count)
    weights = np.eye(len(motions) // 4)[labels]
    weights, motions = _alternated(h[some], moved[some], weights, motions, ROUNDS)
    if len(some) < n:
        weights, motions = _alternated(h, moved, np.zeros((n, len(motions) // 4)), motions, LAST)
    bones = motions.reshape(-1, 4, f, 3).transpose(0, 2, 3, 1).copy()
    bones[..., 3] += centres
    return SkinnedSkeleton(positions[0], weights, bones)


def _columns(h: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the products (n,4b) of weights (n,b) and homogeneous coordinates (n,4)."""
    return (weights[:, :, None] * h[:, None, :]).reshape(len(h), -1)


def _alternated(
    h: np.ndarray, moved: np.ndarray, weights: np.ndarray, motions: np.ndarray, rounds: int
) -> tuple[np.ndarray, np.ndarray]:
    """Fit the weights (n,b) and the motions (4b,3f) in turns. Bones without weights are removed."""
    error, total = np.inf, np.square(moved).sum()
    for _ in range(rounds):
        weights = fitted_weights(BoneMoments(h, moved, motions), weights, INFLUENCES)
        used = weights.any(axis=0)
        weights, motions = weights[:, used], motions[np.repeat(used, 4)]
        columns = _columns(h, weights)
        second, mixed = columns.T @ columns, columns.T @ moved
        _fit_motions(second, mixed, motions)
        before = error
        error = np.sqrt(max(total + np.sum(motions * (second @ motions - 2.0 * mixed)), 0.0))
        if not error < (1.0 - GAIN) * before:
            break
    return weights, motions


def _fit_motions(second: np.ndarray, mixed: np.ndarray, motions: np.ndarray) -> None:
    """Replace the motion of each bone by the best one for the present others.

    ``second`` (4b,4b), ``mixed`` (4b,3f): inner products of the columns with each other and with the positions.
    """
    for _ in range(SWEEPS):
        for j in range(0, len(motions), 4):
            own = slice(j, j + 4)
            wanted = mixed[own] - second[own] @ motions + second[own, own] @ motions[own]
            motions[own] = _rigid(second[own, own], wanted)


def _rigid(second: np.ndarray, mixed: np.ndarray) -> np.ndarray:
    """Return the transposed rigid motion (4,3f) of one bone from its inner products, (4,4) and (4,3f)."""
    return rigid_motions(second, mixed.reshape(4, -1, 3)).transpose(2, 0, 1).reshape(4, -1)


def _alone(h: np.ndarray, moved: np.ndarray, trust: np.ndarray | None = None) -> np.ndarray:
    """Return the transposed rigid motion (4,3f) that fits vertices best. ``trust`` (n,): weights of their errors."""
    w = np.ones(len(h)) if trust is None else trust
    return _rigid((w[:, None] * h).T @ h, (w[:, None] * h).T @ moved)


def _grouped(h: np.ndarray, moved: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return groups of vertices that move alike: the group (n,) of each vertex, and the motions (4b,3f) of the groups.

    The best of more groups than bones are chosen, since groups that are only split may halve one bone and join two.
    """
    labels, motions = np.zeros(len(h), dtype=int), _alone(h, moved)
    most = max(count, min(SPARE * count, len(h) // 4))
    for _ in range(2 * most.bit_length()):  # groups without vertices are removed
        if count == 1 or len(motions) == 4 * most:
            break
        labels, motions = _regrouped(h, moved, _split(h, moved, labels, motions, most))
    motions = _chosen(h, moved, _cores(h, moved, labels, motions), count)
    labels, motions = _regrouped(h, moved, motions)
    return labels, _cores(h, moved, labels, motions)


def _regrouped(h: np.ndarray, moved: np.ndarray, motions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    for _ in range(GROUPINGS):
        labels = BoneMoments(h, moved, motions).alone.argmin(axis=1)
        kept, labels = np.unique(labels, return_inverse=True)
        motions = np.vstack([_alone(h[labels == j], moved[labels == j]) for j in range(len(kept))])
    return labels, motions


def _chosen(h: np.ndarray, moved: np.ndarray, motions: np.ndarray, count: int) -> np.ndarray:
    """Return the motions of ``count`` bones. They are added one by one, then exchanged, to decrease the distances.

    Distances, not their squares: a bone that moves many vertices exactly is better than one that moves all nearly.
    """
    distances = np.sqrt(np.maximum(BoneMoments(h, moved, motions).alone, 0.0))
    chosen: list[int] = []
    for k in range(min(EXCHANGES * count, distances.shape[1] + count)):
        if len(chosen) == count:
            del chosen[k % count]
        best = distances[:, chosen].min(axis=1, initial=np.inf)[:, None]
        chosen.append(int(np.minimum(distances, best).sum(axis=0).argmin()))
    return motions.reshape(-1, 4, motions.shape[1])[chosen].reshape(-1, motions.shape[1])


def _split(h: np.ndarray, moved: np.ndarray, labels: np.ndarray, motions: np.ndarray, count: int) -> np.ndarray:
    """Return the motions, and for each group, the worst first, that of the half around its worst vertex."""
    errors = BoneMoments(h, moved, motions).alone[np.arange(len(h)), labels]
    found = [motions]
    for j in np.argsort(-np.bincount(labels, errors)):
        group = np.flatnonzero(labels == j)
        if len(motions) // 4 + len(found) > count:
            break
        away = np.linalg.norm(h[group] - h[group[errors[group].argmax()]], axis=1)
        half = group[away <= np.median(away)]
        found.append(_alone(h[half], moved[half]))
    return np.vstack(found)


def _cores(h: np.ndarray, moved: np.ndarray, labels: np.ndarray, motions: np.ndarray) -> np.ndarray:
    """Return the motions of the groups' most rigid vertices, by iterative reweighting: others are probably blends."""
    for _ in range(CORES):
        squares = np.maximum(BoneMoments(h, moved, motions).alone[np.arange(len(h)), labels], 0.0)
        found = []
        for j in range(len(motions) // 4):
            group = np.flatnonzero(labels == j)
            own = squares[group] + max(np.quantile(squares[group], CORE), np.finfo(float).tiny)
            found.append(_alone(h[group], moved[group], own.min() / own))
        motions = np.vstack(found)
    return motions
