"""A bake that is out of date says so by itself: after each kind of edit, and no longer once it is undone."""

from __future__ import annotations

import bpy
import pytest
from sinew.blender_addon.bake import outdated


def words(obj):
    """Return the panel's words once it is quiet after an edit."""
    outdated._around[obj.session_uid] = outdated._around_it(obj, outdated._present())
    return outdated.words(obj, bpy.context.scene)


@pytest.fixture
def scene_of_a_body(body, saved, add_mesh):
    """A pinned body that moves, a collider, a field, baked."""
    body.vertex_groups.new(name="Pins").add([0, 1, 2], 1.0, "REPLACE")
    body.sinew.pin_group = "Pins"
    floor = add_mesh([(-9, -9, -1), (9, -9, -1), (0, 9, -1)], [(0, 1, 2)], "Floor")
    colliders = bpy.data.collections.new("Colliders")
    bpy.context.scene.collection.children.link(colliders)
    colliders.objects.link(floor)
    body.sinew.collisions.collection = colliders
    bpy.ops.object.effector_add(type="WIND", location=(0.0, 3.0, 0.0))
    bpy.context.view_layer.objects.active = body
    body.location.x = 0.0
    body.keyframe_insert("location", frame=1)
    body.location.x = 0.1
    body.keyframe_insert("location", frame=3)
    return body


def density(obj):
    obj.sinew.materials[0].density = 900.0


def stiffness(obj):
    obj.sinew.materials[0].log_stiffness += 0.5


def vertex(obj):
    obj.data.vertices[5].co.x += 0.01


def weight(obj):
    obj.vertex_groups["Pins"].add([3], 0.7, "REPLACE")


def key(obj):
    (curve, *_), *_ = list(outdated.own_curves(obj))
    curve.keyframe_points[1].co.y += 0.3


def place_of_a_collider(obj):
    bpy.data.objects["Floor"].location.z -= 0.1


def shape_of_a_collider(obj):
    bpy.data.objects["Floor"].data.vertices[0].co.z -= 0.1


def field(obj):
    next(each for each in bpy.data.objects if each.field and each.field.type == "WIND").field.strength = 3.0


def ground(obj):
    obj.sinew.collisions.use_ground = True


EDITS = {
    density: "materials",
    stiffness: "materials",
    vertex: "mesh",
    weight: "painted weights",
    key: "animation",
    place_of_a_collider: "surroundings",
    shape_of_a_collider: "surroundings",
    field: "surroundings",
    ground: "collisions",
}


@pytest.mark.parametrize("result", ("KEYS", "NODES", "CACHE"))
def test_every_edit_is_told_and_no_bake_is_one(scene_of_a_body, result):
    obj = scene_of_a_body
    obj.sinew.result = result
    assert bpy.ops.sinew.bake() == {"FINISHED"} and obj.sinew.bake.status == "DONE"
    assert words(obj) == ""
    bpy.context.scene.frame_set(2)
    bpy.context.scene.frame_end += 5
    assert words(obj) == "", "another frame, or a longer range, is no edit"
    for edit, said in EDITS.items() if result == "KEYS" else ():
        before = obj.sinew.bake.as_read
        edit(obj)
        assert words(obj) == said, edit.__name__
        outdated.note_same(obj, bpy.context.scene)
        assert words(obj) == "" and obj.sinew.bake.as_read != before


def test_what_is_taken_back_is_no_edit(scene_of_a_body):
    obj = scene_of_a_body
    bpy.ops.sinew.bake()
    floor = bpy.data.objects["Floor"]
    before = floor.location.copy()
    place_of_a_collider(obj)
    assert words(obj)
    floor.location = before
    assert words(obj) == ""
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    obj = bpy.context.view_layer.objects.active
    assert words(obj) == ""
    density(obj)
    assert words(obj) == "materials"
    assert bpy.ops.sinew.check_bake() == {"FINISHED"} and words(obj).startswith("materials (")
    bpy.ops.sinew.bake()
    assert words(obj) == ""


def test_what_is_only_seen_or_named_is_no_edit(scene_of_a_body):
    obj, floor = scene_of_a_body, bpy.data.objects["Floor"]
    bpy.ops.sinew.bake()
    for each in (obj, floor):
        each.data.materials.append(bpy.data.materials.new("Seen"))
        each.name = each.data.name = f"Another {each.name}"
    assert words(obj) == ""


def test_of_a_mesh_in_edit_mode_is_told_what_was_before(scene_of_a_body):
    obj, floor = scene_of_a_body, bpy.data.objects["Floor"]
    bpy.ops.sinew.bake()
    for each in (obj, floor):
        bpy.context.view_layer.objects.active = each
        bpy.ops.object.mode_set(mode="EDIT")
        assert words(obj) == ""
        bpy.ops.object.mode_set(mode="OBJECT")
    density(obj)
    assert words(obj) == "materials"


def test_a_mesh_without_a_vertex_hinders_no_bake(scene_of_a_body):
    scene_of_a_body.parent = bpy.data.objects.new("Empty", bpy.data.meshes.new("Empty"))
    bpy.context.scene.collection.objects.link(scene_of_a_body.parent)
    assert bpy.ops.sinew.bake() == {"FINISHED"} and words(scene_of_a_body) == ""


def test_a_body_that_is_in_the_way_is_no_edit(scene_of_a_body, add_mesh):
    bpy.ops.sinew.bake()
    scene_of_a_body.sinew.bake.separation_object = add_mesh([(0, 0, 0)], [], "Other")
    assert words(scene_of_a_body) == ""


def test_a_linked_bake_is_of_its_own_file(scene_of_a_body, saved):
    bpy.ops.sinew.bake()
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(str(saved), link=True) as (_there, here):
        here.objects = ["Body"]
    bpy.context.scene.render.fps = 30
    (obj,) = here.objects
    assert obj.sinew.bake.as_read and words(obj) == ""
