"""Cubature by clusters of skinning weights ([SubMFEM23] Sec. 5.2, Eq. 11).

Tets with similar weights deform similarly. K-means clusters the tets by the skinning weights, averaged over the corners
and scaled by the inverse squared eigenvalue. The tet nearest to a cluster's centre represents the volume of the whole
cluster. Constant weights are excluded, since their scale would be infinite. Clusters do not cross the borders of
islands (connected components) and of materials. If elements consist of several tets, elements are clustered instead of
tets.

Beyond the paper, the features include the tets' positions. With weights alone, the clusters of a beam are slabs with
one cubature point each. The strain of bending changes sign across a slab, so the one point of a slab hardly registers
bending: ``docs/design/subspace.md`` has the numbers.

Points are distributed among parts (islands and materials) so that the sum of the quantisation errors is least. In three
dimensions the error of a part with spread S and n points is about ``S n^(-2/3)``, so ``n ~ S^(3/5)``. S is divided by
the part's stiffness, relative to the softest part, since stiff parts strain little.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from ...foundation.errors import SubspaceError
from ...foundation.progress import OnProgress, ignore_progress
from ...geometry.mesh.tet_mesh import TetMesh
from ...geometry.mesh.tie_breaking import jittered

ROUNDS = 60
"""Largest number of k-means iterations. The iterations end earlier if no tet changes its cluster."""

LAST_ROUNDS = 3
"""Number of last k-means iterations, which use all tets of a part (an island or a material).

Earlier iterations use a sample of the tets in a large part.
"""

KEPT = 0.25
"""Smallest factor by which a part's stiffness reduces the number of cubature points. The softest part has the factor 1.
"""

SAMPLE, SAMPLE_A_POINT = 20_000, 50
"""SAMPLE: number of tets that k-means samples in a large part. SAMPLE_A_POINT: least number of sampled tets per
cubature point of the part.
"""

JITTER = 1e-3
"""Standard deviation of random offsets of the tets' centres, relative to the standard deviation of the centres.

Without offsets, the round-off of eigenvectors would decide between equally near clusters. Round-off differs between
computers.
"""

ALIKE = 1e-6
"""Relative difference below which two squared distances from a centre count as equal."""


class Cubature(NamedTuple):
    """Cubature of the elastic energy over c of the body's e elements.

    ``elements`` (c,): indices of the cubature points. ``weights`` (c,) m³: volume that each cubature point represents.
    ``clusters`` (e,): index from 0 to c-1 of each element's cubature point.
    """

    elements: np.ndarray
    weights: np.ndarray
    clusters: np.ndarray


def every_tet(volumes: np.ndarray) -> Cubature:
    """Return the exact cubature, in which every element is a cubature point.

    ``volumes`` (m,), m³: volume of each element.
    """
    every = np.arange(len(volumes))
    return Cubature(every, volumes.copy(), every)


def spectral_clusters(
    features: np.ndarray,
    volumes: np.ndarray,
    parts: np.ndarray,
    count: int,
    on_progress: OnProgress = ignore_progress,
    moduli: np.ndarray | None = None,
) -> Cubature:
    """Return a cubature of about ``count`` elements, by clustering elements with similar features.

    The cubature points are the elements nearest to the centres of the clusters. An element is a tet or a group of tets.

    Parameters
    ----------
    features : (m,k) features of each element: means of :func:`weight_features` over the element's tets
    volumes : (m,) volume of each element that multiplies the elastic energy density, m³
    parts : (m,) label of each element's part; clusters do not span parts
    count : number of cubature points, at least one per part
    moduli : (m,) Young's modulus of each element, Pa, or any multiple; None: uniform

    Raises
    ------
    SubspaceError
        More parts than points.
    """
    if count >= len(volumes):
        return every_tet(volumes)
    members = [np.flatnonzero(parts == part) for part in np.unique(parts)]
    if len(members) > count:
        raise SubspaceError(
            f"{count} cubature points are fewer than the {len(members)} parts of different material.",
            f"Set Cubature Points (elements at which the subspace evaluates stress) to {len(members)} or more.",
        )
    clusters, tets, done = np.empty(len(volumes), dtype=np.int64), [], 0
    stiffness = np.ones(len(members)) if moduli is None else np.array([np.median(moduli[rows]) for rows in members])
    for rows, share in zip(members, _shares(features, volumes, members, stiffness, count), strict=True):

        def so_far(part: float, before: int = done, size: int = len(rows)) -> None:
            on_progress((before + part * size) / len(volumes))

        labels, centres = _k_means(features[rows], volumes[rows], share, so_far)
        done += len(rows)
        for label in range(len(centres)):
            own = rows[labels == label]
            away = np.sum((features[own] - centres[label]) ** 2, axis=1)
            clusters[own] = len(tets)
            # Congruent tets can be equally far from the centre: take the first.
            tets.append(own[np.argmax(away <= (1.0 + ALIKE) * away.min() + ALIKE**2)])
    weights = np.bincount(clusters, volumes, minlength=len(tets))
    return Cubature(np.array(tets, dtype=np.int64), weights, clusters)


def weight_features(weights: np.ndarray, eigenvalues: np.ndarray, mesh: TetMesh) -> np.ndarray:
    """Return the features (m,k) of each tet for clustering: scaled skinning weights, and the position of the tet.

    The skinning ``weights`` (n,j) are averaged over the corners of a tet, and scaled by the inverse squared
    ``eigenvalues`` (j,). Weights with the eigenvalue zero are left out. The columns of the weights are scaled to a
    total variance of one, and so are the columns of the positions.
    """
    bends = eigenvalues > 0.0
    gamma = eigenvalues[bends]
    scales = (gamma.min(initial=np.inf) / gamma) ** 2
    by_weight = weights[:, bends][mesh.tets].mean(axis=1) * scales
    centres = jittered(mesh.rest_positions[mesh.tets].mean(axis=1), JITTER)
    return np.hstack([_of_unit_variance(by_weight), _of_unit_variance(centres)])


def _of_unit_variance(features: np.ndarray) -> np.ndarray:
    away = features - features.mean(axis=0)
    variance = float(np.mean(np.sum(away**2, axis=1)))
    return away / np.sqrt(variance) if variance > 0.0 else away


def _spread(features: np.ndarray, volumes: np.ndarray) -> float:
    centre = volumes @ features / volumes.sum()
    return float(volumes @ np.sum((features - centre) ** 2, axis=1))


def _shares(
    features: np.ndarray, volumes: np.ndarray, members: list[np.ndarray], stiffness: np.ndarray, count: int
) -> np.ndarray:
    """Return the number of cubature points of each part, ``count`` in total."""
    most = np.array([len(rows) for rows in members])
    wish = np.array([_spread(features[rows], volumes[rows]) for rows in members]) ** 0.6
    wish *= np.maximum((stiffness.min() / stiffness) ** 0.6, KEPT)
    shares = np.ones(len(members), dtype=np.int64)
    left = count - len(members)
    while left > 0 and (shares < most).any():
        open_ = shares < most
        wished = np.where(open_, wish, 0.0)
        wished = wished if wished.sum() > 0.0 else open_ * 1.0
        ideal = left * wished / wished.sum()
        given = np.minimum(np.floor(ideal).astype(np.int64), most - shares)
        if given.sum() == 0:
            # Fewer points remain than parts that request them: one for each of the largest requests.
            first = np.argsort(-np.where(open_, ideal, -1.0), kind="stable")[: min(left, int(open_.sum()))]
            given[first] = 1
        shares += given
        left -= int(given.sum())
    return shares


def _k_means(
    features: np.ndarray, volumes: np.ndarray, count: int, on_progress: OnProgress
) -> tuple[np.ndarray, np.ndarray]:
    """Return the cluster index per tet (r,) and the cluster centres (c,k), by k-means weighted by volume.

    Lloyd's iterations start from k-means++ [Arthur, Vassilvitskii 2007] with a fixed seed. Empty clusters are dropped.
    """
    rows, rounds = np.arange(len(features)), ROUNDS
    if len(rows) > max(SAMPLE, SAMPLE_A_POINT * count):
        chosen = np.random.default_rng(0).choice(rows, max(SAMPLE, SAMPLE_A_POINT * count), replace=False)
        rows, rounds = np.sort(chosen), ROUNDS - LAST_ROUNDS
    centres = _first_centres(features[rows], volumes[rows], count, on_progress)
    centres, labels = _rounds(features[rows], volumes[rows], centres, range(rounds), on_progress)
    if len(rows) < len(features):
        centres, labels = _rounds(features, volumes, centres, range(rounds, ROUNDS), on_progress)
    return labels, centres


def _rounds(
    features: np.ndarray, volumes: np.ndarray, centres: np.ndarray, numbers: range, on_progress: OnProgress
) -> tuple[np.ndarray, np.ndarray]:
    labels = np.full(len(features), -1)
    for number in numbers:
        on_progress((1 + number) / (1 + ROUNDS))
        before, labels = labels, cKDTree(centres).query(features)[1]
        if np.array_equal(before, labels):
            break
        _used, labels = np.unique(labels, return_inverse=True)
        mass = np.bincount(labels, volumes)
        centres = np.stack([np.bincount(labels, volumes * column) for column in features.T], axis=1) / mass[:, None]
    return centres, labels


def _first_centres(features: np.ndarray, volumes: np.ndarray, count: int, on_progress: OnProgress) -> np.ndarray:
    rng = np.random.default_rng(0)
    points, weights = features, volumes
    centres = [points[np.argmax(np.sum((points - points.mean(axis=0)) ** 2, axis=1))]]
    away = np.sum((points - centres[0]) ** 2, axis=1)
    while len(centres) < count and away.max() > 0.0:
        on_progress(len(centres) / (count * (1 + ROUNDS)))
        chance = np.cumsum(weights * away)
        pick = int(np.searchsorted(chance, rng.random() * chance[-1], side="right"))
        centres.append(points[min(pick, len(points) - 1)])
        away = np.minimum(away, np.sum((points - centres[-1]) ** 2, axis=1))
    return np.array(centres)
