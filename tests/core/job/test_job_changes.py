"""Differences of two jobs are named in an artist's words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sinew.core.foundation.schema.settings import MaterialSettings
from sinew.core.jobs.job.environment import Collider, Ground, Spring
from sinew.core.jobs.job.job_changes import MOST, described
from sinew.core.jobs.job.pair import PairSettings
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.mechanics.materials.layer import Layer

from ..jobs import changed, shaken_bar


@pytest.fixture(scope="module")
def job():
    """A bar of two materials with a goal, a spring, a ground and a collider."""
    bar = shaken_bar(frames=4)
    n, frames = len(bar.body.surface.positions), bar.frame_count
    spring = Spring("Hand", np.array([0]), np.ones(1), np.zeros((frames, 1, 3)), np.full(frames, 5.0))
    floor = Collider("Floor", np.array([[0, 1, 2]]), np.eye(3)[None])
    return bar.with_body(
        materials=(MaterialSettings(name="Flesh"), MaterialSettings(name="Bone", youngs_modulus=1e9)),
        material_weights=np.ones((n, 2)),
        stiffness_maps=np.zeros((n, 2)),
        goal=spring,
        springs=(spring,),
        colliders=(Ground(), floor),
        pairs=(PairSettings("Floor", 0.5),),
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
        lambda j: {"moduli": np.tile([5e4, 1e9], (len(j.pin_held), 1))},
        ["materials (keyed stiffness is new)"],
    ),
    "a renamed material": (
        lambda j: {"materials": (j.materials[0], replace(j.materials[1], name="Rib"))},
        [],
    ),
    "another material": (
        lambda j: {"materials": (j.materials[0], replace(j.materials[1], name="Rib", density=2e3))},
        ["materials (“Rib” is new; “Bone” was removed)"],
    ),
    "the order of materials": (lambda j: {"materials": j.materials[::-1]}, ["materials (their order)"]),
    "a spring's strength": (
        lambda j: {"springs": (replace(j.springs[0], stiffness=np.full(len(j.pin_held), 6.0)),)},
        ["springs (“Hand”: strength)"],
    ),
    "a goal gone": (lambda j: {"goal": None}, ["pins (goal was removed)"]),
    "a goal's strength": (
        lambda j: {"goal": replace(j.goal, stiffness=np.full(len(j.pin_held), 6.0))},
        ["pins (goal: strength)"],
    ),
    "a spring gone": (lambda j: {"springs": ()}, ["springs (“Hand” was removed)"]),
    "the ground": (
        lambda j: {"colliders": (replace(j.colliders[0], friction=0.25), j.colliders[1])},
        [f"collisions (“Ground”: friction {Ground().friction:g} → 0.25)"],
    ),
    "no ground": (lambda j: {"colliders": j.colliders[1:]}, ["collisions (“Ground” was removed)"]),
    "a mesh in the ground's place": (
        lambda j: {"colliders": (replace(j.colliders[1], name="Ground"), j.colliders[1])},
        ["collisions (“Ground” is new; “Ground” was removed)"],
    ),
    "a pair": (
        lambda j: {"pairs": (PairSettings("Floor", 0.25, 0.125),)},
        ["collisions (“pair with Floor”: friction 0.5 → 0.25, distance none → 0.125)"],
    ),
    "a pair gone": (lambda j: {"pairs": ()}, ["collisions (“pair with Floor” was removed)"]),
    "a collider": (
        lambda j: {
            "colliders": (j.colliders[0], replace(j.colliders[1], positions=2 * np.eye(3)[None], thickness=0.125))
        },
        ["collisions (“Floor”: distance 0.001 → 0.125, shape or movement)"],
    ),
    "a field": (
        lambda j: {"accelerations": np.zeros((len(j.pin_held), len(j.surface.positions), 3))},
        ["fields (acceleration is new)"],
    ),
    "gravity": (
        lambda j: {"solver": replace(j.solver, gravity=(0.0, 0.0, -1.5))},
        ["solver (gravity (0, 0, -9.81) → (0, 0, -1.5))"],
    ),
    "control of vibrations": (
        lambda j: {"vibration_stiffness": np.full((len(j.pin_held), 3), 2.0)},
        ["solver (stiffness of vibrations is new)"],
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
    now = changed(job, **edit(job.body))
    if words is None:
        words = [
            f"frame range ({job.frame_start}-{job.frame_end} → {job.frame_start + 1}-{job.frame_end}; pre-roll 0 → 1)"
        ]
    edited = [part for part, print_ in now.fingerprints().items() if print_ != job.fingerprints()[part]]
    assert described(edited, job, now) == words


def test_many_are_counted(job):
    n = len(job.body.surface.positions)
    names = [f"Material {k}" for k in range(MOST + 3)]
    now = job.with_body(
        materials=(*job.body.materials, *(MaterialSettings(name=name) for name in names)),
        material_weights=np.ones((n, 2 + len(names))),
        stiffness_maps=np.zeros((n, 2 + len(names))),
    )
    (words,) = described(["materials"], job, now)
    assert words.count("is new") == MOST and words.endswith("; 3 more)")


def test_a_store_names_them(job, tmp_path):
    store = FrameStore.create(tmp_path / "bake", job)
    assert store.changes(job) == []
    assert store.changes(job.with_body(solver=replace(job.body.solver, substeps=3))) == [
        f"solver (substeps {job.body.solver.substeps} → 3)"
    ]
