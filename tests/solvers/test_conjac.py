"""ConJac: its map against dense algebra, exact statics, flight, energy, and the paper's step against its formulas."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
from scipy.spatial.transform import Rotation
from sinew.benchmarks.bodies import block, held_end
from sinew.benchmarks.measures import angular_momentum
from sinew.core.contact.penalty.contact_points import ContactPoints
from sinew.core.contact.penalty.obstacle import GroundPlane
from sinew.core.contact.penalty.penalty import PenaltyContact, PenaltyParameters
from sinew.core.foundation.schema.settings import SolverSettings
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.geometry.mesh.topology import boundary_triangles
from sinew.core.methods.model.merged_model import merge_models
from sinew.core.methods.model.model import Model, build_model
from sinew.core.methods.model.nodes import node_regions, single_vertices
from sinew.core.methods.solvers import make_solver
from sinew.core.methods.solvers.conjac import ConJacSolver
from sinew.core.methods.solvers.modal_integration import exponential_step
from sinew.core.numerics.integrators import backward_euler
from sinew.core.numerics.optimization.step_report import REDONE_BY, StepReport

STILL, EARTH, H = (0.0, 0.0, 0.0), (0.0, 0.0, -9.81), 0.005
NONE = np.zeros(0, dtype=np.int64)


def bar(pinned: bool = True, stiff: float = 1e5, cells: tuple[int, int, int] = (8, 3, 3)) -> Model:
    """A bar of 0.15 x 0.04 x 0.04 m, every other fifth of it stiff; held at x = 0."""
    mesh = block(cells, (0.15, 0.04, 0.04))
    x = mesh.rest_positions[mesh.tets].mean(axis=1)[:, 0]
    E = np.where((x / 0.03).astype(int) % 2 == 1, stiff, 1e5)
    return build_model(mesh, E, 0.4, 1e3, pinned=held_end(mesh) if pinned else ())


def at(model: Model, places) -> np.ndarray:
    """The vertices nearest to some places, m."""
    X = model.mesh.rest_positions
    return np.unique([np.argmin(np.linalg.norm(X - place, axis=1)) for place in places]).astype(np.int64)


def along(model: Model, count: int) -> np.ndarray:
    return at(model, [[0.15 * (k + 1) / count, 0.02, 0.02] for k in range(count)])


def with_balls(model: Model, centres: np.ndarray) -> Model:
    return replace(model, nodes=node_regions(model.mesh, centres, model.pinned))


def moved(model: Model, state, steps: int, solver: str = "conjac", h: float = H, pins=None, **settings):
    """The states of so many steps, and their reports."""
    stepper = make_solver(model, SolverSettings(solver=solver, **{"gravity": STILL, "max_iterations": 3, **settings}))
    states, reports = [state], []
    for k in range(steps):
        targets = state.positions[model.pinned] if pins is None else pins(k + 1)
        state, report = stepper.step(state, targets, h)
        states.append(state)
        reports.append(report)
    return states, reports


def energy(model: Model, state) -> float:
    v = state.velocities
    kinetic = 0.5 * float(np.sum(v * (model.mass @ v)))
    return kinetic + model.elastic.value(model.elastic.deformation(state.positions))


def statics(model: Model) -> np.ndarray:
    """Equilibrium positions, by Newton's method."""
    pins = model.mesh.rest_positions[model.pinned]
    stepper, state = make_solver(model, SolverSettings(solver="newton", tolerance=1e-13)), model.rest_state()
    for _ in range(3):
        state, _report = stepper.step(replace(state, velocities=0.0 * state.velocities), pins, 1e4)
    return state.positions


def carried(model: Model, x: np.ndarray):
    """The reduced system at positions (n,3), and the dense K there times h²."""
    solver, state = ConJacSolver(model, SolverSettings(solver="conjac", gravity=STILL)), model.state_at(x)
    step = solver.begin(state, backward_euler.begin(x, state.velocities, None, H), x[model.pinned], ())
    deformation = model.elastic.deformation(x)
    found = solver._reduced_system(
        state, deformation, solver._rigid.components_at(x), step, StepReport("conjac"), projected=False
    )
    n = len(x)
    columns = np.eye(3 * n).reshape(-1, n, 3)
    K = [model.elastic.nodal_forces(found.tangent.stress_change(model.elastic.delta_F(u))).ravel() for u in columns]
    return found, H**2 * np.array(K)


@pytest.mark.parametrize("kind", ("balls", "vertices"))
@pytest.mark.parametrize("pinned", (True, False))
def test_the_map_is_the_movement_of_least_energy(kind, pinned):
    """Against Lagrange's dense system; of a held body that is bent, and a free one that nothing turns by itself."""
    model = bar(pinned, cells=(5, 2, 2))
    centres = at(model, [[0.15, 0.0, 0.0], [0.09, 0.04, 0.02], [0.06, 0.02, 0.04], [0.12, 0.02, 0.0]])
    nodes = (
        single_vertices(centres, model.unknowns)
        if kind == "vertices"
        else node_regions(model.mesh, centres, model.pinned)
    )
    X = model.mesh.rest_positions
    bent = 0.05 * pinned * X[:, :1] ** 2 * [0.0, 1.0, 2.0] / 0.15
    found, K = carried(replace(model, nodes=nodes), X + bent)
    free = np.setdiff1d(
        np.arange(3 * len(X)), 3 * np.repeat(model.pinned, 3) + np.tile(np.arange(3), len(model.pinned))
    )
    B = np.kron(nodes.rows.toarray(), np.eye(3))[:, free]
    size, k = len(free), len(B)
    system = np.block([[K[np.ix_(free, free)], B.T], [B, np.zeros((k, k))]])
    solution = np.linalg.solve(system, np.vstack([np.zeros((size, k)), np.eye(k)]))
    J = found.T.reshape(-1, found.T.shape[2])[free]
    np.testing.assert_allclose(J, solution[:size], atol=2e-5 * np.abs(solution[:size]).max())
    np.testing.assert_allclose(found.stiffness, -solution[size:], atol=2e-5 * np.abs(solution[size:]).max())
    if kind == "balls":
        np.testing.assert_allclose(np.asarray(nodes.rows.sum(axis=1)).ravel(), 1.0)
        assert nodes.rows.nnz > 20 and not nodes.rows[:, model.pinned].nnz


def test_what_is_linear_flows_exactly():
    """Against the exponential of its matrix, with an eigenvalue of each sign and one of nothing."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((4, 4))
    M, S = A @ A.T + 4.0 * np.eye(4), np.diag([3.0, 0.5, 0.0, -1.0])
    w, r = rng.standard_normal(4), rng.standard_normal(4)
    zero = np.zeros(4), np.zeros((4, 4))
    G = np.zeros((9, 9))
    G[:4, 4:8], G[4:8, :4], G[4:8, 8] = np.eye(4), -np.linalg.solve(M, S), np.linalg.solve(M, r)
    end = scipy.linalg.expm(G) @ np.concatenate([np.zeros(4), w, [1.0]])
    np.testing.assert_allclose(np.concatenate(exponential_step(M, S, w, r, zero)), end[:8], atol=1e-12)
    # What rests against what pushes back rests.
    u, after = exponential_step(M, S, np.zeros(4), r, (-r, np.diag([9.0, 1.0, 0.0, 5.0])))
    assert np.abs(np.concatenate([u, after])).max() <= 1e-14


@pytest.mark.parametrize("solver", ("conjac", "conjac_published"))
@pytest.mark.parametrize("stiff", (1e5, 1e9))
@pytest.mark.parametrize("count", (0, 4))
def test_statics_stay(solver, stiff, count):
    model = bar(stiff=stiff)
    x = statics(model)
    model = with_balls(model, along(model, count) if count else NONE)
    states, _ = moved(model, model.state_at(x), 40, solver, gravity=EARTH)
    assert np.abs(states[-1].positions - x).max() <= 1e-9 * model.size


@pytest.mark.parametrize("stiff", (1e5, 1e9))
def test_without_nodes_it_is_statics_frame_by_frame(stiff):
    """At once, and where its end is carried on."""
    model = with_balls(bar(stiff=stiff), NONE)
    x, pins = statics(model), model.mesh.rest_positions[model.pinned]
    far = [0.0, 0.03, 0.0]
    states, _ = moved(
        model, model.rest_state(), 3, gravity=EARTH, max_iterations=100, tolerance=1e-12, pins=lambda k: pins + far
    )
    for state in states[1:]:
        np.testing.assert_allclose(state.positions, x + far, atol=1e-9 * model.size)


def test_on_a_plane_too():
    """The minimum over all vertices has no mass beside its nodes'."""
    model = bar(stiff=1e5)
    surface = SurfaceMesh(model.mesh.rest_positions, boundary_triangles(model.mesh.tets))
    points = ContactPoints.of(surface, model.mesh, np.full(len(model.mesh.tets), 1e5), model.points)
    plane = PenaltyContact(points, GroundPlane(-0.002), 0.0, PenaltyParameters.for_body(1e3, model.size, 9.81, H), H)
    pins, tight = model.mesh.rest_positions[model.pinned], {"tolerance": 1e-12, "max_iterations": 50}
    stepper = make_solver(with_balls(model, NONE), SolverSettings(solver="conjac", **tight))
    newton, there = make_solver(model, SolverSettings(solver="newton", **tight)), model.rest_state()
    for _ in range(3):
        there, _report = newton.step(replace(there, velocities=0.0 * there.velocities), pins, 1e4, (plane,))
    state = model.rest_state()
    for _ in range(3):
        state, _report = stepper.step(state, pins, H, (plane,))
        assert np.abs(state.positions - there.positions).max() <= 1e-9 * model.size
    assert there.positions[:, 2].min() < -0.002


@pytest.mark.parametrize("count", (0, 1, 2, 4, 8))
def test_free_flight_is_free(count):
    """It falls as it is, and spins on, however few nodes: those of a line see no turn about it."""
    model = bar(False)
    rng = np.random.default_rng(1)
    places = [[0.05, 0.02, 0.02], [0.1, 0.02, 0.02]] if count == 2 else rng.random((count, 3)) * [0.15, 0.04, 0.04]
    model = with_balls(model, at(model, places) if count else NONE)
    X = model.mesh.rest_positions
    states, _ = moved(model, model.rest_state(), 20, gravity=EARTH)
    fallen = states[-1].positions - X
    few = 1e-6 if count < 3 else 1e-10
    assert np.abs(fallen - fallen.mean(axis=0)).max() <= few * model.size
    np.testing.assert_allclose(fallen.mean(axis=0), np.multiply(EARTH, 0.5 * 0.1**2), atol=few)
    assert energy(model, states[-1]) - energy(model, replace(states[-1], positions=X)) <= 1e-12
    spun = model.state_at(X, np.cross([1.0, 2.0, 6.0], X - X.mean(axis=0)))
    states, _ = moved(model, spun, 40)
    L, E = np.array([angular_momentum(model, state) for state in states]), [energy(model, each) for each in states]
    assert np.abs(L - L[0]).max() <= 0.01 * np.abs(L[0]).max()
    assert 0.97 * E[0] <= min(E) and max(E) <= 1.001 * E[0]


def test_a_pin_is_what_it_turns_about():
    """Hung by one vertex and carried by no node it is a pendulum: its energy stays, once it has sagged, and its pin."""
    mesh = block((2, 2, 6), (0.02, 0.02, 0.1))
    top = int(np.argmin(np.linalg.norm(mesh.rest_positions - [0.01, 0.01, 0.1], axis=1)))
    model = with_balls(build_model(mesh, 1e6, 0.3, 1e3, pinned=np.array([top])), NONE)
    X, pin = mesh.rest_positions, mesh.rest_positions[top]
    c, s = np.cos(0.5), np.sin(0.5)
    tilted = pin + (X - pin) @ np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    states, _ = moved(model, model.state_at(tilted), 200, gravity=EARTH)
    weight = 9.81 * model.lumped_masses
    E = [energy(model, state) + float(weight @ state.positions[:, 2]) for state in states]
    swing = float(weight @ (tilted[:, 2] - X[:, 2]))
    assert np.abs(np.array(E[1:]) - E[1]).max() <= 0.05 * swing
    speeds = [np.abs(state.velocities).max() for state in states]
    assert max(speeds) >= 0.5 and np.ptp([each.positions[top] for each in states], axis=0).max() <= 1e-12


def test_what_tumbles_about_one_pin_gains_nothing():
    """A stiff block that falls from level, hung by a corner."""
    mesh = block((8, 3, 3), (0.1, 0.03, 0.03))
    model = with_balls(build_model(mesh, 1e7, 0.4, 1e3, pinned=np.array([0])), NONE)
    states, _ = moved(model, model.rest_state(), 60, gravity=EARTH)
    weight = 9.81 * model.lumped_masses
    E = [energy(model, state) + float(weight @ state.positions[:, 2]) for state in states]
    assert max(E) - E[0] <= 0.05 * weight.sum() * 0.05


BLOCK = block((4, 4, 3), (0.1, 0.1, 0.05))
TOP = [[x, y, 0.05] for x in (0.0, 0.1) for y in (0.0, 0.1)]


def on_ground(count: int, friction: float, h: float, modulus: float = 2e5) -> tuple[Model, PenaltyContact]:
    """A block with so many nodes at its top's corners, and the ground it lies on."""
    model = build_model(BLOCK, modulus, 0.4, 1e3)
    surface = SurfaceMesh(BLOCK.rest_positions, boundary_triangles(BLOCK.tets))
    points = ContactPoints.of(surface, BLOCK, np.full(len(BLOCK.tets), modulus), model.points)
    contact = PenaltyContact(
        points, GroundPlane(0.0), friction, PenaltyParameters.for_body(1e3, model.size, 9.81, h), h
    )
    return with_balls(model, at(model, TOP[:count]) if count else NONE), contact


def test_a_step_with_contact_reports_the_force_that_is_left_of_what_it_minimized():
    """The residual force of a block at rest is far below its weight; that of the nodes' potential is 4 % of it."""
    model, contact = on_ground(4, 0.2, H)
    stepper, state, left = (
        make_solver(model, SolverSettings(solver="conjac", max_iterations=30)),
        model.rest_state(),
        [],
    )
    for _ in range(5):
        state, report = stepper.step(state, np.empty((0, 3)), H, (contact,))
        left.append(report.force)
    assert max(left) < 2e-3 * 9.81 * model.lumped_masses.sum()


@pytest.mark.parametrize("friction", (0.0, 0.2, 0.8))
@pytest.mark.parametrize("count", (0, 1, 4))
def test_what_lies_on_a_slope_slides_as_coulomb_has_it(count, friction):
    """At 30 degrees, after a quarter of a second: by 0.8 it stays."""
    model, contact = on_ground(count, friction, H)
    pull = 9.81 * np.array([0.5, 0.0, -np.sqrt(0.75)])
    stepper = make_solver(model, SolverSettings(solver="conjac", gravity=tuple(pull), max_iterations=3))
    state = model.rest_state()
    for k in range(50):
        state, report = stepper.step(state, np.empty((0, 3)), H, (contact,))
        assert report.converged or k == 0  # it does not press yet
    speed = 0.25 * max(pull[0] + friction * pull[2], 0.0)
    assert state.velocities[:, 0].mean() == pytest.approx(speed, rel=0.02, abs=3e-3)
    assert abs(state.positions[:, 2].min()) <= 1e-3 * model.size


@pytest.mark.parametrize("count", (1, 4))
def test_what_falls_on_a_corner_gains_nothing_and_stays_on_the_ground(count):
    model, contact = on_ground(count, 0.4, H, 2e4)
    X = BLOCK.rest_positions
    x = Rotation.from_rotvec([0.7, 0.6, 0.0]).apply(X - X.mean(axis=0))
    x[:, 2] += 0.05 - x[:, 2].min()
    stepper = make_solver(model, SolverSettings(solver="conjac", gravity=EARTH, max_iterations=3))
    state, weight = model.state_at(x), 9.81 * model.lumped_masses
    E = [energy(model, state) + float(weight @ state.positions[:, 2])]
    for _ in range(150):
        state, _report = stepper.step(state, np.empty((0, 3)), H, (contact,))
        E.append(energy(model, state) + float(weight @ state.positions[:, 2]))
    assert max(E) <= 1.001 * E[0] and E[-1] <= 0.6 * E[0]
    assert -1e-3 * model.size <= state.positions[:, 2].min() <= 0.1 * model.size


@pytest.mark.parametrize("h", (H, 1.0 / 24.0))
def test_a_body_let_go_is_lively_and_gains_nothing(h):
    """Bent by half its length and let go: a second on it has most of its energy still, and never more."""
    model = bar()
    X = model.mesh.rest_positions
    bent = model.state_at(statics_under(model, 30.0))
    assert np.abs(bent.positions - X).max() >= 0.4 * model.size
    model = with_balls(model, along(model, 4))
    states, _ = moved(model, bent, round(1.0 / h), h=h, max_iterations=1)
    E = [energy(model, state) for state in states]
    assert max(E) <= 1.001 * E[0]
    assert h > H or E[-1] >= 0.8 * E[0]


def statics_under(model: Model, acceleration: float) -> np.ndarray:
    pins = model.mesh.rest_positions[model.pinned]
    settings = SolverSettings(solver="newton", gravity=(0.0, 0.0, -acceleration), max_iterations=100)
    return make_solver(model, settings).step(model.rest_state(), pins, 1e4)[0].positions


def test_the_papers_step_is_its_equations():
    """Eqs. 6, 11 to 13, dense, from a bent and moving body."""
    model = bar(cells=(5, 2, 2))
    centres = at(model, [[0.15, 0.0, 0.0], [0.09, 0.04, 0.02]])
    model = replace(model, nodes=single_vertices(centres, model.unknowns))
    X, beta, gamma = model.mesh.rest_positions, 0.5, 1.0 / 3.0
    x0 = X + 0.03 * X[:, :1] ** 2 * [0.0, 1.0, 2.0] / 0.15
    v0 = 0.2 * X[:, :1] * [0.0, 1.0, -1.0]
    states, _ = moved(
        model, model.state_at(x0, v0), 1, "conjac_published", damping_factor=beta, stabilization=gamma, gravity=EARTH
    )
    elastic = model.elastic
    tangent, n = elastic.tangent(elastic.deformation(x0)), len(X)
    units = np.eye(3 * n).reshape(-1, n, 3)
    K = np.array([elastic.nodal_forces(tangent.stress_change(elastic.delta_F(u))).ravel() for u in units])
    f = (np.multiply.outer(model.lumped_masses, EARTH) - elastic.gradient(elastic.deformation(x0))).ravel()
    M = np.kron(model.mass.toarray(), np.eye(3))
    rows = np.arange(3 * n).reshape(n, 3)
    d = rows[centres].ravel()
    q = np.setdiff1d(np.arange(3 * n), np.concatenate([d, rows[model.pinned].ravel()]))
    J = np.zeros((3 * n, len(d)))
    J[d], J[q] = np.eye(len(d)), -np.linalg.solve(K[np.ix_(q, q)], K[np.ix_(q, d)])
    v = np.linalg.solve(J.T @ (M + beta * H**2 * K) @ J, J.T @ (M @ v0.ravel() + H * f))
    x = x0.ravel() + H * J @ v
    x[q] += gamma * np.linalg.solve(K[np.ix_(q, q)], f[q])
    np.testing.assert_allclose(states[1].positions.ravel(), x, atol=1e-6 * model.size)
    np.testing.assert_allclose(states[1].velocities.ravel(), J @ v, atol=1e-5 * np.abs(J @ v).max())


def test_several_bodies_carry_themselves():
    """In one model each moves as it does alone."""
    first, second = with_balls(bar(), along(bar(), 2)), with_balls(bar(False), along(bar(False), 3))
    whole = merge_models([first, second])
    X = [each.mesh.rest_positions for each in (first, second)]
    v = [x[:, :1] * [0.0, 1.0, 0.3] for x in X]
    both, _ = moved(whole, whole.state_at(np.concatenate(X), np.concatenate(v)), 3)
    for body, slices, x, speeds in zip((first, second), whole.slices, X, v):
        alone, _ = moved(body, body.state_at(x, speeds), 3)
        np.testing.assert_allclose(both[-1].positions[slices.vertices], alone[-1].positions, atol=1e-4 * body.size)


def test_what_nodes_do_not_carry_is_told():
    """A held bar that one node carries, thrown so that it bends in an S: nearly all of that is lost; as its end goes
    on, hardly any.
    """
    model = with_balls(bar(), along(bar(), 1))
    X = model.mesh.rest_positions
    waves = np.sin(2.0 * np.pi * X[:, :1] / 0.15) * [0.0, 1.0, 0.0]
    states, reports = moved(model, model.state_at(X, waves), 1)
    assert reports[0].lost >= 0.5
    assert moved(model, states[-1], 1)[1][0].lost <= 0.01


def test_a_body_that_buckles_between_its_nodes_is_told():
    """Squeezed between its ends: where what follows has a negative eigenvalue."""
    mesh = block((16, 2, 2), (0.3, 0.04, 0.04))
    X, n = mesh.rest_positions, len(mesh.rest_positions)
    ends = np.flatnonzero((X[:, 0] < 1e-9) | (X[:, 0] > 0.3 - 1e-9))
    model = build_model(mesh, 1e5, 0.3, 1e3, pinned=ends)
    model = with_balls(model, at(model, [[0.15, 0.02, 0.02]]))
    follows, elastic = np.setdiff1d(np.arange(n), [*ends, *model.nodes.centres]), model.elastic
    for squeezed, buckles in ((0.01, False), (0.35, True)):
        x = X * [1.0 - squeezed, 1.0, 1.0]
        tangent = elastic.tangent(elastic.deformation(x), projected=False)
        columns = np.eye(3 * n).reshape(n, 3, n, 3)[follows].reshape(-1, n, 3)
        K = [elastic.nodal_forces(tangent.stress_change(elastic.delta_F(u)))[follows].ravel() for u in columns]
        assert (np.linalg.eigvalsh(K)[0] < 0.0) == buckles
        assert moved(model, model.state_at(x), 1)[1][0].buckles == buckles


def test_a_matrix_that_is_not_definite_falls_back_to_newton(monkeypatch):
    """A body that nothing holds but its nodes' 1e-9 of the mass: rounding may end its factor. The report says so."""
    mesh = block((4, 1, 1), (0.4, 0.1, 0.1))
    model = build_model(mesh, 1e5, 0.3, 1e3)
    solver = make_solver(model, SolverSettings(solver="conjac", gravity=(0.0, 0.0, -9.81)))
    monkeypatch.setattr(solver.system, "try_factorize", lambda *_args, **_more: False)
    state, h = model.rest_state(), 1.0 / 24.0
    for _ in range(3):
        state, report = solver.step(state, mesh.rest_positions[[]], h)
        assert report.converged and "Newton FEM" in report.reason and report.reason.count(REDONE_BY) == 1
    fall = state.positions - mesh.rest_positions
    np.testing.assert_allclose(fall, np.tile([0.0, 0.0, -9.81 * h**2 * 6.0], (len(fall), 1)), atol=1e-9)
