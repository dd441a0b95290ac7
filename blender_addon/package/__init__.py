"""Sinew: elastic bodies of very different materials, as a Blender extension and as a Python library.

This file is the root of the package: the extension zip and the wheel carry it as ``__init__.py`` beside ``core``,
``blender_addon``, ``operators`` and ``ui``. Importing it loads neither Blender nor the library.
"""

from __future__ import annotations

__version__ = "0.1.0"


def register() -> None:
    """Called by Blender when the extension is enabled."""
    from . import blender_addon

    blender_addon.register()


def unregister() -> None:
    """Called by Blender when the extension is disabled."""
    from . import blender_addon

    blender_addon.unregister()
