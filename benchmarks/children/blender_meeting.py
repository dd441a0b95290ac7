"""Blender's Soft Body or Cloth on surfaces in contact with one another, themselves and plates.

Usage: ``python blender_meeting.py IN.npz OUT.npz``, with a Python that has ``bpy``. Only the surface's triangles are
simulated: Soft Body holds their shape by springs along and across edges, Cloth by internal springs. All bodies are one
object with self-collision, since objects that collide with one another make a dependency cycle; plates are thick boxes
with a Collision modifier.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import bpy
import numpy as np

THICK = 0.1
"""Thickness of plates, m."""


def _object(name: str, points: np.ndarray, faces: np.ndarray) -> Any:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points.tolist(), [], faces.tolist())
    made = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(made)
    return made


def _plate(name: str, low: float, high: float, friction: float) -> Any:
    corners = np.array([(i, j, k) for i in (-1.0, 1.0) for j in (-1.0, 1.0) for k in (low, high)])
    quads = np.array([(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
    made = _object(name, corners, quads)
    _collides(made, friction)
    return made


def _collides(made: Any, friction: float) -> None:
    made.modifiers.new("Collision", "COLLISION")
    made.collision.cloth_friction = 100.0 * friction
    made.collision.friction_factor = friction
    made.collision.damping_factor = 0.5
    made.collision.thickness_outer = made.collision.thickness_inner = 0.001


def _soft_body(made: Any, scene: dict[str, np.ndarray]) -> None:
    settings = made.modifiers.new("Soft Body", "SOFT_BODY").settings
    settings.use_goal = False
    settings.use_edges = True
    settings.pull = settings.push = 0.9
    settings.mass, settings.bend = 0.1, 1.0
    settings.use_self_collision = True
    settings.collision_type, settings.ball_size = "MANUAL", float(scene["ball"])
    settings.step_min, settings.step_max = int(scene["substeps"]), 300


def _cloth(made: Any, scene: dict[str, np.ndarray]) -> None:
    cloth = made.modifiers.new("Cloth", "CLOTH")
    settings, collision = cloth.settings, cloth.collision_settings
    settings.quality = int(scene["substeps"])
    settings.mass = float(scene["mass"]) / len(made.data.vertices)
    settings.tension_stiffness = settings.compression_stiffness = settings.shear_stiffness = 80.0
    settings.bending_stiffness = 10.0
    settings.use_internal_springs = True
    settings.internal_spring_max_length = 0.0
    settings.internal_tension_stiffness = settings.internal_compression_stiffness = 80.0
    collision.use_collision = True
    collision.collision_quality = 5
    collision.distance_min = collision.self_distance_min = 0.002
    collision.friction = 100.0 * float(scene["friction"])
    collision.use_self_collision = True


def _frames(made: Any, frames: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices in each frame, the first at rest, and processor seconds of each later one."""
    positions, seconds = [], []
    for frame in range(frames + 1):
        start = time.process_time()
        bpy.context.scene.frame_set(frame + 1)
        mesh = made.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        points = np.empty(3 * len(mesh.vertices), dtype=np.float32)
        mesh.vertices.foreach_get("co", points)
        seconds.append(time.process_time() - start)
        positions.append(points.reshape(-1, 3).astype(float))
    return np.array(positions), np.array(seconds[1:])


def main(source: str, target: str) -> None:
    """Simulate the scene and write positions and processor seconds of every frame."""
    with np.load(source, allow_pickle=False) as archive:
        scene = {key: archive[key] for key in archive.files}
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = int(scene["fps"])
    bpy.context.scene.frame_end = int(scene["frames"]) + 1
    friction, heights = float(scene["friction"]), scene["heights"]
    _plate("Ground", -THICK, 0.0, friction)
    if len(heights):
        above = _plate("Above", 0.0, THICK, friction)
        for frame, height in enumerate(heights):
            above.location = (0.0, 0.0, height)
            above.keyframe_insert("location", frame=frame + 1)
    made = _object("Bodies", scene["positions"], scene["faces"])
    (_soft_body if str(scene["kind"]) == "Soft Body" else _cloth)(made, scene)
    cache = made.modifiers[0].point_cache
    cache.frame_start, cache.frame_end = 1, int(scene["frames"]) + 1
    positions, seconds = _frames(made, int(scene["frames"]))
    np.savez(target, positions=positions, seconds=seconds)


if __name__ == "__main__":
    main(*sys.argv[1:])
