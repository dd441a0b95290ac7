"""Formatting of quantities in the scene's units, as Blender formats its properties."""

from __future__ import annotations

import math
from typing import Any

import bpy

from ...core.foundation.schema.settings import EARTH
from ...core.foundation.unit_words import frequency_words, length_words
from ..scene_import.mesh_in import acceleration_scale, length_factor
from ..scene_import.settings_in import vibration_stiffness
from .measure_in import gravity_of

FOLLOWED = 1.0
"""Highest frequency that the eye can follow, Hz."""
WEAK = 0.5
"""Stretch of a spring under the body's weight, as a fraction of the body's size, above which the panel warns."""


def mass_words(mass: float, scene: Any) -> str:
    """Format a mass in kg."""
    return _words(mass, "MASS", scene) or f"{mass:.4g} kg"


def size_words(length: float, scene: Any) -> str:
    """Format a length in m."""
    words = _words(length, "LENGTH", scene)
    return length_words(length) if not words or words == _words(0.0, "LENGTH", scene) else words


def extent_words(size: float, scene: Any) -> str:
    """Format the size of the body in the simulation. ``size`` is the body's longest side, m. The text also contains the
    simulation scale if the scale is not 1.
    """
    words = size_words(size, scene)
    factor = length_factor(scene)
    return words if factor == 1.0 else f"At {scale_words(factor)} scale: {words}"


def scale_words(factor: float) -> str:
    """Format a simulation scale, as a fraction such as "1/10" if possible."""
    whole = round(1.0 / factor)
    return f"1/{whole}" if whole > 1 and math.isclose(whole * factor, 1.0, rel_tol=1e-5) else f"{factor:.4g}"


def volume_words(volume: float, scene: Any) -> str:
    """Format a volume given in m³; in litres below 1 m³, unless the scene has imperial units."""
    if scene.unit_settings.system == "IMPERIAL":
        return _words(volume, "VOLUME", scene)
    return f"{volume:.3g} m³" if volume >= 0.9995 else f"{1e3 * volume:.3g} l"


def sag_words(strength: float, record: Any, scene: Any) -> tuple[str, bool]:
    """Return a text with the stretch of a spring under the body's weight, and True if the stretch is large enough for a
    warning. ``strength`` is the stiffness of the spring, N/m; ``record`` is the body's bake record. The text is "" if
    the mass is unknown or the stiffness is 0.
    """
    if record.body_mass <= 0.0 or strength <= 0.0:
        return "", False
    sag = record.body_mass * gravity_of(scene) / strength
    return f"The body's weight stretches the spring by {size_words(sag, scene)}", sag > WEAK * record.body_size


def vibration_factor(settings: Any, number: int) -> float:
    """Return the stiffness factor, at the current frame, of the vibration with index ``number`` (from 0) in the
    ``settings`` of a body; 1 if there is no such factor.
    """
    factors = vibration_stiffness(settings)
    return factors[number] if number < len(factors) else 1.0


def frequency_of(vibration: Any, factor: float) -> float:
    """Return the simulated frequency, Hz, of a vibration whose stiffness is multiplied by ``factor``."""
    return (vibration.right or vibration.frequency) * math.sqrt(factor)


def vibration_words(vibration: Any, factor: float = 1.0) -> tuple[str, str, str, str]:
    """Return the four texts of a vibration's row in the table: original frequency, Hz; simulated frequency, Hz, or "as
    is" if it is the original one; ratio of simulated to original frequency, "" if equal; and overlap, %.

    The simulated frequency includes the match to the full or a finer mesh, and the stiffness ``factor``. The overlap is
    the fraction of the vibration that the vibrations of that mesh reproduce.
    """
    plain, right = vibration.frequency, frequency_of(vibration, factor)
    is_other = plain and (vibration.right or factor != 1.0)
    changed = (frequency_words(right), f"{right / plain:.2f}") if is_other else ("as is", "")
    return frequency_words(plain), *changed, f"{vibration.share:.0%}"


def slower(hertz: float) -> int:
    """Return the factor by which the display of a vibration of ``hertz`` Hz is slowed down: the smallest power of two
    with which the eye can follow.
    """
    return 2 ** math.ceil(math.log2(max(hertz, FOLLOWED) / FOLLOWED))


def pace_words(hertz: float) -> str:
    """Format the simulated frequency of a vibration, with the slow motion factor of its display."""
    words, times = frequency_words(hertz), slower(hertz)
    return f"{words} Hz, shown {times} times slower" if times > 1 else f"{words} Hz"


def gravity_words(scene: Any) -> str:
    """Return a warning if the scene's Unit Scale changes Earth's gravity in the simulation; "" if not."""
    scale, own = acceleration_scale(scene), math.hypot(*scene.gravity)
    if not scene.use_gravity or scale == 1.0 or abs(own - EARTH) > 0.01 * EARTH:
        return ""
    return (
        f"Unit Scale makes gravity {scale * own:.3g} m/s² ({scale:g} of Earth's): bodies move as if they were "
        f"{1.0 / scale:g} times their size. For Earth's gravity, enter -9.81 m/s² here."
    )


def two_digits(value: float) -> float:
    """Return a value rounded to two significant digits."""
    return float(f"{value:.2g}")


def _words(value: float, kind: str, scene: Any) -> str:
    """Return Blender's text for a value in SI units; "" if the scene has no units. ``kind`` is Blender's unit category,
    such as ``LENGTH``.
    """
    system = scene.unit_settings.system
    return "" if system == "NONE" else bpy.utils.units.to_string(system, kind, value, precision=4).strip()
