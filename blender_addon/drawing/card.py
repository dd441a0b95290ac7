"""Access to the graphics card: vertex buffers, shaders, and the GPU state during a draw call.

Every shader has the push constants ``to_clip`` (4,4), the matrix to clip space, ``opacity``, and named vectors of four
floats.
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
"""GLSL of a fragment shader for round dots with a dark rim, in the colour of the varying ``inner``."""
LINE_COLOUR = "  vec3 linear = tint.xyz;\n"


def vertices_of(**columns: np.ndarray) -> Any:
    """Return a vertex buffer of n vertices.

    ``columns``: attributes of the vertices by name, each (n,4).
    """
    form = gpu.types.GPUVertFormat()
    for name in columns:
        form.attr_add(id=name, comp_type="F32", len=4, fetch_mode="FLOAT")
    vertices = gpu.types.GPUVertBuf(form, len=len(next(iter(columns.values()))))
    for name, values in columns.items():
        vertices.attr_fill(id=name, data=np.ascontiguousarray(values, dtype=np.float32))
    return vertices


def elements_of(kind: str, corners: np.ndarray) -> Any:
    """Return an index buffer of triangles or lines.

    ``kind``: TRIS or LINES.
    ``corners``: vertex indices of the triangles (k,3) or lines (k,2).
    """
    return gpu.types.GPUIndexBuf(type=kind, seq=np.ascontiguousarray(corners, dtype=np.int32))


def batch_of(kind: str, vertices: Any, corners: Any = None) -> Any:
    """Return a GPU batch of triangles, lines or points.

    Without ``corners``, successive vertices form the primitives.

    ``kind``: TRIS, LINES or POINTS.
    ``vertices``: vertex buffer.
    ``corners``: vertex indices of triangles (k,3) or lines (k,2), or an index buffer from :func:`elements_of`.
    """
    if corners is None:
        return gpu.types.GPUBatch(type=kind, buf=vertices)
    elements = elements_of(kind, corners) if isinstance(corners, np.ndarray) else corners
    return gpu.types.GPUBatch(type=kind, buf=vertices, elem=elements)


def shader_info(*attributes: str) -> Any:
    """Return a shader description with vertex attributes of four floats each.

    ``attributes``: names of the vertex attributes.
    """
    info = gpu.types.GPUShaderCreateInfo()
    for slot, name in enumerate(attributes):
        info.vertex_in(slot, "VEC4", name)
    return info


def shader_of(
    info: Any, vectors: tuple[str, ...], vertex: str, colour: str, carried: tuple[str, ...] = (), end: str = OPAQUE
) -> Any:
    """Complete a shader description with GLSL code, and return the shader.

    Raises PreviewError if the driver rejects the shader.

    ``info``: shader description.
    ``vectors``: names of push constants of four floats.
    ``vertex``: body of the vertex shader, which sets the position and the varyings.
    ``colour``: body of the fragment shader, which sets the linear colour ``linear``.
    ``carried``: names of the varyings, three floats each.
    ``end``: end of the fragment shader, which sets the opacity ``result.w``.
    """
    info.push_constant("MAT4", "to_clip")
    # Vectors first: a scalar before a vector leaves a gap, and some GPUs limit push constants to 128 bytes.
    for name in vectors:
        info.push_constant("VEC4", name)
    # Blender sets srgbTarget if the frame buffer encodes colours as sRGB itself.
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
    """Compile a complete shader description, and return the shader.

    Raises PreviewError if the driver rejects the shader.
    """
    try:
        return gpu.shader.create_from_info(info)
    except Exception as error:
        raise PreviewError(
            f"The graphics card refuses the preview's shader ({error}).", "Update its driver."
        ) from error


def draw(shader: Any, draw_batch: Callable[[Any], None], state: dict[str, Any], **constants: Any) -> None:
    """Draw with a shader: bind the shader, set the push constants, and call ``draw_batch(shader)``.

    ``state``: arguments of :func:`drawing`, which sets the GPU state.
    ``constants``: push constants by name. The default of ``opacity`` is 1.
    """
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
    """Set the complete GPU state for drawing within the context.

    Afterwards, state that can be queried is restored. Other state is reset to its default.

    ``sized_points``: True if shaders set the size of points.
    ``culled``: faces that are not drawn, FRONT or BACK.
    ``colour``: False to write only depth.
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
        # Unbind: Blender may allocate a new shader at the address of a freed one, take it for bound, and draw nothing.
        gpu.shader.unbind()
        gpu.state.program_point_size_set(False)
        gpu.state.face_culling_set("NONE")
        gpu.state.color_mask_set(True, True, True, True)
        gpu.state.blend_set(before[0])
        gpu.state.depth_test_set(before[1])
        gpu.state.depth_mask_set(before[2])
