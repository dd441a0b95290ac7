"""Material presets: plausible starting values.

Densities of tissues are from ICRU Report 44 (adipose 950, muscle 1050, skin 1090, cartilage 1100, cortical bone 1920
kg/m³); engineering materials and moduli are usual handbook values. Moduli of soft tissue vary tenfold with load and
direction; the presets use moduli from the middle of the small-strain range. Two deliberate deviations:

- Bone and Shell are *effective* values. Cortical bone has about 1.5e10 Pa and nacre about 6e10 Pa; beside flesh of
  5e4 Pa a modulus of 1e9 Pa already looks rigid, and every further factor of ten worsens the conditioning.
- Poisson's ratio of nearly incompressible materials (flesh, rubber, gelatine: over 0.49) is set to 0.45-0.47. Plain
  tets lock when nu approaches 1/2; smoothed elements are as accurate at 0.499 (``docs/design/elements.md``).
"""

from __future__ import annotations

from ...foundation.schema.settings import MaterialSettings

PRESETS: tuple[MaterialSettings, ...] = (
    MaterialSettings("Soft Flesh", youngs_modulus=5e4, poissons_ratio=0.45, density=1050.0),
    MaterialSettings("Fat", youngs_modulus=5e3, poissons_ratio=0.45, density=950.0),
    MaterialSettings("Muscle", youngs_modulus=1e5, poissons_ratio=0.45, density=1050.0),
    MaterialSettings("Skin", youngs_modulus=5e5, poissons_ratio=0.45, density=1090.0),
    MaterialSettings("Cartilage", youngs_modulus=1e6, poissons_ratio=0.40, density=1100.0),
    MaterialSettings("Bone", youngs_modulus=1e9, poissons_ratio=0.30, density=1920.0),
    MaterialSettings("Shell", youngs_modulus=1e9, poissons_ratio=0.25, density=2700.0),
    MaterialSettings("Gelatine", youngs_modulus=1e4, poissons_ratio=0.45, density=1030.0),
    MaterialSettings("Silicone", youngs_modulus=1e5, poissons_ratio=0.47, density=1070.0),
    MaterialSettings("Rubber", youngs_modulus=5e6, poissons_ratio=0.47, density=1100.0),
    MaterialSettings("Clay", youngs_modulus=3e6, poissons_ratio=0.45, density=1700.0, yield_strain=0.01),
    MaterialSettings("Dough", youngs_modulus=1e4, poissons_ratio=0.45, density=1100.0, yield_strain=0.05, creep=2.0),
    MaterialSettings("Foam", youngs_modulus=1e5, poissons_ratio=0.20, density=40.0),
    MaterialSettings("Cork", youngs_modulus=2e7, poissons_ratio=0.0, density=180.0),
    MaterialSettings("Wood", youngs_modulus=1e10, poissons_ratio=0.35, density=600.0),
    MaterialSettings("Plastic", youngs_modulus=2e9, poissons_ratio=0.35, density=1050.0),
    MaterialSettings("Lead", youngs_modulus=1.6e10, poissons_ratio=0.44, density=11340.0, yield_strain=0.002),
    MaterialSettings("Steel", youngs_modulus=2e11, poissons_ratio=0.29, density=7850.0),
)
"""Presets: Soft Flesh, other tissues and shell, then inanimate materials."""
