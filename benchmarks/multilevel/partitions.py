"""Partitions by shortest paths and by the heat method of [SMS25] Sec. 3.6 (Figs. 6, 10, 16)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from ...core.geometry.mesh.topology import components
from ...core.mechanics.assembly.deformation_gradient import shape_gradients
from ...core.methods.handles.affine_handles import relative_stiffness
from ...core.methods.handles.partition import dual_graph, nearest_seed, partition, slowed_at_borders
from ...core.methods.model.model import Model, build_model
from ...core.numerics.linear_solvers.factorized import factorized
from ...core.numerics.linear_solvers.registry import fastest
from ..creatures import carved
from ..pictures import Snapshot, draw
from ..registry import Case, Row, row
from .bodies import SCENES

COUNT = 32


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield one case per body."""
    bodies = {"letter": letter, **{name: partial(_body, name) for name in ("shoe", "hand", "kooshball")}}
    for name, make in bodies.items():
        yield Case(f"partition_{name}", partial(_compared, f"partition_{name}", make))


def _body(name: str) -> Model:
    return SCENES[name](16_000).bodies[0]


def letter() -> Model:
    """Return the letter H with thin legs, stiff in the middle (Fig. 10)."""

    def inside(p: np.ndarray) -> np.ndarray:
        legs = np.abs(np.abs(p[:, 0]) - 0.16) < 0.04
        return (legs | (np.abs(p[:, 1]) < 0.04)) & (np.abs(p[:, 2]) < 0.03)

    mesh = carved((-0.2, -0.2, -0.03), (0.2, 0.2, 0.03), 0.01, inside)
    c = mesh.rest_positions[mesh.tets].mean(axis=1)
    return build_model(mesh, np.where(np.abs(c[:, 0]) < 0.1, 1e8, 1e5), 0.4, 1e3)


def _compared(case: str, make: Callable[[], Model]) -> Iterable[Row]:
    model = make()
    X, tets, n = model.mesh.rest_positions, model.mesh.tets, len(model.mesh.rest_positions)
    E = relative_stiffness(model.youngs_modulus)
    begin = time.process_time()
    labels = partition(X, tets, E, COUNT)
    yield row(case, "tets", len(tets))
    yield row(case, "seconds of the whole partition", time.process_time() - begin, "s")
    seeds, graph = _centres(X, tets, labels), dual_graph(X, tets, E)
    begin = time.process_time()
    by_paths = nearest_seed(graph, seeds)
    paths = time.process_time() - begin
    begin = time.process_time()
    by_heat = np.argmin(heat_distances(X, tets, slowed_at_borders(tets, E), seeds), axis=1)
    yield row(case, "time of a round, heat over shortest paths", (time.process_time() - begin) / paths)
    yield row(case, "tets with the same cluster by heat", float(np.mean(by_paths == by_heat)))
    for words, found in (("shortest paths", labels), ("heat", by_heat)):
        parts = sum(int(components(tets[found == k], n).max(initial=-1)) + 1 for k in range(COUNT))
        yield row(case, f"connected parts of the {COUNT} clusters, {words}", parts)
    stiff = E > 3.0 * E.min()
    if stiff.any():
        sizes, inside = np.bincount(labels, model.mesh.volumes), np.bincount(labels, stiff) / np.bincount(labels)
        of_stiff = inside > 0.5
        yield row(case, "clusters mostly stiff", int(of_stiff.sum()))
        if of_stiff.any():
            ratio = sizes[of_stiff].mean() / sizes[~of_stiff].mean()
            yield row(case, "mean volume of stiff clusters over soft", ratio)
        yield row(case, "tets in a cluster of the other material", float((of_stiff[labels] != stiff).mean()))
    shown = [
        Snapshot(words, X, tets, 1.0 + (7 * found) % COUNT) for words, found in (("paths", labels), ("heat", by_heat))
    ]
    draw("multilevel", case, shown)


def _centres(X: np.ndarray, tets: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the tet nearest to each cluster's centre."""
    c = X[tets].mean(axis=1)
    return np.array(
        [
            own[np.argmin(np.linalg.norm(c[own] - c[own].mean(axis=0), axis=1))]
            for own in (np.flatnonzero(labels == k) for k in range(labels.max() + 1))
        ]
    )


def heat_distances(X: np.ndarray, tets: np.ndarray, stiffness: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    """Return the travel times (m,k) from k seed tets by the heat method of Crane et al. 2013.

    Heat diffuses with the stiffness as the coefficient. Its normalised gradient, over the root of the stiffness, is the
    gradient of the travel time, which a Poisson equation integrates.
    """
    n, N = len(X), shape_gradients(X, tets)
    p = X[tets]
    V = np.abs(np.linalg.det(p[:, 1:] - p[:, :1])) / 6.0
    rows, columns = np.repeat(tets, 4, axis=1).ravel(), np.tile(tets, (1, 4)).ravel()

    def laplacian(weights: np.ndarray) -> sp.csr_matrix:
        blocks = (weights * V)[:, None, None] * (N @ N.transpose(0, 2, 1))
        return sp.csr_matrix((blocks.ravel(), (rows, columns)), shape=(n, n))

    mass = np.bincount(tets.ravel(), np.repeat(0.25 * V, 4), n)
    edge = float(np.mean(np.linalg.norm(p[:, 0] - p[:, 1], axis=1)))
    heat = factorized((sp.diags(mass) + edge**2 * laplacian(stiffness)).tocsc(), fastest())
    poisson = factorized((laplacian(np.ones(len(tets))) + 1e-9 * sp.diags(mass / edge**2)).tocsc(), fastest())
    out = np.empty((len(tets), len(seeds)))
    for k, seed in enumerate(seeds):
        source = np.zeros(n)
        source[tets[seed]] = 0.25
        u = heat.solve(source)
        g = np.einsum("ma,mai->mi", u[tets], N)
        g /= -np.maximum(np.linalg.norm(g, axis=1), 1e-300)[:, None] * np.sqrt(stiffness)[:, None]
        flux = V[:, None] * np.einsum("mi,mai->ma", g, N)
        phi = poisson.solve(np.bincount(tets.ravel(), flux.ravel(), n))
        out[:, k] = phi[tets].mean(axis=1) - phi[tets[seed]].mean()
    return out
