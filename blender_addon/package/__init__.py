"""Sinew: simulation of elastic bodies of very different materials, as a Blender extension and as a Python library.

This file is the root of the package: the extension zip and the wheel contain it as ``__init__.py`` beside ``core``,
``blender_addon``, ``operators`` and ``ui``. Importing the package loads neither Blender nor the library. The names of
``core/api`` load the library on first access.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .core.api import *  # noqa: F403

__version__ = "0.1.0"

__all__ = """
    Body Chamber Collider Contact Cutter FibreCurve Frame Ground Job Joint KinematicRegion Material Muscle
    MuscleSettings Resolution Seams SinewError Solid Solver SplitSurface Spring Surface Tie
    muscle_preset read_scene read_surface read_tets register_energy simulate split_surface sweep write
""".split()


def __getattr__(name: str) -> Any:
    """Return a name of the library's API, imported on first access."""
    if name not in __all__:
        raise AttributeError(f"sinew has no “{name}”: its names are {', '.join(__all__)}.")
    from .core import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def register() -> None:
    """Register the add-on (called by Blender)."""
    from . import blender_addon

    blender_addon.register()


def unregister() -> None:
    """Unregister the add-on (called by Blender)."""
    from . import blender_addon

    blender_addon.unregister()
