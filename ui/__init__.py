"""One subject a file. Every panel stands in the Physics tab and in the sidebar tab “Sinew”.

Neither the library nor the bridge is imported here.
"""

from . import bake, body, materials, pins, resolution, solver

MODULES = (body, resolution, materials, pins, solver, bake)
CLASSES = tuple(cls for module in MODULES for cls in module.CLASSES)
