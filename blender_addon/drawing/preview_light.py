"""Lights of the live preview, fixed to the view. The defaults are the user's lights of Solid mode.

With the unit normal n and the unit vector l towards a light, diffuse light is (n.l + w) / (1 + w)². A wrap w from 0
(Lambert) to 1 lights more than a hemisphere, like a large light, without adding energy (McAuley 2013,
"Energy-Conserving Wrapped Diffuse"). Highlights are Blinn's (1977) with an exponent e, scaled by (e + 8) / 8, and
stronger at grazing angles (Schlick 1994).
"""

from __future__ import annotations

from typing import Any, NamedTuple

Colour = tuple[float, float, float]

_GLOSS = 25.0
"""Blinn exponent of the highlight of a light with wrap 0. The exponent is smaller for a larger wrap, but at least 1."""

_FACING = 0.05
"""Weight of highlights on a surface seen along its normal. The weight grows to 0.4 at grazing angles. Diffuse light has
the weight 1 minus the weight of highlights.
"""


class Light(NamedTuple):
    """Light that is fixed to the view.

    ``direction``: unit vector towards the light, in view space.
    ``diffuse``, ``specular``: linear colours.
    ``wrap``: reach of diffuse light beyond the hemisphere that faces the light, from 0 (Lambert) to 1 (whole sphere).
    """

    direction: Colour
    diffuse: Colour
    specular: Colour
    wrap: float


def studio_lights(preferences: Any) -> tuple[Light, ...]:
    """Return the lights of Solid mode's default studio, as set in Blender's preferences."""
    system = preferences.system
    lights = [
        Light(tuple(light.direction), tuple(light.diffuse_color), tuple(light.specular_color), light.smooth)
        for light in system.solid_lights
        if light.use
    ]
    # Ambient light is uniform, as the sum of two fully wrapped lights from opposite sides is.
    ambient = tuple(2.0 * value for value in system.light_ambient)
    if any(ambient):
        lights += [Light((0.0, side, 0.0), ambient, (0.0, 0.0, 0.0), 1.0) for side in (-1.0, 1.0)]
    return tuple(lights)


def lighting_source(lights: tuple[Light, ...]) -> str:
    """Return GLSL that computes the lit colour ``linear``.

    The inputs are the normal ``lit_normal`` and the unlit colour ``lit_colour``. The normal is in view space, where the
    viewer looks along -z.
    """
    lines = [
        "  vec3 n = normalize(gl_FrontFacing ? lit_normal : -lit_normal);",
        "  vec3 diffuse = vec3(0.0);",
        "  vec3 shine = vec3(0.0);",
    ]
    for light in lights:
        wrap, gloss = light.wrap, max(_GLOSS * (1.0 - light.wrap), 1.0)
        halfway = _unit((light.direction[0], light.direction[1], light.direction[2] + 1.0))
        facing = f"dot(n, {_vector(light.direction)})"
        wrapped = f"clamp(({facing} + {wrap:.7f}) / {(1.0 + wrap) ** 2:.7f}, 0.0, 1.0)"
        lines.append(f"  diffuse += {_vector(light.diffuse)} * {wrapped};")
        peak = f"{gloss / 8.0 + 1.0:.7f} * pow(max(dot(n, {_vector(halfway)}), 0.0), {gloss:.7f})"
        lines.append(f"  shine += {_vector(light.specular)} * ({peak} * max({facing}, 0.0));")
    lines += [
        f"  float reflected = mix({_FACING:.7f}, 0.4, pow(1.0 - clamp(n.z, 0.0, 1.0), 5.0));",
        "  vec3 linear = lit_colour * diffuse * (1.0 - reflected) + shine * reflected;",
    ]
    return "\n".join(lines) + "\n"


def _vector(numbers: Colour) -> str:
    return "vec3({:.7f}, {:.7f}, {:.7f})".format(*numbers)


def _unit(numbers: Colour) -> Colour:
    length = sum(value * value for value in numbers) ** 0.5
    return tuple(value / max(length, 1e-9) for value in numbers)
