"""A bake on a duplicate is no dead end: with it active, everything acts on its source, which can be edited and baked
again, and what the artist had in hand stays in hand.
"""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.objects import duplicate_result
from sinew.ui import body as body_panel
from sinew.ui.panel_base import Subject

from ..drawn import drawn_by, panels_of


@pytest.fixture
def rigged(body, saved):
    """The bar on an armature, baked; its bake is active and alone selected, as after a click on it."""
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    body.modifiers.new("Armature", "ARMATURE").object = rig
    bpy.ops.sinew.bake()
    result = body.sinew.bake.result
    assert result.name == "Body Bake" and body.hide_viewport
    duplicate_result.make_active(result, bpy.context.view_layer)
    return body


def in_hand():
    """Names of what is active and of what is selected."""
    return bpy.context.view_layer.objects.active.name, [obj.name for obj in bpy.context.selected_objects]


def test_the_panels_are_those_of_the_source(rigged):
    assert duplicate_result.body_of(bpy.context) == rigged and Subject.poll(bpy.context)
    own = drawn_by(body_panel.VIEW3D_PT_sinew)
    assert own.text_of("sinew.edit_source") == "Edit Source" and own.text_of("sinew.bake") == "Bake Again"
    with_bake = {panel.bl_idname: drawn_by(panel).operators for panel in panels_of("VIEW3D")}
    bpy.context.view_layer.objects.active = rigged
    assert with_bake == {panel.bl_idname: drawn_by(panel).operators for panel in panels_of("VIEW3D")}
    rigged.name = "Renamed"
    assert duplicate_result.source_of(rigged.sinew.bake.result) == rigged
    assert duplicate_result.source_of(bpy.data.objects["Rig"]) is None


@pytest.mark.parametrize("kind", ["KEYS", "NODES"])
def test_bake_again_from_the_bake(rigged, evaluated, kind):
    rigged.sinew.result, rigged.sinew.result_modes = kind, 4
    before = evaluated(rigged.sinew.bake.result, 4)
    bpy.ops.sinew.add_material(preset="Rubber")
    bpy.ops.sinew.remove_material()
    rigged.sinew.materials[0].log_stiffness -= 1.0
    for _ in range(2):
        assert bpy.ops.sinew.bake() == {"FINISHED"}
        assert in_hand() == ("Body Bake", ["Body Bake"]) and len(rigged.users_scene) == 1
    assert np.abs(evaluated(rigged.sinew.bake.result, 4) - before).max() > 1e-4
    rigged.sinew.result = "CACHE"  # which lies on the object itself
    assert bpy.ops.sinew.convert_result() == {"FINISHED"} and in_hand() == ("Body", ["Body"])


def test_the_source_is_edited_and_baked_again(rigged):
    result = rigged.sinew.bake.result
    for grey in ("paint_material", "assign_pins", "select_thin"):
        with pytest.raises(RuntimeError, match="press Edit Source first"):
            getattr(bpy.ops.sinew, grey)()
    assert bpy.ops.sinew.edit_source() == {"FINISHED"}
    assert in_hand() == ("Body", ["Body"]) and rigged.visible_get() and not result.visible_get()
    assert rigged.hide_render and not result.hide_render, "a render shows the bake"
    assert not bpy.ops.sinew.edit_source.poll() and bpy.ops.sinew.show_bake() == {"FINISHED"}
    assert in_hand() == ("Body Bake", ["Body Bake"]) and result.visible_get() and not rigged.visible_get()
    bpy.ops.sinew.edit_source()
    assert bpy.ops.sinew.paint_material() == {"FINISHED"} and bpy.ops.sinew.stop_painting() == {"FINISHED"}
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    result = rigged.sinew.bake.result
    assert result.visible_get() and not rigged.visible_get() and in_hand()[0] == "Body", "as after every bake"
    duplicate_result.make_active(result, bpy.context.view_layer)
    assert bpy.ops.sinew.delete_bake() == {"FINISHED"} and in_hand() == ("Body", ["Body"])
    assert rigged.visible_get() and not rigged.hide_render and len(bpy.data.objects) == 2


def test_a_source_that_cannot_be_shown_is_told(rigged):
    away = bpy.data.collections.new("Away")
    bpy.context.scene.collection.children.link(away)
    away.objects.link(rigged)
    bpy.context.scene.collection.objects.unlink(rigged)
    bpy.context.view_layer.layer_collection.children["Away"].exclude = True
    with pytest.raises(RuntimeError, match="not part of the view layer.*Enable its collection"):
        bpy.ops.sinew.edit_source()
    assert in_hand()[0] == "Body Bake" and rigged.hide_viewport
