"""Bodies that meet: nothing ever crosses, by a check that is not the library's; forces against balances."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.benchmarks.bodies import block
from sinew.benchmarks.crossings import forbidden
from sinew.core.contact.barrier.barrier_potential import Barrier
from sinew.core.contact.barrier.collision_mesh import CollisionMesh
from sinew.core.contact.barrier.contact_load import ContactLoad
from sinew.core.foundation.schema.settings import SolverSettings
from sinew.core.foundation.schema.solver_kinds import SOLVER_KINDS
from sinew.core.geometry.mesh.embedding import Embedding
from sinew.core.geometry.mesh.tet_mesh import TetMesh
from sinew.core.geometry.mesh.topology import boundary_triangles
from sinew.core.mechanics.forces.step_potential import Motion
from sinew.core.methods.model.merged_model import merge_models
from sinew.core.methods.model.model import Model, build_model
from sinew.core.methods.solvers import make_solver
from sinew.core.numerics.integrators import backward_euler, bdf2
from sinew.core.numerics.integrators.registry import INTEGRATORS
from sinew.core.numerics.optimization.step_report import REDONE_BY

H, DISTANCE, STILL = 0.01, 1e-3, (0.0, 0.0, 0.0)
RULES = pytest.mark.parametrize("rule", INTEGRATORS)
MEET = [kind for kind in SOLVER_KINDS.values() if kind.supports_contact]
RULE = {kind.name: backward_euler if kind.integrates else bdf2 for kind in MEET}
SOLVERS = pytest.mark.parametrize("solver", [kind.name for kind in MEET if not kind.takes_modes])


def box(at=(0.0, 0.0, 0.0), cells=3, pinned=lambda X: np.zeros(len(X), dtype=bool)) -> Model:
    """A cube of 10 cm."""
    mesh = block((cells,) * 3, (0.1,) * 3)
    X = mesh.rest_positions
    return build_model(TetMesh(X + at, mesh.tets), 1e5, 0.4, 1e3, pinned=np.flatnonzero(pinned(X)))


def plate(height: float) -> tuple[np.ndarray, np.ndarray]:
    """A square of 1 m."""
    corners = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
    return np.column_stack([corners, np.full(4, height)]), np.array([[0, 1, 2], [0, 2, 3]])


def meeting(model: Model, colliders=(), mu: float = 0.3, space=None) -> ContactLoad:
    """Contact of all bodies' boundaries and some plates, in the model's own space or another."""
    faces = boundary_triangles(model.mesh.tets)
    kept, space = np.unique(faces), space or model
    first = np.unique(model.mesh.tets, return_index=True)[1][kept]
    points = space.points(Embedding(first // 4, np.eye(4)[first % 4], np.zeros(len(kept), dtype=bool)))
    places = [points for points, _ in colliders]
    first = len(kept) + 4 * np.arange(len(places))
    parts = [each.vertices.stop for each in model.slices] or [len(model.mesh.rest_positions)]
    body = [np.searchsorted(parts, kept, side="right"), *(np.full(4, 100 + k) for k in range(len(places)))]
    surfaces = CollisionMesh(
        np.concatenate([model.mesh.rest_positions[kept], *places]),
        np.concatenate([np.searchsorted(kept, faces), *(f + start for (_, f), start in zip(colliders, first))]),
        np.concatenate(body),
        np.concatenate([points.held(space.pinned), np.ones(4 * len(places), dtype=bool)]),
    )
    return ContactLoad(Barrier(surfaces, DISTANCE, 1e5, mu, 1e-3), points, np.concatenate([np.zeros((0, 3)), *places]))


def moved(space, meet: ContactLoad, steps: int, solver: str, state=None, pins=None, targets=None, **settings):
    """The states after so many steps, none of which has a crossing, and their reports."""
    stepper = make_solver(space, SolverSettings(solver=solver, max_iterations=200, **settings))
    states, reports = [state or space.rest_state()], []
    for k in range(steps):
        given = states[0].positions[space.pinned] if pins is None else pins(k)
        meet.targets = meet.targets if targets is None else targets(k)
        after, report = stepper.step(states[-1], given, H, (meet,))
        # What is linear about a step's start has converged where it leaves something, too.
        assert report.converged or "left an error" in report.reason
        assert not len(forbidden(meet.surface_positions(after.positions), meet.barrier.surfaces))
        states.append(after)
        reports.append(report)
    return states, reports


def momentum(model: Model, state) -> np.ndarray:
    return (model.mass @ state.velocities).sum(axis=0)


def pulled(model: Model, before, after, rule) -> np.ndarray:
    """Force that changed the momentum in a step, N, by its rule of time integration."""
    time = rule.begin(before.positions, before.velocities, before.history, H)
    led = model.mass @ ((time.predicted - time.base) / time.step)
    return (momentum(model, after) - led.sum(axis=0)) / time.step


@SOLVERS
def test_a_stack_rests_on_the_ground(solver):
    """The ground's force is weight plus change of momentum, in each step."""
    model = merge_models([box((0.013 * k, 0.007 * k, 0.002 + 0.102 * k)) for k in range(2)])
    meet = meeting(model, [plate(0.0)], mu=0.0)
    weight, before, touched = 9.81 * model.lumped_masses.sum(), model.rest_state(), 0
    for _ in range(25):
        (_, after), _ = moved(model, meet, 1, solver, before, tolerance=1e-9)
        y = meet.surface_positions(after.positions)
        pushed = -meet.barrier.gradient(y)[-4:].sum(axis=0)[2]
        change = pulled(model, before, after, RULE[solver] if pushed else backward_euler)[2]
        assert abs(-pushed - weight - change) <= 1e-6 * weight
        touched, before = touched + (abs(pushed) > 0.5 * weight), after
    assert touched >= 10


@pytest.mark.parametrize(
    ("mu", "off"),
    [pytest.param(0.0, 2e-7, id="smooth"), pytest.param(0.3, 0.3 * 0.005 * 9.81 * 0.2**2 / 2.0, id="rubs")],
)
@SOLVERS
def test_a_stack_rests_by_conjugate_gradients(solver, mu, off):
    """Conjugate gradients get the terms that couple bodies and agree with a direct solver. Friction is known to half a
    percent, which could move a resting body that far in this time.
    """
    model, ends = merge_models([box((0.013 * k, 0.007 * k, 0.002 + 0.102 * k)) for k in range(2)]), []
    for linear_solver in ("automatic", "pcg"):
        meet = meeting(model, [plate(0.0)], mu=mu)
        states, _ = moved(model, meet, 20, solver, linear_solver=linear_solver, tolerance=1e-7)
        pushed = -meet.barrier.gradient(meet.surface_positions(states[-1].positions))[-4:].sum(axis=0)[2]
        change = pulled(model, *states[-2:], RULE[solver])[2]
        assert -pushed - change == pytest.approx(9.81 * model.lumped_masses.sum(), rel=0.01)
        ends.append(states[-1].positions)
    np.testing.assert_allclose(*ends, rtol=0.0, atol=off)


@SOLVERS
def test_what_slides_is_slowed_as_coulomb_has_it(solver):
    """Once it no longer hops, away from the plate's diagonal: friction is of the forces at a step's beginning."""
    model = box((-0.4, 0.25, 0.00095))
    meet = meeting(model, [plate(0.0)], mu=0.2)
    state = model.state_at(model.mesh.rest_positions, np.tile([1.5, 0.0, 0.0], (model.unknowns, 1)))
    states, _ = moved(model, meet, 40, solver, state, tolerance=1e-7)
    speeds = np.array([momentum(model, after)[0] for after in states[22:]]) / model.lumped_masses.sum()
    assert speeds[-1] > 0.1
    np.testing.assert_allclose(-np.diff(speeds) / H, 0.2 * 9.81, rtol=0.01)


@RULES
@SOLVERS
def test_a_belt_drags_what_lies_on_it(solver, rule):
    """With mu times the weight, over some steps: a box shears back and forth."""
    model = box((0.0, 0.0, 0.00095))
    meet = meeting(model, [plate(0.0)], mu=0.2)
    state, speeds = model.rest_state(), []
    stepper = make_solver(model, SolverSettings(solver=solver, integrator=rule, tolerance=1e-7))
    for k in range(45):
        meet.targets = meet.collider_positions + np.array([1.5 * H if k >= 20 else 0.0, 0.0, 0.0])
        state, _ = stepper.step(state, np.zeros((0, 3)), H, (meet,))
        speeds.append(momentum(model, state) / model.lumped_masses.sum())
    dragged = (speeds[-1] - speeds[-16]) / (15 * H)
    np.testing.assert_allclose(dragged[:2], [0.2 * 9.81, 0.0], atol=0.01 * 0.2 * 9.81)


def test_a_turning_plate_drags_along_its_circles():
    """With Coulomb's force of each vertex below, by what pressed it and the way of the plate where it lay."""
    turn, model = 5.0 * H, box((0.3, 0.0, 0.00095))
    turned = np.array([[np.cos(turn), np.sin(turn), 0.0], [-np.sin(turn), np.cos(turn), 0.0], [0.0, 0.0, 1.0]])
    meet = meeting(model, [plate(0.0)], mu=0.2)
    before, mass = moved(model, meet, 20, "newton")[0][-1], model.lumped_masses.sum()
    for _ in range(4):
        meet.targets = meet.collider_positions @ turned
        pressed = -meet.barrier.gradient(meet.surface_positions(before.positions))[:-4, 2]
        (_, after), _ = moved(model, meet, 1, "newton", before, tolerance=1e-8)
        y, was = (meet.points.positions(state.positions) for state in (after, before))
        slip = (was @ turned - y)[:, :2]
        force = 0.2 * pressed @ (slip / np.linalg.norm(slip, axis=1, keepdims=True))
        dragged = (momentum(model, after) - momentum(model, before)) / H
        np.testing.assert_allclose(dragged[:2], force, atol=0.005 * 0.2 * 9.81 * mass)
        before = after


@SOLVERS
def test_what_arrives_rubs_in_the_step_in_which_it_touches(solver):
    """Though nothing touched at that step's beginning: friction is of the forces at its solution."""
    model = box((-0.2, 0.0, 0.003))
    meet, mass = meeting(model, [plate(0.0)], mu=0.2), model.lumped_masses.sum()
    thrown = np.tile([1.5, 0.0, -0.3], (model.unknowns, 1))
    (_, after), _ = moved(model, meet, 1, solver, model.state_at(model.mesh.rest_positions, thrown))
    rubbed, pushed = (momentum(model, after) - mass * np.array([1.5, 0.0, -0.3 - 9.81 * H]))[[0, 2]]
    assert pushed > 0.05 * mass and -rubbed == pytest.approx(0.2 * pushed, rel=0.1)


@pytest.mark.parametrize("solver", ["mixed_fem", "newton"])
def test_what_is_let_go_is_not_held_by_what_pressed_it(solver):
    """Nor in a step that is cut off: what begins pressed together flies apart, and rubs with what that gives it."""
    model = box((-0.2, 0.0, 0.0003))
    meet, mass = meeting(model, [plate(0.0)], mu=0.2), model.lumped_masses.sum()
    state = model.state_at(model.mesh.rest_positions, np.tile([1.5, 0.0, 0.0], (model.unknowns, 1)))
    after, _ = make_solver(model, SolverSettings(solver=solver, max_iterations=5)).step(
        state, np.zeros((0, 3)), H, (meet,)
    )
    rubbed, pushed = (momentum(model, after) - mass * np.array([1.5, 0.0, -9.81 * H]))[[0, 2]]
    assert -rubbed == pytest.approx(0.2 * pushed, rel=0.2)


def test_a_gripper_lifts():
    """Two walls that close on a box and go up with it, and few iterations: friction that sticks is met well."""
    corners, faces = plate(0.0)
    walls = [(np.column_stack([np.full(4, x), 0.3 * corners[:, :2] + 0.05]), faces) for x in (-0.0005, 0.1005)]
    model = box(cells=4)
    meet, side = meeting(model, walls, mu=0.5), np.repeat([1.0, -1.0], 4)
    first = meet.collider_positions

    def gripping(k: int) -> np.ndarray:
        closed, up = min(k + 1, 6) / 6 * 0.004, max(k - 12, 0) * 0.003
        return first + np.column_stack([closed * side, 0.0 * side, np.full(8, up)])

    states, reports = moved(model, meet, 30, "newton", targets=gripping)
    height = float(model.lumped_masses @ states[-1].positions[:, 2] / model.lumped_masses.sum())
    assert abs(height - 0.05 - 17 * 0.003) <= 0.0005
    assert np.mean([report.iterations for report in reports[14:]]) <= 9.0


@SOLVERS
def test_what_collides_keeps_momentum(solver):
    """And contact turns nothing: its forces have no sum and no torque."""
    model = merge_models([box(), box((0.104, 0.05, 0.03))])
    meet = meeting(model)
    thrown = np.where(np.arange(model.unknowns) < model.slices[0].vertices.stop, 1.5, 0.0)
    state = model.state_at(model.mesh.rest_positions, thrown[:, None] * [1.0, 0.0, 0.0])
    states, _ = moved(model, meet, 8, solver, state, gravity=STILL, tolerance=1e-10)
    first = momentum(model, states[0])
    for after in states:
        assert np.linalg.norm(momentum(model, after) - first) <= 1e-9 * np.linalg.norm(first)
    speeds = [momentum(model, after)[0] for after in states]
    assert (model.mass @ states[-1].velocities)[model.slices[1].vertices].sum() >= 0.3 * speeds[0]
    pressed = max(
        (meet.surface_positions(after.positions) for after in states),
        key=lambda y: len(meet.barrier.normal_collisions(y)),
    )
    force = meet.barrier.gradient(pressed)
    size = np.abs(force).sum()
    assert size > 0.0 and np.linalg.norm(force.sum(axis=0)) <= 1e-9 * size
    assert np.linalg.norm(np.cross(pressed, force).sum(axis=0)) <= 1e-9 * size


def test_its_derivatives():
    """Derivatives of value, gradient and the obstacles' forces, by differences; friction too."""
    model = merge_models([box(), box((0.01, 0.02, 0.1005))])
    meet = meeting(model, [plate(-0.0004)])
    rng = np.random.default_rng(0)
    X = model.mesh.rest_positions
    acting = meet.begin(Motion(X, X, H))
    x, dx = X + 1e-5 * rng.standard_normal(X.shape), rng.standard_normal(X.shape)
    meet.targets = meet.collider_positions + rng.standard_normal(meet.collider_positions.shape)
    eps = 1e-8

    def there(e: float, going: bool = False) -> np.ndarray:
        acting.collider_positions = meet.collider_positions + (
            e * (meet.targets - meet.collider_positions) if going else 0.0
        )
        return x + (0.0 if going else e) * dx

    slope = (acting.value(there(eps)) - acting.value(there(-eps))) / (2.0 * eps)
    assert slope == pytest.approx(float(np.sum(acting.gradient(x) * dx)), rel=1e-4)
    going = (acting.value(there(eps, True)) - acting.value(there(-eps, True))) / (2.0 * eps)
    there(0.0)
    assert going == pytest.approx(acting.prescribed_work(x), rel=1e-4)
    acting.collider_positions = meet.collider_positions
    K = acting.cross_element_hessian(x).matrix(model.unknowns)
    np.testing.assert_allclose(K.toarray(), K.T.toarray(), atol=1e-6 * abs(K).max())
    still = meet.targets
    meet.targets = meet.collider_positions
    np.testing.assert_allclose((K @ dx.ravel()).reshape(-1, 3), acting.hessian_product(x, dx), atol=1e-9 * abs(K).max())
    meet.targets = still


@SOLVERS
def test_a_crusher_arrives(solver):
    model = box((0.0, 0.0, 0.002))
    meet = meeting(model, [plate(0.0), plate(0.104)])
    first = meet.collider_positions

    def closed(k: int) -> np.ndarray:
        return first - np.outer(np.arange(8) >= 4, [0.0, 0.0, 0.06 * (k + 1) / 12])

    states, reports = moved(model, meet, 12, solver, targets=closed)
    assert np.array_equal(meet.collider_positions, closed(11)) and not any(report.blocked for report in reports)
    if solver == "mixed_fem":
        assert sum(report.iterations for report in reports) <= 10 * 12
    assert np.ptp(states[-1].positions[:, 2]) <= 0.044


@SOLVERS
def test_a_plate_that_nothing_feels_yet_pushes_what_is_free(solver):
    """It comes from farther away than from where surfaces push, and goes farther than to a touch in one step."""
    model = box()
    meet = meeting(model, [plate(0.11)])
    states, reports = moved(
        model, meet, 4, solver, targets=lambda k: plate(0.11 - 0.03 * (k + 1))[0], gravity=(0.0, 0.0, 0.0)
    )
    assert not any(report.blocked for report in reports)
    assert states[-1].positions[:, 2].max() < -0.01 + DISTANCE


@SOLVERS
def test_a_plate_does_not_go_through_what_is_pinned(solver):
    model = box((0.0, 0.0, 0.002), pinned=lambda X: X[:, 2] > 0.1 - 1e-9)
    meet = meeting(model, [plate(0.0), plate(0.104)])
    target = meet.collider_positions - np.outer(np.arange(8) >= 4, [0.0, 0.0, 0.03])
    states, reports = moved(model, meet, 4, solver, targets=lambda k: target)
    assert all(report.blocked > 0.5 for report in reports) and reports[0].iterations <= 20
    assert all(report.iterations <= 10 for report in reports[1:])
    assert 0.3 * DISTANCE <= meet.collider_positions[4, 2] - 0.102 <= DISTANCE
    assert np.array_equal(states[-1].positions[model.pinned], model.mesh.rest_positions[model.pinned])


@SOLVERS
def test_a_plate_jumps_far_into_a_block(solver):
    """It arrives, and settles: the barrier bends, too."""
    meet = meeting(model := box((0.0, 0.0, 0.002), cells=4), [plate(0.0), plate(0.104)])
    target = meet.collider_positions - np.outer(np.arange(8) >= 4, [0.0, 0.0, 0.101])
    _, reports = moved(model, meet, 1, solver, targets=lambda k: target, gravity=STILL)
    assert reports[0].iterations <= 60 and not any(report.blocked for report in reports)


@RULES
def test_pins_do_not_go_through_a_plate(rule):
    """They stop above it, and what is shown at the end of a step does, whatever part of it is solved for."""
    model = box((0.0, 0.0, 0.002), pinned=lambda X: X[:, 2] < 1e-9)
    meet, X = meeting(model, [plate(0.0)]), model.mesh.rest_positions[model.pinned]
    states, reports = moved(model, meet, 3, "newton", pins=lambda k: X - [0.0, 0.0, 0.02 * (k + 1)], integrator=rule)
    assert all(report.blocked > 0.5 for report in reports)
    heights = np.array([state.positions[model.pinned][:, 2] for state in states[1:]])
    assert (heights >= 0.1 * DISTANCE).all() and (heights <= DISTANCE).all()


def test_a_step_that_is_made_again_begins_where_obstacles_were():
    """Few iterations leave forces that no extrapolation bears: its replacement has a plate on the same way."""
    model, again = box((0.0, 0.0, 0.002)), 0
    meet, fast = meeting(model, [plate(0.0)]), np.tile([0.0, 0.0, -3.0], (model.unknowns, 1))
    state = model.state_at(model.mesh.rest_positions, fast)
    stepper = make_solver(model, SolverSettings(solver="mixed_fem", integrator="theta_midpoint", max_iterations=2))
    for _ in range(4):
        meet.targets, was = meet.collider_positions + [0.01, 0.0, 0.002], meet.collider_positions
        state, report = stepper.step(state, np.zeros((0, 3)), H, (meet,))
        again += REDONE_BY in report.reason
        assert np.array_equal(meet.collider_positions, meet.targets) and np.array_equal(
            meet.previous_collider_positions, was
        )
        assert meet.collider_positions[0, 2] < state.positions[:, 2].min()
    assert again


@SOLVERS
def test_a_crusher_arrives_at_the_end_of_a_part(solver):
    """A crusher reaches its position at the end of the step, which is extrapolated from a part."""
    model = box((0.0, 0.0, 0.002))
    meet = meeting(model, [plate(0.0), plate(0.104)])
    first, lowered = meet.collider_positions, np.outer(np.arange(8) >= 4, [0.0, 0.0, 0.005])
    targets = dict(targets=lambda k: first - (k + 1) * lowered)
    states, reports = moved(model, meet, 8, solver, **targets, integrator="theta_midpoint")
    assert np.array_equal(meet.collider_positions, first - 8 * lowered) and not any(
        report.blocked for report in reports
    )
    assert np.ptp(states[-1].positions[:, 2]) <= 0.064
    pushed = (
        -meet.barrier.gradient(meet.surface_positions(states[-1].positions))[-8:].reshape(2, 4, 3).sum(axis=1)[:, 2]
    )
    assert pushed[0] < -50.0 and pushed[1] > 50.0


@SOLVERS
def test_pins_push_what_is_free(solver):
    """And a jump of six tenths of its size ends where it was told."""
    model = merge_models(
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
    model = merge_models([box((0.013 * k, 0.007 * k, 0.002 + 0.102 * k)) for k in range(2)])
    meet = meeting(model, [plate(0.0)])
    states, _ = moved(model, meet, 12, "mixed_fem")
    again, _ = moved(model, meeting(model, [plate(0.0)]), 6, "mixed_fem", states[6])
    for one, other in zip(states[6:], again):
        assert np.array_equal(one.positions, other.positions)
