"""All that knows both Blender and the library, except buttons and panels.

Importing this package loads neither: Blender is met in :func:`register`.
"""

from __future__ import annotations


def register() -> None:
    """Register every class, property, key and command."""
    from . import registration

    registration.register()


def unregister() -> None:
    """Undo :func:`register`; a running bake is stopped first."""
    from . import registration

    registration.unregister()
