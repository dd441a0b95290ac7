"""One subject a file. Every panel stands in the Physics tab and in the sidebar tab “Sinew”.

Neither the library nor the bridge is imported here.
"""

from . import (
    advice,
    bake,
    body,
    collisions,
    compare,
    examples,
    fields,
    live,
    materials,
    overlays,
    pins,
    resolution,
    solver,
    springs,
)

MODULES = (
    body, live, resolution, materials, pins, springs, collisions, fields, solver, advice, bake, compare, overlays,
    examples,
)  # fmt: skip
CLASSES = tuple(cls for module in MODULES for cls in module.CLASSES)
