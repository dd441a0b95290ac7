"""Library overrides are baked in the file that overrides them, and nothing is written into their library."""

from __future__ import annotations

import hashlib

import bpy
import numpy as np
import pytest
from sinew.blender_addon import command
from sinew.blender_addon.cache.frame_folders import recorded_folder
from sinew.blender_addon.objects import linked


@pytest.fixture
def library(body, saved, tmp_path):
    """The bar, set up, or its mesh alone, in a folder of its own; what lies there, as bytes."""

    def save(is_set_up=True):
        if not is_set_up:
            body.sinew.materials.clear()
            body.sinew.enabled = False
        path = tmp_path / "assets" / "scene.blend"  # the name that the shot has, too
        path.parent.mkdir()
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
        return path

    return save


def contents(folder):
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() if p.is_file() else "" for p in folder.rglob("*")}


def overridden(path, shot):
    """A shot with an override of the bar, active; its mesh stays linked."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.objects = ["Body"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    obj = wanted.objects[0].override_create(remap_local_usages=True)
    bpy.context.view_layer.objects.active = obj
    assert obj.data.library is not None
    return obj


def own_body():
    return bpy.data.objects["Body", None]


def set_up(obj):
    """Enable Sinew on an override whose library does not use it."""
    if not obj.sinew.enabled:
        bpy.ops.sinew.enable()
        obj.sinew.pin_group, obj.sinew.cells_across = "Pins", 4
        obj.sinew.use_scene_range, obj.sinew.frame_start, obj.sinew.frame_end = False, 1, 4
    obj.sinew.materials[0].log_stiffness = 4.5


@pytest.mark.parametrize("is_set_up", [True, False], ids=["set up in the library", "set up in the shot"])
@pytest.mark.parametrize("kind", ["KEYS", "NODES", "CACHE"])
def test_an_override_is_baked_saved_and_baked_again(library, tmp_path, evaluated, kind, is_set_up):
    path = library(is_set_up)
    before, shot = contents(path.parent), tmp_path / "scene.blend"
    obj = overridden(path, shot)
    set_up(obj)
    obj.sinew.result, obj.sinew.result_modes = kind, 8
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    result = obj.sinew.bake.result
    assert obj.sinew.bake.status == "DONE" and obj.hide_viewport and result.library is None
    assert result.override_library is None and result.data.library is None and obj.data.shape_keys is None
    moved = evaluated(result, 4)
    assert np.abs(moved - evaluated(result, 1)).max() > 1e-3
    assert recorded_folder(obj).is_relative_to(tmp_path / "sinew_cache")
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(shot))
    obj = own_body()
    bpy.context.view_layer.objects.active = obj.sinew.bake.result
    assert obj.override_library is not None and obj.hide_viewport and obj.sinew.bake.frames == 4
    assert obj.sinew.materials[0].log_stiffness == 4.5 and len(obj.sinew.materials) == 1
    assert np.array_equal(evaluated(obj.sinew.bake.result, 4), moved)
    assert bpy.ops.sinew.check_bake() == {"FINISHED"} and obj.sinew.bake.stale == ""
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert np.array_equal(evaluated(obj.sinew.bake.result, 4), moved)
    assert bpy.ops.sinew.delete_bake() == {"FINISHED"}
    assert obj.sinew.bake.status == "NONE" and not obj.hide_viewport and len(bpy.context.scene.objects) == 1
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(shot))
    assert own_body().sinew.bake.status == "NONE" and not own_body().hide_viewport
    assert not (tmp_path / "sinew_cache").exists() and contents(path.parent) == before


def test_undo_takes_the_result_of_an_override_back(library, tmp_path):
    overridden(library(), tmp_path / "scene.blend")
    bpy.ops.ed.undo_push(message="Overridden")
    bpy.ops.sinew.bake("EXEC_DEFAULT", True)
    assert own_body().sinew.bake.status == "DONE" and len(bpy.context.scene.objects) == 2
    bpy.ops.ed.undo()
    assert own_body().sinew.bake.status == "NONE" and not own_body().hide_viewport
    assert len(bpy.context.scene.objects) == 1
    bpy.ops.ed.redo()
    assert own_body().sinew.bake.status == "DONE" and own_body().sinew.bake.result.name == "Body Bake"


def test_the_command_bakes_an_override(library, tmp_path):
    path = library()
    before = contents(path.parent)
    overridden(path, tmp_path / "scene.blend")
    bpy.ops.wm.save_mainfile()
    assert command.main([bpy.data.filepath]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
    assert own_body().sinew.bake.frames == 4 and own_body().sinew.bake.result.users_scene
    assert contents(path.parent) == before


def test_an_override_on_a_rig_follows_it(library, body, tmp_path, evaluated):
    """The rig is overridden and moved in the shot; the result stands where the rig has its pins."""
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    body.parent = rig
    obj = overridden(library(), tmp_path / "scene.blend")
    rig = obj.parent.override_create(remap_local_usages=True)
    rig.location = 0.0, 0.0, 2.0
    obj.parent = rig
    bpy.context.view_layer.update()
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert obj.sinew.bake.result.matrix_world.translation.z == pytest.approx(2.0)


def test_maps_of_a_linked_mesh_are_not_edited(library, tmp_path):
    overridden(library(), tmp_path / "scene.blend")
    for button in (bpy.ops.sinew.paint_material, bpy.ops.sinew.propose_nodes, bpy.ops.sinew.set_rest_shape):
        with pytest.raises(RuntimeError, match="edit pins and maps in its own file"):
            button()
    assert not bpy.ops.sinew.start_picking.poll()


def test_what_is_linked_without_an_override_is_refused(library, tmp_path):
    obj = overridden(library(), tmp_path / "scene.blend")
    there = obj.override_library.reference
    bpy.context.scene.collection.objects.link(there)
    bpy.context.view_layer.objects.active = there
    with pytest.raises(RuntimeError, match="linked from another file. Make it a library override"):
        bpy.ops.sinew.bake()
    assert linked.own_bodies(bpy.context.scene) == [obj]


def test_a_local_object_with_a_linked_mesh_is_baked_beside_it(library, tmp_path, evaluated):
    obj = overridden(library(), tmp_path / "scene.blend")
    mine = bpy.data.objects.new("Mine", obj.data)
    bpy.context.scene.collection.objects.link(mine)
    bpy.data.objects.remove(obj)
    bpy.context.view_layer.objects.active = mine
    set_up(mine)
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert mine.data.shape_keys is None and mine.sinew.bake.result.data.library is None


@pytest.mark.parametrize(
    "steps",
    [
        [("stiffness_value", 20.0)],
        [("stiffness_unit", "MPA")],
        [("stiffness_value", 20.0), ("stiffness_unit", "MPA")],
        [("stiffness_unit", "PA"), ("stiffness_value", 20.0)],
        [("use_range", True), ("painted_value", 5.0), ("stiffness_unit", "MPA"), ("stiffness_value", 7.0)],
    ],
    ids=lambda steps: "-".join(name for name, _ in steps),
)
def test_a_stiffness_that_is_overridden_stays_so_in_any_unit(library, tmp_path, steps):
    path, shot = library(), tmp_path / "shot.blend"
    material = overridden(path, shot).sinew.materials[0]
    for name, value in steps:
        assert material.is_property_overridable_library(name)
        setattr(material, name, value)
        expected = material.log_stiffness, material.log_painted_stiffness, material.stiffness_unit
        bpy.ops.wm.save_mainfile()
        bpy.ops.wm.open_mainfile(filepath=str(shot))
        material = own_body().sinew.materials[0]
        kept = material.log_stiffness, material.log_painted_stiffness, material.stiffness_unit
        assert kept[2] == expected[2] and kept[:2] == pytest.approx(expected[:2], abs=1e-5)
