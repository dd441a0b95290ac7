"""Settings of a physical material besides its stiffness, mirrored from the library's settings."""

# No ``from __future__ import annotations``: Blender reads the annotations as values.
from ...core.foundation.schema.settings import MaterialSettings
from . import choices
from .mirror import mirrored

PLASTICITY = "yield_strain", "creep", "hardening"
"""Names of the properties of plastic materials."""


class SinewMatter:
    """Density, elastic energy and plasticity of a physical material."""

    poissons_ratio: mirrored(MaterialSettings, "poissons_ratio", "Poisson's Ratio", precision=3)
    density: mirrored(MaterialSettings, "density", "Density", precision=1)
    energy: mirrored(MaterialSettings, "energy", "Energy", items=choices.energy_items)
    stiffening: mirrored(MaterialSettings, "stiffening", "Stiffening", soft_max=10.0, precision=2)
    yield_strain: mirrored(MaterialSettings, "yield_strain", "Yield Strain", soft_max=1.0, precision=4, step=1)
    creep: mirrored(MaterialSettings, "creep", "Creep", soft_max=100.0, precision=3)
    hardening: mirrored(MaterialSettings, "hardening", "Hardening", soft_max=10.0, precision=3)
