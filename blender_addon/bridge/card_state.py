"""The graphics card's state around a drawing of ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import gpu


@contextmanager
def drawing(
    depth_test: str,
    depth_mask: bool = True,
    sized_points: bool = False,
    blend: str = "NONE",
    culled: str = "NONE",
    colour: bool = True,
) -> Iterator[None]:
    """Every state that the drawing depends on, set; what can be asked for is put back, the rest set to its default.
    Without ``colour`` only depth is drawn.
    """
    before = gpu.state.blend_get(), gpu.state.depth_test_get(), gpu.state.depth_mask_get()
    gpu.state.blend_set(blend)
    gpu.state.depth_test_set(depth_test)
    gpu.state.depth_mask_set(depth_mask)
    gpu.state.face_culling_set(culled)
    gpu.state.front_facing_set(False)
    gpu.state.color_mask_set(colour, colour, colour, colour)
    gpu.state.line_width_set(1.0)
    gpu.state.program_point_size_set(sized_points)
    try:
        yield
    finally:
        # Blender takes a new shader for the bound one when it lies where a freed one lay, and then draws nothing.
        gpu.shader.unbind()
        gpu.state.program_point_size_set(False)
        gpu.state.face_culling_set("NONE")
        gpu.state.color_mask_set(True, True, True, True)
        gpu.state.blend_set(before[0])
        gpu.state.depth_test_set(before[1])
        gpu.state.depth_mask_set(before[2])
