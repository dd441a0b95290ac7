"""Shaders of the overlays, and their vertices: hardly shaded triangles with dark edges, dots, lines."""

from __future__ import annotations

from typing import Any

import gpu
import numpy as np
from mathutils import Matrix

from .preview_shader import ENCODED, compiled

_TURNED_VERTEX = """
  gl_Position = to_clip * vec4(position.xyz, 1.0);
  lit_normal = vec3(dot(normal_x.xyz, normal.xyz), dot(normal_y.xyz, normal.xyz), dot(normal_z.xyz, normal.xyz));
"""

_TETS_VERTEX = (
    _TURNED_VERTEX
    + """
  lit_colour = colour.xyz;
  corner = vec3(position.w < 0.5 ? 1.0 : 0.0, abs(position.w - 1.0) < 0.5 ? 1.0 : 0.0, position.w > 1.5 ? 1.0 : 0.0);
"""
)

# A lamp at the viewer's head, and a weak one: colours are to be found in the legend.
_LIGHT = """
  vec3 n = normalize(lit_normal);
  vec3 linear = lit_colour * (0.55 + 0.45 * abs(n.z));
"""

# Edges a pixel wide, fainter where triangles are hardly wider than that.
_EDGES = """
  vec3 step_of = fwidth(corner);
  vec3 away = corner / max(step_of, vec3(1e-6));
  float nearest = min(away.x, min(away.y, away.z));
  float small = max(step_of.x, max(step_of.y, step_of.z));
  linear *= 1.0 - 0.5 * clamp(1.0 - 2.5 * small, 0.0, 1.0) * (1.0 - smoothstep(0.4, 1.2, nearest));
"""

_DOT_COLOUR = """
  vec2 away = 2.0 * gl_PointCoord - vec2(1.0);
  float distance2 = dot(away, away);
  if (distance2 > 1.0) {
    discard;
  }
  vec3 linear = distance2 > 0.5 ? vec3(0.0) : tint.xyz;
"""


def tets_shader() -> Any:
    """Reads ``position``, ``normal`` and ``colour`` as ``overlay_tets.Corners`` has them; ``normal_x``, ``_y`` and
    ``_z`` are the rows that turn normals into the view's frame. PreviewError where the driver refuses it.
    """
    info = _info("position", "normal", "colour")
    _add_rows(info)
    stage = gpu.types.GPUStageInterfaceInfo("sinew_tets_stage")
    for name in ("lit_normal", "lit_colour", "corner"):
        stage.smooth("VEC3", name)
    info.vertex_out(stage)
    return _complete(info, _TETS_VERTEX, _LIGHT + _EDGES)


def triangles_shader(colour: str, encoded: str) -> Any:
    """Triangles between ``position``s with a ``normal``: ``colour`` finds it in the view's frame as ``lit_normal``, and
    ``encoded`` makes the result of the colour ``linear``. Uniforms as of :func:`tets_shader`, and ``opacity``.
    PreviewError where the driver refuses it.
    """
    info = _info("position", "normal")
    _add_rows(info)
    info.push_constant("FLOAT", "opacity")
    stage = gpu.types.GPUStageInterfaceInfo("sinew_triangles_stage")
    stage.smooth("VEC3", "lit_normal")
    info.vertex_out(stage)
    return _complete(info, _TURNED_VERTEX, colour, encoded)


def normal_rows(view: np.ndarray, matrix: np.ndarray) -> list[tuple[float, ...]]:
    """``normal_x``, ``_y`` and ``_z`` for a view matrix and an object's world matrix, both (4,4)."""
    turn = np.array(Matrix(view.tolist()).to_quaternion().to_matrix())
    rows = turn @ np.linalg.inv(matrix[:3, :3]).T
    return [(*row, 0.0) for row in rows / np.abs(rows).max()]


def dots_shader() -> Any:
    """Round dots at ``position``, ``tint`` colours and its last number is their width in pixels. PreviewError where the
    driver refuses it.
    """
    info = _info("position")
    info.push_constant("VEC4", "tint")
    return _complete(
        info, "  gl_Position = to_clip * vec4(position.xyz, 1.0);\n  gl_PointSize = tint.w;\n", _DOT_COLOUR
    )


def lines_shader() -> Any:
    """Lines between ``position``s in the colour ``tint``. PreviewError where the driver refuses it."""
    info = _info("position")
    info.push_constant("VEC4", "tint")
    return _complete(info, "  gl_Position = to_clip * vec4(position.xyz, 1.0);\n", "  vec3 linear = tint.xyz;\n")


def batch_of(kind: str, **columns: np.ndarray) -> Any:
    """Vertices on the card, each column (n,4) float32; ``kind`` is TRIS, LINES or POINTS."""
    form = gpu.types.GPUVertFormat()
    for name in columns:
        form.attr_add(id=name, comp_type="F32", len=4, fetch_mode="FLOAT")
    vertices = gpu.types.GPUVertBuf(form, len=len(next(iter(columns.values()))))
    for name, values in columns.items():
        vertices.attr_fill(id=name, data=np.ascontiguousarray(values, dtype=np.float32))
    return gpu.types.GPUBatch(type=kind, buf=vertices)


def _info(*attributes: str) -> Any:
    info = gpu.types.GPUShaderCreateInfo()
    for slot, name in enumerate(attributes):
        info.vertex_in(slot, "VEC4", name)
    info.push_constant("MAT4", "to_clip")
    info.fragment_out(0, "VEC4", "result")
    return info


def _add_rows(info: Any) -> None:
    for row in "xyz":
        info.push_constant("VEC4", f"normal_{row}")


def _complete(info: Any, vertex: str, colour: str, encoded: str = ENCODED) -> Any:
    # Behind the vectors: a lone number before one leaves a gap, and push constants end at 128 bytes.
    info.push_constant("BOOL", "srgbTarget")
    info.vertex_source(f"void main()\n{{\n{vertex}}}\n")
    info.fragment_source(f"void main()\n{{\n{colour}{encoded}}}\n")
    return compiled(info)
