"""Sinew: simulation of elastic bodies of very different materials, as a Blender extension and as a Python library.

This file is the root of the package: the extension zip and the wheel contain it as ``__init__.py`` beside ``core``,
``blender_addon``, ``operators`` and ``ui``. Importing the package loads neither Blender nor the library. The names of
``core/api`` load the library on first access.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .core.api import *  # noqa: F403

__all__ = """
    Body Chamber Collider Contact Cutter FibreCurve Frame Ground Job Joint KinematicRegion Material Muscle
    MuscleSettings Resolution Seams SinewError Solid Solver SplitSurface Spring Surface Tie
    muscle_preset read_scene read_surface read_tets register_energy simulate split_surface sweep write
""".split()


def __getattr__(name: str) -> Any:
    """Return the version, or a name of the library's API, imported on first access."""
    if name == "__version__":
        return _version()
    if name not in __all__:
        raise AttributeError(f"sinew has no “{name}”: its names are {', '.join(__all__)}.")
    from .core import api

    return getattr(api, name)


def _version() -> str:
    """Return the version from the extension's manifest, a checkout's ``pyproject.toml``, or a wheel's metadata."""
    import tomllib
    from pathlib import Path

    folder = Path(__file__).resolve().parent
    if (manifest := folder / "blender_manifest.toml").is_file():
        return tomllib.loads(manifest.read_text(encoding="utf-8"))["version"]
    if folder.name == "package":
        return tomllib.loads((folder.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    from importlib import metadata

    return metadata.version("sinew")


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
