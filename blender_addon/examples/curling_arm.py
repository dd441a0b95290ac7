"""Arm whose biceps lifts a weight: one skin, two bones inside, and a muscle along a curve."""

from __future__ import annotations

from typing import Any

import bpy

from ..scene_import.mesh_in import vertex_positions
from .shapes import ball, limb
from .stage import Stage

LABEL = "Curling Arm"
DESCRIPTION = "A muscle along a curve bends an arm of flesh on two bones, lifts a weight and bulges"
SKIN, BONE = (0.8, 0.5, 0.38), (0.9, 0.86, 0.75)
VOXEL = 0.007
FLESH, MUSCLE = 2e4, 3e4
BICEPS = (
    ((0.0, -0.018, 0.285), 0.45),
    ((0.0, -0.03, 0.225), 0.8),
    ((0.0, -0.034, 0.15), 1.0),
    ((0.0, -0.034, 0.085), 0.7),
    ((0.0, -0.066, 0.014), 0.4),
)
"""Points of the biceps' curve, m, and the radius there relative to the bevel."""
BEVEL = 0.028


def build(stage: Stage, *shaders: Any) -> Any:
    """Build the arm, its bones and the curve of its biceps. Returns the arm.

    ``shaders``: Blender materials of the arm instead of a skin.
    """
    shaders = shaders or (stage.shader("Skin", SKIN, 0.5),)
    parts = [
        limb((0.0, 0.0, 0.31), (0.0, 0.0, 0.0), 0.058, 0.046, 32),
        limb((0.0, 0.0, 0.0), (0.0, -0.26, -0.02), 0.045, 0.03, 32),
        ball((0.0, 0.0, 0.0), 0.046),
        ball((0.0, -0.285, -0.022), (0.036, 0.05, 0.036)),
    ]
    arm = stage.add("Arm", stage.one_skin(stage.mesh("Arm", parts, *shaders), VOXEL, 6))
    settings = stage.body(arm, 3.0, 28)
    points = vertex_positions(arm.data)
    settings.pin_group = stage.group(arm, "Pins", (points[:, 2] > 0.29).astype(float))
    stage.material(arm, "Soft Flesh", FLESH)
    bones = bpy.data.collections.new("Bones")
    stage.collection.children.link(bones)
    shader = stage.shader("Bone", BONE, 0.6)
    for name, a, b in (
        ("Humerus", (0.0, 0.004, 0.34), (0.0, 0.004, 0.03)),
        ("Forearm Bone", (0.0, -0.012, 0.0), (0.0, -0.29, -0.022)),
    ):
        stage.add(
            name,
            stage.mesh(name, [limb(a, b, 0.015, 0.013, 16), ball(a, 0.015, 16), ball(b, 0.013, 16)], shader),
            bones,
        )
    bone = stage.material(arm, "Bone", 1e8)
    bone.region_kind, bone.region_collection = "COLLECTION", bones
    weight = stage.add("Weight", stage.mesh("Weight", [ball((0.0, -0.29, -0.022), 0.026)], shader), bones)
    weight.hide_render = True
    stage.collection.children[bones.name].objects.unlink(weight)
    stage.collection.objects.link(weight)
    iron = stage.material(arm, "Bone", 1e8)
    iron.name, iron.density, iron.region = "Weight", 7800.0, weight
    muscle = stage.material(arm, "Soft Flesh", MUSCLE)
    muscle.name = "Biceps"
    own = muscle.muscle
    own.enabled, own.direction, own.curve = True, "CURVES", _curve(stage)
    own.strength, own.shortening, own.passive = 5e5, 0.55, 0.05
    muscle.poissons_ratio = 0.49
    stage.key(own, "activation", (0.0, 0.4), (0.5, 0.4), (1.3, 1.0), (2.0, 1.0), (2.8, 0.4))
    settings.stiffness_damping = 0.01
    for obj in (*bones.objects, weight, own.curve):
        obj.hide_viewport = obj.hide_render = True
    return arm


def _curve(stage: Stage) -> Any:
    data = bpy.data.curves.new("Biceps", "CURVE")
    data.dimensions, data.bevel_depth = "3D", BEVEL
    spline = data.splines.new("POLY")
    spline.points.add(len(BICEPS) - 1)
    for point, (position, radius) in zip(spline.points, BICEPS, strict=True):
        point.co, point.radius = (*position, 1.0), radius
    return stage.add("Biceps", data)
