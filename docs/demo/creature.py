"""The armoured creature of the examples, made ready for live mode: held by one foot, in a subspace."""

from __future__ import annotations

import importlib
import math
from types import ModuleType

import bpy
import numpy as np
from stage import add_group, vertex_positions

GROUND = -0.05


def add_creature(package: str) -> bpy.types.Object:
    """The creature, 1 m wide, with the physical materials and the pinned foot of an artist who has painted it."""
    example = importlib.import_module(f"{package}.blender_addon.examples.armoured_creature")
    stage = importlib.import_module(f"{package}.blender_addon.examples.stage")
    creature = example.add_creature(stage.Stage(bpy.context, "Demo"))
    bpy.context.view_layer.objects.active = creature
    _make_materials(creature, example)
    return creature


def _make_materials(creature: bpy.types.Object, example: ModuleType) -> None:
    """Soft where a hip or a knee is near, stiff elsewhere; one foot is held."""
    soft = example.is_soft(creature)
    bpy.ops.sinew.enable()
    settings = creature.sinew
    while settings.materials:
        bpy.ops.sinew.remove_material()
    for preset, chosen, stiffness in (("Soft Flesh", soft, 1e6), ("Bone", ~soft, 1e9)):
        bpy.ops.sinew.add_material(preset=preset)
        settings.materials[-1].vertex_group = add_group(creature, preset, chosen)
        settings.materials[-1].log_stiffness = math.log10(stiffness)
    foot = np.linalg.norm(vertex_positions(creature) - np.array(example.legs()[0].foot), axis=1) < 0.03
    settings.pin_group = add_group(creature, "Foot", foot)
    settings.cells_across = 40
    settings.collisions.use_ground, settings.collisions.height = True, GROUND
    settings.cubature_points = 800
    settings.solver, settings.modes, settings.max_iterations = "subspace_mixed_fem", 16, 30
    # Without it the stiff shell rings at every blow, and a few frames do not converge.
    settings.mass_damping, settings.stiffness_damping = 0.5, 1e-3
    colours = creature.data.color_attributes.new("Physical Material", "FLOAT_COLOR", "POINT")
    values = np.where(soft[:, None], (*example.JOINT, 1.0), (*example.ARMOUR, 1.0)).astype(np.float32)
    colours.data.foreach_set("color", values.ravel())
    creature.data.color_attributes.active_color = colours
