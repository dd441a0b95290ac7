"""Panels of the Physics tab and of the sidebar tab “Sinew”, one module per topic.

Panels import neither the library nor mesh readers directly.
"""

from collections.abc import Iterator
from importlib import import_module

import bpy

ORDER = """
    body materials pins collisions attachments bones fields live resolution solver vibrations advice
    bake compare diagnostics overlays examples
"""
"""Modules of this package that define panels, in the order of their panels in Blender."""


def _classes(subject: str) -> Iterator[type]:
    for value in vars(import_module(f".{subject}", __name__)).values():
        for cls in value if isinstance(value, tuple) else (value,):
            if isinstance(cls, type) and issubclass(cls, (bpy.types.Panel, bpy.types.UIList, bpy.types.Menu)):
                yield cls


CLASSES = tuple(cls for subject in ORDER.split() for cls in _classes(subject))
