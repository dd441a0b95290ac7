"""Stiffness keyed in its logarithm: read frame by frame, and its animation follows the list of materials."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.scene_import.job_in import make_job


@pytest.fixture
def keyed(body):
    """Flesh, bone and rubber; the bone softens from 1 GPa to 10 kPa over four frames."""
    for preset in ("Bone", "Rubber"):
        bpy.ops.sinew.add_material(preset=preset)
    for frame, value in ((1, 9.0), (4, 4.0)):
        body.sinew.materials[1].log_stiffness = value
        assert body.keyframe_insert("sinew.materials[1].log_stiffness", frame=frame)
    curves = next(iter(all_curves(body)))
    for curve in curves:
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"
    return body


def all_curves(body):
    from sinew.blender_addon.blend_data.list_animation import curves_of

    return list(curves_of(body))


def test_keys_are_read_at_every_frame_and_the_first_is_the_materials_own(keyed):
    bpy.context.scene.frame_set(3)
    job = make_job(keyed, bpy.context)
    assert [m.youngs_modulus for m in job.body.materials] == [5e4, 1e9, 5e6]
    np.testing.assert_allclose(np.log10(job.body.moduli[:, 1]), [9.0, 9.0 - 5 / 3, 9.0 - 10 / 3, 4.0], atol=1e-4)
    assert (job.body.moduli[:, 0] == 5e4).all() and bpy.context.scene.frame_current == 3


def test_a_stiffness_that_stays_is_not_kept_for_every_frame(body):
    body.keyframe_insert("sinew.materials[0].log_stiffness", frame=1)
    assert make_job(body, bpy.context).body.moduli is None


def test_both_ends_of_a_range_can_be_keyed(body):
    material = body.sinew.materials[0]
    material.use_range = True
    for frame, value in ((1, 6.0), (4, 7.0)):
        material.log_painted_stiffness = value
        assert body.keyframe_insert("sinew.materials[0].log_painted_stiffness", frame=frame)
    job = make_job(body, bpy.context)
    assert job.body.moduli.shape == (4, 2) and job.body.moduli[-1].tolist() == [5e4, 1e7]


def test_the_shown_stiffness_follows_its_keys_and_cannot_be_keyed_itself(keyed):
    bone = keyed.sinew.materials[1]
    bone.stiffness_unit = "KPA"
    bpy.context.scene.frame_set(4)
    assert bone.stiffness_value == pytest.approx(10.0)
    assert not type(bone).bl_rna.properties["stiffness_value"].is_animatable


def test_animation_and_drivers_follow_a_material_that_is_moved_or_removed(keyed):
    bpy.context.view_layer.objects.active = keyed
    driven = keyed.sinew.materials[2].driver_add("log_stiffness").driver
    driven.type, driven.expression = "SCRIPTED", "6"
    light = bpy.data.lights.new("Lamp", "POINT")
    reader = light.driver_add("energy").driver
    variable = reader.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = keyed, "sinew.materials[1].log_stiffness"
    reader.expression = variable.name

    def paths():
        (curves,) = all_curves(keyed)
        drivers = keyed.animation_data.drivers
        return [c.data_path for c in curves], [d.data_path for d in drivers], variable.targets[0].data_path

    keyed.sinew.active_material = 1
    assert bpy.ops.sinew.move_material(direction="UP") == {"FINISHED"}
    first, second, third = (f"sinew.materials[{k}].log_stiffness" for k in range(3))
    assert paths() == ([first], [third], first)
    assert [m.name for m in keyed.sinew.materials] == ["Bone", "Soft Flesh", "Rubber"]
    job = make_job(keyed, bpy.context)
    assert job.body.moduli[-1, 0] == pytest.approx(1e4) and (job.body.moduli[:, 1] == 5e4).all()
    keyed.sinew.active_material = 1
    assert bpy.ops.sinew.remove_material() == {"FINISHED"}
    assert paths() == ([first], [second], first)
    keyed.sinew.active_material = 0
    bpy.ops.sinew.remove_material()
    assert paths()[1:] == ([first], ""), "what read the material that is gone reads no other"
    assert paths()[0] == [] and [m.name for m in keyed.sinew.materials] == ["Rubber"]


def strip_of(obj, action):
    """A strip that plays an action, instead of the object itself."""
    obj.animation_data.action = None
    strip = obj.animation_data.nla_tracks.new().strips.new(action.name, 1, action)
    if hasattr(strip, "action_slot"):
        strip.action_slot = action.slots[0]
    return strip


@pytest.mark.parametrize("by_strip", [False, True])
def test_others_keep_an_action_that_they_share(keyed, by_strip):
    """After Alt+D one list changes; the other object's keys still drive its own materials."""
    action = keyed.animation_data.action
    if by_strip:
        strip_of(keyed, action)
    other = keyed.copy()
    bpy.context.scene.collection.objects.link(other)
    bpy.context.view_layer.objects.active = keyed
    keyed.sinew.active_material = 0
    assert bpy.ops.sinew.remove_material() == {"FINISHED"}
    paths = [[curve.data_path for curves in all_curves(obj) for curve in curves] for obj in (keyed, other)]
    assert paths == [["sinew.materials[0].log_stiffness"], ["sinew.materials[1].log_stiffness"]]
    jobs = [make_job(obj, bpy.context) for obj in (keyed, other)]
    assert jobs[0].body.moduli[-1].tolist() == pytest.approx([1e4, 5e6])
    assert jobs[1].body.moduli[-1].tolist() == pytest.approx([5e4, 1e4, 5e6])
    if by_strip:
        (strip,) = keyed.animation_data.nla_tracks[0].strips
        assert (strip.frame_start, strip.frame_end) == (1, 4)


def test_an_action_of_ones_own_is_kept(keyed):
    action = keyed.animation_data.action
    keyed.sinew.active_material = 0
    bpy.ops.sinew.remove_material()
    assert keyed.animation_data.action == action and len(bpy.data.actions) == 1
