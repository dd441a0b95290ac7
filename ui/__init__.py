"""Panels, one module per topic: all in the Physics tab, frequently used panels also in the sidebar tab “Sinew”.

Panels import neither the library nor mesh readers directly.
"""

from collections.abc import Iterator
from importlib import import_module

import bpy

ORDER = """
    body materials pins collisions springs fields live resolution solver vibrations advice
    bake compare diagnostics overlays examples
"""
"""Names of the modules of this package that define panels, separated by spaces. Blender shows the panels in the order
of the names.
"""


def _classes(subject: str) -> Iterator[type]:
    for value in vars(import_module(f".{subject}", __name__)).values():
        for cls in value if isinstance(value, tuple) else (value,):
            if isinstance(cls, type) and issubclass(cls, (bpy.types.Panel, bpy.types.UIList, bpy.types.Menu)):
                yield cls


CLASSES = tuple(cls for subject in ORDER.split() for cls in _classes(subject))
