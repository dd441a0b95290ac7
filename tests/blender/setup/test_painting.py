"""The list of materials while its maps are painted."""

from __future__ import annotations

import bpy
import pytest
from sinew.blender_addon.scene_import.weights_in import group_weights
from sinew.blender_addon.setup import defaults


def test_the_brush_follows_the_list(body):
    defaults.add_material(body, "Bone")
    defaults.add_material(body, "Rubber")
    for material in body.sinew.materials[:2]:
        material.vertex_group = body.vertex_groups.new(name=material.name).name
    body.vertex_groups.active_index = 0
    body.sinew.active_material = 1
    assert body.vertex_groups.active.name != "Bone", "outside Weight Paint mode the list changes nothing"
    assert bpy.ops.sinew.paint_material() == {"FINISHED"} and body.vertex_groups.active.name == "Bone"
    body.sinew.active_material = 0
    assert body.vertex_groups.active.name == "Soft Flesh"
    body.sinew.active_material = 2
    assert body.vertex_groups.active.name == "Soft Flesh", "a material without a map has none to paint"
    bpy.ops.object.mode_set(mode="OBJECT")


@pytest.mark.parametrize("mode", ["OBJECT", "EDIT"])
def test_the_map_of_a_region_or_depth_begins_full_in_whichever_mode(body, mode):
    defaults.add_material(body, "Bone")
    body.sinew.materials[1].depth_kind = "SHELL"
    bpy.ops.object.mode_set(mode=mode)
    assert bpy.ops.sinew.paint_material() == {"FINISHED"} and body.mode == "WEIGHT_PAINT"
    name = body.sinew.materials[1].vertex_group
    assert body.vertex_groups.active.name == name and group_weights(body, body.data, [name]).min() == 1.0
    bpy.ops.object.mode_set(mode="OBJECT")
