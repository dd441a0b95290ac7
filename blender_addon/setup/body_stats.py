"""How large a body is simulated, what it weighs so, and how far it sags: in words for the panel, before any bake; the
stiffness and the size at which it hardly does.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ..properties.mirror import clean, stiffness_of
from ..properties.properties import STIFFNESS_RANGE
from ..scene_import.mesh_in import length_factor
from ..scene_import.settings_in import gravity_on, material_settings
from .measure_in import gravity_of, measured_body
from .unit_format import extent_words, mass_words, scale_words, size_words, two_digits

FAR = 0.1
"""Part of its size by which a body sags that looks like a pudding."""
SAG = 0.05
"""Part of its reach by which a new body sags: it is seen to be soft, and keeps its shape."""
UPRIGHT = 2.0
"""Times as stiff as what buckles under its own weight is a new body that stands: it is hardly ever quite straight."""
ALIKE = 1.5
"""Factor within which a stiffness suits a body."""


class BodyStats(NamedTuple):
    """The panel's words about a body's size; the simulation scale at which it sags by less than ``FAR`` of its size, 0
    where it does so already; that scale in words; and what to say of a stiffness that was chosen by the size, "" where
    the artist has set it.
    """

    words: str = ""
    factor: float = 0.0
    scale: str = ""
    fitted: str = ""


def stats_of(obj: Any, context: Any) -> BodyStats:
    """Return the figures of a body at its settings."""
    settings, scene = obj.sinew, context.scene
    surface, _, shares, sag = measured_body(obj, context)
    if surface is None or shares is None:
        return BodyStats()
    materials = [material_settings(each) for each in settings.materials]
    density = sum(share * each.density for share, each in zip(shares, materials, strict=True))
    # What is soft gives way, one part of it after the other.
    softness = sum(share / each.youngs_modulus for share, each in zip(shares, materials, strict=True))
    words = extent_words(two_digits(surface.size), scene)
    words += f", {mass_words(two_digits(surface.volume * density), scene)}" if surface.is_solid else ""
    weight = density * math.hypot(*gravity_on(settings, scene))
    # How much of it is in a region, or deep enough, is not known before there are tetrahedra.
    if sag is None or weight == 0.0 or any(each.is_layer for each in settings.materials):
        return BodyStats(words)
    fitted = _fitted_words(obj, context, size_words(two_digits(surface.size), scene))
    far = min(sag.area * weight * softness, sag.reach)
    words += f". Will sag about {size_words(float(f'{far:.1g}'), scene)} under its own weight"
    if far <= FAR * surface.size:
        return BodyStats(words, fitted=fitted)
    smaller = 10.0 ** -math.ceil(math.log10(sag.area * weight * softness / (FAR * surface.size)))
    factor = length_factor(scene) * smaller
    return BodyStats(words, factor, scale_words(factor), fitted)


def suitable_modulus(obj: Any, context: Any) -> float:
    """Return Young's modulus, Pa to two digits, with which a body of its first material alone sags by ``SAG`` of its
    reach, or stands upright; 0 where it encloses nothing or a vertex lies nowhere. Gravity is the scene's, or Earth's
    where it has none.
    """
    sag = measured_body(obj, context).sag
    if sag is None or not 0.0 < sag.reach < math.inf:  # not a number, where a vertex is at none
        return 0.0
    weight = clean(obj.sinew.materials[0].density) * gravity_of(context.scene)
    low, high = STIFFNESS_RANGE
    return min(max(two_digits(weight * max(sag.area / (SAG * sag.reach), UPRIGHT * sag.buckling)), low), high)


def is_suitable(obj: Any, context: Any) -> bool:
    """Return True if the stiffness of the first material suits the body as it is held."""
    suitable, present = suitable_modulus(obj, context), stiffness_of(obj.sinew.materials[0].log_stiffness)
    return suitable == 0.0 or 1.0 / ALIKE < present / suitable < ALIKE


def _fitted_words(obj: Any, context: Any, size: str) -> str:
    if not obj.sinew.materials[0].is_fitted:
        return ""
    if not is_suitable(obj, context):
        return "Stiffness chosen by size: Bake adapts it to the pins"
    sag = measured_body(obj, context).sag
    is_slender = UPRIGHT * sag.buckling > ALIKE * sag.area / (SAG * sag.reach)
    return f"Stiffness chosen for {size}: sags by {'less than' if is_slender else 'about'} a twentieth"
