"""The buttons without a window: Bake, Delete Bake, Check for Edits; the same frames as the library's own bake."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import background, bake_queue, baking
from sinew.blender_addon.cache.frame_folders import default_folder, recorded_folder
from sinew.blender_addon.objects import duplicate_result
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.blender_addon.setup import defaults
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.simulation.frame_loop import bake as library
from sinew.operators import operator_class

from ..scenes import CUBE, edits, keyed, prepared


@pytest.fixture
def baked(body, saved):
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    return body


def test_a_bake_equals_the_librarys(baked, tmp_path, evaluated):
    job = make_job(baked, bpy.context)
    store = FrameStore.create(tmp_path / "library", job)
    assert library.bake(job, store) == "done"
    mine = baking.open_store(baked)
    assert mine.frames() == store.frames() == [1, 2, 3, 4]
    for frame in store.frames():
        assert np.array_equal(mine.read(frame), store.read(frame))
        assert np.abs(evaluated(baked, frame) - store.read(frame)).max() < 1e-6
    assert np.abs(store.read(4) - store.read(1)).max() > 1e-3


def test_the_record_says_what_there_is(baked, saved):
    record = baked.sinew.bake
    assert (record.status, record.frames, record.message, record.on_itself) == ("DONE", 4, "", True)
    assert "tetrahedra" in record.mesh_summary
    assert record.folder.startswith("//sinew_cache")
    assert recorded_folder(baked).parent == saved.parent / "sinew_cache" / "scene"


def test_grey_buttons_after_a_bake(baked):
    assert bpy.ops.sinew.bake.poll() and not bpy.ops.sinew.resume_bake.poll()
    assert not bpy.ops.sinew.bake_to_current.poll() and not bpy.ops.sinew.bake_all.poll()
    assert bpy.ops.sinew.tetrahedralize.poll() and not bpy.ops.sinew.stop_bake.poll()
    assert bpy.ops.sinew.delete_bake.poll() and bpy.ops.sinew.check_bake.poll()


def test_delete_bake_restores_the_object_and_empties_the_disk(baked, saved):
    folder = recorded_folder(baked)
    assert bpy.ops.sinew.delete_bake() == {"FINISHED"} and baked.data.shape_keys is None
    bpy.ops.wm.save_mainfile()
    assert not folder.exists()
    assert baked.sinew.bake.status == "NONE" and bpy.ops.sinew.bake.poll()
    assert baked.sinew.enabled and len(baked.sinew.materials) == 1


def test_deleting_from_the_duplicate(body, saved):
    body.shape_key_add(name="Basis")
    bpy.ops.sinew.bake()
    result = body.sinew.bake.result
    assert result is not None and duplicate_result.source_of(result) == body
    bpy.context.view_layer.objects.active = result
    assert not bpy.ops.sinew.enable.poll(), "a bake is no body of its own"
    assert bpy.ops.sinew.delete_bake() == {"FINISHED"}
    assert not body.hide_viewport and bpy.context.view_layer.objects.active == body


@pytest.mark.parametrize("kind", ["KEYS", "NODES"])
def test_what_follows_the_hidden_original_is_told_and_what_follows_the_bake_goes_on(body, saved, evaluated, kind):
    bpy.ops.mesh.primitive_cube_add()
    shirt = bpy.context.object
    shirt.name, shirt.parent = "Shirt", body  # by the transform alone, which the duplicate shares
    shirt.modifiers.new("Shrinkwrap", "SHRINKWRAP").target = body
    hat = bpy.data.objects.new("Hat", None)
    bpy.context.scene.collection.objects.link(hat)
    bpy.context.view_layer.objects.active = body
    hat.parent, hat.parent_type, hat.parent_vertices = body, "VERTEX", (11, 11, 11)
    body.sinew.result, body.sinew.result_modes = kind, 4
    bpy.ops.sinew.bake()
    assert body.sinew.bake.on_itself and not body.sinew.bake.left_behind
    bpy.ops.sinew.delete_bake()
    body.shape_key_add(name="Basis")
    bpy.ops.sinew.bake()
    assert body.sinew.bake.left_behind.startswith("“Hat”, “Shirt” follow the hidden original")
    body.keyframe_insert("hide_render", frame=1)
    bpy.ops.sinew.bake()
    assert "visibility of “Body” is keyed" in body.sinew.bake.left_behind
    body.animation_data_clear()
    body.sinew.bake.hid_render = False  # the key was made while the bake hid it
    shirt.modifiers[0].target = hat.parent = body.sinew.bake.result
    objects, groups = len(bpy.data.objects), len(bpy.data.node_groups)
    shown = bpy.data.collections.new("Shown")
    bpy.context.scene.collection.children.link(shown)
    shown.objects.link(hat.parent)
    bpy.context.scene.collection.objects.unlink(hat.parent)
    bpy.ops.sinew.bake()
    result = body.sinew.bake.result
    assert hat.parent == shirt.modifiers[0].target == result and result.name == "Body Bake"
    assert (len(bpy.data.objects), len(bpy.data.node_groups)) == (objects, groups) and not body.sinew.bake.left_behind
    assert result.users_collection == (shown,)
    assert np.abs(evaluated(result, 4) - evaluated(result, 1)).max() > 1e-3
    body.sinew.result = "CACHE"
    bpy.ops.sinew.bake()
    assert body.sinew.bake.on_itself and "Body Bake" not in bpy.data.objects
    assert hat.parent == shirt.modifiers[0].target == body


@pytest.mark.parametrize(
    "edit, named",
    [
        (lambda obj: setattr(obj.data.vertices[5], "co", (0.5, 0.5, 0.5)), "mesh (1 of 12 vertices; 4 of 20 faces)"),
        (lambda obj: setattr(obj.sinew, "cells_across", 5), "resolution (cells across 4 → 5)"),
        (
            lambda obj: setattr(obj.sinew.materials[0], "density", 500.0),
            "materials (“Soft Flesh”: density 1050 → 500)",
        ),
        (lambda obj: obj.vertex_groups["Pins"].remove([0]), "pins (4 → 3 vertices), animation"),
        (lambda obj: setattr(obj.sinew, "substeps", 2), "solver (substeps 1 → 2)"),
        (lambda obj: setattr(obj.sinew, "frame_end", 9), "frame range (1-4 → 1-9)"),
        (
            lambda obj: keyed(obj, "location", (2, (0.0, 0.0, 0.0)), (3, (1.0, 0.0, 0.0))),
            "animation (the object from frame 3; the pins from frame 3)",
        ),
    ],
    ids=["mesh", "resolution", "materials", "pins", "solver", "frame range", "animation"],
)
def test_edits_after_a_bake_are_named(baked, edit, named):
    assert bpy.ops.sinew.check_bake() == {"FINISHED"} and baked.sinew.bake.stale == ""
    edit(baked)
    bpy.ops.sinew.check_bake()
    assert baked.sinew.bake.stale == named


def test_a_new_name_outdates_no_bake(body, saved, add_mesh, collection):
    """Renamed are the body, its materials, a spring, its target, a field, a collider, its collection, the scene."""
    defaults.add_material(body, "Bone")
    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    spring = defaults.add_spring(body, bpy.context.scene)
    spring.target, spring.vertex_group = target, "Pins"
    collection.objects.link(add_mesh(*CUBE, "Box"))
    bpy.data.objects["Box"].location.z = -3.0
    wind = bpy.data.objects.new("Wind", None)
    bpy.context.scene.collection.objects.link(wind)
    with bpy.context.temp_override(object=wind, active_object=wind):
        bpy.ops.object.forcefield_toggle()
    wind.field.type = "WIND"
    bpy.context.view_layer.objects.active = body
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    settings = body.sinew
    for named in (
        body,
        body.data,
        *settings.materials,
        spring,
        target,
        wind,
        collection,
        *collection.objects,
        bpy.context.scene,
    ):
        named.name = f"New {named.name}"
        assert edits(body) == [], named
    settings.materials[0].density = 500.0
    assert any("density" in words or "materials" in words for words in edits(body))


def test_resume_completes_an_interrupted_bake(body, saved):
    job, store = prepared(body)
    assert library.bake(job, store, should_stop=lambda: len(store.frames()) >= 2) == "stopped"
    done = store.frames()
    assert 1 <= len(done) < 4
    assert bpy.ops.sinew.resume_bake() == {"FINISHED"}
    assert store.frames() == [1, 2, 3, 4] and body.sinew.bake.status == "DONE"
    bpy.ops.sinew.delete_bake()
    bpy.ops.sinew.bake()
    assert body.sinew.bake.frames == 4


def test_resume_after_an_edit_is_refused(body, saved):
    prepared(body)
    body.sinew.substeps = 3
    with pytest.raises(RuntimeError, match="Edited since the bake began: solver"):
        bpy.ops.sinew.resume_bake()
    assert "Delete Bake" in body.sinew.bake.message


def test_a_copy_of_a_baked_object_does_not_delete_its_frames(baked):
    twin = baked.copy()
    twin.data = baked.data.copy()
    bpy.context.scene.collection.objects.link(twin)
    bpy.context.view_layer.objects.active = twin
    folder = recorded_folder(baked)
    assert bpy.ops.sinew.delete_bake() == {"FINISHED"}
    assert twin.data.shape_keys is None and baked.data.shape_keys is not None and folder.is_dir()
    assert default_folder(twin) != folder


def test_a_material_that_is_nowhere_is_told(body, saved):
    """Once by its empty map; a painted one, or one in a region, is somewhere."""
    for name in ("Bone", "Rubber"):
        defaults.add_material(body, name)
        body.sinew.materials[-1].vertex_group = body.vertex_groups.new(name=name).name
    body.vertex_groups["Rubber"].add([8], 0.3, "REPLACE")
    body.vertex_groups["Bone"].add([8], 0.0, "REPLACE")
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert body.sinew.bake.material_warning == "“Bone” is not assigned yet: paint its map, or choose a region or depth."
    bpy.ops.sinew.delete_bake()
    body.vertex_groups["Bone"].add([8], 0.5, "REPLACE")
    prepared(body)
    assert body.sinew.bake.material_warning == ""


def test_shapes_removed_by_hand_are_told_and_put_back(baked, evaluated):
    expected = evaluated(baked, 3)
    baked.shape_key_clear()
    assert baking.lost_words(baked) == "The baked shapes were removed."
    bpy.ops.sinew.check_bake()
    assert baked.sinew.bake.stale == "baked shapes removed"
    assert bpy.ops.sinew.resume_bake() == {"FINISHED"} and baking.lost_words(baked) == ""
    assert np.array_equal(evaluated(baked, 3), expected) and not bpy.ops.sinew.resume_bake.poll()


@pytest.mark.parametrize("kind", ["KEYS", "NODES"])
def test_a_result_that_is_not_of_the_frames_on_disk_is_told(body, saved, evaluated, kind):
    """Blender ended after Bake Again, before the .blend was saved: Check for Edits does not say that all is well."""
    body.sinew.result = kind
    bpy.ops.sinew.bake()
    before = evaluated(body, 4)
    bpy.context.scene.gravity = (0.0, 0.0, 9.81)
    bpy.ops.wm.save_mainfile()
    bpy.ops.ed.undo_push(message="Before")
    background.begin(body, "bake")
    expected = evaluated(body, 4)
    bpy.ops.wm.open_mainfile(filepath=str(saved))
    body = bpy.data.objects["Body"]
    assert np.array_equal(evaluated(body, 4), before) and not np.array_equal(before, expected)
    assert baking.astray_words(body) == "Cache does not match the displayed bake."
    body.sinew.result = {"KEYS": "NODES", "NODES": "KEYS"}[kind]
    for verb in ("compare", "convert_result", "open_report", "copy_report"):
        with pytest.raises(RuntimeError, match="does not match the displayed bake.*Bake Again"):
            getattr(bpy.ops.sinew, verb)()
    body.sinew.result = kind
    assert bpy.ops.sinew.check_bake() == {"FINISHED"} and body.sinew.bake.stale == "frames of a later bake"
    assert bake_queue.unfinished([body]) == [body]
    assert bpy.ops.sinew.resume_bake() == {"FINISHED"} and baking.astray_words(body) == ""
    assert np.array_equal(evaluated(body, 4), expected) and not bake_queue.unfinished([body])


@pytest.mark.parametrize("purge", [False, True])
def test_a_result_deleted_by_hand(body, saved, purge):
    """Delete unlinks it only, since the record names it; File > Clean Up may take it away altogether."""
    body.shape_key_add(name="Basis")
    bpy.ops.sinew.bake()
    for _ in range(2):
        result = body.sinew.bake.result
        if purge:
            bpy.data.objects.remove(result)
        else:
            with bpy.context.temp_override(selected_objects=[result]):
                bpy.ops.object.delete()
        assert baking.lost_words(body) == "The result was deleted." and body.hide_viewport
        assert bpy.ops.sinew.resume_bake() == {"FINISHED"} and baking.lost_words(body) == ""
        assert body.hide_viewport and len(bpy.data.objects) == 2
    bpy.data.objects.remove(body.sinew.bake.result)
    bpy.ops.sinew.delete_bake()
    assert not body.hide_viewport and not body.hide_render and not body.sinew.bake.hides_original


def test_frames_on_disk_without_a_record(body, saved):
    assert not baking.has_frames(body)
    bpy.ops.sinew.tetrahedralize()
    assert baking.has_store(body) and not baking.has_frames(body)
    bpy.ops.sinew.bake()
    baking.remove_result(body)
    body.sinew.property_unset("bake")
    assert baking.has_frames(body) and bpy.ops.sinew.resume_bake() == {"FINISHED"}
    assert body.sinew.bake.status == "DONE" and len(body.data.shape_keys.key_blocks) == 4


def test_a_linked_copy_of_a_baked_object_only_forgets(baked):
    """Alt+D: the mesh, and the shapes on it, belong to both; the last one to delete them does."""
    twin = baked.copy()
    bpy.context.scene.collection.objects.link(twin)
    folder = recorded_folder(baked)
    bpy.context.view_layer.objects.active = twin
    assert bpy.ops.sinew.delete_bake() == {"FINISHED"} and twin.sinew.bake.status == "NONE"
    assert len(baked.data.shape_keys.key_blocks) == 4 and baked.data.shape_keys.animation_data.action is not None
    assert folder.is_dir() and baked.sinew.bake.status == "DONE"
    bpy.context.view_layer.objects.active = baked
    bpy.ops.sinew.delete_bake()
    assert baked.data.shape_keys is None and not bpy.data.actions
    bpy.ops.wm.save_mainfile()
    assert not folder.exists()


def test_a_copy_of_a_hidden_original_does_not_delete_its_duplicate(body, saved):
    body.shape_key_add(name="Basis")
    bpy.ops.sinew.bake()
    twin = body.copy()
    twin.data = body.data.copy()
    bpy.context.scene.collection.objects.link(twin)
    baking.delete(twin)
    assert body.sinew.bake.result.name == "Body Bake" and body.hide_viewport and not twin.hide_viewport


def test_a_renamed_object_keeps_its_folder(baked, add_mesh):
    folder = recorded_folder(baked)
    baked.name = "Renamed"
    other = add_mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)], "Body")
    assert recorded_folder(baked) == folder and default_folder(other) != folder


@pytest.mark.parametrize("name", ["ä" * 127, "/" * 255, "../../up", "con", "a\\b:c*?", "\u202e\u0000x"[:1]])
def test_any_name_has_a_folder(body, saved, name):
    body.name = name
    assert (
        bpy.ops.sinew.bake() == {"FINISHED"} and recorded_folder(body).parent == saved.parent / "sinew_cache" / "scene"
    )
    assert len(f"{recorded_folder(body).name}-compare.part".encode()) <= 255
    assert bpy.ops.sinew.delete_bake() == {"FINISHED"} and bpy.ops.wm.save_mainfile() == {"FINISHED"}
    assert not (saved.parent / "sinew_cache").exists()


def test_tetrahedralize_says_what_it_made(body, saved):
    assert bpy.ops.sinew.tetrahedralize() == {"FINISHED"}
    assert "tetrahedra" in body.sinew.bake.mesh_summary
    assert body.sinew.bake.status == "NONE" and body.data.shape_keys is None


def test_disable_deletes_the_bake_and_remembers_materials(baked):
    assert bpy.ops.sinew.disable() == {"FINISHED"}
    assert not baked.sinew.enabled and baked.data.shape_keys is None and len(baked.sinew.materials) == 1


def test_frames_survive_a_save_and_a_load(baked, saved: Path, evaluated):
    expected = evaluated(baked, 3)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(saved))
    obj = bpy.data.objects["Body"]
    assert np.array_equal(evaluated(obj, 3), expected)
    assert obj.sinew.bake.status == "DONE" and recorded_folder(obj).is_dir()


def test_a_timer_may_press_a_button(body):
    """Timers have no window, and so no object that is active."""
    with bpy.context.temp_override(window=None):
        assert operator_class.executed(lambda _self, _context, obj: {"CANCELLED"} if obj else None, True)(
            None, bpy.context
        ) == {"FINISHED"}
