"""Muscles of jobs: they contract in every solver, between painted ends and along curves, alone and in a group."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sinew.core.foundation.errors import MaterialError, SettingsError
from sinew.core.foundation.schema.muscle_settings import MuscleSettings
from sinew.core.foundation.schema.settings import MaterialSettings, ResolutionSettings, SolverSettings
from sinew.core.foundation.schema.solver_kinds import SOLVER_KINDS
from sinew.core.jobs.job.body import Body
from sinew.core.jobs.job.job import Job
from sinew.core.jobs.job.muscle import FibreCurve, Muscle, overlap_words
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.mechanics.fibres.registry import LAWS
from sinew.core.simulation.frame_loop.bake import bake
from sinew.core.simulation.frame_loop.group import simulate_group
from sinew.core.simulation.frame_loop.live import LiveBody
from sinew.core.simulation.frame_loop.single_body import simulate_body
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import baked, box_surface

FRAMES = 12
RISING = np.clip(np.arange(FRAMES) / 6.0, 0.0, 1.0)
FLESH, USUAL = MaterialSettings("Flesh", 3e4), MuscleSettings()


def ends(X):
    length = X[:, 0].max()
    return {
        "origin": np.flatnonzero(X[:, 0] < 1e-6),
        "insertion": np.flatnonzero(X[:, 0] > length - 1e-6),
    }


def arm(solver="mixed_fem", activation=RISING, materials=(FLESH,), settings=USUAL, frames=FRAMES, **options) -> Job:
    """A bar, held at one end, that is a muscle between its ends."""
    surface = box_surface()
    X = surface.positions
    own = {"muscles": (Muscle(0, settings, activation, **ends(X)),)} | options
    nodes = np.flatnonzero(X[:, 0] > 0.4 - 1e-6)
    body = Body(
        surface=surface,
        materials=materials,
        pinned_vertices=np.flatnonzero(X[:, 0] < 1e-6),
        resolution=ResolutionSettings(cells_across=8),
        solver=SolverSettings(solver=solver, gravity=(0.0, 0.0, 0.0), modes=8, max_iterations=40, mass_damping=4.0),
        dynamic_nodes=nodes if SOLVER_KINDS[solver].takes_nodes else (),
        **own,
    )
    return Job(bodies=(body,), frame_end=frames)


def length(X):
    return np.ptp(X[:, 0])


@pytest.mark.parametrize("solver", SOLVER_KINDS)
def test_a_muscle_contracts_and_bulges(solver):
    found = baked(arm(solver))
    rest, last = found[0], found[-1]
    assert 0.6 < length(last) / length(rest) < 0.9
    assert np.ptp(last[:, 2]) > 1.03 * np.ptp(rest[:, 2])


def test_a_relaxed_muscle_rests():
    found = baked(arm(activation=np.zeros(FRAMES)))
    assert np.abs(found[-1] - found[0]).max() < 1e-9


@pytest.mark.parametrize("name", LAWS)
def test_a_muscle_may_fire_in_one_frame(name):
    """From 0 to 1 within a frame, in one substep."""
    activation = np.where(np.arange(FRAMES) > 0, 1.0, 0.0)
    prepared = prepare(job := arm(activation=activation, settings=MuscleSettings(law=name, strength=3e5)))
    frames = list(simulate_body(job, prepared))
    assert all(report.converged for frame in frames for report in frame.reports)
    first, last = (prepared.surface(frame.state.positions) for frame in (frames[0], frames[-1]))
    assert length(last) < 0.85 * length(first)


def test_a_curve_with_a_radius_makes_the_muscle():
    """Inside the tube is muscle, along the curve; its free half bends towards it."""
    line = FibreCurve([[0.0, 0.05, 0.075], [0.4, 0.05, 0.075]], [0.03, 0.03])
    job = arm(
        muscles=(Muscle(1, MuscleSettings(strength=3e5), RISING, curves=(line,)),),
        materials=(FLESH, MaterialSettings("Muscle", 3e4)),
    )
    found = baked(job)
    assert found[-1][:, 2].max() > found[0][:, 2].max() + 0.03


def test_bodies_in_a_group_move_as_alone():
    one = arm()
    far = replace(one.body.surface, positions=one.body.surface.positions + [0.0, 5.0, 0.0])
    jobs = [one.with_body(name="one"), one.with_body(name="two", surface=far, pin_positions=None)]
    prepared = [prepare(job, collides=True) for job in jobs]
    together = list(simulate_group(jobs, prepared))[-1]
    alone = baked(one)[-1]
    for body, frame, offset in zip(prepared, together, (0.0, 5.0)):
        surface = body.surface(frame.state.positions, FRAMES - 1)
        np.testing.assert_allclose(surface - [0.0, offset, 0.0], alone, atol=1e-4)


def test_a_resumed_bake_has_the_same_bits(tmp_path):
    job = arm(frames=6, activation=RISING[:6])
    whole, stopped = (FrameStore.create(tmp_path / name, job) for name in ("whole", "stopped"))
    assert bake(job, whole) == "done"
    seen = []
    assert bake(job, stopped, seen.append, lambda: sum(e.kind == "frame" for e in seen) == 3) == "stopped"
    assert bake(job, stopped, resume=True) == "done"
    assert all(np.array_equal(stopped.read(k), whole.read(k)) for k in whole.frames())


@pytest.mark.parametrize("solver", ["mixed_fem", "subspace_mixed_fem"])
def test_the_activation_is_set_while_live(solver):
    job = arm(solver, activation=[0.0]).extended()
    live = LiveBody(job, prepared := prepare(job))
    rest = prepared.surface(live.reset().state.positions)
    live.set_stiffness(activation=[1.0])
    for _ in range(10):
        frame = live.advance([])
    assert length(prepared.surface(frame.state.positions)) < 0.9 * length(rest)
    live.set_stiffness()
    for _ in range(20):
        frame = live.advance([])
    assert length(prepared.surface(frame.state.positions)) > 0.97 * length(rest)
    with pytest.raises(SettingsError, match="activation"):
        live.set_stiffness(activation=[1.5])


def test_a_subspace_contains_the_contraction():
    """With every element a cubature point, within 3 % of the full space at activations that are no modes."""
    for activation in (0.45, 0.8):
        rising = np.minimum(np.arange(40) / 10.0, 1.0) * activation
        found = {}
        for solver in ("mixed_fem", "subspace_mixed_fem"):
            job = arm(solver, activation=rising, frames=40)
            still = replace(job.body.solver, cubature_points=100_000, match_full_space=False, max_iterations=60)
            found[solver] = baked(job.with_body(solver=still))
        full, reduced = (each[-1] for each in found.values())
        rest = found["mixed_fem"][0]
        assert np.abs(reduced - full).max() <= 0.03 * np.abs(full - rest).max()


def test_few_cubature_points_hold_the_contraction():
    """A bar that bends by a muscle in its upper half, with 160 points, within 6 % of the full space; nothing matches
    its vibrations, since the cubature is fitted.
    """
    line = FibreCurve([[0.0, 0.05, 0.075], [0.4, 0.05, 0.075]], [0.03, 0.03])
    options = {
        "muscles": (Muscle(1, MuscleSettings(strength=3e5), RISING, curves=(line,)),),
        "materials": (FLESH, MaterialSettings("Muscle", 3e4)),
    }
    full, reduced = (arm(solver, **options) for solver in ("mixed_fem", "subspace_mixed_fem"))
    found = prepare(reduced)
    assert len(found.subspace.parts.elements) <= 200 and found.matching is None
    x, y = baked(full)[-1], baked(reduced)[-1]
    assert np.abs(y - x).max() <= 0.06 * np.abs(x - full.body.surface.positions).max()


def test_many_muscles_share_activation_modes():
    """A bar with 14 muscles of one law, which contract together in a subspace as in the full space, within 15 %."""
    count, x = 14, (np.arange(14) + 0.5) * 0.4 / 14
    lines = [FibreCurve([[a - 0.012, 0.05, 0.07], [a + 0.012, 0.05, 0.07]], [0.03, 0.03]) for a in x]
    options = {
        "muscles": tuple(
            Muscle(k + 1, MuscleSettings(strength=3e5), RISING, curves=(line,)) for k, line in enumerate(lines)
        ),
        "materials": (FLESH, *(replace(FLESH, name=f"Muscle {k}") for k in range(count))),
    }
    full, reduced = (arm(solver, **options) for solver in ("mixed_fem", "subspace_mixed_fem"))
    x, y = baked(full)[-1], baked(reduced)[-1]
    assert np.abs(y - x).max() <= 0.15 * np.abs(x - full.body.surface.positions).max()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"origin": ()}, "no origin"),
        ({"insertion": ()}, "no insertion"),
        ({"insertion": "origin"}, "belongs to its origin and its insertion"),
        ({"activation": np.full(FRAMES, 1.5)}, "outside 0 to 1"),
        ({"activation": np.linspace(0.0, 1.0, 3)}, "activation at 3 frames"),
        ({"map": np.full(5, 1.0)}, "activation map"),
        ({"map": "nan"}, "outside 0 to 1"),
        ({"material": 3}, "does not exist"),
    ],
)
def test_bad_muscles_are_refused(change, words):
    job = arm()
    X, muscle = job.body.surface.positions, job.body.muscles[0]
    values = dict(change)
    if values.get("insertion") == "origin":
        values["insertion"] = muscle.origin
    if isinstance(values.get("map"), str):
        values["map"] = np.full(len(X), np.nan)
    with pytest.raises(MaterialError, match=words):
        job.with_body(muscles=(replace(muscle, **values),))


def test_an_unknown_law_is_refused():
    with pytest.raises(MaterialError, match="Unknown fibre law “steel”"):
        arm(settings=MuscleSettings(law="steel")).check()


def test_two_muscles_of_one_material_are_refused():
    job = arm()
    with pytest.raises(MaterialError, match="Two muscles use the material"):
        job.with_body(muscles=job.body.muscles * 2)


def test_muscles_in_one_place_are_told():
    """Two along each other overlap, two that cross or touch do not."""
    first = FibreCurve([[0.0, 0.05, 0.05], [0.4, 0.05, 0.05]], [0.02, 0.02])
    materials = (FLESH, replace(FLESH, name="Biceps"), replace(FLESH, name="Other"))
    cases = {
        "along": FibreCurve([[0.1, 0.06, 0.05], [0.5, 0.06, 0.05]], [0.01, 0.01]),
        "beside": FibreCurve([[0.0, 0.09, 0.05], [0.4, 0.09, 0.05]], [0.02, 0.02]),
        "across": FibreCurve([[0.2, -0.1, 0.05], [0.2, 0.2, 0.05]], [0.02, 0.02]),
    }
    said = {
        name: overlap_words((Muscle(1, curves=(first,)), Muscle(2, curves=(line,))), materials)
        for name, line in cases.items()
    }
    assert said["along"] == (
        "The muscles “Biceps” and “Other” overlap: the lower in the list of materials gets the flesh."
    )
    assert said["beside"] == said["across"] == ""


def test_a_muscle_whose_fibres_cancel_is_refused():
    """A tube thinner than a cell, whose material fills no element."""
    line = FibreCurve([[0.02, 0.052, 0.053], [0.38, 0.052, 0.053]], [0.0005, 0.0005])
    job = arm(muscles=(Muscle(1, curves=(line,)),), materials=(FLESH, replace(FLESH, name="Biceps")))
    job = job.with_body(resolution=ResolutionSettings(cells_across=3))
    with pytest.raises(MaterialError, match="“Biceps” contains no (element|tetrahedron).*thicker"):
        list(simulate_body(job, prepare(job)))


def test_a_curve_outside_the_body_is_refused():
    line = FibreCurve([[0.0, 1.0, 1.0], [0.4, 1.0, 1.0]], [0.01, 0.01])
    job = arm(muscles=(Muscle(1, curves=(line,)),), materials=(FLESH, replace(FLESH, name="Biceps")))
    with pytest.raises(MaterialError, match="“Biceps”.*no tetrahedron"):
        prepare(job)
