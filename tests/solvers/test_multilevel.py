"""The published multilevel solver: its three levels, and its end states beside Newton's."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.benchmarks.bodies import block, held_end
from sinew.benchmarks.meetings import Scene, box, plate, watch
from sinew.core.foundation.schema.settings import SolverSettings
from sinew.core.methods.model.merged_model import merge_models
from sinew.core.methods.model.model import build_model
from sinew.core.methods.multilevel.levels import SUBSPACE_RESIDUAL, conjugate_gradients
from sinew.core.methods.multilevel.multilevel_system import MultilevelSystem
from sinew.core.methods.solvers import make_solver, newton
from sinew.core.methods.solvers.incremental_potential import IncrementalPotential

NAME = "multilevel_published"
SIZE = (0.4, 0.1, 0.1)


def _bar(stiff: float = 1e5, cells=(16, 4, 4), pinned=True):
    mesh = block(cells, SIZE)
    E = np.where(np.abs(mesh.rest_positions[mesh.tets].mean(axis=1)[:, 0] - 0.2) < 0.06, stiff, 1e5)
    return build_model(mesh, E, 0.4, 1e3, pinned=held_end(mesh) if pinned else ())


def _assembled(model, handles=8, polishing=20, h=0.01):
    """The system of a deformed body, and its matrix by solving for unit vectors: a product with each."""
    x = model.mesh.rest_positions * [1.05, 0.98, 1.0]
    system = MultilevelSystem(model, handles, polishing)
    system.assemble_tangent(model.elastic.tangent(model.elastic.deformation(x)), h**2, x)
    assert system.try_factorize()
    matrix, f = system.levels.matrix, len(system.free)
    dense = np.stack([matrix.times(e.reshape(f, 3)).ravel() for e in np.eye(3 * f)], axis=1)
    return system, dense


def test_the_preconditioner_of_a_level_has_the_diagonal_blocks_of_its_matrix():
    system, A = _assembled(_bar(1e8, (6, 2, 2)))
    level = system.levels._sparse
    U = np.kron(level._A.toarray(), np.eye(3))  # columns by unknown, then by axis
    whole = U.T @ A @ U
    for i in range(level.count):
        own = 12 * i + np.arange(12).reshape(4, 3).T.ravel()
        block_ = whole[np.ix_(own, own)]
        ridge = 1e-10 * block_.diagonal().max()
        np.testing.assert_allclose(np.linalg.inv(level._inverse[i]), block_, atol=1e4 * ridge)


@pytest.mark.parametrize("pinned", [True, False])
def test_the_subspace_part_solves_the_projected_system(pinned):
    """Levels 1 and 2 together are the Galerkin solution in the sparse subspace, which contains the affine one."""
    system, A = _assembled(_bar(1e7, (6, 2, 2), pinned))
    b = np.random.default_rng(0).standard_normal((len(system.free), 3))
    system.levels.solve(b)
    for level in (system.levels._affine, system.levels._sparse):
        U = np.kron(level._A.toarray(), np.eye(3))
        r = U.T @ (b.ravel() - A @ system.levels.subspace_part.ravel())
        assert np.linalg.norm(r) < 10.0 * SUBSPACE_RESIDUAL * np.linalg.norm(U.T @ b.ravel())


def test_each_level_lowers_the_quadratic_model_and_polishing_takes_its_iterations():
    system, A = _assembled(_bar(1e9, (6, 2, 2)), polishing=7)
    b = np.random.default_rng(1).standard_normal((len(system.free), 3))
    x = system.levels.solve(b)

    def model(y):
        return 0.5 * y.ravel() @ A @ y.ravel() - b.ravel() @ y.ravel()

    assert model(x) < model(system.levels.subspace_part) < 0.0 < np.sum(x * b)
    assert system.levels.iterations[2] == 7
    assert system.levels.residual_work == pytest.approx(x.ravel() @ (A @ x.ravel() - b.ravel()), rel=1e-6)


def test_conjugate_gradients_are_exact_after_as_many_iterations_as_unknowns():
    random = np.random.default_rng(2)
    B, b = random.standard_normal((12, 12)), random.standard_normal((4, 3))
    A = B @ B.T + np.eye(12)
    found = conjugate_gradients(lambda x: (A @ x.ravel()).reshape(x.shape), lambda r: r, b, 40, 1e-12)
    np.testing.assert_allclose(found.x.ravel(), np.linalg.solve(A, b.ravel()), rtol=1e-8)
    assert found.smallest_eigenvalue == pytest.approx(np.linalg.eigvalsh(A)[0], rel=1e-6)


def test_bodies_of_a_merged_model_have_their_own_handles():
    """So islands of bodies in contact, which change from step to step, need no new handles."""
    whole = merge_models([_bar(), _bar(pinned=False)])
    system = MultilevelSystem(whole, 8, 0)
    single = [MultilevelSystem(each, 8, 0).levels for each in (_bar(), _bar(pinned=False))]
    assert system.levels._sparse.count == sum(each._sparse.count for each in single)
    first = single[0]._sparse._A.shape[0]
    assert (system.levels._sparse._A[:first, : single[0]._sparse._A.shape[1]] != single[0]._sparse._A).nnz == 0
    assert system.levels._affine.count == 2


def test_the_automatic_number_of_polishing_follows_the_size_of_the_clusters():
    assert MultilevelSystem(_bar(), 16, 0).levels.polishing == 20
    assert MultilevelSystem(_bar(cells=(120, 2, 2)), 1, 0).levels.polishing == 40


@pytest.mark.parametrize("stiff", [1e5, 1e7, 1e9])
def test_a_swinging_bar_ends_where_newton_ends(stiff):
    model, ends = _bar(stiff), []
    for solver in ("newton", NAME):
        stepper = make_solver(model, SolverSettings(solver=solver, handles=16, max_iterations=200, tolerance=1e-8))
        state = model.rest_state()
        for _ in range(3):
            state, report = stepper.step(state, state.positions[model.pinned], 0.02)
            assert report.converged
        ends.append(state.positions)
    assert np.abs(ends[0] - model.mesh.rest_positions).max() > 0.01
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-6 * model.size)


@pytest.mark.parametrize(
    ("friction", "off"),
    [pytest.param(0.0, 1e-7, id="smooth"), pytest.param(0.3, 0.3 * 0.005 * 9.81 * 0.12**2 / 2.0, id="rubs")],
)
def test_boxes_that_fall_on_each_other_end_where_newton_ends(friction, off):
    bodies = [box((0.013 * k, 0.007 * k, 0.002 + 0.102 * k)) for k in range(3)]
    scene, ends = Scene(bodies, [plate(0.0)], friction), []
    for solver in ("newton", NAME):
        seen = watch(scene, 12, 0.01, solver, tolerance=1e-7, max_iterations=200, handles=8)
        assert not seen.crossed and not seen.inverted
        assert all(report.converged for report in seen.reports)
        ends.append(seen.states[-1].positions)
    # Friction is known to half a percent, which could move a body that far in this time.
    np.testing.assert_allclose(ends[1], ends[0], atol=off)


def test_hessians_stay_projected_while_convergence_stagnates(monkeypatch):
    """Conjugate gradients would stop at the first direction of negative curvature."""
    flags, tangent = [], IncrementalPotential.tangent
    monkeypatch.setattr(newton, "is_stagnating", lambda history: True)
    monkeypatch.setattr(
        IncrementalPotential,
        "tangent",
        lambda self, F, projected=True: flags.append(projected) or tangent(self, F, projected),
    )
    watch(Scene([box((0.0, 0.0, 0.002))], [plate(0.0)]), 3, 0.01, NAME, handles=4)
    assert flags and all(flags)


def test_the_published_criterion_ends_steps_early():
    model, its, ends = _bar(), [], []
    for bound in (0.0, 1e-3):
        settings = SolverSettings(solver=NAME, handles=16, max_iterations=100, subspace_tolerance=bound)
        state, report = make_solver(model, settings).step(
            model.rest_state(), model.mesh.rest_positions[model.pinned], 0.02
        )
        its.append(report.iterations)
        ends.append(state.positions)
        assert report.converged and ("m/s per vertex" in report.reason) == (bound > 0.0)
    assert its[1] < its[0]
    assert np.abs(ends[1] - ends[0]).max() < 0.01 * model.size
