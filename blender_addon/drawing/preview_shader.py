"""GLSL source of the live preview: linear blend skinning of positions and normals on the GPU.

Rest positions p have the body's centre as origin and its size as unit; c = [p, 1], w_k are weights and H_k handles:

    x = p + sum_k w_k (c @ H_k) = A c,             A = [I 0] + sum_k w_k H_k^T
    dx/dt = A [t, 0] + sum_k (dw_k/dt) (c @ H_k),  normal along dx/dt1 × dx/dt2

d/dt is the derivative along a tangent t of the rest surface; t1 and t2 are two tangents. These equations need three
numbers per handle and vertex: w, dw/dt1 and dw/dt2. If all numbers of a vertex fit in the 16 vertex attributes that
every back end supports, they are passed as attributes; if not, in a texture. The loop over handles is unrolled, without
arrays, ``inout`` or indices that a translator to Metal or SPIR-V could fail on.
"""

from __future__ import annotations

from typing import Any

from .card import DOT_COLOUR, LINE_COLOUR, shader_info, shader_of
from .preview_light import Light, lighting_source

SLOTS = 16
"""Number of vertex attributes, of four floats each, that OpenGL, Vulkan and Metal all support. Position and normal
occupy two of them, which leaves 14 for weights.
"""

MOST_IN_ATTRIBUTES = 4 * (SLOTS - 2) // 3
"""Maximum number of handles whose weights fit in vertex attributes: 18. A handle needs three numbers per vertex. The 14
attributes left for weights hold four numbers each.
"""

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

# Texel of the item with index i: per_row items lie in each row, since a texture is not wide enough for all items.
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

_PLACED = "  gl_Position = to_clip * vec4(moved, 1.0);\n"


def in_attributes(handles: int) -> bool:
    """Return True if the weights of ``handles`` handles fit in vertex attributes.

    Otherwise the weights need a texture.
    """
    return handles <= MOST_IN_ATTRIBUTES


def attribute_count(handles: int) -> int:
    """Return the number of vertex attributes for the weights of ``handles`` handles.

    A handle needs three numbers, and an attribute holds four.
    """
    return -(-3 * handles // 4)


def texels_each(handles: int) -> int:
    """Return the number of texels per vertex for the weights of ``handles`` handles.

    A handle needs three numbers, and a texel holds four, so four handles need three texels.
    """
    return 3 * -(-handles // 4)


def handle_rows(handles: int) -> int:
    """Return the number of rows in the handles' uniform buffer.

    A row has four floats, and a handle has three rows. The number of handles is rounded up to a multiple of four.
    """
    return 12 * -(-handles // 4)


def skinning_source(handles: int, per_row: int) -> str:
    """Return GLSL that computes a vertex's position ``moved`` and unit normal ``turned`` from handles.

    ``handles``: number of handles.
    ``per_row``: number of vertices per row of the weight texture.
    """
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
    """Return a shader description with the inputs of :func:`skinning_source`."""
    in_slots = attribute_count(handles) if in_attributes(handles) else 0
    info = shader_info("position", "normal", *(f"weights{slot}" for slot in range(in_slots)))
    info.typedef_source(f"struct SinewHandles {{ vec4 rows[{handle_rows(handles)}]; }};")
    info.uniform_buf(0, "SinewHandles", "handles")
    if not in_slots:
        info.sampler(1, "FLOAT_2D", "weights")
    return info


def body_shader(handles: int, per_row: int, colours_per_row: int, lights: tuple[Light, ...]) -> Any:
    """Return the shader of the lit body, in one colour or one per vertex.

    Raises PreviewError if the driver rejects the shader.

    ``per_row``: number of vertices per row of the weight texture.
    ``colours_per_row``: number of vertices per row of the colour texture.
    """
    info = skinning_info(handles)
    info.sampler(0, "FLOAT_2D", "colours")
    texel = _TEXEL.format(i="index", per_row=colours_per_row, each=1, offset="")
    vertex = skinning_source(handles, per_row) + _BODY_VERTEX.format(texel=texel)
    return shader_of(info, ("tint", "view_turn"), vertex, lighting_source(lights), ("lit_normal", "lit_colour"))


def dots_shader(handles: int, per_row: int) -> Any:
    """Return the shader of skinned round dots with a dark rim.

    Raises PreviewError if the driver rejects the shader.

    ``per_row``: number of vertices per row of the weight texture.
    """
    vertex = skinning_source(handles, per_row) + _PLACED + "  gl_PointSize = normal.w * tint.w;\n  inner = tint.xyz;\n"
    return shader_of(skinning_info(handles), ("tint",), vertex, DOT_COLOUR, ("inner",))


def wires_shader(handles: int, per_row: int) -> Any:
    """Return the shader of skinned lines of one colour.

    Raises PreviewError if the driver rejects the shader.

    ``per_row``: number of vertices per row of the weight texture.
    """
    return shader_of(skinning_info(handles), ("tint",), skinning_source(handles, per_row) + _PLACED, LINE_COLOUR)
