"""One subject a file. Every panel stands in the Physics tab and in the sidebar tab “Sinew”.

Neither the library nor what reads meshes is imported here.
"""

from collections.abc import Iterator
from importlib import import_module

import bpy

ORDER = """
    body materials pins collisions springs fields live resolution solver vibrations advice
    bake compare diagnostics overlays examples
"""
"""Subjects as their panels stand, one below the other."""


def _classes(subject: str) -> Iterator[type]:
    for value in vars(import_module(f".{subject}", __name__)).values():
        for cls in value if isinstance(value, tuple) else (value,):
            if isinstance(cls, type) and issubclass(cls, (bpy.types.Panel, bpy.types.UIList, bpy.types.Menu)):
                yield cls


CLASSES = tuple(cls for subject in ORDER.split() for cls in _classes(subject))
