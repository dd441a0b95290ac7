"""Figure of flesh on bones that jumps, goes limp and falls down stairs."""

from __future__ import annotations

import math
from typing import Any

from ...setup.bone_bodies import add_bodies
from ..rig import Bones, add_armature, follow
from ..shapes import SIDES, ball, limb, sweep
from ..stage import Stage

LABEL = "Ragdoll on Stairs"
DESCRIPTION = (
    "A figure of flesh on bones that an armature makes jump and then lets go: it tumbles down stairs, with joints that "
    "have the limits of the bones"
)
SKIN, STONE = (0.70, 0.40, 0.30), (0.42, 0.44, 0.50)
VOXEL = 0.014
FLESH = 6e4
"""Young's modulus of the flesh, Pa."""
STEPS, RISE, TREAD, WIDE = 6, 0.12, 0.2, 0.7
"""Number of steps, and their height, depth and half width, m."""
TOP = STEPS * RISE
LET_GO = 0.3
"""Time after which the figure is limp, s."""

BONES: Bones = {
    "Hips": ((0.0, 0.0, 0.46), (0.0, 0.0, 0.58), None),
    "Chest": ((0.0, 0.0, 0.58), (0.0, 0.0, 0.78), "Hips"),
    "Head": ((0.0, 0.0, 0.82), (0.0, 0.0, 1.0), "Chest"),
}
"""Head, tail (m) and parent of each bone. The figure stands 1 m tall and faces -Y."""
PARTS = [
    ball((0.0, 0.0, 0.48), (0.12, 0.085, 0.09), 32),
    limb((0.0, 0.0, 0.46), (0.0, 0.0, 0.74), 0.1, 0.11),
    ball((0.0, 0.0, 0.73), (0.145, 0.08, 0.07), 32),
    limb((0.0, 0.0, 0.74), (0.0, 0.0, 0.86), 0.045, 0.045),
    ball((0.0, -0.01, 0.92), (0.08, 0.09, 0.1), 32),
]
BENDS = {"Chest": (30.0, 20.0), "Head": (40.0, 30.0)}
"""Largest rotation of each bone about its X and Z axes, degrees, forward and back alike."""
HINGES = {}
"""Range of a hinge about the X axis of its bone, degrees."""
for letter, side in zip("RL", SIDES, strict=True):
    arm = (0.15 * side, 0.0, 0.74), (0.27 * side, 0.01, 0.56), (0.36 * side, -0.02, 0.40)
    leg = (0.065 * side, 0.0, 0.45), (0.085 * side, -0.01, 0.25), (0.095 * side, 0.0, 0.04)
    for (first, second), (root, middle, end), parent, thick, thin in (
        (("Arm", "Forearm"), arm, "Chest", 0.05, 0.042),
        (("Thigh", "Shin"), leg, "Hips", 0.072, 0.05),
    ):
        BONES[f"{first}.{letter}"], BONES[f"{second}.{letter}"] = (
            (root, middle, parent),
            (middle, end, f"{first}.{letter}"),
        )
        PARTS += [
            limb(root, middle, thick, thin),
            limb(middle, end, thin, 0.85 * thin),
            ball(middle, thin),
            ball(end, thin),
        ]
        PARTS.append(ball(root, thick))
    BENDS[f"Arm.{letter}"], BENDS[f"Thigh.{letter}"] = (80.0, 80.0), (70.0, 40.0)
    HINGES[f"Forearm.{letter}"], HINGES[f"Shin.{letter}"] = (-130.0, 5.0), (-5.0, 130.0)
    PARTS.append(ball((0.095 * side, -0.035, 0.03), (0.04, 0.08, 0.03)))


def build(stage: Stage) -> Any:
    """Build the figure with its armature, the bodies of the bones, and the stairs. Returns the figure."""
    skin = stage.shader("Skin", SKIN, 0.5)
    figure = stage.add("Figure", stage.one_skin(stage.mesh("Figure", PARTS, skin), VOXEL, 6))
    armature = add_armature(stage, BONES)
    for each in (figure, armature):
        each.location = (0.0, 0.0, TOP + 0.012)
    follow(stage, figure, armature, BONES)
    settings = stage.body(figure, 2.0, 20)
    stage.material(figure, "Soft Flesh", FLESH)
    settings.substeps, settings.max_iterations = 2, 100
    settings.stiffness_damping, settings.collisions.collider_friction = 0.005, 0.4
    _stairs(stage, stage.floor(2.5, (0.33, 0.34, 0.38), settings))
    _limit(armature)
    for body in add_bodies(armature, list(armature.pose.bones), stage.context):
        body.sinew.collisions.contact_collection = stage.collection
        body.sinew.joint.stiffness = 0.5
    _jump(stage, armature)
    return figure


def _stairs(stage: Stage, floor: Any) -> None:
    """Add stairs that descend towards -Y from a landing below the figure, beside the floor."""
    profile = [(0.35, 0.0), (0.35, TOP), (-0.12, TOP)]
    for k in range(1, STEPS):
        front = -0.12 - TREAD * (k - 1)
        profile += [(front, TOP - k * RISE), (front - TREAD, TOP - k * RISE)]
    profile.append((profile[-1][0], 0.0))
    rings = [[(x, y, z) for y, z in profile] for x in (-WIDE, WIDE)]
    mesh = stage.mesh("Stairs", [sweep(rings)], stage.shader("Stone", STONE, 0.8), smooth=False)
    stage.add("Stairs", mesh, floor.users_collection[0])


def _limit(armature: Any) -> None:
    """Set the IK limits and locks of the bones, which become the limits of the joints."""
    for name, ranges in {**BENDS, **HINGES}.items():
        bone = armature.pose.bones[name]
        if name in HINGES:
            bone.lock_ik_y = bone.lock_ik_z = bone.use_ik_limit_x = True
            bone.ik_min_x, bone.ik_max_x = map(math.radians, ranges)
            continue
        bone.use_ik_limit_x = bone.use_ik_limit_z = True
        bone.ik_min_x, bone.ik_min_z = (-math.radians(each) for each in ranges)
        bone.ik_max_x, bone.ik_max_z = map(math.radians, ranges)


def _jump(stage: Stage, armature: Any) -> None:
    """Animate a jump off the landing, and let go in the air."""
    hips = armature.pose.bones["Hips"]
    times = [0.1 * k for k in range(6)]
    # A bone's own Y is up here, and its Z is forward.
    stage.key(hips, "location", *((t, (0.0, 1.3 * t - 4.9 * t * t, 1.6 * t)) for t in times))
    stage.key(hips, "rotation_euler", *((t, (2.2 * t, 0.0, 0.15 * t)) for t in times))
    for name, angle in (("Arm.L", -0.5), ("Arm.R", 0.4), ("Thigh.L", -0.5), ("Thigh.R", 0.3)):
        stage.key(armature.pose.bones[name], "rotation_euler", (0.0, (0.0,) * 3), (0.5, (angle, 0.0, 0.0)))
    stage.key(armature.data.sinew, "follow", (0.0, 1.0), (LET_GO, 1.0), (LET_GO + 1.0 / 24.0, 0.0))
