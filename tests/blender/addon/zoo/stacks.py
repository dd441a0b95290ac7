"""Odd modifiers, shape keys and particles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy

from . import cube, enabled, mesh, pinned, put, specimen


def with_modifier(kind: str, **settings: Any) -> Any:
    obj = pinned(mesh(*cube()))
    modifier = obj.modifiers.new("Odd", kind)
    for name, value in settings.items():
        setattr(modifier, name, value)
    return obj


def simulated(obj: Any) -> Any:
    """The shape after the modifier ``Odd`` is what is simulated."""
    obj.sinew.simulate_at, obj.sinew.simulate_after = "MODIFIER", "Odd"
    return obj


@specimen("Subdivision")
def subdivision(folder: Path) -> Any:
    return with_modifier("SUBSURF", levels=2)


@specimen("Subdivision, simulated")
def subdivision_simulated(folder: Path) -> Any:
    return simulated(with_modifier("SUBSURF", levels=2))


@specimen("Mirror, not applied")
def mirror(folder: Path) -> Any:
    return with_modifier("MIRROR")


@specimen("Mirror, simulated")
def mirror_simulated(folder: Path) -> Any:
    return simulated(with_modifier("MIRROR"))


@specimen("Array")
def array(folder: Path) -> Any:
    return with_modifier("ARRAY", count=4)


@specimen("Array, simulated")
def array_simulated(folder: Path) -> Any:
    return simulated(with_modifier("ARRAY", count=4))


@specimen("a Boolean's result, simulated")
def boolean(folder: Path) -> Any:
    other = mesh(*cube(at=(0.5, 0.3, 0.3)), name="Cutter")
    obj = with_modifier("BOOLEAN", object=other, operation="DIFFERENCE")
    return simulated(obj)


@specimen("a Boolean without an operand")
def broken_boolean(folder: Path) -> Any:
    return simulated(with_modifier("BOOLEAN"))


@specimen("a Boolean that leaves nothing", refused="no faces after “Odd”")
def eaten(folder: Path) -> Any:
    other = mesh(*cube(3.0, (-1.0, -1.0, -1.0)), name="Cutter")
    return simulated(with_modifier("BOOLEAN", object=other, operation="DIFFERENCE"))


@specimen("Solidify on a plane, simulated")
def solidify(folder: Path) -> Any:
    obj = pinned(mesh([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 1, 2, 3)]))
    obj.modifiers.new("Odd", "SOLIDIFY").thickness = 0.05
    return simulated(obj)


@specimen("Skin on an edge, simulated", falls=True)
def skin(folder: Path) -> Any:
    obj = enabled(mesh([(0, 0, 0), (1, 0, 0)], edges=[(0, 1)]))
    bpy.ops.object.modifier_add(type="SKIN")  # it makes the layer of radii, too
    obj.modifiers[0].name = "Odd"
    return simulated(obj)


@specimen("Remesh, simulated: it drops the pins", warning="No pins: the body will fall", falls=True)
def remesh(folder: Path) -> Any:
    return simulated(with_modifier("REMESH", mode="VOXEL", voxel_size=0.2))


@specimen("Mask that hides all, simulated", refused="no faces after “Odd”")
def mask(folder: Path) -> Any:
    obj = with_modifier("MASK")
    obj.modifiers["Odd"].vertex_group = obj.vertex_groups.new(name="None").name
    return simulated(obj)


@specimen("Build: vertices appear over time, simulated", refused="vertices at frame")
def build(folder: Path) -> Any:
    obj = with_modifier("BUILD", frame_start=-1.0, frame_duration=8.0)
    obj.sinew.pin_group = ""
    return simulated(obj)


@specimen("Decimate, not applied")
def decimate(folder: Path) -> Any:
    return with_modifier("DECIMATE", ratio=0.5)


@specimen("Geometry Nodes that give nothing, simulated", refused="no faces after “Odd”")
def no_geometry(folder: Path) -> Any:
    group = bpy.data.node_groups.new("Nothing", "GeometryNodeTree")
    group.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    group.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    group.nodes.new("NodeGroupOutput")
    return simulated(with_modifier("NODES", node_group=group))


@specimen("Geometry Nodes without a group")
def no_group(folder: Path) -> Any:
    return with_modifier("NODES")


@specimen("Cloth", falls=False)
def cloth(folder: Path) -> Any:
    return with_modifier("CLOTH")


@specimen("Multiresolution")
def multires(folder: Path) -> Any:
    obj = with_modifier("MULTIRES")
    bpy.ops.object.multires_subdivide(modifier="Odd", mode="CATMULL_CLARK")
    return obj


@specimen("a particle system")
def particles(folder: Path) -> Any:
    return with_modifier("PARTICLE_SYSTEM")


@specimen("shape keys of its own")
def shape_keys(folder: Path) -> Any:
    obj = pinned(mesh(*cube()))
    obj.shape_key_add(name="Basis")
    obj.shape_key_add(name="Smile").data[7].co.z = 1.5
    obj.data.shape_keys.key_blocks["Smile"].value = 0.5
    return obj


@specimen("absolute shape keys of its own")
def absolute_keys(folder: Path) -> Any:
    obj = shape_keys(folder)
    obj.data.shape_keys.use_relative = False
    obj.data.shape_keys.eval_time = 5.0
    return obj


@specimen("a shape key that is not a number", refused="not a number")
def nan_key(folder: Path) -> Any:
    obj = shape_keys(folder)
    obj.data.shape_keys.key_blocks["Smile"].data[3].co = (float("nan"), 0.0, 0.0)
    return obj


def rigged() -> Any:
    rig = put(bpy.data.armatures.new("Rig"), "Rig")
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig.data.edit_bones.new("Bone")
    bone.head, bone.tail = (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


@specimen("deformed by an armature")
def armature(folder: Path) -> Any:
    rig = rigged()
    obj = with_modifier("ARMATURE", object=rig)
    obj.vertex_groups.new(name="Bone").add(list(range(8)), 1.0, "REPLACE")
    bone = rig.pose.bones["Bone"]
    for frame, x in ((1, 0.0), (3, 0.1)):
        bone.location.x = x
        bone.keyframe_insert("location", frame=frame)
    return obj


@specimen("an armature modifier without an armature")
def no_armature(folder: Path) -> Any:
    return with_modifier("ARMATURE")


@specimen("the child of a bone")
def bone_child(folder: Path) -> Any:
    rig = rigged()
    obj = pinned(mesh(*cube()))
    obj.parent, obj.parent_type, obj.parent_bone = rig, "BONE", "Bone"
    return obj


@specimen("hooked, the hook deleted")
def lost_hook(folder: Path) -> Any:
    target = put(None, "Hook")
    obj = with_modifier("HOOK", object=target)
    obj.modifiers["Odd"].vertex_indices_set([7])
    bpy.data.objects.remove(target)
    return obj
