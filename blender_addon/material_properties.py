"""One physical material as the artist sets it: its numbers, and where it is. A part of ``Object.sinew``.

Stiffness is kept as its logarithm, since 5e4 and 1e9 Pa have to be read, set and keyed alike: between keys of the
stiffness itself the soft range would pass in a frame.

No ``from __future__ import annotations`` here: Blender reads the annotations as values.
"""

import math
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, PointerProperty, StringProperty

from ..core.model.settings import DepthSettings, MaterialSettings
from . import choices
from .mirror import field_of, numeric, stiffness_of

STIFFNESS_RANGE = field_of(MaterialSettings, "youngs_modulus").metadata["range"]
LOG_BOUNDS = {"min": math.log10(STIFFNESS_RANGE[0]), "max": math.log10(STIFFNESS_RANGE[1])}

DEPTHS = (
    ("NONE", "Any Depth", "Wherever else it is said to be, right through the body"),
    ("SHELL", "Shell", "From the surface of the body down to Depth, over what is painted"),
    ("CORE", "Core", "What lies deeper below the surface than Depth, over what is painted"),
)


def _unit_size(material: Any) -> float:
    return next(size for name, _, size in choices.STIFFNESS_UNITS if name == material.stiffness_unit)


def _logarithm(material: Any, value: float) -> float:
    low, high = STIFFNESS_RANGE
    return math.log10(min(max(value * _unit_size(material), low), high))


def _get_stiffness(self: Any) -> float:
    return stiffness_of(self.log_stiffness) / _unit_size(self)


def _set_stiffness(self: Any, value: float) -> None:
    self.log_stiffness = _logarithm(self, value)


def _get_painted(self: Any) -> float:
    return stiffness_of(self.log_painted_stiffness) / _unit_size(self)


def _set_painted(self: Any, value: float) -> None:
    self.log_painted_stiffness = _logarithm(self, value)


def _is_mesh(self: Any, candidate: Any) -> bool:
    return candidate.type == "MESH" and candidate != self.id_data


class SinewMaterial(bpy.types.PropertyGroup):
    """One physical material of an object, and where it is."""

    log_stiffness: FloatProperty(
        name="Log Stiffness",
        description="Logarithm of Young's modulus in Pa. Key this one: 4 is 10 kPa, 6 is 1 MPa, 9 is 1 GPa",
        default=math.log10(field_of(MaterialSettings, "youngs_modulus").default),
        **LOG_BOUNDS,
    )
    stiffness_value: FloatProperty(
        name="Stiffness",
        description="Young's modulus, in the unit beside it. Flesh 10-100 kPa, rubber 1-10 MPa, bone 1-20 GPa",
        get=_get_stiffness,
        set=_set_stiffness,
        min=0.0,
        precision=3,
        step=100,
        options=set(),
    )
    stiffness_unit: EnumProperty(
        name="Unit",
        description="Unit in which the stiffness is shown; changing it changes no material",
        items=[(name, label, f"Show in {label}") for name, label, _ in choices.STIFFNESS_UNITS],
        default="KPA",
        options=set(),
    )
    use_range: BoolProperty(
        name="Painted Range",
        description="Let a second map say how stiff the material is, between two stiffnesses",
        options=set(),
    )
    log_painted_stiffness: FloatProperty(
        name="Log Full Stiffness",
        description="Logarithm of Young's modulus in Pa where the stiffness map is painted fully. Key this one: 4 is "
        "10 kPa, 6 is 1 MPa, 9 is 1 GPa",
        default=6.0,
        **LOG_BOUNDS,
    )
    painted_value: FloatProperty(
        name="Where Painted",
        description="Young's modulus where the stiffness map is painted fully, in the unit above. Half a weight is "
        "half the way in powers of ten: 100 kPa between 10 kPa and 1 MPa",
        get=_get_painted,
        set=_set_painted,
        min=0.0,
        precision=3,
        step=100,
        options=set(),
    )
    stiffness_map: StringProperty(
        name="Stiffness Map", description="Vertex group that says how stiff this material is", options=set()
    )
    poissons_ratio: numeric(FloatProperty, MaterialSettings, "poissons_ratio", "Poisson's Ratio", precision=3)
    density: numeric(FloatProperty, MaterialSettings, "density", "Density", precision=1)
    energy: EnumProperty(
        name="Energy",
        description=field_of(MaterialSettings, "energy").metadata["help"],
        items=choices.energy_items,
        default=choices.number_of(field_of(MaterialSettings, "energy").default),
        options=set(),
    )
    vertex_group: StringProperty(
        name="Map",
        description="Vertex group that says where this material is. With a region or a depth, how much it covers there",
        options=set(),
    )
    region: PointerProperty(
        name="Region",
        description="Closed mesh, such as a bone inside the body: all that lies in it is of this material",
        type=bpy.types.Object,
        poll=_is_mesh,
    )
    region_collection: PointerProperty(
        name="Regions",
        description="Collection of closed meshes, such as a skeleton: all that lies in any of them is of this material",
        type=bpy.types.Collection,
    )
    depth_kind: EnumProperty(
        name="Depth", description="How deep below the surface this material is", items=DEPTHS, options=set()
    )
    depth: numeric(FloatProperty, DepthSettings, "depth", "Down To", unit="LENGTH", soft_max=10.0, precision=3)
    fade: numeric(FloatProperty, DepthSettings, "fade", "Fade", unit="LENGTH", soft_max=10.0, precision=3)

    @property
    def is_layer(self) -> bool:
        """Whether it lies over what is painted: within regions, or by depth."""
        return self.region is not None or self.region_collection is not None or self.depth_kind != "NONE"


CLASSES = (SinewMaterial,)
