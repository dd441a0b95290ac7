"""Formatting of quantities in the scene's units, as Blender formats its properties."""

from __future__ import annotations

import math
from typing import Any

import bpy

from ...core.foundation.schema.settings import EARTH
from ...core.foundation.unit_words import frequency_words, length_words
from ..scene_import.mesh_in import acceleration_scale, length_factor
from ..scene_import.settings_in import vibration_stiffness
from ..translations.translate import translated
from .measure_in import gravity_of

FOLLOWED = 1.0
"""Highest frequency that the eye can follow, Hz."""
WEAK = 0.5
"""Stretch of a spring under the body's weight at which the panel warns, as a fraction of the body's size."""


def mass_words(mass: float, scene: Any) -> str:
    """Format a mass in kg."""
    return _words(mass, "MASS", scene) or f"{mass:.4g} kg"


def size_words(length: float, scene: Any) -> str:
    """Format a length in m."""
    words = _words(length, "LENGTH", scene)
    return length_words(length) if not words or words == _words(0.0, "LENGTH", scene) else words


def extent_words(size: float, scene: Any) -> str:
    """Format the body's longest side, m, in the simulation. A simulation scale other than 1 is included."""
    words = size_words(size, scene)
    factor = length_factor(scene)
    return words if factor == 1.0 else translated("At {scale} scale: {words}", scale=scale_words(factor), words=words)


def scale_words(factor: float) -> str:
    """Format a simulation scale, if possible as a fraction such as "1/10"."""
    whole = round(1.0 / factor)
    return f"1/{whole}" if whole > 1 and math.isclose(whole * factor, 1.0, rel_tol=1e-5) else f"{factor:.4g}"


def volume_words(volume: float, scene: Any) -> str:
    """Format a volume in m³. Volumes below 1 m³ are shown in litres, unless the scene has imperial units."""
    if scene.unit_settings.system == "IMPERIAL":
        return _words(volume, "VOLUME", scene)
    return f"{volume:.3g} m³" if volume >= 0.9995 else f"{1e3 * volume:.3g} l"


def sag_words(strength: float, record: Any, scene: Any) -> tuple[str, bool]:
    """Return a text on how far the body's weight stretches a spring, and True if this is too far.

    ``strength``: stiffness of the spring, N/m. ``record``: bake record of the body. The text is empty if the mass is
    unknown or the stiffness is 0.
    """
    if record.body_mass <= 0.0 or strength <= 0.0:
        return "", False
    sag = record.body_mass * gravity_of(scene) / strength
    return translated(
        "The body's weight stretches the spring by {size}", size=size_words(sag, scene)
    ), sag > WEAK * record.body_size


def vibration_factor(settings: Any, number: int) -> float:
    """Return the stiffness factor of the vibration ``number`` (from 0) at the current frame. Without a factor, returns
    1.
    """
    factors = vibration_stiffness(settings)
    return factors[number] if number < len(factors) else 1.0


def frequency_of(vibration: Any, factor: float) -> float:
    """Return the simulated frequency, Hz, of a vibration with the stiffness factor ``factor``."""
    return (vibration.right or vibration.frequency) * math.sqrt(factor)


def vibration_words(vibration: Any, factor: float = 1.0) -> tuple[str, str, str, str]:
    """Return the four texts of a vibration's row in the table.

    The texts are the original frequency, Hz; the simulated frequency, Hz, or "as is" if it is the original one; the
    ratio of both, or "" if they are equal; and the overlap, %. The simulated frequency includes the match to the full
    or a finer mesh, and the stiffness ``factor``. The overlap is the fraction of the vibration that the vibrations of
    that mesh reproduce.
    """
    plain, right = vibration.frequency, frequency_of(vibration, factor)
    is_other = plain and (vibration.right or factor != 1.0)
    changed = (frequency_words(right), f"{right / plain:.2f}") if is_other else (translated("as is"), "")
    return frequency_words(plain), *changed, f"{vibration.share:.0%}"


def slower(hertz: float) -> int:
    """Return the factor by which the display of a vibration of ``hertz`` Hz is slowed down.

    The factor is the smallest power of two with which the eye can follow.
    """
    return 2 ** math.ceil(math.log2(max(hertz, FOLLOWED) / FOLLOWED))


def pace_words(hertz: float) -> str:
    """Format a vibration's simulated frequency, Hz, with the slow motion factor of its display."""
    words, times = frequency_words(hertz), slower(hertz)
    return (
        translated("{words} Hz, shown {times} times slower", words=words, times=times) if times > 1 else f"{words} Hz"
    )


def gravity_words(scene: Any) -> str:
    """Return a warning if the scene's Unit Scale changes Earth's gravity. Otherwise the text is empty."""
    scale, own = acceleration_scale(scene), math.hypot(*scene.gravity)
    if not scene.use_gravity or scale == 1.0 or abs(own - EARTH) > 0.01 * EARTH:
        return ""
    return translated(
        "Unit Scale makes gravity {gravity:.3g} m/s² ({scale:g} of Earth's): bodies move as if they were {times:g} "
        "times their size. For Earth's gravity, enter -9.81 m/s² here.",
        gravity=scale * own,
        scale=scale,
        times=1.0 / scale,
    )


def two_digits(value: float) -> float:
    """Round a value to two significant digits."""
    return float(f"{value:.2g}")


def _words(value: float, kind: str, scene: Any) -> str:
    """Return Blender's text for a value in SI units, or "" if the scene has no units."""
    system = scene.unit_settings.system
    return "" if system == "NONE" else bpy.utils.units.to_string(system, kind, value, precision=4).strip()
