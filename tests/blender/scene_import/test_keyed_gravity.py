"""Gravity that is animated is simulated over the frames, wherever the timeline stands; other numbers that are read once
are those of the first frame.
"""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import outdated
from sinew.blender_addon.scene_import.job_in import make_job

from ..scenes import edits, keyed, prepared

EARTH = 9.81


def animate_gravity(how: str) -> None:
    """None up to frame 2, and Earth's from frame 3 on."""
    scene = bpy.context.scene
    if how == "keyed":
        keyed(scene, "gravity", (2, (0.0, 0.0, 0.0)), (3, (0.0, 0.0, -EARTH)))
    elif how == "switched":
        keyed(scene, "use_gravity", (2, False), (3, True))
    else:
        scene.driver_add("gravity", 2).driver.expression = f"-{EARTH} if frame > 2 else 0"


def pulled(job) -> np.ndarray:
    """The gravity at each frame, (frames,3)."""
    return job.body.solver.gravity + job.body.accelerations[:, 0]


@pytest.mark.parametrize("how", ["keyed", "switched", "driven"])
@pytest.mark.parametrize("timeline", [1, 4])
def test_gravity_changes_over_the_frames(body, how, timeline):
    animate_gravity(how)
    bpy.context.scene.frame_set(timeline)
    body.sinew.field_weights.gravity = 0.5
    job = make_job(body, bpy.context)
    assert job.body.solver.gravity[2] == 0.0 and job.body.accelerations.shape == (4, 1, 3)
    np.testing.assert_allclose(pulled(job)[:, 2], [0.0, 0.0, -EARTH / 2, -EARTH / 2], atol=1e-6)
    assert bpy.context.scene.frame_current == timeline


def test_gravity_that_stays_is_a_number(body):
    keyed(bpy.context.scene, "gravity", (1, (0.0, 0.0, -EARTH)), (3, (0.0, 0.0, -EARTH)))
    job = make_job(body, bpy.context)
    assert job.body.solver.gravity == (0.0, 0.0, -EARTH) and job.body.accelerations is None


def test_it_adds_to_accelerations_of_an_attribute(body):
    body.data.attributes.new("Push", "FLOAT_VECTOR", "POINT").data.foreach_set("vector", [1.0, 0.0, 0.0] * 12)
    body.sinew.acceleration_attribute = "Push"
    animate_gravity("keyed")
    accelerations = make_job(body, bpy.context).body.accelerations
    assert accelerations.shape == (4, 12, 3) and (accelerations[..., 0] == 1.0).all()
    np.testing.assert_allclose(accelerations[3, :, 2], -EARTH, atol=1e-6)


def test_moving_the_timeline_is_not_an_edit_and_moving_a_key_is(body, saved):
    animate_gravity("keyed")
    scene = bpy.context.scene
    job, store = prepared(body)
    outdated.note_shown(body, store.folder, scene, True)
    body.sinew.bake.status = "DONE"
    for frame in (4, 1):
        scene.frame_set(frame)
        assert outdated.words(body, scene) == "" and edits(body) == []
    keyed(scene, "gravity", (4, (0.0, 0.0, -1.0)))
    outdated.note_same(body, scene)  # looks at the keys, too
    before = body.sinew.bake.as_read
    assert "fields" in " ".join(edits(body))
    keyed(scene, "gravity", (4, (0.0, 0.0, -2.0)))
    outdated.note_same(body, scene)
    assert body.sinew.bake.as_read != before


@pytest.mark.parametrize("timeline", [1, 4])
def test_numbers_that_are_read_once_are_those_of_the_first_frame(body, timeline):
    bpy.ops.object.effector_add(type="WIND")
    wind = bpy.context.object
    for frame, seed in ((1, 7), (4, 9)):
        wind.field.seed = seed
        wind.keyframe_insert("field.seed", frame=frame)
    bpy.context.scene.frame_set(timeline)
    (field,) = make_job(body, bpy.context).body.force_fields
    assert field.seed == 7
