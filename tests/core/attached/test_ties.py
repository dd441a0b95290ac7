"""Bodies that are tied move together, slide along each other, come apart when they should, and keep their momentum."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sinew.benchmarks.bodies import block
from sinew.core.contact.barrier.barrier_potential import Barrier
from sinew.core.contact.barrier.collision_mesh import CollisionMesh, TiedRegion
from sinew.core.foundation.errors import SettingsError, TieError
from sinew.core.foundation.schema.settings import ContactSettings, MaterialSettings, ResolutionSettings
from sinew.core.foundation.schema.solver_kinds import SOLVER_KINDS
from sinew.core.geometry.mesh.embedding import Embedding, embed
from sinew.core.geometry.mesh.surface_depth import SurfaceDepth
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.jobs.job.environment import Collider
from sinew.core.jobs.job.groups import groups_of
from sinew.core.jobs.job.job import Job
from sinew.core.jobs.job.tie import Tie
from sinew.core.mechanics.forces.embedded_points import EmbeddedPoints
from sinew.core.mechanics.forces.step_potential import Motion
from sinew.core.mechanics.ties.glue import Glue
from sinew.core.mechanics.ties.slide import Slide
from sinew.core.methods.model.state import State
from sinew.core.simulation.frame_loop.group import simulate_group
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import box_surface, free_box, rising_plate

CLEAN = ResolutionSettings(method="clean", cells_across=4)
KINDS = [kind.name for kind in SOLVER_KINDS.values() if kind.supports_contact]
STILL = (0.0, 0.0, 0.0)


def box(name: str, x: float, frames: int = 6, ties=(), **solver) -> Job:
    """A free box of 0.2 m whose lower corner is at x; boxes 0.2 m apart touch."""
    job = free_box(frames, solver={"max_iterations": 60, "tolerance": 1e-8, **solver})
    surface = SurfaceMesh(job.body.surface.positions + [x, 0.0, 0.0], job.body.surface.triangles)
    return job.with_body(name=name, surface=surface, resolution=CLEAN, ties=ties, contact=ContactSettings(bodies=False))


def pulled(job: Job, acceleration) -> Job:
    """The job, with its body accelerated for the first two frames."""
    pull = np.zeros((job.frame_count, 1, 3))
    pull[:2] = acceleration
    return job.with_body(accelerations=pull)


def frames_of(jobs, prepared=None, start=None):
    """All frames, and the prepared bodies."""
    prepared = prepared or [prepare(job, collides=len(jobs) > 1) for job in jobs]
    return list(simulate_group(jobs, prepared, start)), prepared


def points_at(prepared, points, frame) -> np.ndarray:
    """Positions at a frame of points at rest that move with a body."""
    return prepared.space.points(embed(np.atleast_2d(points), prepared.model.mesh)).positions(frame.state.positions)


def widest_gap(jobs, prepared, frame) -> float:
    """Largest distance of the vertices of the first box's face x = 0.2 from where the second one carries them."""
    rest = jobs[0].body.surface.positions
    face = rest[np.isclose(rest[:, 0], 0.2)]
    one, other = (points_at(each, face, now) for each, now in zip(prepared, frame))
    return float(np.linalg.norm(one - other, axis=1).max())


@pytest.mark.parametrize("kind", ["glue", "slide"])
def test_gradients_and_hessians_are_those_of_the_value(kind):
    rng, one, two = np.random.default_rng(3), block((2, 2, 2), (1.0, 1.0, 1.0)), block((3, 2, 2), (1.0, 1.0, 1.0))
    X = np.concatenate([one.rest_positions, two.rest_positions + [1.0, 0.0, 0.0]])
    tets = np.concatenate([one.tets, two.tets + len(one.rest_positions)])
    points = np.column_stack([np.zeros(9), *rng.uniform(0.1, 0.9, (2, 9))])
    corners = np.stack(np.meshgrid(0.0, [0.0, 0.5, 1.0], [0.0, 0.5, 1.0], indexing="ij"), -1).reshape(-1, 3)
    other = embed(points if kind == "glue" else corners, two)
    both = EmbeddedPoints(
        Embedding.joined([embed(points + [1.0, 0.0, 0.0], one), other.shifted(len(one.tets))]), tets, len(X)
    )
    x, k = X + 0.03 * rng.standard_normal(X.shape), rng.uniform(1.0, 2.0, 9)
    if kind == "glue":
        tie = Glue(both, k)
    else:
        low = np.array([0, 1, 3, 4])[:, None]
        triangles = np.concatenate([low + [0, 3, 1], low + [1, 3, 4]])
        tie = Slide(both, triangles, k, np.full(9, 0.01)).begin(Motion(x, x, 0.1))
    g, d, eps = tie.gradient(x), rng.standard_normal(X.shape), 1e-6
    slope = (tie.value(x + eps * d) - tie.value(x - eps * d)) / (2.0 * eps)
    assert np.sum(g * d) == pytest.approx(slope, rel=1e-7)
    H = tie.cross_element_hessian(x).matrix(len(X))
    np.testing.assert_allclose(
        (H @ d.ravel()).reshape(-1, 3), (tie.gradient(x + eps * d) - tie.gradient(x - eps * d)) / (2.0 * eps), atol=1e-7
    )
    assert sp.linalg.norm(H - H.T) < 1e-12 and np.linalg.eigvalsh(H.toarray()).min() > -1e-12
    assert np.abs(g.sum(axis=0)).max() < 1e-13  # the forces on the two bodies cancel


@pytest.mark.parametrize("solver", KINDS)
def test_glued_boxes_move_as_one(solver):
    """A push on one carries the other along; together they keep momentum and turning momentum."""
    modes = {"modes": 8} if SOLVER_KINDS[solver].takes_modes else {}
    settings = {"solver": solver, "gravity": STILL, **modes}
    jobs = [pulled(box("A", 0.0, **settings), (0.0, 24.0, 6.0)), box("B", 0.2, ties=(Tie("A"),), **settings)]
    found, prepared = frames_of(jobs)
    masses = [each.space.lumped_masses for each in prepared]
    momenta = np.array([[m @ now.state.velocities for m, now in zip(masses, frame)] for frame in found])
    np.testing.assert_allclose(
        momenta[3:].sum(axis=1), np.tile(momenta[2].sum(axis=0), (len(found) - 3, 1)), atol=1e-6 * np.abs(momenta).max()
    )
    assert momenta[-1, 1, 1] > 0.2 * momenta[2, :, 1].sum()
    assert max(widest_gap(jobs, prepared, frame) for frame in found) < 2e-3 * 0.2
    if solver not in ("linearly_implicit", "multilevel_published"):
        assert all(report.converged for frame in found for report in frame[0].reports)


def test_a_tie_that_lets_go_leaves_two_bodies():
    """Without strength from frame 3 on, each moves as by itself from the state that it then has."""
    strength = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    jobs = [pulled(box("A", 0.0), (0.0, 24.0, 6.0)), box("B", 0.2, ties=(Tie("A", strength=strength),))]
    found, prepared = frames_of(jobs)
    assert widest_gap(jobs, prepared, found[2]) < 4e-4 < widest_gap(jobs, prepared, found[-1])
    for k, job in enumerate(jobs):
        own = [job.with_body(ties=())]
        alone, _ = frames_of(own, [prepared[k]], (4, [replace(found[3][k].state, colliders=None)]))
        for frame, single in zip(found[4:], alone):
            np.testing.assert_allclose(frame[k].state.positions, single[0].state.positions, atol=1e-12)


def test_a_tie_breaks_under_its_stress_and_resumes_to_the_bit():
    hard, jobs = {}, []
    for stress in (1e7, 2e3):
        tie = Tie("A", breaking_stress=stress)
        jobs = [pulled(box("A", 0.0, 8), (-90.0, 0.0, 0.0)), box("B", 0.2, 8, ties=(tie,))]
        hard[stress], prepared = frames_of(jobs)
    assert widest_gap(jobs, prepared, hard[1e7][-1]) < 2e-3 < widest_gap(jobs, prepared, hard[2e3][-1])
    broken = hard[2e3][3][0].state.broken
    assert 0.0 < broken.mean() and not hard[1e7][-1][0].state.broken.any()
    at = [State.from_arrays(frame.state.arrays()) for frame in hard[2e3][3]]
    again, _ = frames_of(jobs, start=(jobs[0].frame_start + 3, at))
    for frame, other in zip(hard[2e3][4:], again):
        assert all((a.state.positions == b.state.positions).all() for a, b in zip(frame, other))


def test_painted_weights_choose_where_it_acts():
    """Tied along its lower edge, a box opens like a lid."""
    X = box("B", 0.2).body.surface.positions
    jobs = [
        pulled(box("A", 0.0), (-240.0, 0.0, 0.0)),
        box("B", 0.2, ties=(Tie("A", weights=(X[:, 2] == 0.0).astype(float)),)),
    ]
    found, prepared = frames_of(jobs)
    low, high = (
        np.linalg.norm(np.subtract(*(points_at(each, at, now) for each, now in zip(prepared, found[3]))))
        for at in ([0.2, 0.1, 0.0], [0.2, 0.1, 0.2])
    )
    assert 10.0 * low < high


@pytest.mark.parametrize("method", ["lattice", "clean"])
def test_glued_bodies_collide_away_from_the_tie(method):
    """A soft post on one end of a slab is pushed over, and falls on the slab; without contact it passes through."""
    jobs = []
    for name, size, low in (("Slab", (0.6, 0.2, 0.1), (0.0, 0.0, -0.1)), ("Post", (0.1, 0.1, 0.4), (0.0, 0.05, 0.0))):
        surface = box_surface(size, tuple(round(each / 0.05) for each in size))
        ones = np.ones((len(surface.positions), 1))
        surface = SurfaceMesh(surface.positions + low, surface.triangles)
        job = free_box(12, solver={"max_iterations": 60, "gravity": STILL})
        job = job.with_body(name=name, surface=surface, material_weights=ones, stiffness_maps=ones)
        resolution = ResolutionSettings(method=method, cells_across=4)
        jobs.append(job.with_body(materials=(MaterialSettings("Foam", 1e4),), resolution=resolution))
    push = np.tile([60.0, 0.0, -40.0], (12, 1, 1))
    jobs[1] = jobs[1].with_body(accelerations=push, ties=(Tie("Slab"),))
    away, slab, depths = jobs[1].body.surface.positions[:, 2] > 0.1, jobs[0].body.surface.triangles, []
    for collides in (False, True):
        found, prepared = frames_of([job.with_body(contact=ContactSettings(bodies=collides)) for job in jobs])
        shown = [[each.surface(now.state.positions) for each, now in zip(prepared, frame)] for frame in found]
        depths.append(max(SurfaceDepth(SurfaceMesh(low, slab)).at(post[away]).max() for low, post in shown))
    assert all(report.converged for frame in found for report in frame[0].reports)
    assert depths[0] > 0.02 and depths[1] < 0.0


@pytest.mark.parametrize("method", ["lattice", "clean"])
@pytest.mark.parametrize("breaks", [False, True])
def test_bodies_collide_where_their_glue_has_let_go(method, breaks):
    """A box on another one is pressed on after its glue is keyed off; one below a plate is thrown back at it."""
    frames, up = 12, -0.2 if breaks else 0.2
    strength = np.ones(frames)
    strength[0 if breaks else 5 :] = float(breaks)
    push = np.tile([0.0, 0.0, 60.0 if breaks else -20.0], (frames, 1, 1))
    push[:4] = [0.0, 0.0, -60.0 if breaks else -20.0]
    job = free_box(frames, solver={"max_iterations": 60, "gravity": STILL})
    job = job.with_body(resolution=ResolutionSettings(method=method, cells_across=4))
    X, triangles = job.body.surface.positions, job.body.surface.triangles
    moved = {"name": "Moved", "surface": SurfaceMesh(X + [0.0, 0.0, up], triangles), "accelerations": push}
    tie = Tie("Held", breaking_stress=3e3 if breaks else 0.0, strength=strength)
    if breaks:
        held = Collider("Held", triangles, X[None])
        jobs = [job.with_body(**moved, ties=(tie,), colliders=(held,))]
    else:
        low = np.flatnonzero(X[:, 2] == 0.0)
        kept = {"pinned_vertices": low, "pin_positions": X[low], "pin_held": np.ones((frames, len(low)), dtype=bool)}
        jobs = [job.with_body(**kept, name="Held"), job.with_body(**moved, ties=(tie,))]
    found, prepared = frames_of(jobs)
    gap = 2.0 * 0.1 * 0.07  # two contact distances, with mean edges of at most 0.07 m
    for frame in found:
        shown = [each.surface(now.state.positions) for each, now in zip(prepared, frame)]
        still = SurfaceDepth(SurfaceMesh(X if breaks else shown[0], triangles))
        assert still.at(shown[-1]).max() < gap
    reports = [report for frame in found for report in frame[0].reports]
    assert all(report.converged for report in reports) and max(report.contacts for report in reports) > 0
    assert breaks or not any(report.contacts for report in reports[:4])  # no force while the glue holds
    at = [State.from_arrays(now.state.arrays()) for now in found[7]]
    again, _ = frames_of(jobs, start=(jobs[0].frame_start + 7, at))
    for frame, other in zip(found[8:], again):
        assert all((a.state.positions == b.state.positions).all() for a, b in zip(frame, other))


@pytest.mark.parametrize("slides", [False, True])
def test_tied_regions_do_not_collide(slides):
    """Tied vertices of two triangles collide with other vertices only, and not at all if the tie slides."""
    faces = np.array([[0, 1, 2], [3, 4, 5]])
    X = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    bodies, none = np.repeat([0, 1], 3), np.zeros(6, dtype=bool)
    surfaces = CollisionMesh(np.concatenate([X, X + [0.0, 0.0, 1.0]]), faces, bodies, none)
    y = np.concatenate([X, X[[1, 2, 0]] + [0.0, 0.0, 0.1]])
    for region, collides in (([0, 3], True), (range(6), False), ([0, 1, 2], not slides)):
        vertices = np.isin(np.arange(6), region)
        tied = surfaces._replace(tied_regions=(TiedRegion((0, 1), vertices, slides),))
        found = Barrier(tied, 0.2, 1.0, 0.0, 1.0).collision_count(y)
        assert (found > 0) == collides, region


def test_a_body_follows_a_collider_that_it_is_glued_to():
    """A plate that rises carries the box hanging from it, and does not collide with it."""
    frames = 8
    plate = rising_plate(frames)
    top = plate.positions[0, :, 2].max()
    job = box("A", 0.0, frames, gravity=STILL)
    rest = job.body.surface.positions
    surface = SurfaceMesh(rest + [0.0, 0.0, top - rest[:, 2].min()], job.body.surface.triangles)
    job = job.with_body(surface=surface, colliders=(plate,), ties=(Tie(plate.name),))
    found, _ = frames_of([job])
    lowest = [frame[0].state.positions[:, 2].min() for frame in found]
    np.testing.assert_allclose(lowest, plate.positions[: len(lowest), :, 2].max(axis=1), atol=2e-3)


def test_a_body_slides_along_a_collider_of_many_faces_as_if_it_fell_freely():
    """Gravity along the rail: the box does not collide with faces that it reaches later."""
    frames, h, g = 8, 1.0 / 24.0, 3.0
    along = np.arange(-0.3, 0.8, 0.1)
    ends = [np.column_stack([along, np.full(len(along), y), np.zeros(len(along))]) for y in (-0.1, 0.3)]
    low, n = np.arange(len(along) - 1), len(along)
    triangles = np.concatenate(
        [np.column_stack([low, low + 1, low + n]), np.column_stack([low + 1, low + 1 + n, low + n])]
    )
    rail = Collider("Rail", triangles, np.concatenate(ends)[None])
    job = box("A", 0.0, frames, gravity=(g, 0.0, 0.0), integrator="backward_euler")
    job = job.with_body(colliders=(rail,), ties=(Tie("Rail", "slide"),))
    lowest = job.body.surface.positions[:, 2].min()
    surface = SurfaceMesh(job.body.surface.positions - [0.0, 0.0, lowest], job.body.surface.triangles)
    found, _ = frames_of([job.with_body(surface=surface)])
    x = np.array([frame[0].state.positions[:, 0].mean() for frame in found])
    steps = np.arange(len(x))
    np.testing.assert_allclose(x - x[0], 0.5 * g * h * h * steps * (steps + 1), atol=1e-3 * x.max())


def test_what_is_wrong_is_told():
    jobs = [box("A", 0.0), box("B", 0.5, ties=(Tie("A"),))]
    with pytest.raises(TieError, match="joins nothing: no part of the surface is near “A” at rest"):
        frames_of(jobs)
    with pytest.raises(TieError, match="neither a body in the bake nor one of its colliders"):
        frames_of([box("B", 0.0, ties=(Tie("C"),))])
    with pytest.raises(TieError, match="is tied to itself"):
        box("B", 0.0, ties=(Tie("B"),))
    with pytest.raises(TieError, match="weights of shape"):
        box("B", 0.0, ties=(Tie("A", weights=np.ones(3)),))
    with pytest.raises(TieError, match="strength at 2 frames"):
        box("B", 0.0, ties=(Tie("A", strength=np.array([1.0, 0.5])),))
    with pytest.raises(TieError, match="negative or not a number"):
        Tie("A", strength=np.array([-1.0]))
    with pytest.raises(TieError, match="does not name"):
        Tie("")
    with pytest.raises(SettingsError, match="“A” and “B” are baked together, but differ in frame range"):
        frames_of([box("A", 0.0, 8), box("B", 0.2, 6, ties=(Tie("A"),))])


def test_tied_bodies_are_one_group():
    bodies = [box("A", 0.0).body, box("B", 0.2, ties=(Tie("A"),)).body, box("C", 0.9).body]
    assert groups_of(bodies) == [[0, 1], [2]]
