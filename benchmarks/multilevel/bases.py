"""Weights of sparse handles: geometry, materials, supports, pins, convergence (Figs. 3 to 5, 8, 9)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from ...core.geometry.mesh.tet_mesh import TetMesh
from ...core.methods.handles.affine_handles import affine_basis, handles_of
from ...core.methods.handles.biharmonic_weights import biharmonic_weights
from ...core.methods.model.model import Model, build_model
from ...core.methods.model.state import State
from ..bodies import block, held_end
from ..creatures import carved
from ..meetings import Scene
from ..pictures import Curve, Plot, draw
from ..registry import Case, Row, row
from .bodies import Moment, moment_of, thrown

NONE = np.zeros(0, dtype=np.int64)


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield one case per figure."""
    yield Case("bases_geometry", geometry)
    yield Case("bases_materials", materials)
    yield Case("bases_supports", supports)
    yield Case("bases_pins", pins)
    yield Case("bases_convergence", convergence)


def geometry() -> Iterable[Row]:
    """Compare a weight in a fork with two prongs with a radial function (Fig. 3)."""
    case = "bases_geometry"

    def fork(p: np.ndarray) -> np.ndarray:
        return (np.abs(np.abs(p[:, 1]) - 0.02) < 0.015) | (p[:, 0] < 0.05)

    mesh = carved((0.0, -0.035, 0.0), (0.3, 0.035, 0.03), 0.005, fork)
    X, E = mesh.rest_positions, np.ones(len(mesh.tets))
    handles = handles_of(X, mesh.tets, E, NONE, 12)
    weights, centres = handles.weights.weights.toarray(), X[handles.weights.centres]
    near = np.linalg.norm(centres[:, None] - centres[None], axis=2)
    np.fill_diagonal(near, np.inf)
    radial = np.exp(-((np.linalg.norm(X[:, None] - centres[None], axis=2) / near.min(axis=1)) ** 2))
    radial /= radial.sum(axis=1, keepdims=True)
    k = int(np.argmax(np.where(centres[:, 1] > 0.0, centres[:, 0], 0.0)))
    across = (X[:, 1] < 0.0) & (X[:, 0] > 0.1)
    yield row(case, "largest weight on the other prong, handle", float(weights[across, k].max()), "", at_most=0.01)
    yield row(case, "largest weight on the other prong, radial", float(radial[across, k].max()))


def _slab() -> tuple[TetMesh, np.ndarray]:
    mesh = block((24, 12, 4), (0.4, 0.2, 0.07))
    c = mesh.rest_positions[mesh.tets].mean(axis=1)
    return mesh, (np.abs(c[:, 0] - 0.2) < 0.07) & (np.abs(c[:, 1] - 0.1) < 0.06)


def materials() -> Iterable[Row]:
    """Measure how much weights vary in a stiff part of a slab (Fig. 4)."""
    case, (mesh, stiff) = "bases_materials", _slab()
    inside = np.unique(mesh.tets[stiff])
    for words, contrast in (("stiffness ignored", 1.0), ("stiffness 100", 100.0), ("stiffness 1e4", 1e4)):
        E = np.where(stiff, contrast, 1.0)
        handles = handles_of(mesh.rest_positions, mesh.tets, E, NONE, 16)
        values = handles.weights.weights[inside].toarray()
        own = values[:, np.argmax(values.sum(axis=0))]
        yield row(case, f"largest range of a weight in the stiff part, {words}", float(np.ptp(values, axis=0).max()))
        yield row(case, f"least value of its own weight there, {words}", float(own.min()))


def supports() -> Iterable[Row]:
    """Count the handles of a vertex (Fig. 5)."""
    case, (mesh, stiff) = "bases_supports", _slab()
    for words, E in (("homogeneous", np.ones(len(stiff))), ("stiff part", np.where(stiff, 1e4, 1.0))):
        for count in (8, 32, 128):
            weights = handles_of(mesh.rest_positions, mesh.tets, E, NONE, count).weights.weights
            yield row(case, f"handles per vertex of {count}, {words}", weights.nnz / weights.shape[0])
            yield row(case, f"most handles of a vertex, of {count}, {words}", int(np.diff(weights.indptr).max()))


def pins() -> Iterable[Row]:
    """Measure the sag of a cantilever with 4 handles, with and without the weight of the pins (Fig. 9)."""
    case, mesh = "bases_pins", block((32, 6, 6), (0.8, 0.15, 0.15))
    model = build_model(mesh, 1e6, 0.4, 1e3, pinned=held_end(mesh))
    X, labels = mesh.rest_positions, handles_of(mesh.rest_positions, mesh.tets, np.ones(len(mesh.tets)), NONE, 4).labels
    with_pins = biharmonic_weights(X, mesh.tets, np.ones(len(mesh.tets)), labels, model.pinned)
    without = biharmonic_weights(X, mesh.tets, np.ones(len(mesh.tets)), labels, NONE)
    free, K = stiffness_matrix(model)
    f = np.zeros((len(X), 3))
    f[:, 2] = -9.81 * model.lumped_masses
    sags = {}
    for words, found in (("with the weight of the pins", with_pins), ("without", without)):
        A = affine_basis(found.weights, X, X[found.centres])[free]
        sags[words] = -galerkin(K, A, f[free])[:, 2].min()
    full = -sp.linalg.spsolve(K, f[free].ravel()).reshape(-1, 3)[:, 2].min()
    for words, sag in sags.items():
        yield row(case, f"sag over the full space's, 4 handles, {words}", float(sag / full))
    ratio = sags["with the weight of the pins"] / sags["without"]
    yield row(case, "sag with over without", float(ratio), "", at_least=1.0)


def stiffness_matrix(model: Model) -> tuple[np.ndarray, sp.csc_matrix]:
    """Return the free vertices and the elastic stiffness at rest over them, (3f,3f) N/m."""
    n, nodes = len(model.mesh.rest_positions), model.elements.nodes
    blocks = model.stiffness(model.elastic.tangent(model.elastic.deformation(model.mesh.rest_positions)), 0.0)
    rows, columns, slots = nodes.pairs(np.arange(n))
    axis = np.arange(3)
    at = [np.broadcast_to(3 * rows[:, None, None] + axis[:, None], (len(rows), 3, 3)).ravel()]
    at.append(np.broadcast_to(3 * columns[:, None, None] + axis, (len(rows), 3, 3)).ravel())
    lower = sp.csr_matrix((blocks[slots].ravel(), at), shape=(3 * n, 3 * n))
    off = np.repeat(rows != columns, 9)
    upper = sp.csr_matrix((blocks[slots].ravel()[off], (at[1][off], at[0][off])), shape=(3 * n, 3 * n))
    free = np.setdiff1d(np.arange(n), model.pinned)
    scalar = (3 * free[:, None] + axis).ravel()
    return free, (lower + upper)[scalar][:, scalar].tocsc()


def galerkin(K: sp.csc_matrix, A: np.ndarray | sp.spmatrix, f: np.ndarray) -> np.ndarray:
    """Return the displacements (f,3) in the scalar basis A (f,r) that balance forces f (f,3)."""
    U = sp.kron(sp.csr_matrix(A), sp.eye(3)).tocsc()
    # Least squares, since columns of a handle with few vertices are dependent.
    q = np.linalg.lstsq((U.T @ (K @ U)).toarray(), U.T @ f.ravel(), rcond=1e-12)[0]
    return (U @ q).reshape(f.shape)


def convergence() -> Iterable[Row]:
    """Solve one step of a soft square that hits a fixed one at 4 m/s in the handles alone (Fig. 8)."""
    case, counts, errors = "bases_convergence", (3, 6, 12, 24, 48, 96, 192), []
    square = (20, 20, 2), (0.2, 0.2, 0.02)
    fixed, mesh = block(*square), block(*square)
    low = build_model(fixed, 1e8, 0.4, 1e3, pinned=np.flatnonzero(fixed.rest_positions[:, 1] < 0.1))
    X = mesh.rest_positions @ np.array([[0.8, 0.6, 0.0], [-0.6, 0.8, 0.0], [0.0, 0.0, 1.0]]) + [0.15, 0.205, 0.0]
    scene = Scene([low, build_model(TetMesh(X, mesh.tets), 1e5, 0.4, 1e3)], (), 0.0)
    speed = thrown(0.0)

    def state(whole: Model) -> State:
        at = speed(whole)
        at.velocities[whole.slices[1].vertices, 1] = -4.0
        return at

    moment = moment_of(Scene(scene.bodies, (), 0.0, state=state), 0)
    full = moment.advanced(solver="newton", tolerance=1e-8)[0].positions
    moved = np.linalg.norm(full - moment.state.positions)
    for count in counts:
        left = _in_handles(moment, count)
        errors.append(float(np.linalg.norm(left - full) / moved))
        yield row(case, f"error over the displacement, {count} handles", errors[-1])
    yield row(case, "error with 192 handles over that with 12", errors[-1] / errors[2], "", at_most=0.5)
    draw("multilevel", case, [Plot("one step", "handles", "error", [Curve("", counts, errors, "C0o-")], True, True)])


def _in_handles(moment: Moment, count: int) -> np.ndarray:
    """Return the positions after a step of the multilevel solver without polishing, converged in its subspace."""
    settings = {"handles": count, "polishing": 1, "subspace_tolerance": 1e-6, "max_iterations": 400}
    return moment.advanced(solver="multilevel_published", polished=False, **settings)[0].positions
