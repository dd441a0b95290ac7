"""Properties that are overridden while a scene is read stay so whatever keys or drives them, and come back after it."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.blend_data.list_animation import curves_of
from sinew.blender_addon.blend_data.temporary_values import Override, overridden
from sinew.blender_addon.objects.modifier_stack import cut_after, stack_position
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.core.foundation.errors import MeshError

from ..scenes import CUBE, keyed

HOW = ("keyed", "keyed in a strip", "driven")


def animate(block, path: str, how: str, value: bool) -> None:
    """Have animation set a switch at every frame."""
    if how == "driven":
        driver = block.driver_add(path).driver
        driver.type, driver.expression = "SCRIPTED", "frame > 0" if value else "frame < 0"
    else:
        before, _, name = path.rpartition(".")
        owner = block.path_resolve(before) if before else block
        setattr(owner, name, value)
        owner.keyframe_insert(name, frame=1)
    if how == "keyed in a strip":
        animation = block.animation_data
        animation.nla_tracks.new().strips.new("Strip", 1, animation.action)
        animation.action = None
    bpy.context.scene.frame_set(1)


def mutes(block) -> list[bool]:
    keyed_curves = [curve for curves in curves_of(block) for curve in curves]
    return [curve.mute for curve in (*block.animation_data.drivers, *keyed_curves)]


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("kind", ["SUBSURF", "DISPLACE"])
def test_a_later_modifier_of_animated_visibility_is_left_out(body, how, kind):
    still = make_job(body, bpy.context).body.surface.positions
    modifier = body.modifiers.new("Later", kind)
    animate(body, 'modifiers["Later"].show_viewport', how, True)
    assert np.array_equal(make_job(body, bpy.context).body.surface.positions, still)
    assert modifier.show_viewport and not any(mutes(body))
    with pytest.raises(MeshError), cut_after(body, stack_position(body)):
        assert not modifier.show_viewport and all(mutes(body))
        raise MeshError("any", "")
    assert modifier.show_viewport and not any(mutes(body))


@pytest.mark.parametrize("how", HOW)
def test_a_collider_that_animation_hides_is_read(body, collection, add_mesh, how):
    obstacle = add_mesh(*CUBE, name="Obstacle")
    collection.objects.link(obstacle)
    keyed(obstacle, "location", (1, (3.0, 0.0, 0.0)), (4, (4.0, 0.0, 0.0)))
    animate(obstacle, "hide_viewport", how, True)
    (read,) = make_job(body, bpy.context).body.colliders
    assert np.ptp(read.positions[:, 0, 0]) == pytest.approx(1.0)
    assert obstacle.hide_viewport and not any(mutes(obstacle))


def test_a_modifier_that_deforms_at_some_frame_is_simulated_wherever_the_timeline_stands(body):
    bpy.ops.object.armature_add()
    body.modifiers.new("Armature", "ARMATURE").object = bpy.context.object
    keyed(body.modifiers["Armature"], "show_viewport", (1, False), (3, True))
    for frame in (1, 3):
        bpy.context.scene.frame_set(frame)
        assert stack_position(body).label == "After “Armature”"


def test_what_has_its_value_already_is_not_assigned(body):
    bpy.context.view_layer.update()
    with overridden([Override.of(body, "hide_viewport", False)]):
        edited = [update.id.original for update in bpy.context.evaluated_depsgraph_get().updates]
        assert body not in edited
    with overridden([Override.of(body, "hide_viewport", True)] * 2):
        assert body.hide_viewport
    assert not body.hide_viewport
