"""Sparse handles as the basis of a subspace: what they span, and that dents stay local."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.benchmarks.bodies import block, held_end
from sinew.core.foundation.errors import SubspaceError
from sinew.core.foundation.schema.settings import SolverSettings
from sinew.core.geometry.mesh.tet_mesh import TetMesh
from sinew.core.jobs.store.cached_subspace import modes_key
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.methods.model.model import build_model
from sinew.core.methods.solvers import make_solver
from sinew.core.methods.solvers.registry import space_of
from sinew.core.methods.subspaces.reduced_model import HANDLES, MODES, skinning_subspace
from sinew.core.methods.subspaces.sparse_handles import sparse_handles
from sinew.core.simulation.frame_loop.bake import bake
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import shaken_bar

SLAB = block((16, 16, 4), (0.4, 0.4, 0.1))
X = SLAB.rest_positions


def _slab(pinned=()):
    return build_model(SLAB, 1e5, 0.4, 1e3, pinned=pinned)


def _residual(model, basis: str, u: np.ndarray, count: int) -> float:
    """Part of a displacement field, by mass, that the basis does not contain."""
    space = skinning_subspace(model, count, 100, basis).model
    free = np.setdiff1d(np.arange(space.unknowns), space.pinned)
    A = space.basis[:, free]
    left = u - A @ np.linalg.solve(A.T @ (model.mass @ A), A.T @ (model.mass @ u))
    return float(np.sqrt(np.sum(left * (model.mass @ left)) / np.sum(u * (model.mass @ u))))


def test_a_free_body_moves_rigidly():
    turned = X @ np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]) + [1.0, 2.0, 3.0]
    assert _residual(_slab(), HANDLES, turned - X, 12) < 1e-9


def test_a_dent_of_a_free_slab_is_in_the_handles_rather_than_in_as_many_modes():
    top = np.isclose(X[:, 2], 0.1)
    dent = np.zeros_like(X)
    for centre in ([0.1, 0.12], [0.31, 0.27]):
        away = np.linalg.norm(X[:, :2] - centre, axis=1)
        dent[:, 2] -= 0.02 * np.exp(-((away / 0.05) ** 2)) * np.where(top, 1.0, X[:, 2] / 0.1)
    handles, modes = (_residual(_slab(), basis, dent, 48) for basis in (HANDLES, MODES))
    assert handles < 0.9 * modes


def test_bending_is_in_the_modes_rather_than_in_as_many_handles():
    bent = np.zeros_like(X)
    bent[:, 2] = X[:, 0] ** 2
    handles, modes = (_residual(_slab(held_end(SLAB)), basis, bent, 8) for basis in (HANDLES, MODES))
    assert modes < handles < 0.5


@pytest.mark.parametrize("solver", ["subspace_fem", "subspace_mixed_fem"])
def test_more_handles_are_nearer_to_the_full_space(solver):
    model, ends, errors = _slab(held_end(SLAB)), [], []
    full = SolverSettings(solver="newton", max_iterations=50)
    for settings in (full, *(SolverSettings(solver=solver, subspace_basis=HANDLES, modes=k) for k in (4, 12, 36))):
        space = space_of(model, settings)
        stepper, state = make_solver(space, settings), space.rest_state()
        for _ in range(3):
            state, report = stepper.step(state, state.positions[space.pinned], 0.04)
            assert report.converged
        ends.append(space.vertices(state.positions))
    errors = [np.abs(end - ends[0]).max() for end in ends[1:]]
    assert errors[0] > errors[1] > errors[2] and errors[2] < 0.1 * np.abs(ends[0] - X).max()


def test_a_bake_keeps_the_handles_in_its_store(tmp_path):
    job = shaken_bar(frames=3, solver="subspace_mixed_fem", modes=6, cubature_points=60, subspace_basis=HANDLES)
    store = FrameStore.create(tmp_path / "store", job)
    first, again = prepare(job, store).subspace.parts, prepare(job, FrameStore(store.folder)).subspace.parts
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    bake(job, store)
    assert np.abs(store.read(2) - job.body.surface.positions).max() > 1e-3


def test_the_basis_is_in_the_key_of_the_stored_subspace():
    assert modes_key(_slab(), 8, HANDLES) != modes_key(_slab(), 8, MODES)


def test_too_few_handles_for_the_parts_and_too_many_are_refused():
    near = block((2, 2, 2), (1.0, 1.0, 1.0))
    X = np.concatenate([near.rest_positions + [3.0 * k, 0.0, 0.0] for k in range(3)])
    tets = np.concatenate([near.tets + k * len(near.rest_positions) for k in range(3)])
    model = build_model(TetMesh(X, tets), 1e5, 0.4, 1e3)
    for count in (2, 65):
        with pytest.raises(SubspaceError, match="Modes"):
            sparse_handles(model, count)
    assert sparse_handles(model, 3).weights.shape[1] == 3
    assert (sparse_handles(model, 3).eigenvalues == 0.0).all()
