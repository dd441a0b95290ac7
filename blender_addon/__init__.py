"""All that knows both Blender and the library, except buttons and panels.

Importing this package loads neither: Blender is met in :func:`register`.
"""

from __future__ import annotations

ADDON_ID = "sinew"
PACKAGE = __package__.rpartition(".")[0]
"""Name of the whole package: ``bl_ext.<repository>.sinew`` as an extension, else ``sinew``."""


def register() -> None:
    """Register every class, property, key and command."""
    from . import registration

    registration.register()


def unregister() -> None:
    """Undo :func:`register`; a running bake is stopped first."""
    from . import registration

    registration.unregister()
