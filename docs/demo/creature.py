"""A crab-like creature from Blender's own primitives: one closed skin, stiff shell and legs, soft joints."""

from __future__ import annotations

import math
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Vector
from stage import add_group, vertex_positions

SHELL, JOINT = (0.10, 0.24, 0.30), (0.95, 0.55, 0.18)
VOXEL = 0.011
JOINT_REACH = 0.06
GROUND = -0.05


class Leg(NamedTuple):
    """Hip, knee and foot, m."""

    hip: Vector
    knee: Vector
    foot: Vector


def legs() -> list[Leg]:
    """Three on each side, arched."""
    found = []
    for side in (-1.0, 1.0):
        for angle in (-0.75, 0.0, 0.75):
            out = Vector((side * math.cos(angle), math.sin(angle), 0.0))
            found.append(
                Leg(
                    0.21 * out + Vector((0.0, 0.0, 0.18)),
                    0.40 * out + Vector((0.0, 0.0, 0.30)),
                    0.56 * out + Vector((0.0, 0.0, 0.0)),
                )
            )
    return found


def add_creature() -> bpy.types.Object:
    """The creature, 1 m wide, with the physical materials and the pinned foot of an artist who has painted it."""
    bpy.ops.mesh.primitive_uv_sphere_add(segments=48, ring_count=24, radius=1.0, location=(0.0, 0.0, 0.17))
    body = bpy.context.object
    body.scale = (0.21, 0.17, 0.085)
    parts = [body]
    for leg in legs():
        for thick, thin, a, b in ((0.026, 0.024, leg.hip, leg.knee), (0.026, 0.014, leg.knee, leg.foot)):
            parts.append(_cone(thick, thin, a, b))
        for radius, at in ((0.03, leg.hip), (0.028, leg.knee), (0.016, leg.foot)):
            bpy.ops.mesh.primitive_uv_sphere_add(segments=24, ring_count=12, radius=radius, location=at)
            parts.append(bpy.context.object)
    for side in (-1.0, 1.0):
        bpy.ops.mesh.primitive_uv_sphere_add(
            segments=24, ring_count=12, radius=0.03, location=(0.07 * side, -0.15, 0.23)
        )
        parts.append(bpy.context.object)
    creature = _one_skin(parts)
    _make_materials(creature)
    return creature


def _cone(thick: float, thin: float, a: Vector, b: Vector) -> bpy.types.Object:
    along = b - a
    bpy.ops.mesh.primitive_cone_add(
        vertices=24, radius1=thick, radius2=thin, depth=along.length, location=0.5 * (a + b)
    )
    cone = bpy.context.object
    cone.rotation_euler = along.to_track_quat("Z", "Y").to_euler()
    return cone


def _one_skin(parts: list[bpy.types.Object]) -> bpy.types.Object:
    for part in parts:
        part.select_set(True)
    bpy.context.view_layer.objects.active = parts[0]
    bpy.ops.object.join()
    bpy.ops.object.transform_apply(location=True, rotation=True, scale=True)
    creature = bpy.context.object
    creature.name = creature.data.name = "Creature"
    creature.data.remesh_voxel_size = VOXEL
    bpy.ops.object.voxel_remesh()
    smooth = creature.modifiers.new("Smooth", "SMOOTH")
    smooth.iterations = 4
    bpy.ops.object.modifier_apply(modifier=smooth.name)
    bpy.ops.object.shade_smooth()
    return creature


def _make_materials(creature: bpy.types.Object) -> None:
    """Soft where a hip or a knee is near, stiff elsewhere; one foot is held."""
    X = vertex_positions(creature)
    joints = np.array([at for leg in legs() for at in (leg.hip, leg.knee)])
    soft = np.linalg.norm(X[:, None] - joints, axis=2).min(axis=1) < JOINT_REACH
    bpy.ops.sinew.enable()
    settings = creature.sinew
    while settings.materials:
        bpy.ops.sinew.remove_material()
    for preset, chosen, stiffness in (("Soft Flesh", soft, 1e6), ("Bone", ~soft, 1e9)):
        bpy.ops.sinew.add_material(preset=preset)
        settings.materials[-1].vertex_group = add_group(creature, preset, chosen)
        settings.materials[-1].log_stiffness = math.log10(stiffness)
    foot = np.linalg.norm(X - np.array(legs()[0].foot), axis=1) < 0.03
    settings.pin_group = add_group(creature, "Foot", foot)
    settings.cells_across = 40
    settings.collisions.use_ground, settings.collisions.height = True, GROUND
    settings.cubature_points = 800
    settings.solver, settings.modes, settings.max_iterations = "subspace_mixed_fem", 16, 10
    settings.mass_damping = 0.5
    colours = creature.data.color_attributes.new("Physical Material", "FLOAT_COLOR", "POINT")
    values = np.where(soft[:, None], (*JOINT, 1.0), (*SHELL, 1.0)).astype(np.float32)
    colours.data.foreach_set("color", values.ravel())
    creature.data.color_attributes.active_color = colours
