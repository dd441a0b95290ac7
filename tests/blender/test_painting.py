"""What the list of materials does while its maps are painted."""

from __future__ import annotations

import bpy
from sinew.blender_addon import starting


def test_the_brush_follows_the_list(body):
    starting.add_material(body, "Bone")
    starting.add_material(body, "Rubber")
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
