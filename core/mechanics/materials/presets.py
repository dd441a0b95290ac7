"""Material presets, and the published measurements behind them.

Densities of tissues are from ICRU Report 44 (adipose 950, muscle 1050, skin 1090, cartilage 1100, cortical bone 1920
kg/m³). Moduli of soft tissue vary tenfold with load and direction; the presets use moduli within the published range.
Two deliberate deviations:

- Bone and Shell are *effective* values. Beside flesh of 5e4 Pa a modulus of 1e9 Pa already looks rigid, and every
  further factor of ten worsens the conditioning. Cortical Bone has the measured modulus.
- Poisson's ratio of nearly incompressible materials (flesh, rubber, gelatine: over 0.49) is set to 0.45-0.47. Plain
  tets lock when nu approaches 1/2; smoothed elements are as accurate at 0.499 (``docs/design/elements.md``).
"""

from __future__ import annotations

from typing import NamedTuple

from ...foundation.schema.settings import MaterialSettings

PRESETS: tuple[MaterialSettings, ...] = (
    MaterialSettings("Soft Flesh", youngs_modulus=5e4, poissons_ratio=0.45, density=1050.0),
    MaterialSettings("Fat", youngs_modulus=5e3, poissons_ratio=0.45, density=950.0),
    MaterialSettings("Muscle", youngs_modulus=1e5, poissons_ratio=0.45, density=1050.0),
    MaterialSettings("Tendon", youngs_modulus=1.2e9, poissons_ratio=0.45, density=1120.0),
    MaterialSettings("Skin", youngs_modulus=5e5, poissons_ratio=0.45, density=1090.0),
    MaterialSettings("Cartilage", youngs_modulus=1e6, poissons_ratio=0.40, density=1100.0),
    MaterialSettings("Bone", youngs_modulus=1e9, poissons_ratio=0.30, density=1920.0),
    MaterialSettings("Cortical Bone", youngs_modulus=1.7e10, poissons_ratio=0.30, density=1920.0),
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


class Measurement(NamedTuple):
    """Published measurements of a material.

    ``lowest``, ``highest``: range of Young's moduli, Pa. ``source``: what was measured, and the publications.
    ``is_effective``: True if the preset deviates from the range on purpose.
    """

    lowest: float
    highest: float
    source: str
    is_effective: bool = False


MEASURED: dict[str, Measurement] = {
    "Soft Flesh": Measurement(
        1.04e4,
        8.92e4,
        "limbs, with skin and muscle, by indentation: Zheng, Mak, Lue, J. Rehabil. Res. Dev. 36, 1999",
    ),
    "Fat": Measurement(
        3e3,
        2.6e4,
        "3 kPa in the breast: Samani, Zubovits, Plewes, Phys. Med. Biol. 52, 2007; 26 kPa under the skin of the "
        "buttock: Isogai, Okamoto, Asaba, et al., J. Phys. Ther. Sci. 34, 2022",
    ),
    "Muscle": Measurement(
        2.24e4,
        4.47e5,
        "relaxed, across and along the fibres; the preset is their geometric mean: Morrow, Haut Donahue, Odegard, "
        "Kaufman, J. Mech. Behav. Biomed. Mater. 3, 2010",
    ),
    "Tendon": Measurement(
        1.16e9,
        1.2e9,
        "along the fibres, at full force: Maganaris, Paul, J. Physiol. 521, 1999, and J. Biomech. 35, 2002; density: "
        "Ker, J. Exp. Biol. 93, 1981",
    ),
    "Skin": Measurement(
        4.2e5,
        8.5e5,
        "in vivo by torsion, before and after the age of 30: Agache, Monneur, Leveque, De Rigal, Arch. Dermatol. Res. "
        "269, 1980",
    ),
    "Cartilage": Measurement(
        4.8e5,
        1.58e6,
        "aggregate modulus of the human knee: Keenan, Kourtis, Besier, et al., Comput. Methods Biomech. Biomed. Eng. "
        "12, 2009",
    ),
    "Bone": Measurement(
        1.15e10,
        1.7e10,
        "compact bone across and along its axis: Reilly, Burstein, J. Biomech. 8, 1975; the preset is softer, since 1 "
        "GPa looks rigid beside flesh",
        is_effective=True,
    ),
    "Cortical Bone": Measurement(1.15e10, 1.7e10, "across and along its axis: Reilly, Burstein, J. Biomech. 8, 1975"),
    "Shell": Measurement(
        6e10,
        7e10,
        "nacre, wet and dry: Jackson, Vincent, Turner, Proc. R. Soc. Lond. B 234, 1988; the preset is softer, since 1 "
        "GPa looks rigid beside flesh",
        is_effective=True,
    ),
    "Gelatine": Measurement(
        4.34e3, 2.77e5, "20 to 2 parts of water to one of gelatine: Bonavia, arXiv 2512.20502, 2025"
    ),
    "Silicone": Measurement(
        6.9e4, 1.52e5, "stress at a strain of one of Ecoflex 00-30 and Dragon Skin 10: data sheets of Smooth-On"
    ),
    "Rubber": Measurement(
        1e6, 1e7, "hardness of 27 to 81 Shore A, 68 for the preset: relation by Gent, Rubber Chem. Technol. 31, 1958"
    ),
    "Clay": Measurement(2e6, 1.5e7, "very soft clay: Bowles, Foundation Analysis and Design, 1996"),
    "Dough": Measurement(1e3, 1e5, "wheat dough, storage moduli: Dobraszczyk, Morgenstern, J. Cereal Sci. 38, 2003"),
    "Foam": Measurement(
        2e4,
        3.1e5,
        "open flexible polyurethane of 25 to 100 kg/m³, E = 45 MPa (density / 1200 kg/m³)²: Gibson, Ashby, Cellular "
        "Solids, 1997",
    ),
    "Cork": Measurement(
        1.3e7, 2e7, "across and along the radius: Gibson, Easterling, Ashby, Proc. R. Soc. Lond. A 377, 1981"
    ),
    "Wood": Measurement(8e9, 1.5e10, "common woods, along the grain: Forest Products Laboratory, Wood Handbook, 2010"),
    "Plastic": Measurement(1.1e9, 2.9e9, "ABS: Ashby, Materials Selection in Mechanical Design, 2011"),
    "Lead": Measurement(1.6e10, 1.62e10, "Kaye, Laby, Tables of Physical and Chemical Constants, 1995"),
    "Steel": Measurement(
        1.95e11, 2.12e11, "mild and stainless steel: Kaye, Laby, Tables of Physical and Chemical Constants, 1995"
    ),
}
"""Measurements behind the presets, by name."""
