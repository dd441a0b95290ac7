"""Settings of all bodies of a scene, ``Scene.sinew``.

No ``from __future__ import annotations`` here: Blender reads the annotations as values.
"""

# No ``from __future__ import annotations``: Blender reads the annotations as values.
import bpy

from .mirror import number


class SinewScene(bpy.types.PropertyGroup):
    """Settings of a scene."""

    length_factor: number(
        "Simulation Scale",
        "Factor on the size of everything in the simulation of all bodies of the scene: with 0.1, a head of 2.7 m sags "
        "and vibrates like a head of 27 cm, but is shown at 2.7 m. Gravity, force fields and materials are not scaled",
        default=1.0,
        min=1e-4,
        max=1e4,
        soft_min=0.01,
        soft_max=10.0,
        precision=3,
    )


CLASSES = (SinewScene,)
