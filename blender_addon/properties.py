"""What the artist sets, kept on the object as ``Object.sinew``: the mirror of the library's settings.

Names, ranges, units and defaults are read from the settings' own dataclasses (``mirror``). Blender keeps 32-bit
numbers, so readers round to the digits such a number carries (``mirror.clean``); stiffness is kept as its logarithm,
since 5e4 and 1e9 Pa have to be read, set and interpolated alike.

No ``from __future__ import annotations`` here: Blender reads the annotations as values.
"""

import math
from typing import Any

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ..core.model.settings import DepthSettings, MaterialSettings, ResolutionSettings, SolverSettings
from . import (
    bake_properties,
    choices,
    compare_properties,
    field_weights,
    live_properties,
    outside_properties,
    pick_properties,
)
from .bake_properties import RESULTS, SinewBake
from .compare_properties import SinewCompare
from .field_weights import SinewFieldWeights
from .live_properties import SinewLive
from .mirror import choice, field_of, numeric, stiffness_of
from .outside_properties import SinewCollider, SinewCollisions, SinewSpring
from .pick_properties import SinewPicks

METHOD_LABELS = {
    "lattice": ("Draft", "A lattice of cells around the surface: seconds, works with any mesh"),
    "robust": ("Robust", "Tetrahedra that follow the surface: minutes, works with any mesh"),
    "clean": (
        "Clean",
        "Tetrahedra that keep every vertex of the surface: seconds, for closed meshes that do not pass through "
        "themselves. Never coarser than the mesh itself. Needs TetGen, which a zip of its own brings",
    ),
}
STOP_LABELS = {
    "movement": ("Movement Is Small", "No vertex wants to move farther than a part of the body's size"),
    "decrement": ("Energy Is Settled", "An iteration promises hardly any energy (the Newton decrement)"),
    "acceleration": ("Acceleration Is Settled", "No vertex's acceleration changes noticeably"),
}
PLACES = (
    (
        "AUTOMATIC",
        "Automatic",
        "Simulate the shape after the last modifier that deforms it, or the mesh itself if none does",
    ),
    ("MESH", "Mesh", "Simulate the mesh itself; every modifier acts on the result"),
    (
        "MODIFIER",
        "After Modifier",
        "Simulate the shape after a modifier of your choice; those after it act on the result",
    ),
)
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


def _place_label(self: Any) -> str:
    from .bridge import stack

    return stack.place_of(self.id_data).label


def _place_warning(self: Any) -> str:
    from .bridge import stack

    return stack.weights_left_out(self.id_data)


def _paint_active_material(self: Any, context: Any) -> None:
    """In Weight Paint mode the brush follows the list."""
    obj = self.id_data
    if obj.mode != "WEIGHT_PAINT" or self.active_material >= len(self.materials):
        return
    group = obj.vertex_groups.get(self.materials[self.active_material].vertex_group)
    if group is not None:
        obj.vertex_groups.active_index = group.index


class SinewObject(bpy.types.PropertyGroup):
    """Settings of one simulated object."""

    enabled: BoolProperty(name="Sinew", description="Simulate this object as an elastic body", options=set())
    method: EnumProperty(
        name="Method",
        description=field_of(ResolutionSettings, "method").metadata["help"],
        items=[(name, *METHOD_LABELS[name]) for name in ResolutionSettings.METHODS],
        default=field_of(ResolutionSettings, "method").default,
        options=set(),
    )
    cells_across: numeric(IntProperty, ResolutionSettings, "cells_across", "Cells Across", soft_max=80)
    finer_group: StringProperty(
        name="Finer",
        description="Vertex group where cells are smaller, by as much as it is painted: fingers, lips, what "
        "touches. Fine cells reach as deep as they are wide, and grow from there",
        options=set(),
    )
    finest: numeric(FloatProperty, ResolutionSettings, "finest", "Finer By", soft_max=4.0, precision=1)
    place: EnumProperty(
        name="Simulate", description="Place in the modifier stack that is simulated", items=PLACES, options=set()
    )
    simulate_after: StringProperty(
        name="Modifier",
        description="Simulate the shape that this modifier makes; those after it act on the result",
        options=set(),
    )
    rest_key: StringProperty(
        name="Rest Shape",
        description="Shape key in which the body is without stress, whatever its value. The simulation begins in the "
        "shape of the first frame and draws the body to this one. Empty: the shape of the first frame",
        options=set(),
    )
    place_label: StringProperty(name="Simulated", description="The shape that is simulated", get=_place_label)
    place_warning: StringProperty(
        name="Not Read", description="What modifiers after that do and nobody reads", get=_place_warning
    )

    materials: CollectionProperty(
        name="Physical Materials",
        description="What the body is made of; the first is wherever nothing is painted",
        type=SinewMaterial,
    )
    active_material: IntProperty(
        name="Active Physical Material",
        description="Which one the panel shows",
        min=0,
        options=set(),
        update=_paint_active_material,
    )

    pin_group: StringProperty(
        name="Pin Group", description="Vertices with a weight of at least Hold From are held", options=set()
    )
    hold_from: FloatProperty(
        name="Hold From",
        description="Vertices with this weight or more are held. Key it upwards to release them over time; above 1 "
        "nothing is held. What is released stays released",
        default=0.5,
        min=0.001,
        max=2.0,
        soft_max=1.01,
    )

    picks: CollectionProperty(
        name="Picks", description="Vertices that were picked, and where they were at rest", type=SinewPicks
    )
    pick_warning: StringProperty(
        name="Picks", description="What became of picked vertices after an edit of the mesh", options=set()
    )

    springs: CollectionProperty(
        name="Springs", description="What pulls vertices of the body to moving places", type=SinewSpring
    )
    active_spring: IntProperty(name="Active Spring", description="Which one the panel shows", min=0, options=set())
    collisions: PointerProperty(
        name="Collisions", description="What the body runs into, and how it is held there", type=SinewCollisions
    )
    collider: PointerProperty(
        name="Collider", description="How bodies are held that run into this object", type=SinewCollider
    )
    field_weights: PointerProperty(
        name="Field Weights", description="How much of gravity and force fields the body feels", type=SinewFieldWeights
    )
    acceleration_attribute: StringProperty(
        name="Acceleration",
        description="Vector attribute of the points, in m/s² and world space, that acts beside gravity. Geometry Nodes "
        "can make it, in a modifier that is simulated (Resolution > Simulate). Empty: none",
        options=set(),
    )

    solver: EnumProperty(
        name="Solver",
        description=field_of(SolverSettings, "solver").metadata["help"],
        items=choices.solver_items,
        default=choices.number_of(field_of(SolverSettings, "solver").default),
        options=set(),
    )
    integrator: EnumProperty(
        name="Integration",
        description=field_of(SolverSettings, "integrator").metadata["help"],
        items=choices.integrator_items,
        default=choices.number_of(field_of(SolverSettings, "integrator").default),
        options=set(),
    )
    substeps: numeric(IntProperty, SolverSettings, "substeps", "Substeps", soft_max=20)
    max_iterations: numeric(IntProperty, SolverSettings, "max_iterations", "Iterations", soft_max=100)
    stop_rule: EnumProperty(**choice(SolverSettings, "stop_rule", "Stop When", STOP_LABELS))
    tolerance: numeric(FloatProperty, SolverSettings, "tolerance", "Tolerance", precision=7)
    decrement_tolerance: numeric(FloatProperty, SolverSettings, "decrement_tolerance", "Tolerance", precision=7)
    acceleration_tolerance: numeric(FloatProperty, SolverSettings, "acceleration_tolerance", "Tolerance", precision=4)
    mass_damping: numeric(FloatProperty, SolverSettings, "mass_damping", "Drag", soft_max=10.0, precision=3)
    stiffness_damping: numeric(
        FloatProperty, SolverSettings, "stiffness_damping", "Inner Friction", soft_max=0.1, precision=4
    )
    quadratic_finish: BoolProperty(
        name="Quadratic Finish",
        description=field_of(SolverSettings, "quadratic_finish").metadata["help"],
        default=field_of(SolverSettings, "quadratic_finish").default,
        options=set(),
    )
    linear_solver: EnumProperty(
        name="Linear Solver",
        description=field_of(SolverSettings, "linear_solver").metadata["help"],
        items=choices.linear_solver_items,
        default=choices.number_of(field_of(SolverSettings, "linear_solver").default),
        options=set(),
    )
    inner_iterations: numeric(IntProperty, SolverSettings, "inner_iterations", "Inner Iterations", soft_max=50)
    modes: numeric(IntProperty, SolverSettings, "modes", "Modes", soft_max=32)
    cubature_points: numeric(IntProperty, SolverSettings, "cubature_points", "Cubature Points", soft_max=2000)
    damping_factor: numeric(FloatProperty, SolverSettings, "damping_factor", "Damping Factor", precision=2)

    use_scene_range: BoolProperty(
        name="Scene Frame Range", description="Bake the frames of the scene's own range", default=True, options=set()
    )
    frame_start: IntProperty(
        name="Start",
        description="First frame of the bake, often 1; the body is at rest there",
        default=1,
        options=set(),
    )
    frame_end: IntProperty(
        name="End", description="Last frame of the bake; 48 to 250 are typical", default=60, options=set()
    )

    pre_roll: IntProperty(
        name="Pre-Roll",
        description="Frames simulated before the first and not shown: the body starts from rest so much earlier, "
        "sags under gravity and swings along with the animation that is there. 10 to 50 are typical, 0 is none",
        default=0,
        min=0,
        soft_max=100,
        options=set(),
    )

    result: EnumProperty(
        name="Result", description="How the baked frames are kept in the .blend", items=RESULTS, options=set()
    )
    result_modes: IntProperty(
        name="Modes",
        description="Movements by which Geometry Nodes follow the frames, beside one for each pinned part: more follow "
        "closer and take more room, 20 to 64. Subspace solvers have their own",
        default=20,
        min=1,
        max=64,
        options=set(),
    )

    bake: PointerProperty(name="Bake", description="What is known of the last bake", type=SinewBake)
    compare: PointerProperty(name="Compare", description="What the bake is compared with", type=SinewCompare)
    live: PointerProperty(name="Live", description="How the body is played with in the viewport", type=SinewLive)
    live_layer: StringProperty(
        name="Hidden by Live", description="View layer in which live mode has hidden the mesh", options=set()
    )
    bake_of: StringProperty(
        name="Bake Of", description="Body whose bake this object carries; empty: it is none", options=set()
    )
    is_stand_in: BoolProperty(name="Stands In", description="Drawn for a body that is played with", options=set())


CLASSES = (
    SinewMaterial,
    *outside_properties.CLASSES,
    *field_weights.CLASSES,
    *live_properties.CLASSES,
    *compare_properties.CLASSES,
    *pick_properties.CLASSES,
    *bake_properties.CLASSES,
    SinewObject,
)


def register() -> None:
    """Register the groups and put them on objects."""
    for group in CLASSES:
        bpy.utils.register_class(group)
    bpy.types.Object.sinew = PointerProperty(name="Sinew", type=SinewObject)


def unregister() -> None:
    """Take them off again."""
    del bpy.types.Object.sinew
    for group in reversed(CLASSES):
        bpy.utils.unregister_class(group)
