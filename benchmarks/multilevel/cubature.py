"""Cubature of the handles' basis by modal moment fitting ([SMS25] Sec. 3.8, Alg. 3), and what it would save.

In each cluster of the partition, weights of few tets are found so that they integrate 1, every column of the basis, and
every product of two columns (Eqs. 16, 17), as all tets of the cluster do. Non-negative least squares gives sparse
weights.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.optimize import nnls

from ...core.mechanics.assembly.block_rows import BlockRows
from ...core.mechanics.assembly.elements import ElementNodes
from ...core.methods.handles.affine_handles import affine_basis, handles_of
from ...core.methods.model.model import Model
from ..measures import shortest
from ..pictures import Bars, draw
from ..registry import Case, Row, row
from .bodies import SCENES

BODIES = (
    ("jelly", 8_000, 16),
    ("jelly", 16_000, 32),
    ("jelly", 40_000, 16),
    ("shoe", 16_000, 16),
    ("stressball", 20_000, 16),
)
"""Body, number of tets, number of handles."""

RESIDUAL = 1e-9
"""Relative residual of the moments at which the fit ends ([SMS25] Sec. 3.8.2)."""

RANK = 1e-11
"""Smallest singular value of the moments that counts, relative to the largest."""


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield one case per body (Fig. 12, Table 1)."""
    for name, tets, handles in BODIES:
        case = f"cubature_{name}_{tets // 1000}k"
        yield Case(case, partial(_measured, case, name, tets, handles))


def _measured(case: str, name: str, tets: int, count: int) -> Iterable[Row]:
    model = SCENES[name](tets).bodies[0]
    X, mesh = model.mesh.rest_positions, model.mesh
    labels, (weights, _pinned, centres) = handles_of(X, mesh.tets, model.youngs_modulus, model.pinned, count)
    begin = time.process_time()
    volumes = fitted_volumes(affine_basis(weights, X, X[centres]), mesh.tets, mesh.volumes, labels)
    kept, sizes = volumes > 0.0, np.bincount(labels)
    yield row(case, "tets", len(mesh.tets))
    yield row(case, "handles", len(centres))
    yield row(case, "tets kept", float(kept.mean()))
    yield row(case, "tets kept per cluster", float(kept.sum() / len(sizes)))
    yield row(case, "seconds of the fit", time.process_time() - begin, "s")
    own = np.bincount(labels, kept) / sizes
    stiffness = np.array([np.median(model.youngs_modulus[labels == k]) for k in range(len(sizes))])
    shares = {"soft": own[stiffness < 3.0 * stiffness.min()], "stiff": own[stiffness >= 3.0 * stiffness.min()]}
    for words, share in shares.items():
        if len(share):
            yield row(case, f"tets kept in {words} clusters", float(share.mean()))
    yield row(case, "time of a product, fitted over all tets", _product_time(model, kept) / _product_time(model, None))
    draw("multilevel", case, [Bars(name, "share of the tets", [str(k) for k in range(len(own))], {"kept": list(own)})])


def _product_time(model: Model, kept: np.ndarray | None) -> float:
    """Return the time of a product with the elastic stiffness of all tets, or of those in the mask (m,)."""
    tets = model.mesh.tets if kept is None else model.mesh.tets[kept]
    rows = BlockRows(ElementNodes.of_tets(tets), np.arange(len(model.mesh.rest_positions)))
    x = np.ones((len(model.mesh.rest_positions), 3))
    return shortest(lambda: rows.times(x), 20)


def fitted_volumes(basis: sp.csr_matrix, tets: np.ndarray, volumes: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the cubature weight of each tet, (m,) m³; 0 for tets that are left out.

    ``basis`` (n,4k): scalar basis of k handles. ``tets`` (m,4). ``volumes`` (m,), m³. ``labels`` (m,): cluster of each
    tet.
    """
    rows = np.repeat(np.arange(len(tets)), 4)
    mean = sp.csr_matrix((np.full(tets.size, 0.25), (rows, tets.ravel())), shape=(len(tets), basis.shape[0]))
    out = np.zeros(len(tets))
    at_centres = (mean @ basis).tocsr()
    for label in range(int(labels.max()) + 1):
        members = np.flatnonzero(labels == label)
        own = at_centres[members]
        columns = own[:, np.unique(own.indices)].toarray()
        out[members] = _fitted(_moments(columns), volumes[members])
    return out


def _moments(columns: np.ndarray) -> np.ndarray:
    """Return 1, the columns, and the products of two columns (t,k) at each tet, (1 + k + k (k + 1) / 2, t)."""
    i, j = np.tril_indices(columns.shape[1])
    return np.vstack([np.ones(len(columns)), columns.T, columns.T[i] * columns.T[j]])


def _fitted(moments: np.ndarray, volumes: np.ndarray) -> np.ndarray:
    """Return non-negative weights (t,) whose moments are those of the ``volumes`` (t,), by Alg. 3."""
    _left, sizes, right = np.linalg.svd(moments, full_matrices=False)
    A = (sizes[:, None] * right)[sizes > RANK * sizes[0]]
    b, random, total = A @ volumes, np.random.default_rng(0), len(volumes)
    new = max(len(A) // 2, 4)
    chosen = np.zeros(total, dtype=bool)
    chosen[random.permutation(total)[: 2 * new]] = True
    while True:
        at = np.flatnonzero(chosen)
        weights = np.zeros(total)
        weights[at] = nnls(A[:, at], b, maxiter=30 * max(A.shape[0], len(at)))[0]
        r = A @ weights - b
        if np.linalg.norm(r) <= RESIDUAL * np.linalg.norm(b):
            return weights
        if chosen.all():
            return volumes.copy()
        chances = np.where(chosen, 0.0, (A.T @ r) ** 2)
        open_ = np.flatnonzero(chances > 0.0)
        if len(open_) <= new:
            chosen[~chosen] = True
            continue
        chosen[random.choice(total, new, replace=False, p=chances / chances.sum())] = True
