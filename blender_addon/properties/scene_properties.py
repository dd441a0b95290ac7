"""Settings of all bodies of a scene, ``Scene.sinew``.

No ``from __future__ import annotations`` here: Blender reads the annotations as values.
"""

import bpy

from .mirror import number


class SinewScene(bpy.types.PropertyGroup):
    """Settings of a scene."""

    length_factor: number(
        "Simulation Scale",
        "Simulate all bodies of the scene as if everything were this many times as large: 0.1 lets a head of 2.7 m "
        "sag and vibrate as one of 27 cm, shown at its own size. Gravity, fields and materials stay what they are",
        default=1.0,
        min=1e-4,
        max=1e4,
        soft_min=0.01,
        soft_max=10.0,
        precision=3,
    )


CLASSES = (SinewScene,)
