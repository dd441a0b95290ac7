"""Partition of a body into regions that deform alike ([SMS25] Sec. 3.6), by k-means on geodesic distances.

The distance between two tets is the length of the shortest path through faces, divided by the square root of the
stiffness. Paths are fast in stiff regions, so clusters are large there. Paths are slow in tets at the border of two
materials (``JUMP_PENALTY``), so clusters end near borders. [SMS25] approximates the same distance by heat diffusion.
Clusters by shortest paths are connected by construction, and cost less (``docs/benchmarks/multilevel.md``).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, dijkstra

from ...geometry.mesh.topology import FACES, face_neighbours

JUMP = 2.0
"""Ratio of the stiffnesses of two adjacent tets above which they are of different materials."""

JUMP_PENALTY = 0.1
"""Stiffness of tets at the border of two materials, relative to the softest tet: 0.1 to 0.5 in [SMS25] Sec. 4.

In a beam of 12,288 tets with a stiff middle, the stiff cluster takes 4 % of the soft tets, with 0.5 it takes 12 %. If
only the faces between the materials are slow, it takes 17 and 23 %.
"""

OVERSAMPLING = 1.5
"""Initial number of clusters, relative to the requested number. The smallest clusters are then removed."""

IMBALANCE = 1.75
"""Ratio of the median volume to a cluster's volume above which the cluster may be removed ([SMS25] Sec. 4)."""

ROUNDS = 24
"""Largest number of k-means iterations."""

PRUNED_AFTER = 5, 10, 15
"""k-means iterations after which clusters are removed. The last removal leaves the requested number."""


def dual_graph(rest_positions: np.ndarray, tets: np.ndarray, stiffness: np.ndarray) -> sp.csr_matrix:
    """Return the graph of adjacent tets, (m,m), with the travel time from centre to centre of each pair.

    ``rest_positions`` (n,3), m. ``tets`` (m,4). ``stiffness`` (m,), relative to the softest tet.
    """
    beside = face_neighbours(tets)
    first, face = np.nonzero(beside >= 0)
    second = beside[first, face]
    through = rest_positions[tets[first][np.arange(len(first))[:, None], FACES[face]]].mean(axis=1)
    centre = rest_positions[tets].mean(axis=1)
    E = slowed_at_borders(tets, stiffness)[np.stack([first, second])]
    times = sum(np.linalg.norm(centre[tet] - through, axis=1) / np.sqrt(each) for tet, each in zip((first, second), E))
    # Every pair occurs from both sides, except where more than two tets share a face.
    graph = sp.csr_matrix((times, (first, second)), shape=(len(tets), len(tets)))
    return graph.maximum(graph.T).tocsr()


def slowed_at_borders(tets: np.ndarray, stiffness: np.ndarray) -> np.ndarray:
    """Return the stiffness (m,), with JUMP_PENALTY in tets of which a vertex belongs to different materials.

    ``tets`` (m,4). ``stiffness`` (m,), relative to the softest tet.
    """
    n = int(tets.max()) + 1
    low, high = np.full(n, np.inf), np.zeros(n)
    np.minimum.at(low, tets.ravel(), np.repeat(stiffness, 4))
    np.maximum.at(high, tets.ravel(), np.repeat(stiffness, 4))
    return np.where((high > JUMP * low)[tets].any(axis=1), JUMP_PENALTY, stiffness)


def partition(rest_positions: np.ndarray, tets: np.ndarray, stiffness: np.ndarray, count: int) -> np.ndarray:
    """Return the cluster of each tet, (m,) int64, numbered from 0. Each cluster is connected through faces.

    ``rest_positions`` (n,3), m. ``tets`` (m,4). ``stiffness`` (m,), relative to the softest tet. ``count``: requested
    number of clusters. A face-connected component of the body has at least one cluster.
    """
    graph = dual_graph(rest_positions, tets, stiffness)
    islands = connected_components(graph, directed=False)[1]
    count = min(max(count, int(islands.max()) + 1), len(tets))
    p = rest_positions[tets]
    volumes = np.abs(np.linalg.det(p[:, 1:] - p[:, :1])) / 6.0
    centres, parts = p.mean(axis=1), _material_parts(graph, stiffness)
    seeds = _initial_seeds(graph, islands, volumes, min(int(np.ceil(OVERSAMPLING * count)), len(tets)))
    for round_ in range(1, ROUNDS + 1):
        labels = nearest_seed(graph, seeds)
        moved = _central_tets(labels, len(seeds), centres, volumes)
        if round_ in PRUNED_AFTER:
            excess = len(seeds) - count
            sizes = np.bincount(labels, volumes, len(seeds))
            moved = moved[_kept(sizes, parts[moved], islands[moved], excess, round_ == PRUNED_AFTER[-1])]
        elif np.array_equal(moved, seeds) and round_ > PRUNED_AFTER[-1]:
            return labels
        seeds = moved
    return nearest_seed(graph, seeds)


def _material_parts(graph: sp.csr_matrix, stiffness: np.ndarray) -> np.ndarray:
    """Return the index of each tet's part, (m,): a region connected by faces inside one material."""
    pairs = graph.tocoo()
    E = stiffness[np.stack([pairs.row, pairs.col])]
    alike = E.max(axis=0) <= JUMP * E.min(axis=0)
    inside = sp.csr_matrix((np.ones(int(alike.sum())), (pairs.row[alike], pairs.col[alike])), shape=graph.shape)
    return connected_components(inside, directed=False)[1]


def _initial_seeds(graph: sp.csr_matrix, islands: np.ndarray, volumes: np.ndarray, count: int) -> np.ndarray:
    """Return ``count`` seed tets by k-means++ (Arthur and Vassilvitskii 2007), at least one per island."""
    random = np.random.default_rng(0)
    seeds = list(np.unique(islands, return_index=True)[1])
    distances = dijkstra(graph, indices=seeds, min_only=True)
    while len(seeds) < count:
        chances = np.cumsum(volumes * distances**2)
        if chances[-1] <= 0.0:
            break
        new = int(np.searchsorted(chances, random.random() * chances[-1], side="right"))
        seeds.append(min(new, len(volumes) - 1))
        distances = np.minimum(distances, dijkstra(graph, indices=seeds[-1], limit=float(distances.max())))
    return np.array(seeds, dtype=np.int64)


def nearest_seed(graph: sp.csr_matrix, seeds: np.ndarray) -> np.ndarray:
    """Return the index (m,) of the nearest seed of each tet."""
    _distances, _before, sources = dijkstra(graph, indices=seeds, min_only=True, return_predecessors=True)
    number = np.full(graph.shape[0], -1, dtype=np.int64)
    number[seeds] = np.arange(len(seeds))
    return number[sources]


def _central_tets(labels: np.ndarray, count: int, centres: np.ndarray, volumes: np.ndarray) -> np.ndarray:
    """Return the tet of each cluster that is nearest to the cluster's centre of volume, (count,)."""
    whole = np.bincount(labels, volumes, count)
    mean = np.stack([np.bincount(labels, volumes * centres[:, i], count) / whole for i in range(3)], axis=1)
    away = np.sum((centres - mean[labels]) ** 2, axis=1)
    order = np.lexsort((away, labels))
    return order[np.searchsorted(labels[order], np.arange(count))].astype(np.int64)


def _kept(sizes: np.ndarray, parts: np.ndarray, islands: np.ndarray, excess: int, is_last: bool) -> np.ndarray:
    """Return the clusters that remain after at most ``excess`` small ones are removed, ascending.

    ``sizes`` (k,), m³: volumes. ``parts``, ``islands`` (k,): material part and island of each cluster. A cluster is
    compared with the median of its own part: clusters of soft parts are small by intent. ``is_last``: True to remove
    exactly ``excess`` clusters, as far as each island keeps one.
    """
    ratio = np.array([np.median(sizes[parts == part]) for part in parts]) / sizes
    keep = np.ones(len(sizes), dtype=bool)
    for k in np.argsort(-ratio, kind="stable"):
        if excess <= 0 or (ratio[k] <= IMBALANCE and not is_last):
            break
        if np.count_nonzero(keep & (islands == islands[k])) > 1:
            keep[k] = False
            excess -= 1
    return np.flatnonzero(keep)
