"""Settings of a body, ``Object.sinew``, mirrored from the library's settings.

Stiffness is stored as its base-10 logarithm, which F-curves interpolate: half-way from 1e4 to 1e8 Pa it is 1e6.
"""

# No ``from __future__ import annotations``: Blender reads the annotations as values.
from typing import Any

import bpy
from bpy.props import PointerProperty

from ...core.foundation.schema.settings import DepthSettings, ResolutionSettings, SolverSettings
from ...core.foundation.schema.solver_kinds import own_settings
from ..blend_data.list_animation import animated
from . import (
    bake_properties,
    choices,
    compare_properties,
    cut_properties,
    field_weights,
    joint_properties,
    live_properties,
    muscle_properties,
    outside_properties,
    pick_properties,
    scene_properties,
)
from .bake_properties import RESULTS, SinewAttributes, SinewBake
from .compare_properties import SinewCompare
from .cut_properties import SinewCuts
from .field_weights import SinewFieldWeights
from .joint_properties import SinewArmature, SinewJoint, SinewSkeleton
from .live_properties import SinewLive
from .matter_properties import SinewMatter, SinewShader, in_its_unit, logarithm
from .mirror import (
    ANIMATED,
    OVERRIDABLE,
    collection,
    integer,
    menu,
    mirrored,
    number,
    pointer,
    switch,
    text,
    weights,
)
from .muscle_properties import SinewMuscle
from .outside_properties import (
    SinewChamber,
    SinewCollider,
    SinewCollisions,
    SinewPair,
    SinewSpring,
    SinewTie,
    SinewVibrations,
)
from .pick_properties import SinewPicks

METHODS = (
    ("lattice", "Draft", "A lattice of cells around the surface. Made in seconds, from any mesh"),
    ("robust", "Robust", "Tetrahedra that follow the surface. Made in minutes, from any mesh"),
    (
        "clean",
        "Clean",
        "Tetrahedra that keep every vertex of the surface. Made in seconds, from closed meshes that do not intersect "
        "themselves. The tetrahedra are never coarser than the mesh. Needs TetGen, from a separate zip file",
    ),
    ("rigid", "Rigid", "A rigid body with the mass and the inertia of the closed mesh, such as a bone"),
)
ELEMENTS = (
    ("smoothed", "Smoothed", "Each group of tetrahedra around an edge has one mean strain. Accurate with few cells"),
    ("plain", "Plain Tetrahedra", "Each tetrahedron has its own strain: too stiff in bending, torsion and volume"),
)
BASES = (
    ("modes", "Modes", "Lowest skinning modes, which move the whole body: best for bending, and for most bodies"),
    (
        "handles",
        "Handles",
        "Sparse handles, each of which moves only its surroundings: for small dents with few unknowns",
    ),
)
STOP_RULES = (
    ("movement", "Movement Is Small", "Stop a step when an iteration hardly moves any vertex"),
    (
        "decrement",
        "Energy Has Converged",
        "Stop a step when an iteration would hardly lower the energy (the Newton decrement)",
    ),
    (
        "acceleration",
        "Acceleration Has Converged",
        "Stop a step when an iteration hardly changes any vertex's acceleration",
    ),
)
STACK_POSITIONS = (
    (
        "AUTOMATIC",
        "Automatic",
        "Simulate the shape after the last modifier that deforms it, or the mesh itself if none does",
    ),
    ("MESH", "Mesh", "Simulate the mesh itself; every modifier acts on the result"),
    (
        "MODIFIER",
        "After Modifier",
        "Simulate the shape after a chosen modifier; later modifiers act on the result",
    ),
)
REGIONS = (
    ("OBJECT", "Object", "One closed mesh"),
    ("COLLECTION", "Collection", "All closed meshes of a collection, such as a skeleton"),
)
DEPTHS = (
    ("NONE", "Any Depth", "At every depth, through the whole body"),
    ("SHELL", "Shell", "From the surface of the body to the depth in the field Down To. Overrides painted materials"),
    ("CORE", "Core", "Deeper below the surface than the depth in the field Down To. Overrides painted materials"),
)


def _is_mesh(self: Any, candidate: Any) -> bool:
    return candidate.type == "MESH" and candidate != self.id_data


def _is_region(self: Any, candidate: Any) -> bool:
    return _is_mesh(self, candidate) or candidate.type == "ARMATURE"


class SinewMaterial(SinewMatter, bpy.types.PropertyGroup):
    """Physical material of a body, and where it is: vertex group, regions and depth."""

    fitted: number(
        "Fitted", "Base-10 logarithm of the stiffness, Pa, that Sinew chose from the body's size; 0 if it chose none"
    )
    use_range: switch(
        "Painted Range", "Vary the stiffness between two values by the weights of a vertex group, the stiffness map"
    )
    painted_value: in_its_unit(
        "log_painted_stiffness",
        "Where Painted",
        "Young's modulus where the stiffness map has weight 1, in the unit above; Stiffness applies at weight 0. "
        "Between them it is interpolated logarithmically: weight 0.5 between 10 kPa and 1 MPa gives 100 kPa",
    )
    log_painted_stiffness: logarithm("Log Full Stiffness", " where the stiffness map has weight 1", 1e6)
    stiffness_map: weights("Stiffness Map", "Vertex group, or attribute, whose weights vary this material's stiffness")
    vertex_group: weights(
        "Map",
        "Vertex group, or attribute, whose weights are the fraction of this material. If the material has a region or "
        "a depth, the weights count only there",
    )
    region_kind: menu("Region Type", "Choose one object as the region, or a collection of objects", items=REGIONS)
    region: pointer(
        "Region",
        "Closed mesh, such as a bone: everything inside it is of this material. Or an armature: a tube along each of "
        "its bones that deform meshes",
        type=bpy.types.Object,
        poll=_is_region,
    )
    region_collection: pointer(
        "Regions",
        "Collection of closed meshes, such as a skeleton: everything inside any of them is of this material",
        type=bpy.types.Collection,
    )
    follows: switch(
        "Follows",
        "Move everything inside the region exactly with the region's objects: with their animation, parents and "
        "armature. Keyframe it off to let go of the flesh, and on to take hold again. Depth and Map limit the "
        "material only",
        options=ANIMATED,
    )
    muscle: pointer("Muscle", "Fibres of this material", type=SinewMuscle)
    depth_kind: menu("Depth", "Range of depths below the surface that this material fills", items=DEPTHS)
    depth: mirrored(DepthSettings, "depth", "Down To", unit="LENGTH", soft_max=10.0, precision=3)
    fade: mirrored(DepthSettings, "fade", "Fade", unit="LENGTH", soft_max=10.0, precision=3)

    @property
    def is_fitted(self) -> bool:
        """True if the stiffness is still the one that Sinew chose from the body's size."""
        return self.fitted != 0.0 and self.log_stiffness == self.fitted

    @property
    def is_layer(self) -> bool:
        """True if the material has regions or a depth, and so overrides painted materials."""
        return self.regions is not None or self.depth_kind != "NONE"

    @property
    def regions(self) -> Any | None:
        """Object or collection whose closed meshes the material fills, or None."""
        return self.region if self.region_kind == "OBJECT" else self.region_collection

    @property
    def is_followed(self) -> bool:
        """True if everything inside the regions moves with their objects, at least in some frames."""
        return self.regions is not None and (self.follows or "follows" in animated(self.id_data, self.path_from_id()))


def _place_label(self: Any) -> str:
    from ..objects import modifier_stack

    return modifier_stack.stack_position(self.id_data).label


def _place_warning(self: Any) -> str:
    from ..objects import modifier_stack, shape_modifiers

    words = shape_modifiers.shape_warning(self.id_data), modifier_stack.weights_left_out(self.id_data)
    return " ".join(filter(None, words))


def _paint_active_material(self: Any, context: Any) -> None:
    """Select the vertex group of the active material in Weight Paint mode."""
    obj = self.id_data
    if obj.mode != "WEIGHT_PAINT" or self.active_material >= len(self.materials):
        return
    group = obj.vertex_groups.get(self.materials[self.active_material].vertex_group)
    if group is not None:
        obj.vertex_groups.active_index = group.index


class SinewObject(bpy.types.PropertyGroup):
    """Settings of one simulated object."""

    enabled: switch("Sinew", "Simulate this object as an elastic body")
    identity: text(
        "Identity",
        "Random text in the name of the folder of frames, so that objects of equal name have different folders",
    )
    method: mirrored(ResolutionSettings, "method", "Method", items=METHODS)
    cells_across: mirrored(ResolutionSettings, "cells_across", "Cells Across", soft_max=80)
    refine_group: weights(
        "Refine Group",
        "Vertex group where cells are smaller, such as fingers, lips and areas in contact: the higher the weight, the "
        "smaller the cells. Small cells reach one cell below the surface; deeper cells grow gradually",
    )
    refine_factor: mirrored(ResolutionSettings, "refine_factor", "Refine Factor", soft_max=4.0, precision=1)
    elements: mirrored(ResolutionSettings, "elements", "Elements", items=ELEMENTS)
    simulate_at: menu(
        "Simulate", "Shape to simulate: the mesh itself, or the output of a modifier", items=STACK_POSITIONS
    )
    simulate_after: text("Modifier", "Modifier whose output is simulated; later modifiers act on the result")
    rest_key: text(
        "Rest Shape",
        "Shape key with the stress-free shape of the body; the key's value does not matter. The simulation starts in "
        "the shape of the first frame, and elasticity pulls it to the rest shape. Empty: the shape of the first frame",
    )
    simulated_label: text(
        "Simulated", "Shape that is simulated: the mesh itself, or the output of a modifier", get=_place_label
    )
    stack_warning: text("Ignored", "Warning about modifiers whose effect is not simulated", get=_place_warning)

    materials: collection(
        "Physical Materials", "Materials of the body; the first fills unpainted areas", type=SinewMaterial
    )
    active_material: integer(
        "Active Physical Material", "Index of the material that the panel shows", min=0, update=_paint_active_material
    )

    pin_group: weights(
        "Pin Group",
        "Vertex group, or attribute, of pins. Vertices with a weight of at least Pin Threshold are held at their "
        "animated positions; with Goal, vertices of lower weight are pulled softly toward their animated positions",
    )
    pin_threshold: number(
        "Pin Threshold",
        "Vertices with at least this weight in the pin group are held. Keyframe a rising threshold to release vertices "
        "over time; above 1 no vertex is held. Released vertices are not held again",
        options=ANIMATED,
        default=0.5,
        min=0.001,
        max=2.0,
        soft_max=1.01,
    )
    use_goal: switch(
        "Goal",
        "Pull vertices of the pin group with weights below Pin Threshold softly toward their animated positions, in "
        "proportion to the weight. The pull ends once an animated Pin Threshold has released all held vertices",
        default=True,
    )
    goal_strength: number(
        "Goal Strength",
        "Factor on the stiffness of the goal, no unit: 0.1 to 100 are typical, 0 does not pull. With 1 everywhere, the "
        "goal is as stiff as a cube of the body's size and softest material under tension",
        options=ANIMATED,
        default=5.0,
        min=0.0,
        soft_max=100.0,
        precision=3,
    )
    node_group: weights(
        "Dynamic Nodes",
        "Vertex group of dynamic nodes: vertices of weight 1, each with a ball of the body around it, are simulated "
        "with inertia, and the other vertices follow them. Empty: the body will not jiggle",
    )
    node_count: integer(
        "Nodes", "Number of vertices that Propose Nodes chooses; 4 to 32 are typical", default=4, min=0, max=64
    )

    picks: collection("Picks", "Picked vertices of each vertex group, by their rest positions", type=SinewPicks)
    pick_warning: text("Picks", "Warning about a change of the picked vertices by an edit of the mesh")

    springs: collection("Springs", "Springs that pull vertices of the body to moving targets", type=SinewSpring)
    active_spring: integer("Active Spring", "Index of the spring that the panel shows", min=0)
    collisions: pointer(
        "Collisions", "Contact with colliders, the ground, other bodies and itself", type=SinewCollisions
    )
    pairs: collection("Pairs", "Contact settings of the body with one other body or collider", type=SinewPair)
    active_pair: integer("Active Pair", "Index of the pair that the panel shows", min=0)
    chamber: pointer("Pressure", "Pressure in the body's cavities, or inside it", type=SinewChamber)
    ties: collection("Ties", "Ties of the body to other bodies and colliders", type=SinewTie)
    active_tie: integer("Active Tie", "Index of the tie that the panel shows", min=0)
    cuts: pointer("Cuts", "Cutters and tears of the body", type=SinewCuts)
    joint: pointer("Joint", "Joint of a bone body with its parent", type=SinewJoint)
    skeleton: pointer("Skeleton", "Baked motion of the bones of an armature", type=SinewSkeleton)
    collider: pointer("Collider", "Contact settings of this object as a collider", type=SinewCollider)
    field_weights: pointer("Field Weights", "Factors on gravity and force fields for this body", type=SinewFieldWeights)
    acceleration_attribute: text(
        "Acceleration",
        "Vector attribute on points with an acceleration in m/s², world space, which is added to gravity. Geometry "
        "Nodes can create it in a modifier that is simulated (Resolution > Simulate). Empty: no acceleration",
    )

    solver: mirrored(SolverSettings, "solver", "Solver", items=choices.solver_items)
    integrator: mirrored(SolverSettings, "integrator", "Integration", items=choices.integrator_items)
    theta: mirrored(SolverSettings, "theta", "Theta", precision=3)
    substeps: mirrored(SolverSettings, "substeps", "Substeps", soft_max=20)
    max_iterations: mirrored(SolverSettings, "max_iterations", "Iterations", soft_max=100)
    stop_rule: mirrored(SolverSettings, "stop_rule", "Stop When", items=STOP_RULES)
    tolerance: mirrored(SolverSettings, "tolerance", "Tolerance", precision=7)
    decrement_tolerance: mirrored(SolverSettings, "decrement_tolerance", "Tolerance", precision=7)
    acceleration_tolerance: mirrored(SolverSettings, "acceleration_tolerance", "Tolerance", precision=4)
    mass_damping: mirrored(SolverSettings, "mass_damping", "Mass Damping", soft_max=10.0, precision=3)
    stiffness_damping: mirrored(SolverSettings, "stiffness_damping", "Stiffness Damping", soft_max=0.1, precision=4)
    linear_solver: mirrored(SolverSettings, "linear_solver", "Linear Solver", items=choices.linear_solver_items)
    subspace_basis: mirrored(SolverSettings, "subspace_basis", "Basis", items=BASES)
    modes: mirrored(SolverSettings, "modes", "Modes", soft_max=32)
    cubature_points: mirrored(SolverSettings, "cubature_points", "Cubature Points", soft_max=2000)
    match_full_space: mirrored(SolverSettings, "match_full_space", "Match Full Model")
    match_resolution: mirrored(SolverSettings, "match_resolution", "Match Resolution")
    match_cells: mirrored(SolverSettings, "match_cells", "Match Cells", soft_max=100)
    match_modes: mirrored(SolverSettings, "match_modes", "Matched Vibrations", soft_max=20)
    match_method: mirrored(SolverSettings, "match_method", "Match Method", items=choices.match_method_items)

    control_vibrations: switch(
        "Control Vibrations", "Make each of the slowest vibrations softer or stiffer by a factor that can be animated"
    )
    vibrations: pointer("Vibrations", "Stiffness factor of each of the slowest vibrations", type=SinewVibrations)

    use_scene_range: switch("Scene Frame Range", "Bake the frame range of the scene", default=True)
    frame_start: integer(
        "Start", "First frame of the bake, often 1; without Pre-Roll the body has no velocity there", default=1
    )
    frame_end: integer("End", "Last frame of the bake; 48 to 250 are typical", default=60)

    pre_roll: integer(
        "Pre-Roll",
        "Number of frames that are simulated before the first frame and not shown, so that the body already sags under "
        "gravity and moves with the animation at the first frame. 10 to 50 are typical, 0 is none",
        default=0,
        min=0,
        soft_max=100,
    )

    result: menu("Result", "Form in which the .blend stores and plays the baked frames", items=RESULTS)
    result_modes: integer(
        "Modes",
        "Number of modes with which Geometry Nodes approximate the frames, in addition to one per pinned part. More "
        "modes are more exact and need more memory; 20 to 64 are typical. The number is doubled while the error of a "
        "vertex exceeds 1 % of the body's size. Subspace solvers use their own modes instead",
        default=20,
        min=1,
        max=64,
    )

    attributes: pointer("Attributes", "Results that nodes read by name", type=SinewAttributes)
    bake: pointer("Bake", "Record of the last bake", type=SinewBake)
    compare: pointer("Compare", "Settings of the comparison with the bake", type=SinewCompare)
    live: pointer("Live", "Settings of live mode", type=SinewLive)
    live_layer: text("Hidden by Live", "Name of the view layer in which live mode hides the mesh")
    bake_of: text("Bake Of", "Name of the body whose bake this object shows; empty if it shows none")
    is_stand_in: switch("Stands In", "This is a temporary object that is shown instead of a body in live mode")


SinewObject.__annotations__.update({name: mirrored(SolverSettings, name) for name in own_settings()})

MODULES = (
    outside_properties, cut_properties, joint_properties, field_weights, live_properties, compare_properties,
    pick_properties, bake_properties, scene_properties,
)  # fmt: skip
CLASSES = (
    *muscle_properties.CLASSES,
    SinewMaterial,
    SinewShader,
    *(group for module in MODULES for group in module.CLASSES),
    SinewObject,
)


def register() -> None:
    """Register the property groups and add them to data-blocks."""
    for group in CLASSES:
        bpy.utils.register_class(group)
    bpy.types.Object.sinew = PointerProperty(name="Sinew", type=SinewObject, override=OVERRIDABLE)
    bpy.types.Armature.sinew = PointerProperty(name="Sinew", type=SinewArmature, override=OVERRIDABLE)
    bpy.types.Material.sinew = PointerProperty(name="Sinew", type=SinewShader, override=OVERRIDABLE)
    bpy.types.Scene.sinew = PointerProperty(name="Sinew", type=scene_properties.SinewScene)


def unregister() -> None:
    """Remove the property groups."""
    del bpy.types.Object.sinew, bpy.types.Armature.sinew, bpy.types.Material.sinew, bpy.types.Scene.sinew
    for group in reversed(CLASSES):
        bpy.utils.unregister_class(group)
