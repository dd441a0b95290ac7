"""Blender add-on: all code that uses both Blender and the library, except operators and panels.

Importing this package loads neither Blender nor the library. :func:`register` loads both.
"""

from __future__ import annotations


def register() -> None:
    """Register all classes, properties, handlers, key bindings and the ``sinew`` command in Blender."""
    from . import registration

    registration.register()


def unregister() -> None:
    """Kill a running bake and undo :func:`register`. Finished frames stay on disk."""
    from . import registration

    registration.unregister()
