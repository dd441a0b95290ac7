"""Local search for smoothing domains whose mean strain is nearly right for quadratic displacements.

A displacement component ``u = 1/2 x . H x`` has two errors in a domain of volume V that has one strain:

- The linear interpolation in the tets has a wrong mean gradient, which makes the body too stiff. In tet t with corners
  y_a from its centroid and shape gradients N_a, the error is ``1/2 sum_kl H_kl A_tkl`` with
  ``A_t = sum_a y_a y_a^T N_a``. The error of the domain is the mean over its tets by volume, A, in which the errors of
  opposite tets cancel. Over random H, the squared error is proportional to ``e = V |A|²``.
- The variation of the gradient about its mean is lost, which makes the body too soft. Over random H, its square is
  proportional to the second moment of the domain about its centroid, ``i = int |x - c|² dV``.

The search moves tets between domains, and minimizes the sum over the domains of ``sqrt(e² + (LOST_WEIGHT i)²)``.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...foundation.kernels.jit import inlined, kernel
from ..mesh.tet_mesh import TetMesh
from ..mesh.topology import FACES, face_neighbours

LOST_WEIGHT = 2.0
"""Weight of the lost variation relative to the error of the mean. Fitted to free bars of random tets
(``docs/benchmarks/elements.md``): the bars are too stiff with larger weights, and too soft with smaller weights. With
8, both errors of one displacement component would count equally.
"""

LARGEST = 12
"""Largest number of tets in a domain. In random tets, the search stops at ten by itself."""

PASSES = 30
"""Largest number of passes over all tets. The search ends after about ten, when no move lowers the cost."""

LEAST_DECREASE = 1e-6
"""Least decrease of the cost of two domains by a move, relative to the cost. Moves due to round-off are rejected."""

_PAIRS = np.array([(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)])
_FACTORS = np.sqrt([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])
_MOMENTS, _CENTRE = 18, 21


def better_domains(mesh: TetMesh, domain: np.ndarray) -> np.ndarray:
    """Return domains (m,) of adjacent tets by the local search, or ``domain`` (m,) if their cost is not higher.

    The search starts with a domain for each tet. The domains are numbered from 0.
    """
    terms = _additive_terms(mesh)
    found, neighbours = np.arange(len(terms)), face_neighbours(mesh.tets)
    sums, sizes = terms.copy(), np.ones(len(terms), dtype=np.int64)
    for _ in range(PASSES):
        if _move_tets(neighbours, terms, found, sizes, sums) == 0:
            break
    given = np.unique(domain, return_inverse=True)[1].ravel()
    given_sums = sp.csr_matrix((np.ones(len(terms)), (given, np.arange(len(terms))))) @ terms
    if _total_cost(sums) < (1.0 - LEAST_DECREASE) * _total_cost(given_sums):
        return np.unique(found, return_inverse=True)[1].ravel()
    return given


def _additive_terms(mesh: TetMesh) -> np.ndarray:
    """Return the terms of each tet whose sums over a domain determine the domain's cost, (m,23).

    The columns are ``V A`` (18, the off-diagonal pairs kl times the square root of 2), ``V c`` (3),
    ``int |x|² dV`` and the volume V. Lengths are in units of the mesh's size, from the mean of its vertices.
    """
    X = (mesh.rest_positions - mesh.rest_positions.mean(axis=0)) / mesh.size
    corners = X[mesh.tets]
    c = corners.mean(axis=1)
    y = corners - c[:, None]
    first, second, third = (y[:, FACES[:, i]] for i in range(3))
    VN = -np.cross(second - first, third - first) / 6.0
    V = mesh.volumes[:, None] / mesh.size**3
    squares = _FACTORS * y[:, :, _PAIRS[:, 0]] * y[:, :, _PAIRS[:, 1]]
    VA = np.einsum("taz,taj->tzj", squares, VN).reshape(-1, _MOMENTS)
    moment = (y * y).sum(axis=(1, 2))[:, None] / 20.0 + (c * c).sum(axis=1)[:, None]
    return np.hstack([VA, V * c, V * moment, V])


def _total_cost(sums: np.ndarray) -> float:
    sums = sums[sums[:, -1] > 0.0]
    V = sums[:, -1]
    excess = (sums[:, :_MOMENTS] ** 2).sum(axis=1) / V
    lost = sums[:, _CENTRE] - (sums[:, _MOMENTS:_CENTRE] ** 2).sum(axis=1) / V
    return float(np.hypot(excess, LOST_WEIGHT * lost).sum())


@inlined
def _cost(sums, terms, sign):
    """Return the cost of the domain with the given sums, after ``sign`` times the terms of a tet were added."""
    V = sums[_CENTRE + 1] + sign * terms[_CENTRE + 1]
    excess, lost = 0.0, 0.0
    for i in range(_MOMENTS):
        excess += (sums[i] + sign * terms[i]) ** 2
    for i in range(_MOMENTS, _CENTRE):
        lost += (sums[i] + sign * terms[i]) ** 2
    lost = sums[_CENTRE] + sign * terms[_CENTRE] - lost / V
    return np.sqrt((excess / V) ** 2 + (LOST_WEIGHT * lost) ** 2)


@inlined
def _is_removable(t, neighbours, domain, size, reached):
    """Return True if the other tets of the domain of tet t are connected by faces. ``reached`` is workspace."""
    count = 0
    for k in range(4):
        other = neighbours[t, k]
        if other >= 0 and domain[other] == domain[t]:
            reached[0] = other
            count = 1
    k = 0
    while k < count:
        for j in range(4):
            other = neighbours[reached[k], j]
            if other < 0 or other == t or domain[other] != domain[t]:
                continue
            known = False
            for i in range(count):
                known = known or reached[i] == other
            if not known:
                reached[count] = other
                count += 1
        k += 1
    return count == size - 1


@kernel
def _move_tets(neighbours, terms, domain, sizes, sums):
    """Move each tet to the first domain across its faces that lowers the cost; return the number of moves."""
    moves, reached = 0, np.empty(LARGEST, dtype=np.int64)
    for t in range(len(domain)):
        a = domain[t]
        if not _is_removable(t, neighbours, domain, sizes[a], reached):
            continue
        for k in range(4):
            if neighbours[t, k] < 0:
                continue
            b = domain[neighbours[t, k]]
            if a == b or sizes[b] >= LARGEST:
                continue
            before = _cost(sums[a], terms[t], 0.0) + _cost(sums[b], terms[t], 0.0)
            after = _cost(sums[b], terms[t], 1.0)
            if sizes[a] > 1:
                after += _cost(sums[a], terms[t], -1.0)
            if after < (1.0 - LEAST_DECREASE) * before:
                domain[t] = b
                sizes[a] -= 1
                sizes[b] += 1
                for i in range(len(terms[t])):
                    sums[b, i] += terms[t, i]
                    sums[a, i] = sums[a, i] - terms[t, i] if sizes[a] > 0 else 0.0
                moves += 1
                break
    return moves
