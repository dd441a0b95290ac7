"""Rigid bodies tumble, collide and carry flesh; joints hold them together, with limits, springs and motors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from sinew.core.foundation.errors import SettingsError, TieError
from sinew.core.foundation.schema.settings import ContactSettings, MaterialSettings, ResolutionSettings, SolverSettings
from sinew.core.geometry.mesh.embedding import Embedding, embed
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.geometry.tetrahedra.rigid_tet import principal_moments, rigid_tet
from sinew.core.jobs.job.body import Body
from sinew.core.jobs.job.environment import Ground, Spring
from sinew.core.jobs.job.groups import grouped_jobs
from sinew.core.jobs.job.job import Job
from sinew.core.jobs.job.joint import Joint
from sinew.core.jobs.job.tie import Tie
from sinew.core.jobs.scene_files.scene_file import read_scene
from sinew.core.mechanics.forces.embedded_points import EmbeddedPoints
from sinew.core.mechanics.ties.joint_springs import JointSprings
from sinew.core.mechanics.ties.twist_limits import TwistLimits
from sinew.core.methods.model.state import State
from sinew.core.simulation.frame_loop.group import simulate_group
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import box_surface, rising_plate

STILL, FALL = (0.0, 0.0, 0.0), (0.0, 0.0, -9.81)
APART = ContactSettings(bodies=False)


def bone(name="Bone", size=(0.3, 0.1, 0.06), low=(0.0, 0.0, 0.0), solver=None, **fields) -> Body:
    """A rigid box with a corner at ``low``."""
    box = box_surface(size, (2, 2, 2))
    settings = {"solver": "mixed_fem", "tolerance": 1e-9, "max_iterations": 60, "gravity": STILL} | (solver or {})
    return Body(
        name=name,
        surface=SurfaceMesh(box.positions + low, box.triangles),
        materials=MaterialSettings(density=1900.0),
        resolution=ResolutionSettings(method="rigid"),
        solver=SolverSettings(**settings),
        **{"contact": APART} | fields,
    )


def play(*bodies, frames=12, rate=240.0):
    """All frames and the prepared bodies, in the order of their names."""
    job = Job(bodies=bodies, frame_end=frames, frame_rate=rate)
    job.check()
    (jobs,) = grouped_jobs(job)
    prepared = [prepare(each, collides=len(jobs) > 1) for each in jobs]
    return list(simulate_group(jobs, prepared)), prepared


def converged(found) -> bool:
    """True if all steps converged."""
    return all(report.converged for frame in found for report in frame[0].reports)


def momentum(prepared, frame) -> np.ndarray:
    """Momentum and angular momentum about the origin of all bodies together, (2,3)."""
    total = np.zeros((2, 3))
    for each, now in zip(prepared, frame):
        p = each.model.mass @ now.state.velocities
        total += [p.sum(axis=0), np.cross(now.state.positions, p).sum(axis=0)]
    return total


def spun(prepared, omega, v=STILL):
    """A state of a body at rest that turns about its centre of mass and moves."""
    X = prepared.model.mesh.rest_positions
    return prepared.model.state_at(X, np.cross(omega, X - X.mean(axis=0)) + v)


def tumbled(turns, frames, rate, integrator):
    """Rotation matrices (frames,3,3) of a free body that turns at first by ``turns``, rad/s, and its momenta."""
    body = bone(solver={"integrator": integrator})
    job = Job(bodies=body, frame_end=frames, frame_rate=rate)
    prepared = prepare(job)
    first = spun(prepared, turns, (0.3, -0.2, 0.5))
    found = [[first], *simulate_group([job], [prepared], (1, [first]))]
    states = [first, *(frame[0].state for frame in found[1:])]
    X = prepared.model.mesh.rest_positions
    arms = np.linalg.pinv(X - X.mean(axis=0))
    F = [(arms @ (state.positions - state.positions.mean(axis=0))).T for state in states]
    p = np.array([(prepared.model.mass @ state.velocities).sum(axis=0) for state in states])
    return np.array(F), p


def test_a_free_body_tumbles_as_euler_says():
    """Spun about its middle axis, it turns over; the error falls with the square of the step. Momentum is exact."""
    size, spin, time = np.array([0.3, 0.1, 0.06]), np.array([0.3, 9.0, 0.2]), 1.0
    inertia = (size @ size - size**2) / 12.0

    def slope(_t, y):
        q, w = y[:4], y[4:]
        turning = 0.5 * np.array([*(q[3] * w + np.cross(q[:3], w)), -q[:3] @ w])
        return np.concatenate([turning, np.cross(inertia * w, w) / inertia])

    y = solve_ivp(slope, (0.0, time), [0.0, 0.0, 0.0, 1.0, *spin], rtol=1e-10, atol=1e-12).y[:4, -1]
    exact, errors = Rotation.from_quat(y), []
    for rate in (240.0, 480.0):
        F, p = tumbled(spin, int(rate * time) + 1, rate, "bdf2")
        errors.append((exact.inv() * Rotation.from_matrix(F[-1])).magnitude())
        np.testing.assert_allclose(p, np.tile(p[0], (len(p), 1)), atol=1e-9 * np.abs(p).max())
        np.testing.assert_allclose(F @ F.swapaxes(1, 2), np.tile(np.eye(3), (len(F), 1, 1)), atol=1e-4)
    assert errors[0] < 0.04 and errors[1] < 0.28 * errors[0]


def test_limits_are_finite_where_their_points_coincide():
    """A rope of a cone in its middle does not act; a strut there does, but has no direction."""
    mesh = rigid_tet(box_surface())
    points = EmbeddedPoints(embed(np.tile(mesh.rest_positions[:1], (2, 1)), mesh), np.arange(4)[None], 4)
    fixed, X = np.tile(mesh.rest_positions[:1], (2, 1)), mesh.rest_positions
    springs = JointSprings(points, fixed, np.full(2, 3.0), np.array([0.2, 0.2]), np.array([1.0, -1.0]))
    assert springs.value(X) == pytest.approx(0.5 * 3.0 * 0.2**2)
    assert np.isfinite(springs.gradient(X)).all() and np.isfinite(springs.cross_element_hessian(X).matrix(4).data).all()


@pytest.mark.parametrize("solver", ["mixed_fem", "newton", "subspace_mixed_fem"])
def test_a_bone_falls_on_another_and_rests(solver):
    settings = {"solver": solver, "gravity": (0.0, 0.0, -9.81), "tolerance": 1e-6}
    fields = {"solver": settings, "contact": ContactSettings()}
    low = bone("Low", low=(0.0, 0.0, 0.01), colliders=(Ground(height=0.0),), **fields)
    high = bone("High", low=(0.05, 0.02, 0.08), **fields)
    found, prepared = play(low, high, frames=24, rate=60.0)
    shown = [each.surface(now.state.positions) for each, now in zip(prepared, found[-1])]
    assert converged(found)
    gaps = np.array([shown[1][:, 2].min(), shown[0][:, 2].min() - shown[1][:, 2].max()])
    assert (gaps > 0.0).all() and (gaps < 8e-3).all()  # a tenth of the edges
    for body, X in zip((high, low), shown):
        rest = body.surface.positions
        F = np.linalg.lstsq(rest - rest.mean(axis=0), X - X.mean(axis=0), rcond=None)[0]
        np.testing.assert_allclose(F @ F.T, np.eye(3), atol=1e-5)


def test_flesh_that_is_glued_to_a_bone_hangs_from_it():
    """Its weight is the force on the goal that holds the bone; the two have the momentum of both."""
    core = bone(size=(0.2, 0.04, 0.04), low=(0.1, 0.08, 0.08))
    flesh = Body(
        name="Flesh",
        surface=box_surface((0.4, 0.2, 0.2), (4, 2, 2)),
        materials=MaterialSettings(youngs_modulus=5e4),
        resolution=ResolutionSettings(cells_across=6),
        contact=APART,
        ties=(Tie("Bone"),),
        solver=core.solver,
        accelerations=np.repeat([[[0.0, 0.0, 20.0]], [[0.0, 0.0, 0.0]]], [3, 9], axis=0),
    )
    found, prepared = play(core, flesh, rate=24.0)
    assert converged(found)
    moved = [momentum(prepared, frame)[0] for frame in found]
    np.testing.assert_allclose(moved[3:], np.tile(moved[3], (len(moved) - 3, 1)), atol=1e-9 * np.abs(moved[3]).max())
    speeds = [each.model.lumped_masses @ now.state.velocities for each, now in zip(prepared, found[-1])]
    masses = [each.model.masses.sum() for each in prepared]
    assert speeds[0][2] / masses[0] == pytest.approx(moved[-1][2] / sum(masses), rel=0.1)


def test_flesh_beside_a_bone_is_not_glued_to_its_tet():
    """The tet's corners lie outside the bone's surface."""
    flesh = Body(
        name="Flesh",
        surface=SurfaceMesh(box_surface((0.1, 0.1, 0.06)).positions + [0.32, 0.0, 0.0], box_surface().triangles),
        materials=MaterialSettings(),
        resolution=ResolutionSettings(cells_across=4),
        contact=APART,
        ties=(Tie("Bone", distance=1e-3),),
        solver=bone().solver,
    )
    with pytest.raises(TieError, match="joins nothing"):
        play(bone(), flesh)


def turned(prepared, frame) -> np.ndarray:
    """Rotation vector of a rigid body since rest, rad."""
    X, x = prepared.model.mesh.rest_positions, frame.state.positions
    return Rotation.from_matrix((np.linalg.pinv(X - X.mean(axis=0)) @ (x - x.mean(axis=0))).T).as_rotvec()


def gap(prepared, frame, point) -> float:
    """Distance of the places of two bodies where the ``point`` of both was at rest."""
    at = [each.space.points(embed(np.atleast_2d(point), each.model.mesh)) for each in prepared]
    one, other = (points.positions(now.state.positions) for points, now in zip(at, frame))
    return float(np.linalg.norm(one - other))


def test_gradients_and_hessians_are_those_of_the_value():
    rng, mesh = np.random.default_rng(5), rigid_tet(box_surface())
    X = np.concatenate([mesh.rest_positions, mesh.rest_positions + 1.0])
    embedding = Embedding.joined([embed(rng.random((4, 3)), mesh), embed(rng.random((3, 3)), mesh).shifted(1)])
    points = EmbeddedPoints(embedding, np.arange(8).reshape(2, 4), 8)
    k, lengths = rng.uniform(1.0, 2.0, 4), np.array([0.0, 0.3, 5.0, 0.2])
    springs = JointSprings(points, rng.random((1, 3)), k, lengths, np.array([1.0, 1.0, 1.0, 1.0]))
    struts = JointSprings(points, rng.random((1, 3)), k, lengths, np.array([1.0, -1.0, -1.0, -1.0]))
    x, d, eps = X + 0.1 * rng.standard_normal(X.shape), rng.standard_normal(X.shape), 1e-6
    for each in (springs, struts):
        slope = (each.value(x + eps * d) - each.value(x - eps * d)) / (2.0 * eps)
        assert np.sum(each.gradient(x) * d) == pytest.approx(slope, rel=1e-7)
        H = each.cross_element_hessian(x).matrix(8)
        assert np.linalg.eigvalsh(H.toarray()).min() > -1e-12
    shares = rng.standard_normal((6, 4))
    shares -= shares.mean(axis=1, keepdims=True)  # differences of points
    vectors = Embedding(np.repeat([0, 1], [4, 2]).astype(np.int32), shares, np.zeros(6, dtype=bool))
    of_vectors, fixed = EmbeddedPoints(vectors, np.arange(8).reshape(2, 4), 8), rng.standard_normal((1, 2, 3))
    passed = TwistLimits(of_vectors, fixed, k[:2], np.array([2.0, -1.0]), np.array([0.1, 0.2]))
    slope = (passed.value(x + eps * d) - passed.value(x - eps * d)) / (2.0 * eps)
    assert np.sum(passed.gradient(x) * d) == pytest.approx(slope, rel=1e-7)
    # The neglected terms of the Hessian vanish at a twist without excess.
    pairs = np.concatenate([of_vectors.positions(x), fixed[0]]).reshape(-1, 2, 3)
    twist = np.array([np.arctan2(u @ V - v @ U, u @ U + v @ V) for (u, v), (U, V) in zip(pairs[:2], pairs[2:])])
    locked = TwistLimits(of_vectors, fixed, k[:2], twist + 1e-10, np.zeros(2))
    for each in (springs, locked):
        H = each.cross_element_hessian(x).matrix(8)
        change = (each.gradient(x + eps * d) - each.gradient(x - eps * d)) / (2.0 * eps)
        np.testing.assert_allclose((H @ d.ravel()).reshape(-1, 3), change, atol=1e-5)


@pytest.mark.parametrize("solver", ["mixed_fem", "newton", "subspace_mixed_fem"])
@pytest.mark.parametrize("kind", ["hinge", "ball", "weld"])
def test_two_jointed_bodies_keep_their_momentum_and_the_joint(kind, solver):
    pull = np.repeat([[[30.0, 400.0, -200.0]], [[0.0, 0.0, 0.0]]], [4, 8], axis=0)
    a = bone("A", solver={"solver": solver}, accelerations=pull)
    b = bone("B", (0.2, 0.1, 0.06), (0.3, 0.0, 0.0), {"solver": solver}, joints=Joint("A", kind, (0.3, 0.05, 0.03)))
    found, prepared = play(a, b)
    assert converged(found)
    moved = np.array(
        [sum(each.space.lumped_masses @ now.state.velocities for each, now in zip(prepared, frame)) for frame in found]
    )
    np.testing.assert_allclose(moved[5:], np.tile(moved[4], (7, 1)), atol=1e-9 * np.abs(moved[4]).max())
    assert max(gap(prepared, frame, (0.3, 0.05, 0.03)) for frame in found) < 1e-5
    if solver == "mixed_fem":
        one, other = (Rotation.from_rotvec(turned(*each)) for each in zip(prepared, found[-1]))
        apart = (other * one.inv()).as_rotvec()
        assert np.linalg.norm(apart) < 1e-4 if kind == "weld" else np.linalg.norm(apart) > 1e-2
        if kind == "hinge":
            axis = one.apply([0.0, 0.0, 1.0])
            assert np.linalg.norm(apart - (apart @ axis) * axis) < 1e-4


@pytest.mark.parametrize(("limits", "reached"), [((-0.3, 0.4), 0.4), ((-3.0, 0.9), 0.9), ((-0.2, 2.9), None)])
def test_a_hinge_stops_at_its_limits(limits, reached):
    """An arm that falls about y comes to rest at its limit, or hanging down."""
    joint = Joint("", "hinge", (0.0, 0.05, 0.03), (0.0, 1.0, 0.0), limits)
    found, prepared = play(bone(joints=joint, solver={"gravity": (0.0, 0.0, -9.81)}), frames=72, rate=24.0)
    angles = np.array([turned(prepared[0], frame[0])[1] for frame in found])
    assert converged(found)
    assert angles[-1] == pytest.approx(reached or 0.5 * np.pi, abs=2e-3 if reached else 0.1)
    assert limits[0] - 2e-3 < angles.min() and (reached is None or angles.max() < reached + 2e-3)


@pytest.mark.parametrize("cone", [None, (2.0, 0.0, -0.6)])
def test_a_ball_stays_in_its_cone(cone):
    """The middle of the cone need not be the axis at rest."""
    joint = Joint("", "ball", (0.0, 0.05, 0.03), (1.0, 0.0, 0.0), (0.0, 0.5), cone=cone)
    body = bone(joints=joint, solver={"gravity": (0.0, 4.0, -9.81)})
    found, prepared = play(body, frames=72, rate=24.0)
    axis = Rotation.from_rotvec(turned(prepared[0], found[-1][0])).apply([1.0, 0.0, 0.0])
    middle = np.array(cone or (1.0, 0.0, 0.0))
    assert np.arccos(axis @ middle / np.linalg.norm(middle)) == pytest.approx(0.5, abs=2e-3)
    assert axis[1] > 0.0 > axis[2]


@pytest.mark.parametrize(("partner", "offset"), [("", 0.0), ("Base", 0.25)])
def test_a_ball_stops_at_the_limits_of_its_twist(partner, offset):
    """A bone that is held beside its axis twists to a limit, which counts from the offset, and swings to its cone."""
    angles = {"limits": (0.0, 0.5), "twist": (-0.3, 0.4), "offset": (offset, 0.0, 0.0)}
    body = bone(joints=Joint(partner, "ball", (0.0, 0.0, 0.03), (2.0, 0.0, 0.0), **angles), solver={"gravity": FALL})
    base = bone("Base", low=(-0.3, 0.0, 0.0), joints=Joint("", "weld"), solver={"gravity": FALL})
    found, prepared = play(*(base, body) if partner else (body,), frames=30, rate=24.0)
    R = Rotation.from_rotvec([turned(prepared[-1], frame[-1]) for frame in found]).as_matrix()
    twist = np.arctan2(R[:, 2, 1] - R[:, 1, 2], R[:, 1, 1] + R[:, 2, 2]) + offset
    assert converged(found)
    assert twist[-1] == pytest.approx(-0.3, abs=1e-3) and twist.min() > -0.302
    assert np.arccos(R[-1, 0, 0]) == pytest.approx(0.5, abs=2e-3)


def test_moments_of_inertia_are_those_of_the_interior():
    a, b, c = 0.3, 0.1, 0.06
    moments = principal_moments(rigid_tet(box_surface((a, b, c), (2, 2, 2))))
    exact = a * b * c / 12.0 * np.array([b**2 + c**2, a**2 + c**2, a**2 + b**2])
    np.testing.assert_allclose(moments, exact, rtol=1e-12)


def test_a_motor_turns_to_its_keyed_target_and_lets_go():
    frames = 24
    target = np.linspace(0.0, 1.2, frames)
    strength = np.where(np.arange(frames) < 20, 1.0, 0.0)
    joint = Joint("", "hinge", (0.0, 0.05, 0.03), (0.0, 0.0, 2.0), stiffness=1e5, target=target, strength=strength)
    found, prepared = play(bone(joints=joint), frames=frames, rate=24.0)
    angles = np.array([turned(prepared[0], frame[0])[2] for frame in found])
    np.testing.assert_allclose(angles[:20], target[:20], atol=2e-3)
    rest = prepared[0].model.mesh.rest_positions.mean(axis=0)
    speeds = [frame[0].state.velocities.mean(axis=0) for frame in found]
    np.testing.assert_allclose(speeds[21:], np.tile(speeds[20], (3, 1)), atol=1e-9 * np.linalg.norm(speeds[20]))
    assert np.linalg.norm(speeds[20]) == pytest.approx(1.2 / 23.0 * 24.0 * np.hypot(rest[0], rest[1] - 0.05), rel=0.05)


def test_a_motor_of_a_ball_turns_to_its_keyed_rotation():
    """Between frames, the rotation vector is interpolated."""
    frames, axis = 12, np.array([0.2, 0.4, -0.3])
    target = np.linspace(0.0, 1.0, frames)[:, None] * axis
    joint = Joint("", "ball", (0.0, 0.05, 0.03), stiffness=1e6, target=target)
    found, prepared = play(bone(joints=joint), frames=frames, rate=24.0)
    turns = np.array([turned(prepared[0], frame[0]) for frame in found])
    assert converged(found)
    np.testing.assert_allclose(turns, target, atol=2e-3)


def test_a_torsion_spring_has_its_stiffness():
    """Under its weight, the arm turns until the spring's torque balances."""
    for kind, kappa in (("hinge", 40.0), ("ball", 40.0)):
        joint = Joint("", kind, (0.0, 0.05, 0.03), (0.0, 1.0, 0.0), stiffness=kappa)
        settings = {"gravity": (0.0, 0.0, -9.81), "mass_damping": 8.0}
        body = bone(joints=joint, solver=settings)
        found, prepared = play(body, frames=96, rate=24.0)
        angle = turned(prepared[0], found[-1][0])[1]
        torque = 9.81 * prepared[0].model.masses.sum() * 0.15 * np.cos(angle)
        assert kappa * np.sin(angle) == pytest.approx(torque, rel=1e-3)


def test_a_loop_of_four_hinges_moves_as_a_parallelogram():
    """Two rocking bars carry a third one, which stays level: one more hinge than a tree has."""
    axis, down = (0.0, 1.0, 0.0), {"gravity": (3.0, 0.0, -9.81)}
    corners = np.array([(0.0, 0.0, 0.0), (0.4, 0.0, 0.0)])
    legs = [
        bone(f"Leg {k}", (0.04, 0.04, 0.3), at - [0.02, 0.02, 0.3], down, joints=Joint("", "hinge", at, axis))
        for k, at in enumerate(corners)
    ]
    own = tuple(Joint(f"Leg {k}", "hinge", at - [0.0, 0.0, 0.3], axis) for k, at in enumerate(corners))
    found, prepared = play(bone("Bar", (0.4, 0.04, 0.04), (0.0, -0.02, -0.32), down, joints=own), *legs)
    assert converged(found)
    turns = np.array([turned(*each) for each in zip(prepared, found[-1])])
    assert np.abs(turns[0]).max() < 1e-4 < abs(turns[1, 1])
    np.testing.assert_allclose(turns[1], turns[2], atol=1e-4)


def test_a_bone_follows_a_collider_that_it_is_welded_to():
    plate = rising_plate(8)
    found, prepared = play(bone(joints=Joint(plate.name, "weld"), colliders=(plate,)), frames=8, rate=24.0)
    rise = plate.positions[:, 0] - plate.positions[0, 0]
    for frame, up in zip(found, rise):
        moved = frame[0].state.positions - prepared[0].model.mesh.rest_positions
        np.testing.assert_allclose(moved, np.tile(up, (4, 1)), atol=1e-4)


def test_it_resumes_to_the_bit():
    joints = (Joint("", "hinge", (0.0, 0.05, 0.03), (0.0, 1.0, 0.0), (-0.3, 0.2)),)
    settings = {"gravity": (0.0, 0.0, -9.81), "integrator": "bdf2"}
    job = Job(bodies=bone(joints=joints, solver=settings), frame_end=12, frame_rate=24.0)
    prepared = [prepare(job)]
    whole = list(simulate_group([job], prepared))
    again = list(simulate_group([job], prepared, (5, [State.from_arrays(whole[4][0].state.arrays())])))
    for one, other in zip(whole[5:], again):
        assert (one[0].state.positions == other[0].state.positions).all()


def test_what_is_wrong_is_told():
    with pytest.raises(TieError, match="neither a body in the bake nor a collider"):
        play(bone(joints=Joint("C")))
    with pytest.raises(TieError, match="joint with itself"):
        play(bone("B", joints=Joint("B")))
    with pytest.raises(TieError, match="values at 2 frames"):
        play(bone(joints=Joint(target=(0.0, 1.0))))
    for wrong in ({"axis": (0.0, 0.0, 0.0)}, {"position": (0.0, 1.0)}):
        with pytest.raises(TieError, match="position, axis, cone or offset"):
            Joint(**wrong)
    with pytest.raises(TieError, match="limits are not two angles"):
        Joint(limits=(1.0, 0.0))
    with pytest.raises(TieError, match="cone"):
        Joint(kind="ball", limits=(-4.0, -1.0))
    with pytest.raises(TieError, match="twist is not two angles"):
        Joint(kind="ball", twist=(1.0, 0.0))
    for wrong in ({"strength": (-1.0,)}, {"target": np.zeros((1, 3))}):
        with pytest.raises(TieError, match="strength or target"):
            Joint(**wrong)


def test_a_scene_file_describes_them(tmp_path):
    box = box_surface()
    np.savez(tmp_path / "bar.npz", positions=box.positions, triangles=box.triangles)
    scene = 'mesh = "bar.npz"\nframes = [1, 4]\nresolution.method = "rigid"\n[[joint]]\n'
    joint = (
        'kind = "ball"\nposition = [0, 0, 1]\nlimits = [0, 1]\ntwist = [-1, 0.5]\ntarget = [[1, 0, 0, 0], [3, 1, 0, 0]]'
    )
    (tmp_path / "scene.toml").write_text(scene + joint)
    body = read_scene(tmp_path / "scene.toml").body
    (found,) = body.joints
    assert body.is_rigid and (found.kind, found.other, found.position.tolist()) == ("ball", "", [0, 0, 1])
    assert found.target[:, 0].tolist() == [0.0, 0.5, 1.0, 1.0] and found.twist.tolist() == [-1.0, 0.5]
    assert found.strength.tolist() == [1.0]
    (tmp_path / "scene.toml").write_text(f"{scene}box = [0]")
    with pytest.raises(SettingsError, match="Unknown entry “box” in joint 1"):
        read_scene(tmp_path / "scene.toml")


def test_statics_find_where_a_spring_holds_an_arm():
    joint = Joint("", "hinge", (0.0, 0.05, 0.03), (0.0, 1.0, 0.0), stiffness=40.0)
    found, prepared = play(bone(joints=joint, solver={"gravity": (0.0, 0.0, -9.81), "integrator": "statics"}), frames=4)
    angle = turned(prepared[0], found[-1][0])[1]
    torque = 9.81 * prepared[0].model.masses.sum() * 0.15 * np.cos(angle)
    assert converged(found) and 40.0 * np.sin(angle) == pytest.approx(torque, rel=1e-4)


def test_a_driven_bone_is_let_go():
    """A goal moves the bone; without its strength, the bone flies on and falls: a ragdoll."""
    frames, body = 16, bone(solver={"gravity": (0.0, 0.0, -9.81)})
    X = body.surface.positions
    path = X + np.arange(frames)[:, None, None] * [0.05, 0.0, 0.0]
    strength = np.where(np.arange(frames) < 8, 1.0, 0.0)
    goal = Spring("goal", np.arange(len(X)), np.ones(len(X)), path, 1e4 * strength)
    found, prepared = play(replace(body, goal=goal), frames=frames, rate=24.0)
    shown = np.array([prepared[0].surface(frame[0].state.positions) for frame in found])
    np.testing.assert_allclose(shown[:8], path[:8], atol=1e-3)
    time = np.arange(1, 9) / 24.0
    fallen = (shown[8:] - shown[7]).mean(axis=1)
    np.testing.assert_allclose(fallen[:, 0], 1.2 * time, rtol=0.02)
    np.testing.assert_allclose(fallen[:, 2], -0.5 * 9.81 * time * (time + 1.0 / 24.0), atol=5e-3)


def test_a_job_file_keeps_joints(tmp_path):
    joint = Joint("", "ball", (0.1, 0.2, 0.3), (1.0, 1.0, 0.0), (0.0, 0.5), 3.0, np.linspace(0.0, 1.0, 4))
    job = Job(bodies=bone(joints=joint), frame_end=4)
    job.save(tmp_path / "job.npz")
    again = Job.load(tmp_path / "job.npz")
    assert again.fingerprints() == job.fingerprints() and again.body.joints[0].limits.tolist() == [0.0, 0.5]
    moved = job.with_body(joints=replace(joint, position=(0.1, 0.2, 0.4)))
    assert [k for k, v in job.fingerprints().items() if moved.fingerprints()[k] != v] == ["ties"]
