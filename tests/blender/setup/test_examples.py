"""Add > Sinew Examples: each scene is built, filled with tetrahedra and baked; nothing else of the file changes."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon import examples
from sinew.blender_addon.bake import baking
from sinew.blender_addon.objects.contact_groups import group_of
from sinew.blender_addon.scene_import.job_in import make_job

FRAMES = 3
LARGE = {"pile_of_jellies", "closing_lips", "squeezing_hand", "coiling_snake", "turning_drum", "six_muscle_face"}
"""Baked from the repository alone. The others are baked by the zip in the newest Blender; all are built in each."""


def names():
    """Return the names of every data-block of the file, by type."""
    kinds = (p.identifier for p in bpy.data.bl_rna.properties if p.type == "COLLECTION")
    return {kind: {block.name for block in getattr(bpy.data, kind)} for kind in kinds}


def scene_state():
    """Return the scene's state that an example must not change."""
    scene = bpy.context.scene
    return {
        "range": (scene.frame_start, scene.frame_end, scene.frame_current),
        "gravity": (scene.use_gravity, tuple(scene.gravity)),
        "world": scene.world,
        "camera": scene.camera,
        "cursor": tuple(scene.cursor.location),
        "engine": scene.render.engine,
        "mode": bpy.context.mode,
        "objects": [obj.name for obj in scene.collection.objects],
    }


@pytest.fixture
def others():
    """A file of an artist's: a cube, keyed, with a material; the cursor somewhere else, the range begins late."""
    bpy.ops.mesh.primitive_cube_add(location=(5.0, 0.0, 0.0))
    cube = bpy.context.object
    cube.name = "Jelly Bear"
    cube.keyframe_insert("location", frame=1)
    cube.data.materials.append(bpy.data.materials.new("Jelly"))
    scene = bpy.context.scene
    scene.cursor.location, scene.frame_start, scene.frame_end = (1.0, 2.0, 3.0), 101, 150
    return cube


@pytest.mark.parametrize("name", examples.EXAMPLES)
def test_an_example_bakes_and_leaves_the_rest_alone(name, others, saved, sinew_package):
    before, state = names(), scene_state()
    positions = [tuple(v.co) for v in others.data.vertices]
    assert bpy.ops.sinew.add_example(example=name) == {"FINISHED"}
    body = bpy.context.object
    assert scene_state() == state and [tuple(v.co) for v in others.data.vertices] == positions
    assert others.name == "Jelly Bear" and not others.select_get() and body.select_get() and body.sinew.enabled

    root = bpy.data.collections[examples.EXAMPLES[name].LABEL]
    mine = {obj.name for obj in root.all_objects}
    after = names()
    assert all(before[kind] <= after[kind] for kind in before)
    assert after["objects"] - before["objects"] == mine
    assert after["collections"] - before["collections"] == {root.name, *(c.name for c in root.children)}
    assert all(block.users for kind in ("meshes", "materials", "armatures") for block in getattr(bpy.data, kind))
    middle = np.mean([obj.matrix_world.translation for obj in root.all_objects], axis=0)
    assert np.abs(middle - (1.0, 2.0, 3.0)).max() < 1.0

    settings = body.sinew
    assert settings.frame_start == 101 and settings.frame_end > 120
    together, cells = group_of(body, bpy.context), max(settings.cells_across // 2, 3)
    assert {each.name for each in together} <= mine
    for each in together:
        each.sinew.frame_end, each.sinew.cells_across = 101 + FRAMES - 1, cells
    job = make_job(body, bpy.context)
    assert len(job.body.materials) == len(settings.materials) and not settings.bake.material_warning
    if sinew_package != "sinew" and (name in LARGE or bpy.app.version < (5, 2)):
        return
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    record = settings.bake
    assert (record.status, record.frames, record.message) == ("DONE", FRAMES, ""), record.message
    assert not record.material_warning and "tetrahedra" in record.mesh_summary
    store = baking.open_store(body)
    assert all(np.isfinite(store.read(frame)).all() for frame in store.frames())
    assert np.abs(store.read(101 + FRAMES - 1) - store.read(101)).max() > 1e-4, "nothing moves"


def test_bodies_of_an_example_meet_each_other_alone(others):
    """Others have other frames, with which theirs could not be baked."""
    others.select_set(True)
    bpy.context.view_layer.objects.active = others
    bpy.ops.sinew.enable()
    groups = []
    for name in ("pile_of_jellies", "jelly_bear", "pile_of_jellies"):
        bpy.ops.sinew.add_example(example=name)
        groups.append(group_of(bpy.context.object, bpy.context))
    assert [len(group) for group in groups] == [10, 1, 10] and not set(groups[0]) & set(groups[2])
    assert len(group_of(others, bpy.context)) == 1


def test_twice_is_two_collections(others):
    for _ in range(2):
        bpy.ops.sinew.add_example(example="jelly_plate")
    assert [c.name for c in bpy.data.collections] == ["Jelly on a Plate", "Jelly on a Plate.001"]
    first, second = (c.objects for c in bpy.data.collections)
    assert not {obj.data for obj in first if obj.data} & {obj.data for obj in second if obj.data}


def test_millimetres_are_as_large(others):
    """In a scene of other units an example has the size it has in metres, and its lengths with it."""
    sizes = []
    for scale in (1.0, 0.001):
        bpy.context.scene.unit_settings.scale_length = scale
        bpy.ops.sinew.add_example(example="jelly_bear")
        bpy.context.view_layer.update()
        body = bpy.context.object
        lengths = body.sinew.materials[1].depth, body.sinew.collisions.thickness
        sizes.append([make_job(body, bpy.context).body.surface.size, *(scale * length for length in lengths)])
    assert sizes[0] == pytest.approx(sizes[1], rel=1e-4)


def test_examples_are_added_in_object_mode_alone(others):
    bpy.ops.object.mode_set(mode="EDIT")
    assert not bpy.ops.sinew.add_example.poll()


def test_they_stand_in_the_menu():
    drawn = [function.__module__.rpartition(".")[2] for function in bpy.types.VIEW3D_MT_add._dyn_ui_initialize()]
    assert "examples" in drawn
