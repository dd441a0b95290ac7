"""Bodies that meet, baked into stores: each has its own, in lock-step, and goes on with the same bits."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from sinew.core.contact.barrier import barrier_potential
from sinew.core.foundation.errors import ColliderError, SettingsError, StoreError
from sinew.core.foundation.events import ContactWarnings, FrameDone, Mesh, OfBody
from sinew.core.foundation.schema.settings import ContactSettings
from sinew.core.jobs.job.environment import Collider
from sinew.core.jobs.job.groups import groups_of, split_jobs
from sinew.core.jobs.job.job import Job
from sinew.core.jobs.job.pair import PairSettings
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.simulation.frame_loop import compile_kernels
from sinew.core.simulation.frame_loop.bake import bake, bake_each, bake_group

from ..jobs import rising_plate
from .test_group import box

FRAMES = 4
pytestmark = pytest.mark.usefixtures("tetrahedra_here")


def two(**settings) -> Job:
    """A box on a plate that rises, another above it."""
    plate, half = rising_plate(FRAMES), np.array([0.0, 0.0, 0.505])
    plate = Collider("Plate", plate.triangles, plate.positions + half)
    low = box("Low", (0.0, 0.0, 0.01), FRAMES, substeps=2, **settings).with_body(colliders=(plate,))
    high = box("High", (0.02, 0.0, 0.213), FRAMES, substeps=2, **settings)
    return replace(low, bodies=(low.body, high.body))


def stores_of(folder, job: Job) -> tuple[list[Job], list[FrameStore]]:
    jobs = split_jobs(job)
    return jobs, [FrameStore.create(folder / each.body.name, each) for each in jobs]


def positions(stores) -> np.ndarray:
    return np.array([[store.read(frame) for frame in store.frames()] for store in stores])


def test_who_meets_whom():
    """By names, and only where both want to; whoever meets both brings two together."""
    a, b, c = (box(name, (0.0, 0.0, k)).body for k, name in enumerate("CBA"))
    assert groups_of([a, b, c]) == [[2, 1, 0]], "in the order of their names"
    assert groups_of([replace(a, contact_with=("B",)), b, replace(c, contact_with=("B",))]) == [[2, 1, 0]]
    assert groups_of([replace(a, contact_with=("A",)), replace(b, contact_with=("C",)), c]) == [[2, 0], [1]]
    assert groups_of([a, replace(b, contact=ContactSettings(bodies=False)), c]) == [[2, 0], [1]]
    alone = split_jobs(two().alone(1))
    assert alone[0].body.group_members == () and alone[0].body.contact_with is None


@pytest.mark.parametrize("integrator", ("backward_euler", "bdf2", "theta_midpoint"))
def test_resumed_it_has_the_same_bits(tmp_path, integrator):
    """Also where a kill left one store a frame behind, and its newest state damaged."""
    jobs, stores = stores_of(tmp_path / "whole", two(integrator=integrator))
    told = []
    assert bake_group(jobs, stores, told.append) == "done"
    assert [each.number for each in told if isinstance(each, OfBody)] == [0, 1]
    assert sum(isinstance(each, Mesh) for each in told) == 2
    assert [each.frame for each in told if isinstance(each, FrameDone)] == list(range(1, FRAMES + 1))
    whole = positions(stores)
    assert np.ptp(whole[0][:, :, 2].min(axis=1)) > 0.02 and np.ptp(whole[1][:, :, 2].min(axis=1)) > 0.01

    jobs, stores = stores_of(tmp_path / "parts", two(integrator=integrator))
    assert bake_group(jobs, stores, until=3) == "stopped"
    assert all(store.frames() == [1, 2, 3] for store in stores)
    (stores[1].folder / "frame_00003.sinew").unlink(missing_ok=True)
    newest = max(stores[1].folder.glob("frame_*"))
    newest.unlink()
    assert bake_group(jobs, stores, resume=True) == "done"
    np.testing.assert_array_equal(positions(stores), whole)


def test_an_edit_of_one_is_told_of_all(tmp_path):
    job = two()
    jobs, stores = stores_of(tmp_path, job)
    bake_group(jobs, stores, until=2)
    softer = replace(job.bodies[1], materials=(replace(job.bodies[1].materials[0], youngs_modulus=2e4),))
    edited = split_jobs(replace(job, bodies=(job.bodies[0], softer)))
    assert stores[0].changes(edited[0]) == ["collisions (“High”: something of it)"]
    assert stores[1].changes(edited[1])[0].startswith("materials")
    with pytest.raises(StoreError, match="collisions changed"):
        bake_group(edited, stores, resume=True)
    assert all(store.frames() == [1, 2] for store in stores), "nothing is lost"


def test_a_body_that_meets_nothing_is_as_alone(tmp_path):
    """To the bit, also where a job has others that do not meet it; and its bake is known as the same."""
    job = two()
    apart = replace(job, bodies=tuple(replace(body, contact=ContactSettings(bodies=False)) for body in job.bodies))
    assert bake_each(apart, tmp_path / "each") == {"Low": "done", "High": "done"}
    alone = FrameStore.create(tmp_path / "alone", apart.alone(1))
    bake(apart.alone(1), alone)
    np.testing.assert_array_equal(positions([alone]), positions([FrameStore(tmp_path / "each" / "High")]))
    assert bake_each(job, tmp_path / "met") == {"Low": "done", "High": "done"}
    met = positions([FrameStore(tmp_path / "met" / name) for name in ("Low", "High")])
    assert not np.array_equal(met[1], positions([alone])[0]), "it is lifted"


def test_what_does_not_go_together_is_refused_with_both_names(tmp_path):
    job = two()
    for changed, error, words in (
        (
            {"solver": replace(job.bodies[1].solver, substeps=3)},
            SettingsError,
            "“High” and “Low” collide.*substeps 3 → 2",
        ),
        (
            {"solver": replace(job.bodies[1].solver, solver="conjac_published")},
            SettingsError,
            "uses contact with bodies, which ConJac \\(As Published\\) cannot",
        ),
        ({"surface": job.bodies[0].surface}, ColliderError, "“High”.*“Low”|“Low”.*“High”"),
    ):
        bodies = job.bodies[0], replace(job.bodies[1], **changed)
        ended = bake_each(replace(job, bodies=bodies), tmp_path)
        assert isinstance(ended["High"], error) and ended["Low"] is ended["High"], ended
        assert re.search(words, ended["High"].message) and ended["High"].remedy


def test_a_pair_with_what_was_removed_is_told_and_does_nothing(tmp_path):
    """Tried on bodies in contact, and on one that is alone since; with a plate as its collider it is at rest."""
    job, pairs = two().until(2), (PairSettings("Gone", 0.1), PairSettings("Plate", 0.2), PairSettings("High", 0.3))
    job = replace(job, bodies=(replace(job.bodies[0], pairs=pairs), job.bodies[1]))
    for alone, names in ((job, ["Gone"]), (replace(job, bodies=job.bodies[:1]), ["Gone", "High"])):
        told = []
        jobs, stores = stores_of(tmp_path / str(len(names)), alone)
        assert bake_group(jobs, stores, told.append) == "done"
        said = [
            words for each in told if isinstance(each, ContactWarnings) for words in each.warnings if "pair" in words
        ]
        assert [words.partition(", with which it never collides")[0] for words in said] == [
            f"“Low” has a pair with “{name}”" for name in names
        ]


def test_without_the_library_of_contact(tmp_path, monkeypatch):
    """A body with contact reports the missing library; one without contact is baked."""
    monkeypatch.setattr(barrier_potential, "MISSING", "No module named 'ipctk'")
    monkeypatch.setattr(compile_kernels, "MISSING", "No module named 'ipctk'")
    job = two()
    apart = [replace(body, contact=ContactSettings(bodies=False), colliders=()) for body in job.bodies]
    on_plate = replace(job.bodies[0], name="On a plate", contact=ContactSettings(bodies=False))
    ended = bake_each(replace(job, bodies=(*apart, on_plate)), tmp_path)
    assert ended["Low"] == ended["High"] == "done"
    assert isinstance(ended["On a plate"], ColliderError) and "needs ipctk" in ended["On a plate"].message
    assert "Install Sinew again" in ended["On a plate"].remedy
