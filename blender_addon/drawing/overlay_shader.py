"""Shaders of the overlays: hardly shaded triangles with dark edges, ghosts that are seen through, what swings, dots,
lines.
"""

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

# How far it has swung is the fourth number of a row, as a ghost's colours are.
_SWUNG_VERTEX = """
  float a = normal_x.w;
  vec3 n = normal.xyz + a * (turn.xyz + a * bend.xyz);
  gl_Position = to_clip * vec4(position.xyz + a * shift.xyz, 1.0);
  lit_normal = vec3(dot(normal_x.xyz, n), dot(normal_y.xyz, n), dot(normal_z.xyz, n));
  lit_colour = colour.xyz;
"""

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

# Push constants reach no farther than 128 bytes everywhere: the colour is the fourth number of each row.
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

# By form.x, an index in FORMS: how far a pixel is from the middle, 1 at the border.
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
"""Forms of marks: eyes that do not tell colours tell these."""
_ROWS = ("normal_x", "normal_y", "normal_z")


def tets_shader() -> Any:
    """Reads ``position``, ``normal`` and ``colour`` as ``overlay_tets.Corners`` has them; ``normal_x``, ``_y`` and
    ``_z`` are the rows that turn normals into the view's frame. PreviewError where the driver refuses it.
    """
    info = shader_info("position", "normal", "colour")
    return shader_of(info, _ROWS, _TETS_VERTEX, _LIGHT + _EDGES, ("lit_normal", "lit_colour", "corner"))


def ghost_shader() -> Any:
    """Reads ``position`` and ``normal``; vectors as of :func:`tets_shader`, with the colour behind them."""
    return shader_of(shader_info("position", "normal"), _ROWS, _TURNED_VERTEX, _SEEN_THROUGH, ("lit_normal",), _RIM)


def swing_shader() -> Any:
    """Reads what ``swing_out.swing_batch`` makes; vectors as of :func:`tets_shader`, with how far it has swung behind
    the first.
    """
    info = shader_info("position", "shift", "normal", "turn", "bend", "colour")
    return shader_of(info, _ROWS, _SWUNG_VERTEX, _LIGHT, ("lit_normal", "lit_colour"))


def normal_rows(view: np.ndarray, matrix: np.ndarray, behind: Any = (0.0, 0.0, 0.0)) -> dict[str, tuple[float, ...]]:
    """``normal_x``, ``_y`` and ``_z`` for a view matrix and an object's world matrix, both (4,4), with a number
    ``behind`` each.
    """
    turn = np.array(Matrix(view.tolist()).to_quaternion().to_matrix())
    rows = turn @ np.linalg.inv(matrix[:3, :3]).T
    rows = np.column_stack([rows / np.abs(rows).max(), behind])
    return dict(zip(_ROWS, map(tuple, rows), strict=True))


def dots_shader() -> Any:
    """Marks at ``position``, whose last number says how far they are from white to the colour ``tint``; the last number
    of that is their width in pixels, the first of ``form`` the index in ``FORMS``. PreviewError where the driver
    refuses it.
    """
    return shader_of(shader_info("position"), ("tint", "form"), _PLACED + _DOT, _MARK_COLOUR, ("inner",))


def lines_shader() -> Any:
    """Lines between ``position``s in the colour ``tint``. PreviewError where the driver refuses it."""
    return shader_of(shader_info("position"), ("tint",), _PLACED, LINE_COLOUR)
