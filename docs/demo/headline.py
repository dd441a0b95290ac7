"""The headline scene: a monkey's head of flesh with ears and brow of bone, shaken by the back of the head.

Run by ``build_addon.py demo`` with the extension installed in an isolated profile: ``python headline.py FOLDER``. It
does what an artist does, through the extension's operators and properties: paints materials, pins a vertex group, keys
the object, bakes to shape keys, renders.
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path

import bpy
import numpy as np
from stage import add_group, begin, light_and_camera, render, vertex_positions

FRAMES = 60
SIZE = 0.5  # metres from the middle of the head to an ear are two thirds of it
FLESH, BONE = (0.80, 0.36, 0.28), (0.93, 0.88, 0.74)


def main(folder: Path) -> None:
    """Make, bake, render and measure the scene."""
    scene, _package = begin(FRAMES)
    head = add_head()
    paint(head)
    shake(head)
    light_and_camera(scene, (0.55, -1.45, 0.25), (0.0, -0.05, -0.03))
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "headline.blend"))

    began = time.perf_counter()
    bpy.ops.sinew.bake()
    seconds = time.perf_counter() - began
    print(head.sinew.bake.mesh_summary)
    print(f"Baked {FRAMES} frames in {seconds:.1f} s (kernels compiled on the way: about half a minute the first time)")
    measure(head)
    bpy.ops.wm.save_mainfile()

    began = time.perf_counter()
    render(scene, folder, "headline")
    print(f"Rendered in {time.perf_counter() - began:.1f} s")


def add_head() -> bpy.types.Object:
    """Blender's Suzanne, subdivided twice: open, non-manifold and self-intersecting, as artists' meshes are."""
    bpy.ops.mesh.primitive_monkey_add(size=SIZE)
    head = bpy.context.object
    head.name = "Head"
    modifier = head.modifiers.new("Subdivision", "SUBSURF")
    modifier.levels = modifier.render_levels = 2
    bpy.ops.object.modifier_apply(modifier=modifier.name)
    bpy.ops.object.shade_smooth()
    return head


def paint(head: bpy.types.Object) -> None:
    """Flesh everywhere, bone on ears and brow, pins at the back of the head."""
    x, y, z = (vertex_positions(head) / SIZE).T
    ears = np.abs(x) > 0.43
    brow = (y < -0.20) & (z > 0.21) & (z < 0.36) & (np.abs(x) < 0.40)
    bpy.ops.sinew.enable()
    settings = head.sinew
    while settings.materials:
        bpy.ops.sinew.remove_material()
    for preset, chosen in (("Soft Flesh", ~(ears | brow)), ("Bone", ears | brow)):
        bpy.ops.sinew.add_material(preset=preset)
        settings.materials[-1].vertex_group = add_group(head, preset, chosen)
    settings.materials[0].log_stiffness = math.log10(5e4)
    settings.materials[1].log_stiffness = math.log10(1e9)
    settings.pin_group = add_group(head, "Pin", y > 0.20)
    settings.cells_across = 24
    settings.substeps = 1
    show_materials(head, ears | brow)


def show_materials(head: bpy.types.Object, bone: np.ndarray) -> None:
    """Colour the vertices by physical material, for the render."""
    colours = head.data.color_attributes.new("Physical Material", "FLOAT_COLOR", "POINT")
    values = np.where(bone[:, None], (*BONE, 1.0), (*FLESH, 1.0)).astype(np.float32)
    colours.data.foreach_set("color", values.ravel())
    head.data.color_attributes.active_color = colours


def shake(head: bpy.types.Object) -> None:
    """Key the object; the pin goes with it."""
    for frame, x, turn in (
        (1, 0, 0),
        (8, 0.1, 0.25),
        (15, -0.1, -0.3),
        (22, 0.08, 0.25),
        (29, -0.05, -0.1),
        (36, 0, 0),
    ):
        head.location = (x, 0.0, 0.0)
        head.rotation_euler = (0.0, 0.0, turn)
        head.keyframe_insert("location", frame=frame)
        head.keyframe_insert("rotation_euler", frame=frame)


def measure(head: bpy.types.Object) -> None:
    """Print how rigid the bone stayed and how far the flesh swung, from the shape keys."""
    rest = vertex_positions(head)
    groups = {g.name: g.index for g in head.vertex_groups}
    bone = np.array([any(e.group == groups["Bone"] for e in v.groups) for v in head.data.vertices])
    ears = [bone & (rest[:, 0] > 0.43 * SIZE), bone & (rest[:, 0] < -0.43 * SIZE)]
    stretch, swing = 0.0, 0.0
    for block in head.data.shape_keys.key_blocks[1:]:
        flat = np.empty(3 * len(rest), dtype=np.float32)
        block.points.foreach_get("co", flat)
        now = flat.reshape(-1, 3).astype(float)
        swing = max(swing, float(np.linalg.norm(now - rest, axis=1).max()))
        for ear in ears:
            a, b = rest[ear] - rest[ear].mean(axis=0), now[ear] - now[ear].mean(axis=0)
            u, _, v = np.linalg.svd(a.T @ b)
            turn = u @ np.diag([1, 1, np.linalg.det(u @ v)]) @ v
            stretch = max(stretch, float(np.linalg.norm(a @ turn - b, axis=1).max() / np.ptp(rest[ear], axis=0).max()))
    print(f"Bone: an ear departs from rigid motion by at most {100 * stretch:.2f} % of its length")
    print(f"Flesh: a vertex moves by up to {swing:.3f} m against the pinned back of the head")


if __name__ == "__main__":
    main(Path(sys.argv[-1]).resolve())
