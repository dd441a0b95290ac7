"""The one way in which something is drawn on the graphics card: vertices, a shader, and the card's state meanwhile.

Every shader has the push constants ``to_clip`` (4,4), vectors of four floats of its own, and ``opacity``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import gpu
import numpy as np

from ...core.foundation.errors import PreviewError

OPAQUE = "  result.w = opacity;\n"
_ENCODED = """
  vec3 steep = 12.92 * linear;
  vec3 curve = 1.055 * pow(max(linear, vec3(0.0031308)), vec3(1.0 / 2.4)) - vec3(0.055);
  vec3 encoded = vec3(linear.x <= 0.0031308 ? steep.x : curve.x, linear.y <= 0.0031308 ? steep.y : curve.y,
                      linear.z <= 0.0031308 ? steep.z : curve.z);
  result = vec4(srgbTarget ? linear : encoded, 1.0);
"""
DOT_COLOUR = """
  vec2 away = 2.0 * gl_PointCoord - vec2(1.0);
  float distance2 = dot(away, away);
  if (distance2 > 1.0) {
    discard;
  }
  vec3 linear = distance2 > 0.5 ? vec3(0.0) : inner;
"""
"""Round dots in the colour ``inner``, which is carried, with a dark rim."""
LINE_COLOUR = "  vec3 linear = tint.xyz;\n"


def vertices_of(**columns: np.ndarray) -> Any:
    """Vertices on the card, each column (n,4)."""
    form = gpu.types.GPUVertFormat()
    for name in columns:
        form.attr_add(id=name, comp_type="F32", len=4, fetch_mode="FLOAT")
    vertices = gpu.types.GPUVertBuf(form, len=len(next(iter(columns.values()))))
    for name, values in columns.items():
        vertices.attr_fill(id=name, data=np.ascontiguousarray(values, dtype=np.float32))
    return vertices


def elements_of(kind: str, corners: np.ndarray) -> Any:
    """On the card which vertices, (k,3) or (k,2), TRIS or LINES have."""
    return gpu.types.GPUIndexBuf(type=kind, seq=np.ascontiguousarray(corners, dtype=np.int32))


def batch_of(kind: str, vertices: Any, corners: Any = None) -> Any:
    """TRIS, LINES or POINTS of vertices on the card, in their order or as ``corners`` (k,3) or (k,2) name them, or what
    :func:`elements_of` made of these.
    """
    if corners is None:
        return gpu.types.GPUBatch(type=kind, buf=vertices)
    elements = elements_of(kind, corners) if isinstance(corners, np.ndarray) else corners
    return gpu.types.GPUBatch(type=kind, buf=vertices, elem=elements)


def shader_info(*attributes: str) -> Any:
    """The description of a shader that reads attributes of four floats."""
    info = gpu.types.GPUShaderCreateInfo()
    for slot, name in enumerate(attributes):
        info.vertex_in(slot, "VEC4", name)
    return info


def shader_of(
    info: Any, vectors: tuple[str, ...], vertex: str, colour: str, carried: tuple[str, ...] = (), end: str = OPAQUE
) -> Any:
    """The shader of a description, with push constants ``vectors``; PreviewError where the driver refuses it.

    ``vertex`` sets the place and three numbers each that are ``carried`` to the fragments; there ``colour`` leaves
    ``linear``, and ``end`` how much of it the result has.
    """
    info.push_constant("MAT4", "to_clip")
    # Vectors first: a lone number before one leaves a gap, and push constants end at 128 bytes on some cards.
    for name in vectors:
        info.push_constant("VEC4", name)
    # Blender sets it where the frame buffer encodes by itself.
    info.push_constant("BOOL", "srgbTarget")
    info.push_constant("FLOAT", "opacity")
    if carried:
        stage = gpu.types.GPUStageInterfaceInfo("sinew_stage")
        for name in carried:
            stage.smooth("VEC3", name)
        info.vertex_out(stage)
    info.fragment_out(0, "VEC4", "result")
    info.vertex_source(f"void main()\n{{\n{vertex}}}\n")
    info.fragment_source(f"void main()\n{{\n{colour}{_ENCODED}{end}}}\n")
    return compiled(info)


def compiled(info: Any) -> Any:
    """The shader of a whole description; PreviewError where the graphics driver refuses it."""
    try:
        return gpu.shader.create_from_info(info)
    except Exception as error:
        raise PreviewError(
            f"The graphics card refuses the preview's shader ({error}).", "Update its driver."
        ) from error


def draw(shader: Any, draw_batch: Callable[[Any], None], state: dict[str, Any], **constants: Any) -> None:
    """Draw with push constants in a state (:func:`drawing`); ``opacity`` is 1 unless given."""
    with drawing(**state):
        shader.bind()
        for name, value in {"opacity": 1.0, **constants}.items():
            shader.uniform_float(name, value)
        draw_batch(shader)


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
