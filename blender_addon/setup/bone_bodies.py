"""Bodies for the bones of an armature: capsules, or meshes that are children of the bones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import bpy
import numpy as np

from ...core.foundation.schema.settings import SolverSettings
from ..objects.bones import bodies_of
from ..objects.linked import own_bodies
from . import defaults

THICK = 0.12
"""Largest radius of a capsule, in lengths of its bone. The radius is the envelope's if that is smaller."""

GAP = 0.08
"""Fraction of its length by which a capsule ends before the bone's head and tail."""

AROUND, CAP = 12, 4
"""Number of vertices around a capsule, and of rings of each of its round ends."""

MATERIAL = "Bone"
"""Preset of the material of a bone body."""

CLOCK = "use_scene_range", "frame_start", "frame_end", "pre_roll"
"""Settings that the bodies baked together share, besides those of the solver."""


def bones_to_add(armature: Any, context: Any) -> list[Any]:
    """Return the pose bones of an armature that lack a body: the selected ones in Pose Mode, else those that deform."""
    bodies, chosen = bodies_of(armature), context.selected_pose_bones_from_active_object or ()
    if armature.mode != "POSE" or not chosen:
        chosen = [bone for bone in armature.pose.bones if bone.bone.use_deform]
    return [bone for bone in chosen if bone.name not in bodies]


def add_bodies(armature: Any, bones: Sequence[Any], context: Any) -> list[Any]:
    """Give pose bones rigid bodies, and tie the flesh of the armature to them. Returns the bodies.

    A mesh that is a child of a bone becomes its body. The other bones get capsules in a collection of their own. The
    flesh are the bodies that the armature deforms. Bones without length must be left out.
    """
    flesh = [obj for obj in own_bodies(context.scene) if _is_deformed_by(obj, armature)]
    bodies = []
    for bone in bones:
        own = [each for each in armature.children if each.type == "MESH" and _is_child_of(each, bone)]
        bodies.append(own[0] if own else _add_capsule(armature, bone, context))
    lead = flesh[0] if flesh else next((each for same in bodies_of(armature).values() for each in same), None)
    for body in bodies:
        _make_rigid(body, lead)
        for each in flesh:
            tie = each.sinew.ties.add()
            tie.other = body
    return bodies


def _is_deformed_by(obj: Any, armature: Any) -> bool:
    return any(each.type == "ARMATURE" and each.object == armature for each in obj.modifiers)


def _is_child_of(obj: Any, bone: Any) -> bool:
    return obj.parent_type == "BONE" and obj.parent_bone == bone.name


def _make_rigid(obj: Any, lead: Any) -> None:
    """Make an object a rigid body of bone, with the solver and the frame range of the body ``lead``, or None."""
    defaults.switch_on(obj)
    obj.sinew.method = "rigid"
    if not obj.sinew.materials:
        defaults.add_material(obj, MATERIAL)
    if lead is not None:
        for name in (*CLOCK, *(each.name for each in fields(SolverSettings) if hasattr(lead.sinew, each.name))):
            setattr(obj.sinew, name, getattr(lead.sinew, name))


def _add_capsule(armature: Any, bone: Any, context: Any) -> Any:
    mesh = bpy.data.meshes.new(f"{bone.name} Body")
    mesh.from_pydata(*capsule(bone.bone))
    obj = bpy.data.objects.new(mesh.name, mesh)
    _collection(armature, context).objects.link(obj)
    obj.parent, obj.parent_type, obj.parent_bone = armature, "BONE", bone.name
    obj.display_type, obj.hide_render = "WIRE", True
    return obj


def _collection(armature: Any, context: Any) -> Any:
    """Return the collection of the capsules of an armature, which is made beside the armature."""
    name = f"{armature.name} Bodies"
    homes = (each for each in armature.users_collection if each.library is None and each.override_library is None)
    home = next(homes, context.scene.collection)
    found = home.children.get(name)
    if found is None:
        found = bpy.data.collections.new(name)
        home.children.link(found)
    return found


def capsule(bone: Any) -> tuple[list[tuple[float, ...]], list[Any], list[tuple[int, ...]]]:
    """Return vertices, edges (none) and faces of a capsule along a bone, relative to its tail, in the bone's axes.

    It is as thick as the bone's envelope, at most ``THICK`` of its length, and ends before both joints.
    """
    angles = np.linspace(0.0, 0.5 * np.pi, CAP + 1)
    profile = []
    for radius, end, side in (
        (bone.head_radius, GAP * bone.length, -1.0),
        (bone.tail_radius, (1.0 - GAP) * bone.length, 1.0),
    ):
        radius = min(radius, THICK * bone.length)
        centre = end - side * radius
        ring = np.column_stack([radius * np.cos(angles), centre + side * radius * np.sin(angles)])
        profile += [*(ring if side > 0.0 else ring[::-1])]
    around = 2.0 * np.pi * np.arange(AROUND) / AROUND
    rings = [np.column_stack([r * np.cos(around), np.full(AROUND, y), -r * np.sin(around)]) for r, y in profile[1:-1]]
    ends = [(0.0, profile[k][1], 0.0) for k in (0, -1)]
    vertices = np.concatenate([*rings, ends]) - (0.0, bone.length, 0.0)
    faces, last = [], AROUND * (len(rings) - 1)
    for k in range(AROUND):
        after = (k + 1) % AROUND
        faces += [(a + k, a + after, a + AROUND + after, a + AROUND + k) for a in range(0, last, AROUND)]
        faces += [(last + AROUND, after, k), (last + AROUND + 1, last + k, last + after)]
    return [tuple(each) for each in vertices.tolist()], [], faces
