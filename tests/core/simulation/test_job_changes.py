"""What was edited between two jobs is named as an artist knows it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sinew.core.materials.layer import Layer
from sinew.core.model.settings import Ground, MaterialSettings
from sinew.core.simulation.frame_store import FrameStore
from sinew.core.simulation.job_changes import MOST, described
from sinew.core.simulation.surroundings import Collider, Spring

from .jobs import shaken_bar


@pytest.fixture(scope="module")
def job():
    """A bar of two materials with a spring, a ground and a collider."""
    bar = shaken_bar(frames=4)
    n, frames = len(bar.surface.positions), bar.frame_count
    spring = Spring("Hand", np.array([0]), np.ones(1), np.zeros((frames, 1, 3)), np.full(frames, 5.0))
    floor = Collider("Floor", np.array([[0, 1, 2]]), np.eye(3)[None])
    return replace(
        bar,
        materials=(MaterialSettings(name="Flesh"), MaterialSettings(name="Bone", youngs_modulus=1e9)),
        material_weights=np.ones((n, 2)),
        stiffness_maps=np.zeros((n, 2)),
        springs=(spring,),
        colliders=(floor,),
        ground=Ground(),
    )


def later(array, frame):
    changed = np.array(array)
    changed[frame:] += 0.5
    return changed


EDITS = {
    "a material's number": (
        lambda j: {"materials": (j.materials[0], replace(j.materials[1], youngs_modulus=2e9))},
        ["materials (“Bone”: stiffness 1 GPa → 2 GPa)"],
    ),
    "a map": (
        lambda j: {"material_weights": j.material_weights * [1.0, 0.5]},
        ["materials (map of “Bone”)"],
    ),
    "a stiffness map": (
        lambda j: {"stiffness_maps": j.stiffness_maps + [1.0, 0.0]},
        ["materials (stiffness map of “Flesh”)"],
    ),
    "a region": (
        lambda j: {"layers": (Layer(1, surfaces=(j.surface,)),)},
        ["materials (place of “Bone”)"],
    ),
    "keyed stiffness": (
        lambda j: {"moduli": np.tile([5e4, 1e9], (j.frame_count, 1))},
        ["materials (stiffness is keyed)"],
    ),
    "a renamed material": (
        lambda j: {"materials": (j.materials[0], replace(j.materials[1], name="Rib"))},
        ["materials (“Rib” is new; “Bone” was removed)"],
    ),
    "the order of materials": (lambda j: {"materials": j.materials[::-1]}, ["materials (their order)"]),
    "a spring's strength": (
        lambda j: {"springs": (replace(j.springs[0], stiffness=np.full(j.frame_count, 6.0)),)},
        ["springs (“Hand”: strength)"],
    ),
    "a spring gone": (lambda j: {"springs": ()}, ["springs (“Hand” was removed)"]),
    "the ground": (
        lambda j: {"ground": replace(j.ground, friction=0.25)},
        [f"collisions (ground: friction {Ground().friction:g} → 0.25)"],
    ),
    "no ground": (lambda j: {"ground": None}, ["collisions (ground off)"]),
    "a collider": (
        lambda j: {"colliders": (replace(j.colliders[0], positions=2 * np.eye(3)[None], thickness=0.125),)},
        ["collisions (“Floor”: distance, shape or movement)"],
    ),
    "a field": (
        lambda j: {"accelerations": np.zeros((j.frame_count, len(j.surface.positions), 3))},
        ["fields (acceleration is new)"],
    ),
    "gravity": (
        lambda j: {"solver": replace(j.solver, gravity=(0.0, 0.0, -1.5))},
        ["solver (gravity (0, 0, -9.81) → (0, 0, -1.5))"],
    ),
    "the frame rate": (lambda j: {"frame_rate": 25.0}, ["frame range (frame rate 24 → 25)"]),
    "the pre-roll": (lambda j: {"pre_roll": 1}, None),
    "animation": (
        lambda j: {"object_to_world": later(j.object_to_world, 2)},
        ["animation (the object from frame 3)"],
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_named(job, tmp_path, name):
    edit, words = EDITS[name]
    now = replace(job, **edit(job))
    if words is None:
        words = [
            f"frame range ({job.frame_start}-{job.frame_end} → {job.frame_start + 1}-{job.frame_end}; pre-roll 0 → 1)"
        ]
    changed = [part for part, print_ in now.fingerprints().items() if print_ != job.fingerprints()[part]]
    assert described(changed, job, now) == words


def test_many_are_counted(job):
    n = len(job.surface.positions)
    names = [f"Material {k}" for k in range(MOST + 3)]
    now = replace(
        job,
        materials=(*job.materials, *(MaterialSettings(name=name) for name in names)),
        material_weights=np.ones((n, 2 + len(names))),
        stiffness_maps=np.zeros((n, 2 + len(names))),
    )
    (words,) = described(["materials"], job, now)
    assert words.count("is new") == MOST and words.endswith("; 3 more)")


def test_a_store_names_them(job, tmp_path):
    store = FrameStore.create(tmp_path / "bake", job)
    assert store.changes(job) == []
    assert store.changes(replace(job, solver=replace(job.solver, substeps=3))) == [
        f"solver (substeps {job.solver.substeps} → 3)"
    ]
