"""Source of the preview's shaders: linear blend skinning of positions and normals on the graphics card.

In a frame of reference with the body's centre at the origin and its size as unit, c = [p, 1]:

    x = p + sum_k w_k (c @ H_k) = A c,        A = [1 0] + sum_k w_k H_k^T
    dx/dt = A t + sum_k (dw_k/dt) (c @ H_k),  normal along dx/dt1 x dx/dt2

for two tangents t1, t2 across the normal at rest, so that three numbers a handle and vertex, (w, dw/dt1, dw/dt2),
carry both. They are attributes while the 16 slots of every back end hold them, and texels beyond. The loop over
handles is written out line by line: no array, ``inout`` or index that a translator to Metal or SPIR-V could stumble on.
"""

from __future__ import annotations

from typing import Any

import gpu

from ...core.errors import PreviewError
from .preview_light import Light, lighting_source

SLOTS = 16
"""Vertex attributes of four floats that OpenGL, Vulkan and Metal all offer; two are positions and normals."""

MOST_IN_ATTRIBUTES = 4 * (SLOTS - 2) // 3
"""Handles whose weights fit beside them: 18."""

_FOUR = ("vec3(a.x, a.y, a.z)", "vec3(a.w, b.x, b.y)", "vec3(b.z, b.w, c.x)", "vec3(c.y, c.z, c.w)")

# Tangents of a unit normal: Duff et al. 2017, "Building an Orthonormal Basis, Revisited"; preview_mesh.tangents is the
# same in NumPy.
_BEGIN = """
  vec4 at_rest = vec4(position.xyz, 1.0);
  vec3 n = normal.xyz;
  float s = n.z >= 0.0 ? 1.0 : -1.0;
  float p = -1.0 / (s + n.z);
  float q = n.x * n.y * p;
  vec3 t1 = vec3(1.0 + s * n.x * n.x * p, s * q, -s * n.x);
  vec3 t2 = vec3(q, s + n.y * n.y * p, -n.y);
  vec4 x = vec4(1.0, 0.0, 0.0, 0.0);
  vec4 y = vec4(0.0, 1.0, 0.0, 0.0);
  vec4 z = vec4(0.0, 0.0, 1.0, 0.0);
  vec3 along1 = vec3(0.0);
  vec3 along2 = vec3(0.0);
  vec3 w;
  vec3 move;
"""

_ONE = """
  w = {weight};
  move = vec3(dot(handles.rows[{k}], at_rest), dot(handles.rows[{k} + 1], at_rest),
              dot(handles.rows[{k} + 2], at_rest));
  x += w.x * handles.rows[{k}];
  y += w.x * handles.rows[{k} + 1];
  z += w.x * handles.rows[{k} + 2];
  along1 += w.y * move;
  along2 += w.z * move;
"""

_END = """
  vec3 moved = vec3(dot(x, at_rest), dot(y, at_rest), dot(z, at_rest));
  along1 += vec3(dot(x.xyz, t1), dot(y.xyz, t1), dot(z.xyz, t1));
  along2 += vec3(dot(x.xyz, t2), dot(y.xyz, t2), dot(z.xyz, t2));
  vec3 across = cross(along1, along2);
  float area = length(across);
  vec3 turned = area > 1e-20 ? across / area : n;
"""

# Texels of an item, in rows of a texture: it is not wide enough for all of them.
_TEXEL = "ivec2(({i} % {per_row}) * {each}{offset}, {i} / {per_row})"

_TEXTURE_LOOP = """
  int vertex = int(position.w + 0.5);
  for (int k = 0; k < {groups}; k++) {{
    vec4 a = texelFetch(weights, {first}, 0);
    vec4 b = texelFetch(weights, {second}, 0);
    vec4 c = texelFetch(weights, {third}, 0);
{four}
  }}
"""

_BODY_VERTEX = """
  gl_Position = to_clip * vec4(moved, 1.0);
  lit_normal = turned + 2.0 * cross(view_turn.xyz, cross(view_turn.xyz, turned) + view_turn.w * turned);
  lit_colour = tint.xyz;
  if (tint.w > 0.5) {{
    int index = int(normal.w + 0.5);
    lit_colour = texelFetch(colours, {texel}, 0).xyz;
  }}
"""

_DOTS_VERTEX = """
  gl_Position = to_clip * vec4(moved, 1.0);
  gl_PointSize = normal.w * tint.w;
  lit_normal = turned;
  lit_colour = tint.xyz;
"""

_WIRES_VERTEX = """
  gl_Position = to_clip * vec4(moved, 1.0);
  lit_normal = turned;
  lit_colour = tint.xyz;
"""

_DOTS_COLOUR = """
  vec2 away = 2.0 * gl_PointCoord - vec2(1.0);
  float distance2 = dot(away, away);
  if (distance2 > 1.0) {
    discard;
  }
  vec3 linear = distance2 > 0.45 ? vec3(0.0) : lit_colour;
"""

ENCODED = """
  vec3 steep = 12.92 * linear;
  vec3 curve = 1.055 * pow(max(linear, vec3(0.0031308)), vec3(1.0 / 2.4)) - vec3(0.055);
  vec3 encoded = vec3(linear.x <= 0.0031308 ? steep.x : curve.x, linear.y <= 0.0031308 ? steep.y : curve.y,
                      linear.z <= 0.0031308 ? steep.z : curve.z);
  result = vec4(srgbTarget ? linear : encoded, 1.0);
"""
"""The end of a fragment shader that has left ``linear``; Blender sets srgbTarget where the frame buffer encodes by
itself.
"""


def in_attributes(handles: int) -> bool:
    """Whether the weights of that many handles are attributes; a texture carries more."""
    return handles <= MOST_IN_ATTRIBUTES


def attribute_count(handles: int) -> int:
    """Attributes of four floats that hold three numbers of each handle."""
    return -(-3 * handles // 4)


def texels_each(handles: int) -> int:
    """Texels of four floats a vertex: handles by fours, three texels each."""
    return 3 * -(-handles // 4)


def handle_rows(handles: int) -> int:
    """Rows of four floats in the uniform buffer: handles by fours, so that none is read beyond its end."""
    return 12 * -(-handles // 4)


def skinning_source(handles: int, per_row: int) -> str:
    """GLSL that leaves ``moved`` and the unit normal ``turned``; ``per_row`` vertices lie in a row of the texture."""
    if in_attributes(handles):
        numbers = [f"weights{f // 4}.{'xyzw'[f % 4]}" for f in range(3 * handles)]
        triples = [f"vec3({', '.join(numbers[3 * k : 3 * k + 3])})" for k in range(handles)]
        loop = "".join(_ONE.format(weight=weight, k=3 * k) for k, weight in enumerate(triples))
    else:
        each = texels_each(handles)
        texels = [_TEXEL.format(i="vertex", per_row=per_row, each=each, offset=f" + 3 * k + {j}") for j in range(3)]
        four = "".join(_ONE.format(weight=weight, k=f"12 * k + {3 * j}") for j, weight in enumerate(_FOUR))
        loop = _TEXTURE_LOOP.format(groups=each // 3, first=texels[0], second=texels[1], third=texels[2], four=four)
    return _BEGIN + loop + _END


def skinning_info(handles: int) -> Any:
    """A shader's description with what the skinning source reads: attributes, the uniform buffer, the texture."""
    info = gpu.types.GPUShaderCreateInfo()
    info.typedef_source(f"struct SinewHandles {{ vec4 rows[{handle_rows(handles)}]; }};")
    info.uniform_buf(0, "SinewHandles", "handles")
    info.vertex_in(0, "VEC4", "position")
    info.vertex_in(1, "VEC4", "normal")
    if in_attributes(handles):
        for slot in range(attribute_count(handles)):
            info.vertex_in(2 + slot, "VEC4", f"weights{slot}")
    else:
        info.sampler(1, "FLOAT_2D", "weights")
    return info


def compiled(info: Any) -> Any:
    """The shader; PreviewError where the graphics driver refuses it."""
    try:
        return gpu.shader.create_from_info(info)
    except Exception as error:
        raise PreviewError(
            f"The graphics card refuses the preview's shader ({error}).", "Update its driver."
        ) from error


def body_shader(handles: int, per_row: int, colours_per_row: int, lights: tuple[Light, ...]) -> Any:
    """Lit, with one colour or one a vertex. PreviewError where the driver refuses it."""
    info = _info(handles)
    info.push_constant("VEC4", "view_turn")
    info.sampler(0, "FLOAT_2D", "colours")
    texel = _TEXEL.format(i="index", per_row=colours_per_row, each=1, offset="")
    return _complete(
        info, skinning_source(handles, per_row) + _BODY_VERTEX.format(texel=texel), lighting_source(lights)
    )


def dots_shader(handles: int, per_row: int) -> Any:
    """Round dots with a dark rim. PreviewError where the driver refuses it."""
    return _complete(_info(handles), skinning_source(handles, per_row) + _DOTS_VERTEX, _DOTS_COLOUR)


def wires_shader(handles: int, per_row: int) -> Any:
    """Lines of one colour. PreviewError where the driver refuses it."""
    return _complete(_info(handles), skinning_source(handles, per_row) + _WIRES_VERTEX, "  vec3 linear = lit_colour;\n")


def _info(handles: int) -> Any:
    info = skinning_info(handles)
    info.push_constant("MAT4", "to_clip")
    info.push_constant("VEC4", "tint")
    info.push_constant("BOOL", "srgbTarget")
    info.push_constant("FLOAT", "opacity")
    stage = gpu.types.GPUStageInterfaceInfo("sinew_preview_stage")
    stage.smooth("VEC3", "lit_normal")
    stage.smooth("VEC3", "lit_colour")
    info.vertex_out(stage)
    info.fragment_out(0, "VEC4", "result")
    return info


def _complete(info: Any, vertex: str, colour: str) -> Any:
    info.vertex_source(f"void main()\n{{\n{vertex}}}\n")
    info.fragment_source(f"void main()\n{{\n{colour}{ENCODED}  result.w = opacity;\n}}\n")
    return compiled(info)
