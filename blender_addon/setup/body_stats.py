"""Panel texts about the size, mass and sag of a body before a bake, and settings that reduce the sag."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ..properties.matter_properties import STIFFNESS_RANGE
from ..properties.mirror import clean, stiffness_of
from ..scene_import.mesh_in import length_factor
from ..scene_import.settings_in import gravity_on, material_settings
from ..translations.translate import marked, translated
from .measure_in import gravity_of, measured_body
from .unit_format import extent_words, mass_words, scale_words, size_words, two_digits

FAR = 0.1
"""Sag, as a fraction of the body's size, above which the panel proposes a smaller simulation scale."""
SAG = 0.05
"""Sag of a new body, as a fraction of its reach: visibly soft, but in shape.

The reach is the largest distance of a point of the body from the pins or, without pins, the height of the body.
"""
UPRIGHT = 2.0
"""Stiffness of a new standing body, as a multiple of the stiffness at which its weight buckles it.

A value above 1 is a margin for imperfect shapes.
"""
ALIKE = 1.5
"""Largest factor between a stiffness and the suitable stiffness at which the stiffness still counts as suitable."""


class BodyStats(NamedTuple):
    """Panel texts about a body, and a simulation scale that reduces its sag.

    Attributes
    ----------
    words : size, mass and sag
    factor : simulation scale at which the sag is at most ``FAR`` of the size; 0 if the sag is small already, or unknown
    scale : ``factor`` as text
    fitted : note about a stiffness fitted to the body's size; "" if the user has set the stiffness
    """

    words: str = ""
    factor: float = 0.0
    scale: str = ""
    fitted: str = ""


def stats_of(obj: Any, context: Any) -> BodyStats:
    """Return the texts and the recommended simulation scale of a body with its current settings."""
    settings, scene = obj.sinew, context.scene
    measure = measured_body(obj, context)
    surface, shares, sag = measure.surface, measure.shares, measure.sag
    if surface is None or shares is None:
        return BodyStats()
    materials = [material_settings(each) for each in settings.materials]
    density = _density(obj, shares)
    # Materials count as in series, so their compliances add up.
    softness = sum(share / each.youngs_modulus for share, each in zip(shares, materials, strict=True))
    words = extent_words(two_digits(surface.size), scene)
    words += f", {mass_words(two_digits(surface.volume * density), scene)}" if surface.is_solid else ""
    if settings.method == "rigid":
        return BodyStats(words)
    weight = density * math.hypot(*gravity_on(settings, scene))
    # The volumes of layer materials are unknown before tetrahedralization.
    if sag is None or weight == 0.0 or any(each.is_layer for each in settings.materials):
        return BodyStats(words)
    fitted = _fitted_words(obj, context, size_words(two_digits(surface.size), scene))
    far = min(sag.area * weight * softness, sag.reach)
    words += translated(". Will sag about {size} under its own weight", size=size_words(float(f"{far:.1g}"), scene))
    if far <= FAR * surface.size:
        return BodyStats(words, fitted=fitted)
    smaller = 10.0 ** -math.ceil(math.log10(sag.area * weight * softness / (FAR * surface.size)))
    factor = length_factor(scene) * smaller
    return BodyStats(words, factor, scale_words(factor), fitted)


def inertia_words(obj: Any, context: Any) -> str:
    """Return a text about the mass and the principal moments of inertia of a rigid body, or "" if it has no volume."""
    measure = measured_body(obj, context)
    if measure.moments is None or measure.shares is None or not measure.surface.is_solid:
        return ""
    density = _density(obj, measure.shares)
    mass = mass_words(two_digits(measure.surface.volume * density), context.scene)
    moments = ", ".join(f"{moment * density:.2g}" for moment in measure.moments)
    return translated("Mass {mass}, moments of inertia {moments} kg m²", mass=mass, moments=moments)


def _density(obj: Any, shares: Any) -> float:
    """Return the mean density of a body, kg/m³. ``shares``: fraction of each material."""
    return sum(share * clean(each.density) for share, each in zip(shares, obj.sinew.materials, strict=True))


def suitable_modulus(obj: Any, context: Any) -> float:
    """Return the Young's modulus, Pa, with which a body can carry its own weight.

    With this modulus, the body does not buckle, and sags by at most the fraction ``SAG`` of its reach. The reach is the
    largest distance of a point of the body from the pins or, without pins, the height of the body. The result is 0 if
    the body encloses no volume, or if a vertex is NaN.

    The body is assumed to consist of its first material alone. Gravity is the scene's, or Earth's if the scene has
    none. The modulus is rounded to two digits, and then limited to ``STIFFNESS_RANGE``.
    """
    sag = measured_body(obj, context).sag
    if sag is None or not 0.0 < sag.reach < math.inf:  # reach is NaN if a vertex is
        return 0.0
    weight = clean(obj.sinew.materials[0].density) * gravity_of(context.scene)
    low, high = STIFFNESS_RANGE
    return min(max(two_digits(weight * max(sag.area / (SAG * sag.reach), UPRIGHT * sag.buckling)), low), high)


def is_suitable(obj: Any, context: Any) -> bool:
    """Return True if the stiffness of the body's first material suits the body's weight and pins.

    The stiffness must be within a factor ``ALIKE`` of :func:`suitable_modulus`. An unknown suitable modulus returns
    True.
    """
    suitable, present = suitable_modulus(obj, context), stiffness_of(obj.sinew.materials[0].log_stiffness)
    return suitable == 0.0 or 1.0 / ALIKE < present / suitable < ALIKE


def _fitted_words(obj: Any, context: Any, size: str) -> str:
    if not obj.sinew.materials[0].is_fitted:
        return ""
    if not is_suitable(obj, context):
        return marked("The stiffness no longer suits the size or pins: Bake fits it again")
    sag = measured_body(obj, context).sag
    is_slender = UPRIGHT * sag.buckling > ALIKE * sag.area / (SAG * sag.reach)
    if is_slender:
        return translated("Stiffness chosen for a size of {size}: body sags by less than a twentieth", size=size)
    return translated("Stiffness chosen for a size of {size}: body sags by about a twentieth", size=size)
