"""Cost of a preview frame in Blender's main thread: upload of handles and a draw call."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..pictures import Bars, draw
from ..registry import Case, Row, row

AROUND, UP = 400, 250
"""Grid of 100,000 vertices."""

MODES = (5, 16, 64)
FRAMES = 200
WINDOW = (960, 540)


def cases(data: Path | None) -> Iterator[Case]:
    """Yield the preview of a vase of 100,000 vertices."""
    yield Case("preview", _preview)


def _vase(around: int, up: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return positions (n,3), triangles (t,3) and outward normals (n,3) of an open surface of revolution."""
    angle, height = np.meshgrid(np.linspace(0.0, 2 * np.pi, around, endpoint=False), np.linspace(0.0, 1.0, up))
    radius, slope = 0.3 + 0.1 * np.sin(6.0 * height), 0.6 * np.cos(6.0 * height)
    positions = np.stack([radius * np.cos(angle), radius * np.sin(angle), height], axis=-1).reshape(-1, 3)
    normals = np.stack([np.cos(angle), np.sin(angle), -slope], axis=-1).reshape(-1, 3)
    first = (np.arange(up - 1)[:, None] * around + np.arange(around)).ravel()
    beside = (np.arange(up - 1)[:, None] * around + (np.arange(around) + 1) % around).ravel()
    lower = np.column_stack([first, beside, beside + around])
    upper = np.column_stack([first, beside + around, first + around])
    return positions, np.vstack([lower, upper]).astype(np.int32), normals / np.linalg.norm(normals, axis=1)[:, None]


def _ready_card() -> None:
    """Enable drawing in this process: before Blender 5.2 this requires a render."""
    import bpy
    import gpu

    if hasattr(gpu, "init"):
        gpu.init()
        return
    scene = bpy.context.scene
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.render.resolution_x = scene.render.resolution_y = 16
    bpy.ops.render.render()


def _preview_of(around: int, up: int, handles: int) -> Any:
    from ...blender_addon.drawing.gpu_preview import Preview
    from ...blender_addon.drawing.preview_mesh import DrawnMesh, Skin

    positions, triangles, normals = _vase(around, up)
    waves = np.random.default_rng(0).normal(0.0, 3.0, (3, handles))
    weights = np.sin(positions @ waves + np.arange(handles)).astype(np.float32)
    skin = Skin(positions, weights, np.array([0.0, 0.0, 0.5]), 1.0)
    return Preview(DrawnMesh(triangles, normals[triangles].astype(np.float32)), skin)


def _bytes_of(preview: Any) -> int:
    """Return the bytes on the GPU: vertices with their weights, triangles, one colour."""
    from ...blender_addon.drawing.preview_shader import attribute_count, in_attributes, texels_each

    handles, card = len(preview.handles), preview.card
    weights = attribute_count(handles) if in_attributes(handles) else texels_each(handles)
    return 16 * len(card.vertices) * (2 + weights) + card.triangles.nbytes + 16


def _milliseconds_a_frame(preview: Any, handles: int, frames: int) -> tuple[float, np.ndarray]:
    """Return the median processor time of this thread for handles and one draw call, without waiting for the GPU; and
    the last picture.
    """
    import gpu

    bent = np.random.default_rng(1).normal(0.0, 0.1 / np.sqrt(handles), (handles, 4, 3))
    view = [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, -0.5], [0.0, -1.0, 0.0, -3.0], [0.0, 0.0, 0.0, 1.0]]
    window = [[1.6, 0.0, 0.0, 0.0], [0.0, 2.8, 0.0, 0.0], [0.0, 0.0, -1.0, -0.2], [0.0, 0.0, -1.0, 0.0]]
    off, seconds = gpu.types.GPUOffScreen(*WINDOW), []
    with off.bind():
        frame = gpu.state.active_framebuffer_get()
        for k in range(frames + 3):
            frame.clear(color=(0.05, 0.05, 0.05, 1.0), depth=1.0)
            start = time.thread_time()
            preview.set_handles(np.sin(0.1 * k) * bent)
            preview.draw(view, window, (0.8, 0.4, 0.2))
            seconds.append(time.thread_time() - start)
        pixels = frame.read_color(0, 0, *WINDOW, 4, 0, "UBYTE")
    pixels.dimensions = 4 * WINDOW[0] * WINDOW[1]
    off.free()
    picture = np.array(pixels.to_list(), dtype=np.uint8).reshape(WINDOW[1], WINDOW[0], 4)
    return 1e3 * float(np.median(seconds[3:])), picture


def _subdivided(level: int) -> Iterable[Row]:
    """Measure a waving grid of 10,000 vertices with a Subdivision: time per frame until it is on the GPU."""
    import bpy

    from ...blender_addon.drawing.gpu_preview import Preview
    from ...blender_addon.drawing.preview_fine import FineCard
    from ...blender_addon.drawing.preview_mesh import Skin, drawn_mesh
    from ...blender_addon.scene_import.mesh_in import vertex_positions
    from ...blender_addon.scene_import.subdivision_in import cage_of, subdivided

    bpy.ops.mesh.primitive_grid_add(x_subdivisions=99, y_subdivisions=99)
    bpy.ops.object.shade_smooth()
    mesh, seconds = bpy.context.object.data, []
    rest = vertex_positions(mesh)
    start = time.thread_time()
    made = subdivided(cage_of(mesh), {"levels": level, "use_limit_surface": True})
    skin = Skin(rest, np.zeros((len(rest), 1)), np.zeros(3), 2.0)
    preview = Preview(drawn_mesh(mesh, np.eye(4)), skin, fine=FineCard(made))
    name = f"10,000 vertices, Subdivision of level {level}"
    yield row("preview", f"{name}: made in", time.thread_time() - start, "s")
    for k in range(FRAMES // 5):
        start = time.thread_time()
        preview.set_positions(rest + 0.05 * np.sin(9.0 * rest[:, [1, 2, 0]] + 0.1 * k))
        preview.ready()
        seconds.append(time.thread_time() - start)
    yield row("preview", f"{name}: vertices on the card", len(preview.card.vertices))
    yield row("preview", f"{name}: a frame", 1e3 * float(np.median(seconds[3:])), "ms")


def _preview() -> Iterable[Row]:
    _ready_card()
    for level in (1, 2):
        yield from _subdivided(level)
    shares = []
    for modes in MODES:
        handles = modes + 1
        name = f"{modes} modes and a pin"
        start = time.perf_counter()
        preview = _preview_of(AROUND, UP, handles)
        yield row("preview", f"{name}: vertices on the card", len(preview.card.vertices))
        yield row("preview", f"{name}: made in", time.perf_counter() - start, "s")
        yield row("preview", f"{name}: memory on the card", _bytes_of(preview) / 1e6, "MB")
        whole, picture = _milliseconds_a_frame(preview, handles, 10)
        yield row("preview", f"{name}: pixels drawn", int((picture[..., 0] > 40).sum()))
        # Python's share does not depend on the mesh; with few triangles the driver's share is negligible.
        share, _ = _milliseconds_a_frame(_preview_of(8, 3, handles), handles, FRAMES)
        yield row("preview", f"{name}: Python's share", share, "ms", at_most=1.0 if modes == 16 else None)
        yield row("preview", f"{name}: with the driver that is here", whole, "ms")
        shares.append(share)
    names = [f"{modes} modes" for modes in MODES]
    draw("subspace", "preview", [Bars("Python's share of a frame", "ms", names, {"": shares})])
