"""Several bodies in one job: each as if alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sinew.core.foundation.errors import SettingsError
from sinew.core.foundation.schema.field_metadata import equal_fields
from sinew.core.foundation.schema.settings import ResolutionSettings, SolverSettings
from sinew.core.jobs.job.body import Body
from sinew.core.jobs.job.job import Job
from sinew.core.jobs.job.job_changes import described
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.simulation.frame_loop.bake import bake_each

from ..jobs import baked, free_box, rising_plate, shaken_bar, surrounded_bar

FRAMES = 4


def three() -> tuple[Job, list[Job]]:
    """A job of three bodies that differ in what they use, and the three jobs of one that it was made of."""
    plate = rising_plate(FRAMES)
    subspace = SolverSettings(solver="subspace_mixed_fem", modes=4, cubature_points=20)
    jobs = [
        surrounded_bar(FRAMES),
        shaken_bar(FRAMES, "newton", substeps=2, integrator="bdf2").with_body(colliders=(plate,)),
        free_box(FRAMES, colliders=(plate,)).with_body(solver=subspace, resolution=ResolutionSettings(cells_across=3)),
    ]
    bodies = tuple(replace(job.body, name=name) for job, name in zip(jobs, "ABC", strict=True))
    return replace(jobs[0], bodies=bodies), jobs


def longer(name: str) -> Body:
    """A body over another number of frames."""
    return replace(shaken_bar(FRAMES + 1).body, name=name)


def test_each_body_of_a_job_has_the_bits_that_it_has_alone():
    together, jobs = three()
    for k, job in enumerate(jobs):
        assert together.alone(k).fingerprints() == job.fingerprints()
        for one, other in zip(baked(together.alone(k)), baked(job), strict=True):
            assert np.array_equal(one, other)


def test_what_bodies_share_is_one_object():
    together, _jobs = three()
    assert together.bodies[1].colliders[0] is together.bodies[2].colliders[0]


def test_a_job_of_several_is_saved_cut_and_prolonged(tmp_path):
    together, jobs = three()
    together.save(tmp_path / "job.npz")
    assert equal_fields(Job.load(tmp_path / "job.npz"), together)
    for k, job in enumerate(jobs):
        assert together.until(2).alone(k).fingerprints() == job.until(2).fingerprints()
        assert together.extended().alone(k).fingerprints() == job.extended().fingerprints()


def test_edits_say_of_which_body():
    together, _jobs = three()
    a, b, c = together.bodies
    faster = replace(together, bodies=(a, replace(b, solver=replace(b.solver, substeps=3)), c))
    assert described(["solver"], together, faster) == ["solver (“B”: substeps 2 → 3)"]
    assert described(["mesh"], together, replace(together, bodies=(a, replace(b, name="D"), c))) == [
        "mesh (“D” is new; “B” was removed)"
    ]
    assert described(["frame range"], together, replace(together, frame_rate=25.0)) == [
        "frame range (frame rate 24 → 25)"
    ]


@pytest.mark.parametrize(
    ("words", "bodies"),
    [
        ("no body", lambda a, b: ()),
        ("Two bodies have the name “A”", lambda a, b: (a, a)),
        ("Two bodies", lambda a, b: (replace(a, name=""), replace(b, name=""))),
        ("“B”: .* has 5 object matrices for 4 frames", lambda a, b: (a, longer("B"))),
    ],
)
def test_bodies_that_do_not_go_together_are_refused(words, bodies):
    together, _jobs = three()
    with pytest.raises(SettingsError, match=words) as raised:
        replace(together, bodies=bodies(*together.bodies[:2]))
    assert raised.value.remedy
    with pytest.raises(SettingsError, match="has 3 bodies"):
        _ = together.body


def test_a_body_is_kept_in_a_folder_of_its_own(tmp_path):
    """Or nothing is touched: not another folder, not a bake that was there."""
    one, two = replace(shaken_bar(2).body, name="one"), replace(shaken_bar(2).body, name="two")
    store = FrameStore.create(tmp_path / "one", Job(bodies=(one,), frame_start=1, frame_end=2, frame_rate=24.0))
    both = Job(bodies=(one, two), frame_start=1, frame_end=2, frame_rate=24.0)
    with pytest.raises(SettingsError, match="2 bodies"):
        FrameStore.create(store.folder, both)
    assert store.exists() and store.job().body.name == "one"
    for name in ("..", "../out", str(tmp_path / "out"), "ONE"):
        job = Job(bodies=(one, replace(two, name=name)), frame_start=1, frame_end=2, frame_rate=24.0)
        with pytest.raises(SettingsError, match="name"):
            bake_each(job, tmp_path / "all")
    assert [each.name for each in tmp_path.iterdir()] == ["one"]
