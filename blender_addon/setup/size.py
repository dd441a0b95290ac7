"""How large a body is simulated, what it weighs so, and how far it sags: in words for the panel, before any bake, and
the size at which it hardly does.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ..scene_in.mesh_in import length_factor
from ..scene_in.settings_in import gravity_on, material_settings
from .figures import extent_words, mass_words, scale_words, size_words, two_digits
from .measure_in import measured_body

FAR = 0.1
"""Part of its size by which a body sags that looks like a pudding."""


class Told(NamedTuple):
    """The panel's words about a body's size; the simulation scale at which it sags by less than ``FAR`` of its size, 0
    where it does so already; and that scale in words.
    """

    words: str = ""
    factor: float = 0.0
    scale: str = ""


def told(obj: Any, context: Any) -> Told:
    """Of the body as it is set."""
    settings, scene = obj.sinew, context.scene
    surface, _, shares, sag, reach = measured_body(obj, context)
    if surface is None or shares is None:
        return Told()
    materials = [material_settings(each) for each in settings.materials]
    density = sum(share * each.density for share, each in zip(shares, materials, strict=True))
    # What is soft gives way, one part of it after the other.
    softness = sum(share / each.youngs_modulus for share, each in zip(shares, materials, strict=True))
    words = extent_words(two_digits(surface.size), scene)
    words += f", {mass_words(two_digits(surface.volume * density), scene)}" if surface.is_solid else ""
    sag *= density * math.hypot(*gravity_on(settings, scene)) * softness
    if sag == 0.0:
        return Told(words)
    words += f". Will sag about {size_words(float(f'{min(sag, reach):.1g}'), scene)} under its own weight"
    if sag <= FAR * surface.size:
        return Told(words)
    factor = length_factor(scene) * 10.0 ** -math.ceil(math.log10(sag / (FAR * surface.size)))
    return Told(words, factor, scale_words(factor))
