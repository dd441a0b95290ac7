"""Shaders of the overlays: tetrahedra, ghosts (translucent surfaces of bakes), vibrations, dots and lines."""

from __future__ import annotations

from typing import Any

import numpy as np
from mathutils import Matrix

from .card import LINE_COLOUR, shader_info, shader_of

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

# The amplitude a is the fourth component of the row normal_x, as a ghost's colour is that of the three rows.
_SWUNG_VERTEX = """
  float a = normal_x.w;
  vec3 n = normal.xyz + a * (turn.xyz + a * bend.xyz);
  gl_Position = to_clip * vec4(position.xyz + a * shift.xyz, 1.0);
  lit_normal = vec3(dot(normal_x.xyz, n), dot(normal_y.xyz, n), dot(normal_z.xyz, n));
  lit_colour = colour.xyz;
"""

# A weak light from the viewer, so that colours match the legend.
_LIGHT = """
  vec3 n = normalize(lit_normal);
  vec3 linear = lit_colour * (0.55 + 0.45 * abs(n.z));
"""

# Triangle edges one pixel wide, fainter on triangles that are only a few pixels wide.
_EDGES = """
  vec3 step_of = fwidth(corner);
  vec3 away = corner / max(step_of, vec3(1e-6));
  float nearest = min(away.x, min(away.y, away.z));
  float small = max(step_of.x, max(step_of.y, step_of.z));
  linear *= 1.0 - 0.5 * clamp(1.0 - 2.5 * small, 0.0, 1.0) * (1.0 - smoothstep(0.4, 1.2, nearest));
"""

# Some GPUs limit push constants to 128 bytes, so the three rows have the colour as fourth components.
_SEEN_THROUGH = """
  float rim = 1.0 - abs(normalize(lit_normal).z);
  vec3 linear = vec3(normal_x.w, normal_y.w, normal_z.w) * (1.0 - 0.25 * rim);
"""
_RIM = "  result.w = opacity * (0.6 + 0.4 * rim);\n"

_PLACED = "  gl_Position = to_clip * vec4(position.xyz, 1.0);\n"
_DOT = """
  gl_PointSize = tint.w;
  float pale = 1.0 - position.w;
  inner = mix(tint.xyz, vec3(max(tint.x, max(tint.y, tint.z))), pale * pale);
"""

# Distance of a pixel from the mark's centre, 1 at its border, for the shape with index form.x in FORMS.
_MARK_COLOUR = """
  vec2 away = abs(2.0 * gl_PointCoord - vec2(1.0));
  float far = length(away);
  if (form.x > 0.5) { far = 1.2 * max(away.x, away.y); }
  if (form.x > 1.5) { far = away.x + away.y; }
  if (form.x > 2.5) { far = max(max(away.x, away.y), 2.2 * abs(away.x - away.y)); }
  if (far > 1.0) {
    discard;
  }
  vec3 linear = far * far > 0.5 ? vec3(0.0) : inner;
"""
FORMS = ("ROUND", "SQUARE", "DIAMOND", "CROSS")
"""Shapes of marks, which tell them apart without colour vision."""
_ROWS = ("normal_x", "normal_y", "normal_z")


def tets_shader() -> Any:
    """Return the shader of tetrahedra.

    The vertex attributes are those of ``overlay_tets.Corners``. The push constants ``normal_x``, ``normal_y`` and
    ``normal_z`` are the rows of the matrix from normals to view space (:func:`normal_rows`). Raises PreviewError if the
    driver rejects the shader.
    """
    info = shader_info("position", "normal", "colour")
    return shader_of(info, _ROWS, _TETS_VERTEX, _LIGHT + _EDGES, ("lit_normal", "lit_colour", "corner"))


def ghost_shader() -> Any:
    """Return the shader of ghosts, the translucent surfaces of bakes.

    The push constants are those of :func:`tets_shader`. The fourth components of ``normal_x``, ``normal_y`` and
    ``normal_z`` are red, green and blue of the ghost. Raises PreviewError if the driver rejects the shader.
    """
    return shader_of(shader_info("position", "normal"), _ROWS, _TURNED_VERTEX, _SEEN_THROUGH, ("lit_normal",), _RIM)


def swing_shader() -> Any:
    """Return the shader of vibrations.

    The vertex attributes are those of ``gpu_mode.swing_batch``. The push constants are those of :func:`tets_shader`.
    The fourth component of ``normal_x`` is the amplitude. Raises PreviewError if the driver rejects the shader.
    """
    info = shader_info("position", "shift", "normal", "turn", "bend", "colour")
    return shader_of(info, _ROWS, _SWUNG_VERTEX, _LIGHT, ("lit_normal", "lit_colour"))


def normal_rows(view: np.ndarray, matrix: np.ndarray, behind: Any = (0.0, 0.0, 0.0)) -> dict[str, tuple[float, ...]]:
    """Return the push constants ``normal_x``, ``normal_y`` and ``normal_z`` of the overlays' shaders.

    The first three components are the rows of the matrix (3,3) from normals in object space to view space, up to a
    common factor.

    ``view`` (4,4): view matrix.
    ``matrix`` (4,4): world matrix of the object.
    ``behind`` (3,): fourth components, such as a colour for the shader.
    """
    turn = np.array(Matrix(view.tolist()).to_quaternion().to_matrix())
    rows = turn @ np.linalg.inv(matrix[:3, :3]).T
    rows = np.column_stack([rows / np.abs(rows).max(), behind])
    return dict(zip(_ROWS, map(tuple, rows), strict=True))


def dots_shader() -> Any:
    """Return the shader of point marks.

    The fourth component of the attribute ``position``, 0 to 1, blends from white to the mark's colour. The push
    constant ``tint`` has this colour and, as fourth component, the width in pixels. The first component of ``form`` is
    the shape's index in ``FORMS``. Raises PreviewError if the driver rejects the shader.
    """
    return shader_of(shader_info("position"), ("tint", "form"), _PLACED + _DOT, _MARK_COLOUR, ("inner",))


def lines_shader() -> Any:
    """Return the shader of lines in the colour ``tint``.

    Raises PreviewError if the driver rejects the shader.
    """
    return shader_of(shader_info("position"), ("tint",), _PLACED, LINE_COLOUR)
