"""Bodies that meet: nothing ever crosses, by a check that is not the library's; forces against balances."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sinew.benchmarks.bodies import block
from sinew.benchmarks.crossings import crossings
from sinew.core.contact.ipc import Barrier, Surfaces
from sinew.core.contact.meeting import Meeting
from sinew.core.forces.step_potential import Motion
from sinew.core.mesh.tet_mesh import TetMesh
from sinew.core.mesh.topology import boundary_triangles
from sinew.core.model.joined import joined
from sinew.core.model.model import Model, build_model
from sinew.core.settings import SolverSettings
from sinew.core.solvers import make_solver

H, DISTANCE = 0.01, 1e-3
STILL = (0.0, 0.0, 0.0)
SOLVERS = pytest.mark.parametrize("solver", ("newton", "mixed_fem"))


def box(at=(0.0, 0.0, 0.0), cells=3, pinned=lambda X: np.zeros(len(X), dtype=bool)) -> Model:
    """Of 10 cm."""
    mesh = block((cells,) * 3, (0.1,) * 3)
    X = mesh.rest_positions
    return build_model(TetMesh(X + at, mesh.tets), 1e5, 0.4, 1e3, pinned=np.flatnonzero(pinned(X)))


def plate(height: float) -> tuple[np.ndarray, np.ndarray]:
    """A square of 1 m."""
    corners = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
    return np.column_stack([corners, np.full(4, height)]), np.array([[0, 1, 2], [0, 2, 3]])


def meeting(model: Model, colliders=(), mu: float = 0.3) -> Meeting:
    """Of all bodies' boundaries and some plates."""
    faces = boundary_triangles(model.mesh.tets)
    kept = np.unique(faces)
    W = sp.csr_matrix((np.ones(len(kept)), (np.arange(len(kept)), kept)), shape=(len(kept), model.unknowns))
    places = [points for points, _ in colliders]
    first = len(kept) + 4 * np.arange(len(places))
    parts = [each.vertices.stop for each in model.slices] or [model.unknowns]
    body = [np.searchsorted(parts, kept, side="right"), *(np.full(4, 100 + k) for k in range(len(places)))]
    surfaces = Surfaces(
        np.concatenate([model.mesh.rest_positions[kept], *places]),
        np.concatenate([np.searchsorted(kept, faces), *(f + start for (_, f), start in zip(colliders, first))]),
        np.concatenate(body),
        np.concatenate([np.isin(kept, model.pinned), np.ones(4 * len(places), dtype=bool)]),
    )
    return Meeting(Barrier(surfaces, DISTANCE, 1e5, mu, 1e-3), W, np.concatenate([np.zeros((0, 3)), *places]))


def places_of(meet: Meeting, state) -> np.ndarray:
    """Of all that touches."""
    return np.concatenate([meet.carried @ state.positions, meet.places])


def moved(model: Model, meet: Meeting, steps: int, solver: str, state=None, pins=None, targets=None, **settings):
    """The states after so many steps, none of which has a crossing, and their reports."""
    stepper = make_solver(model, SolverSettings(solver=solver, max_iterations=200, **settings))
    states, reports = [state or model.rest_state()], []
    faces = meet.barrier.surfaces.faces
    for k in range(steps):
        given = model.mesh.rest_positions[model.pinned] if pins is None else pins(k)
        meet.targets = meet.targets if targets is None else targets(k)
        after, report = stepper.step(states[-1], given, H, (meet,))
        assert report.converged and not len(crossings(places_of(meet, after), faces))
        states.append(after)
        reports.append(report)
    return states, reports


def momentum(model: Model, state) -> np.ndarray:
    return (model.mass @ state.velocities).sum(axis=0)


@SOLVERS
def test_a_stack_rests_on_the_ground(solver):
    """What the ground pushes with is weight and change of momentum, in each step."""
    model = joined([box((0.013 * k, 0.007 * k, 0.002 + 0.102 * k)) for k in range(2)])
    meet = meeting(model, [plate(0.0)], mu=0.0)
    weight, before, touched = 9.81 * model.lumped_masses.sum(), model.rest_state(), 0
    for _ in range(25):
        (_, after), _ = moved(model, meet, 1, solver, before, tolerance=1e-9)
        y = places_of(meet, after)
        pushed = -meet.barrier.gradient(y)[-4:].sum(axis=0)[2]
        change = (momentum(model, after) - momentum(model, before)) / H
        assert abs(-pushed - weight - change[2]) <= 1e-6 * weight
        touched, before = touched + (abs(pushed) > 0.5 * weight), after
    assert touched >= 10


@SOLVERS
def test_what_slides_is_slowed_as_coulomb_has_it(solver):
    """Once it no longer hops: friction is of the forces at a step's beginning."""
    model = box((-0.4, 0.0, 0.00095))
    meet = meeting(model, [plate(0.0)], mu=0.2)
    state = model.state_at(model.mesh.rest_positions, np.tile([1.5, 0.0, 0.0], (model.unknowns, 1)))
    states, _ = moved(model, meet, 40, solver, state, tolerance=1e-7)
    speeds = np.array([momentum(model, after)[0] for after in states[22:]]) / model.lumped_masses.sum()
    assert speeds[-1] > 0.1
    np.testing.assert_allclose(-np.diff(speeds) / H, 0.2 * 9.81, rtol=0.01)


@SOLVERS
def test_what_collides_keeps_momentum(solver):
    """And contact turns nothing: its forces have no sum and no torque."""
    model = joined([box(), box((0.104, 0.05, 0.03))])
    meet = meeting(model)
    thrown = np.where(np.arange(model.unknowns) < model.slices[0].vertices.stop, 1.5, 0.0)
    state = model.state_at(model.mesh.rest_positions, thrown[:, None] * [1.0, 0.0, 0.0])
    states, _ = moved(model, meet, 8, solver, state, gravity=STILL, tolerance=1e-10)
    first = momentum(model, states[0])
    for after in states:
        assert np.linalg.norm(momentum(model, after) - first) <= 1e-9 * np.linalg.norm(first)
    speeds = [momentum(model, after)[0] for after in states]
    assert (model.mass @ states[-1].velocities)[model.slices[1].vertices].sum() >= 0.3 * speeds[0]
    pressed = max((places_of(meet, after) for after in states), key=lambda y: len(meet.barrier.touching(y)))
    force = meet.barrier.gradient(pressed)
    size = np.abs(force).sum()
    assert size > 0.0 and np.linalg.norm(force.sum(axis=0)) <= 1e-9 * size
    assert np.linalg.norm(np.cross(pressed, force).sum(axis=0)) <= 1e-9 * size


def test_its_derivatives():
    """Of value, gradient and what obstacles feel, by differences; friction too."""
    model = joined([box(), box((0.01, 0.02, 0.1005))])
    meet = meeting(model, [plate(-0.0004)])
    rng = np.random.default_rng(0)
    X = model.mesh.rest_positions
    acting = meet.begin(Motion(X, X, H))
    x, dx = X + 1e-5 * rng.standard_normal(X.shape), rng.standard_normal(X.shape)
    meet.targets = meet.places + rng.standard_normal(meet.places.shape)
    eps = 1e-8

    def there(e: float, going: bool = False) -> np.ndarray:
        acting.places = meet.places + (e * (meet.targets - meet.places) if going else 0.0)
        return x + (0.0 if going else e) * dx

    slope = (acting.value(there(eps)) - acting.value(there(-eps))) / (2.0 * eps)
    assert slope == pytest.approx(float(np.sum(acting.gradient(x) * dx)), rel=1e-4)
    going = (acting.value(there(eps, True)) - acting.value(there(-eps, True))) / (2.0 * eps)
    there(0.0)
    assert going == pytest.approx(acting.work(x), rel=1e-4)
    acting.places = meet.places
    K = acting.pairs(x).matrix(model.unknowns)
    np.testing.assert_allclose(K.toarray(), K.T.toarray(), atol=1e-6 * abs(K).max())
    still = meet.targets
    meet.targets = meet.places
    np.testing.assert_allclose((K @ dx.ravel()).reshape(-1, 3), acting.pull(x, dx), atol=1e-9 * abs(K).max())
    meet.targets = still


@SOLVERS
def test_a_crusher_arrives(solver):
    model = box((0.0, 0.0, 0.002))
    meet = meeting(model, [plate(0.0), plate(0.104)])
    first = meet.places

    def closed(k: int) -> np.ndarray:
        return first - np.outer(np.arange(8) >= 4, [0.0, 0.0, 0.06 * (k + 1) / 12])

    states, reports = moved(model, meet, 12, solver, targets=closed)
    assert np.array_equal(meet.places, closed(11)) and not any(report.blocked for report in reports)
    if solver == "mixed_fem":
        assert sum(report.iterations for report in reports) <= 8 * 12
    assert np.ptp(states[-1].positions[:, 2]) <= 0.044


@SOLVERS
def test_a_plate_does_not_go_through_what_is_pinned(solver):
    model = box((0.0, 0.0, 0.002), pinned=lambda X: X[:, 2] > 0.1 - 1e-9)
    meet = meeting(model, [plate(0.0), plate(0.104)])
    target = meet.places - np.outer(np.arange(8) >= 4, [0.0, 0.0, 0.03])
    states, reports = moved(model, meet, 4, solver, targets=lambda k: target)
    assert all(report.blocked > 0.5 for report in reports) and reports[0].iterations <= 20
    assert all(report.iterations <= 10 for report in reports[1:])
    assert 0.1 * DISTANCE <= meet.places[4, 2] - 0.102 <= DISTANCE
    assert np.array_equal(states[-1].positions[model.pinned], model.mesh.rest_positions[model.pinned])


@SOLVERS
def test_pins_push_what_is_free(solver):
    """And a jump of six tenths of its size ends where it was told."""
    model = joined(
        [
            box(pinned=lambda X: X[:, 0] < 1e-9),
            box((0.102, 0.0, 0.0)),
            box((0.204, 0.0, 0.0), pinned=lambda X: X[:, 0] > 0.1 - 1e-9),
        ]
    )
    meet = meeting(model)
    X = model.mesh.rest_positions[model.pinned]
    inwards = np.where(X[:, :1] < 0.1, 0.06, -0.06) * [1.0, 0.0, 0.0]
    states, reports = moved(model, meet, 2, solver, pins=lambda k: X + inwards, gravity=STILL)
    assert np.array_equal(states[-1].positions[model.pinned], X + inwards) and not reports[0].blocked


def test_a_step_has_the_same_bits_whatever_came_before():
    """In this process: a bake that is resumed begins in another one."""
    model = joined([box((0.013 * k, 0.007 * k, 0.002 + 0.102 * k)) for k in range(2)])
    meet = meeting(model, [plate(0.0)])
    states, _ = moved(model, meet, 12, "mixed_fem")
    again, _ = moved(model, meeting(model, [plate(0.0)]), 6, "mixed_fem", states[6])
    for one, other in zip(states[6:], again):
        assert np.array_equal(one.positions, other.positions)
