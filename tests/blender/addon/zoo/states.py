"""Odd objects: type, collection, scale, name, mode."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
from mathutils import Matrix

from ...scenes import keyed
from . import cube, enabled, mesh, pinned, put, specimen

NOT_A_MESH = "Select a mesh object"


def body(name: str = "Body") -> Any:
    return mesh(*cube(), name=name)


@specimen("an empty", refused=NOT_A_MESH)
def an_empty(folder: Path) -> Any:
    return put(None)


@specimen("a curve", refused=NOT_A_MESH)
def curve(folder: Path) -> Any:
    bpy.ops.curve.primitive_bezier_circle_add()
    return bpy.context.object


@specimen("a text", refused=NOT_A_MESH)
def text(folder: Path) -> Any:
    bpy.ops.object.text_add()
    return bpy.context.object


@specimen("a metaball", refused=NOT_A_MESH)
def metaball(folder: Path) -> Any:
    bpy.ops.object.metaball_add(type="BALL")
    return bpy.context.object


@specimen("an armature", refused=NOT_A_MESH)
def armature(folder: Path) -> Any:
    return put(bpy.data.armatures.new("Bones"))


@specimen("a NURBS surface", refused=NOT_A_MESH)
def nurbs(folder: Path) -> Any:
    bpy.ops.surface.primitive_nurbs_surface_sphere_add()
    return bpy.context.object


@specimen("a text that became a mesh")
def converted_text(folder: Path) -> Any:
    bpy.ops.object.text_add()
    bpy.context.object.data.body, bpy.context.object.data.extrude = "&B", 0.1
    bpy.ops.object.convert(target="MESH")
    return pinned(bpy.context.object)


@specimen("a curve that became a mesh without faces", refused="has no faces")
def converted_curve(folder: Path) -> Any:
    bpy.ops.curve.primitive_bezier_circle_add()
    bpy.ops.object.convert(target="MESH")
    return bpy.context.object


@specimen("a metaball that became a mesh")
def converted_metaball(folder: Path) -> Any:
    bpy.ops.object.metaball_add(type="BALL")
    bpy.context.view_layer.update()
    bpy.ops.object.convert(target="MESH")
    return pinned(bpy.context.object)


@specimen("scaled by 3, 0.2, 1")
def uneven(folder: Path) -> Any:
    obj = body()
    obj.scale = (3.0, 0.2, 1.0)
    return pinned(obj)


@specimen("mirrored by its scale")
def mirrored(folder: Path) -> Any:
    obj = body()
    obj.scale = (-1.0, 1.0, 2.0)
    return pinned(obj)


@specimen("scaled to nothing along one axis", refused="scale")
def flat_scale(folder: Path) -> Any:
    obj = body()
    obj.scale = (1.0, 0.0, 1.0)
    return obj


@specimen("scaled to nothing", refused="scale")
def no_scale(folder: Path) -> Any:
    obj = body()
    obj.scale = (0.0, 0.0, 0.0)
    return obj


@specimen("scaled by 1e-7 along one axis")
def hardly_any_scale(folder: Path) -> Any:
    obj = body()
    obj.scale = (1.0, 1.0, 1e-7)
    return pinned(obj)


@specimen("a scale that is not a number", refused="location, rotation or scale is not a number")
def nan_scale(folder: Path) -> Any:
    obj = body()
    obj.scale = (1.0, float("nan"), 1.0)
    return obj


@specimen("a location that is keyed to what is no number", refused="not a number at frame 2")
def nan_key(folder: Path) -> Any:
    obj = body()
    keyed(obj, "location", (1, (0.0, 0.0, 0.0)), (3, (0.0, 0.0, float("nan"))))
    bpy.context.scene.frame_set(1)
    return obj


@specimen("sheared by its parent")
def sheared(folder: Path) -> Any:
    parent = put(None, "Parent")
    parent.rotation_euler, parent.scale = (0.4, 0.3, 0.2), (3.0, 0.5, 1.0)
    obj = body()
    obj.parent, obj.rotation_euler = parent, (0.0, 0.7, 0.5)
    return pinned(obj)


@specimen("sheared by its parent's inverse")
def inverse(folder: Path) -> Any:
    parent = put(None, "Parent")
    obj = body()
    obj.parent = parent
    obj.matrix_parent_inverse = Matrix.Shear("XY", 4, (0.5, 0.2)) @ Matrix.Translation((1.0, 2.0, 3.0))
    return pinned(obj)


@specimen("delta transforms, XYZW rotation")
def deltas(folder: Path) -> Any:
    obj = body()
    obj.rotation_mode, obj.rotation_quaternion = "QUATERNION", (0.1, 0.5, 0.2, 3.0)
    obj.delta_location, obj.delta_scale = (1.0, -2.0, 0.5), (1.0, 0.5, 2.0)
    return pinned(obj)


@specimen("held by a constraint on itself's child")
def cycle(folder: Path) -> Any:
    obj = body()
    child = put(None, "Child")
    child.parent = obj
    obj.constraints.new("COPY_LOCATION").target = child
    return pinned(obj)


@specimen("a scene of millimetres", warning="scaled|gravity")
def millimetres(folder: Path) -> Any:
    bpy.context.scene.unit_settings.scale_length = 0.001
    return pinned(body())


@specimen("keyed from frame -3")
def early(folder: Path) -> Any:
    obj = pinned(body())
    obj.sinew.frame_start, obj.sinew.frame_end = -3, -1
    return obj


@specimen("one frame")
def one_frame(folder: Path) -> Any:
    obj = pinned(body())
    obj.sinew.frame_end = 1
    return obj


@specimen("a mesh that two objects use")
def multi_user(folder: Path) -> Any:
    obj = pinned(body())
    put(obj.data, "Twin")
    return enabled(obj)


@specimen("a mesh with a fake user")
def fake_user(folder: Path) -> Any:
    obj = pinned(body())
    obj.data.use_fake_user = True
    return obj


@specimen("a collection's instance", refused=NOT_A_MESH)
def instance(folder: Path) -> Any:
    collection = bpy.data.collections.new("Parts")
    collection.objects.link(bpy.data.objects.new("Part", body().data))
    obj = put(None, "Instance")
    obj.instance_type, obj.instance_collection = "COLLECTION", collection
    return obj


def written(folder: Path) -> str:
    """A .blend with one mesh object ``Body``."""
    path = str(folder / "library.blend")
    obj = enabled(body())
    bpy.data.libraries.write(path, {obj})
    data = obj.data
    bpy.data.objects.remove(obj)
    bpy.data.meshes.remove(data)
    return path


@specimen("a linked object", refused="linked.*library override.*Mesh Cache")
def linked(folder: Path) -> Any:
    with bpy.data.libraries.load(written(folder), link=True) as (_, here):
        here.objects = ["Body"]
    obj = here.objects[0]
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    return obj


@specimen("a linked mesh")
def linked_mesh(folder: Path) -> Any:
    with bpy.data.libraries.load(written(folder), link=True) as (_, here):
        here.meshes = ["Body"]
    return put(here.meshes[0])


@specimen("a library override")
def override(folder: Path) -> Any:
    obj = linked(folder).override_create(remap_local_usages=True)
    bpy.context.view_layer.objects.active = obj
    return obj


@specimen("disabled in viewports")
def disabled(folder: Path) -> Any:
    obj = pinned(body())
    obj.hide_viewport = obj.hide_render = True
    return obj


@specimen("hidden by its eye")
def hidden(folder: Path) -> Any:
    obj = pinned(body())
    obj.hide_set(True)
    return obj


@specimen("in a collection that is disabled in viewports")
def disabled_collection(folder: Path) -> Any:
    obj = pinned(body())
    collection = bpy.data.collections.new("Off")
    bpy.context.scene.collection.children.link(collection)
    bpy.context.scene.collection.objects.unlink(obj)
    collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    collection.hide_viewport = True
    return obj


@specimen("in an excluded collection", refused="Select a mesh object|view layer")
def excluded(folder: Path) -> Any:
    obj = pinned(body())
    collection = bpy.data.collections.new("Off")
    bpy.context.scene.collection.children.link(collection)
    bpy.context.scene.collection.objects.unlink(obj)
    collection.objects.link(obj)
    bpy.context.view_layer.layer_collection.children["Off"].exclude = True
    return obj


@specimen("in another scene alone", refused="Select a mesh object|view layer")
def other_scene(folder: Path) -> Any:
    obj = pinned(body())
    bpy.data.scenes.new("Other").collection.objects.link(obj)
    bpy.context.scene.collection.objects.unlink(obj)
    return obj


@specimen("in two scenes")
def two_scenes(folder: Path) -> Any:
    obj = pinned(body())
    bpy.data.scenes.new("Other").collection.objects.link(obj)
    return obj


def in_mode(mode: str) -> Any:
    obj = pinned(body())
    bpy.ops.object.mode_set(mode=mode)
    return obj


@specimen("in Edit Mode", refused="Leave Edit Mode")
def edit_mode(folder: Path) -> Any:
    return in_mode("EDIT")


@specimen("in Sculpt Mode")
def sculpt_mode(folder: Path) -> Any:
    return in_mode("SCULPT")


@specimen("in Weight Paint Mode")
def weight_paint(folder: Path) -> Any:
    return in_mode("WEIGHT_PAINT")


@specimen("in Vertex Paint Mode")
def vertex_paint(folder: Path) -> Any:
    return in_mode("VERTEX_PAINT")


NAMES = {
    "../x": "../x",
    "/": "/",
    "..": "..",
    "emoji": "🐻\u200d❄️",
    "63 bytes": "ä" * 31 + "x",
    "a device of Windows": "CON",
    "line breaks": "a\nb\tc",
    "what paths may not hold": '<>:"|?*\\.',
    "the ending of a duplicate": "Body.001.part",
}


def _named(kind: str, name: str) -> None:
    @specimen(f"named: {kind}")
    def named(folder: Path) -> Any:
        return pinned(body(name), name)


for _kind, _name in NAMES.items():
    _named(_kind, _name)
