"""The graphics card without a window: made ready, drawn into off screen, and asked what its shader computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import gpu
import numpy as np
from sinew.blender_addon.drawing.card import compiled
from sinew.blender_addon.drawing.gpu_preview import Preview
from sinew.blender_addon.drawing.preview_shader import skinning_info, skinning_source

COLUMNS = 256


def make_ready() -> None:
    """Let the background process draw: since 5.2 by asking for it, before that by rendering once."""
    if hasattr(gpu, "init"):
        gpu.init()
        return
    scene = bpy.context.scene
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.render.resolution_x = scene.render.resolution_y = 16
    scene.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(scene.camera)
    bpy.ops.render.render()


def picture(
    draw: Callable[[], None],
    size: tuple[int, int] = (64, 64),
    pixels: str = "RGBA8",
    background: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> np.ndarray:
    """Return the pixels of ``draw()``, (height, width, 4), from the bottom up; between 0 and 1 unless pixels are
    floats.
    """
    off = gpu.types.GPUOffScreen(*size, format=pixels)
    with off.bind():
        frame = gpu.state.active_framebuffer_get()
        frame.clear(color=(*background, 1.0), depth=1.0)
        draw()
        values = frame.read_color(0, 0, *size, 4, 0, "FLOAT")
    off.free()
    values.dimensions = 4 * size[0] * size[1]
    return np.array(values.to_list(), dtype=np.float32).reshape(size[1], size[0], 4)


def read_back(preview: Preview, variable: str) -> np.ndarray:
    """Return ``variable`` of the skinning shader for each vertex, (g,3), each drawn at its own pixel."""
    batch, count = preview.ready(), len(preview.card.vertices)
    rows = -(-count // COLUMNS)
    info = skinning_info(batch.skinned.handles)
    stage = gpu.types.GPUStageInterfaceInfo("read_back_stage")
    stage.flat("VEC3", "value")
    info.vertex_out(stage)
    info.fragment_out(0, "VEC4", "result")
    info.vertex_source(
        "void main()\n{"
        + skinning_source(batch.skinned.handles, batch.skinned.per_row)
        + f"""
  int own = int(position.w + 0.5);
  vec2 pixel = vec2(float(own % {COLUMNS}), float(own / {COLUMNS})) + vec2(0.5);
  gl_Position = vec4(2.0 * pixel / vec2({COLUMNS}.0, {rows}.0) - vec2(1.0), 0.0, 1.0);
  gl_PointSize = 1.0;
  value = {variable};
}}
"""
    )
    info.fragment_source("void main() { result = vec4(value, 1.0); }")
    shader = compiled(info)
    points = gpu.types.GPUBatch(type="POINTS", buf=batch.skinned.vertices)

    def draw() -> None:
        gpu.state.blend_set("NONE")
        gpu.state.depth_test_set("NONE")
        gpu.state.point_size_set(1.0)
        shader.bind()
        batch.skinned.bind(shader, preview.sent)
        points.draw(shader)
        gpu.shader.unbind()

    return picture(draw, (COLUMNS, rows), "RGBA32F").reshape(-1, 4)[:count, :3].astype(np.float64)


def straight_down(height: float) -> tuple[Any, Any]:
    """View and window matrices of a view along -z that shows the height around the origin, orthographic."""
    window = np.diag([2.0 / height, 2.0 / height, -1.0 / (10.0 * height), 1.0])
    return np.eye(4).tolist(), window.tolist()
