"""Blender operators, one module per topic. Every operator class in these modules is registered."""

import pkgutil
from collections.abc import Iterator
from importlib import import_module

import bpy


def _operators() -> Iterator[type]:
    for found in pkgutil.iter_modules(__path__, f"{__name__}."):
        for value in vars(import_module(found.name)).values():
            if isinstance(value, type) and issubclass(value, (bpy.types.Operator, bpy.types.Macro)):
                yield value


CLASSES = tuple(dict.fromkeys(_operators()))
