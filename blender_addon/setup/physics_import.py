"""Settings of Blender's Soft Body and Cloth modifiers as settings of a body.

Blender scales gravity by 0.001 in both simulations, so a unit of its spring stiffness is 1000 N/m, and a unit of its
time is ``sqrt(0.001)`` s. The manual has the table of values (``docs/manual/coming_from.md``).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...core.foundation.errors import MeshError
from ...core.foundation.schema.settings import moduli
from ..blend_data.list_animation import animated_paths
from ..objects.collider_objects import can_collide
from ..objects.vertex_weights import set_weights
from ..properties.mirror import clean
from ..scene_import.mesh_in import length_factor, vertex_positions
from ..scene_import.settings_in import material_settings
from ..scene_import.weights_in import group_weights
from ..translations.translate import translated
from .defaults import enable, refit_stiffness
from .measure_in import measure_body

LABELS = {"SOFT_BODY": "Soft Body", "CLOTH": "Cloth"}
"""Labels of the modifiers that can be imported, by type."""
STIFFNESS_UNIT = 1000.0
"""Unit of the stiffness of Blender's springs, N/m."""
DAMPING_UNIT = 0.01 * math.sqrt(STIFFNESS_UNIT)
"""Damping rate of a vertex of 1 kg at an air friction of 1, 1/s."""
LEAST_MASS = 0.01
"""Smallest mass of a vertex in Blender's Soft Body, kg."""
SNAP = 0.999
"""Goal from which on Blender holds a vertex exactly."""
FRICTION_UNIT = 0.01
"""Coulomb's coefficient at a friction of 1 in Blender's Cloth."""

NO_COUNTERPART: dict[str, dict[str, Any]] = {
    "SOFT_BODY": {
        "speed": 1.0, "goal_friction": 0.0, "plastic": 0, "spring_length": 0, "aero": 0, "vertex_group_mass": "",
        "vertex_group_spring": "",
    },
    "CLOTH": {
        "time_scale": 1.0, "goal_friction": 0.0, "use_sewing_springs": False, "use_pressure": False, "shrink_min": 0.0,
        "shrink_max": 0.0, "vertex_group_shrink": "", "vertex_group_structural_stiffness": "",
        "vertex_group_shear_stiffness": "", "vertex_group_bending": "",
    },
}  # fmt: skip
"""Neutral values of the settings that a body does not have, by type of the modifier."""
NO_COLLISION_COUNTERPART = {"vertex_group_self_collisions": "", "vertex_group_object_collisions": ""}
"""Neutral values of Cloth's collision settings that a body does not have."""


class Goal(NamedTuple):
    """Goal of a Soft Body, or pins of a Cloth.

    ``weights`` (n,): 1 at vertices that are held, else the stiffness as a fraction of ``stiffness``, which is that of a
    vertex of full weight, N/m. ``group``: vertex group that it was painted in, or "".
    """

    weights: np.ndarray
    stiffness: float
    group: str


def modifier_of(obj: Any, kind: str) -> Any | None:
    """Return the modifier of type ``kind``, SOFT_BODY or CLOTH, of an object, or None."""
    return next((m for m in obj.modifiers if m.type == kind), None)


def importable(obj: Any) -> list[str]:
    """Return the types of the modifiers that an object can be set up from.

    The modifiers of a body count only while they are enabled in viewports or renders.
    """
    found = [modifier_of(obj, kind) for kind in LABELS]
    return [m.type for m in found if m is not None and (not obj.sinew.enabled or m.show_viewport or m.show_render)]


def import_physics(obj: Any, kind: str, context: Any) -> list[str]:
    """Give a mesh object the settings of its modifier of type ``kind``, and disable the modifier.

    The object becomes a body if it is none. Returns descriptions of settings without a counterpart.
    Raises MeshError, before anything is changed, if the mesh has no faces.
    """
    if not len(obj.data.polygons):
        raise MeshError(
            f"“{obj.name}” has no faces, so it has no surface.", "Add faces to its mesh, then import again."
        )
    modifier = modifier_of(obj, kind)
    left = _without_counterpart(modifier)
    modifier.show_viewport = modifier.show_render = False
    enable(obj, context)
    surface = measure_body(obj, context).surface
    mass = _mass(obj, modifier)
    left += _fill_density(obj, mass, surface, context.scene)
    goal = _soft_body_goal(obj, modifier) if kind == "SOFT_BODY" else _cloth_pins(obj, modifier)
    if goal is not None:
        _fill_pins(obj, goal, f"{LABELS[kind]} Goal")
    refit_stiffness(obj, context)
    if goal is not None and surface is not None:
        obj.sinew.goal_strength = _goal_strength(obj, goal, surface.size, context.scene)
    air = modifier.settings.friction if kind == "SOFT_BODY" else modifier.settings.air_damping
    obj.sinew.mass_damping = DAMPING_UNIT * air / max(mass / len(obj.data.vertices), LEAST_MASS)
    if kind == "CLOTH" and modifier.settings.rest_shape_key is not None:
        obj.sinew.rest_key = modifier.settings.rest_shape_key.name
    _fill_collisions(obj, modifier, context)
    _fill_field_weights(obj.sinew.field_weights, modifier.settings.effector_weights)
    _fill_frames(obj.sinew, modifier.point_cache, context.scene)
    return left


def _without_counterpart(modifier: Any) -> list[str]:
    """Return the labels of the modifier's settings in use that a body does not have."""
    path, obj = modifier.path_from_id(), modifier.id_data
    left = _in_use(modifier.settings, NO_COUNTERPART[modifier.type])
    if modifier.type == "CLOTH":
        left += _in_use(modifier.collision_settings, NO_COLLISION_COUNTERPART)
    if any(each.startswith(path) for each in animated_paths(obj)):
        left.append(translated("keyframes"))
    return left


def _in_use(settings: Any, neutral: dict[str, Any]) -> list[str]:
    used = [name for name, value in neutral.items() if getattr(settings, name) != value]
    return [translated(settings.bl_rna.properties[name].name) for name in used]


def _mass(obj: Any, modifier: Any) -> float:
    """Return the mass of all vertices of the mesh, kg."""
    settings, mesh = modifier.settings, obj.data
    if modifier.type == "SOFT_BODY" and settings.vertex_group_mass in obj.vertex_groups:
        return settings.mass * float(group_weights(obj, mesh, [settings.vertex_group_mass]).sum())
    return settings.mass * len(mesh.vertices)


def _fill_density(obj: Any, mass: float, surface: Any, scene: Any) -> list[str]:
    """Set the density of the only material to give the body this mass. Returns the reason if that is impossible."""
    materials = obj.sinew.materials
    if surface is None or not surface.is_solid:
        return [translated("Mass (the mesh encloses no volume: add a Solidify modifier)")]
    if len(materials) > 1:
        return [translated("Mass (the body has several materials)")]
    density = mass / surface.volume * length_factor(scene) ** 3
    materials[0].density = density
    if math.isclose(materials[0].density, density, rel_tol=1e-5):
        return []
    return [translated("Mass ({density} kg/m³ is out of range)", density=f"{density:.3g}")]


def _soft_body_goal(obj: Any, modifier: Any) -> Goal | None:
    """Return the goal of a Soft Body, or None if it has none."""
    settings, group = modifier.settings, modifier.settings.vertex_group_goal
    if not settings.use_goal:
        return None
    painted = _painted(obj, group)
    low, high = settings.goal_min, settings.goal_max
    goals = (low + clean(settings.goal_default) * painted * abs(high - low)) ** 4
    spring = clean(settings.goal_spring)
    full = 1.0 / (1.0 - spring) - 1.0
    shares = (1.0 / (1.0 - goals * spring) - 1.0) / full if full else np.zeros_like(goals)
    return Goal(np.where(goals >= SNAP, 1.0, shares), STIFFNESS_UNIT * full, group)


def _cloth_pins(obj: Any, modifier: Any) -> Goal | None:
    """Return the pins of a Cloth, or None if it has no pin group."""
    settings, mesh = modifier.settings, obj.data
    if settings.vertex_group_mass not in obj.vertex_groups:
        return None
    goals = _painted(obj, settings.vertex_group_mass) ** 4
    edges = np.empty(2 * len(mesh.edges), dtype=np.int32)
    mesh.edges.foreach_get("vertices", edges)
    ends = (vertex_positions(mesh) @ np.array(obj.matrix_world)[:3, :3].T)[edges.reshape(-1, 2)]
    length = float(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).mean())
    stiffness = STIFFNESS_UNIT * settings.pin_stiffness / max(length, 1e-6)
    return Goal(np.where(goals >= SNAP, 1.0, goals), stiffness, settings.vertex_group_mass)


def _painted(obj: Any, group: str) -> np.ndarray:
    """Return the weights (n,) of a vertex group, or ones without one."""
    mesh = obj.data
    return group_weights(obj, mesh, [group])[:, 0] if group in obj.vertex_groups else np.ones(len(mesh.vertices))


def _fill_pins(obj: Any, goal: Goal, name: str) -> None:
    """Set the pin group. Weights that differ from the painted ones are written to the vertex group ``name``."""
    if goal.group in obj.vertex_groups and np.allclose(goal.weights, _painted(obj, goal.group), atol=1e-6):
        name = goal.group
    else:
        set_weights(obj, name, goal.weights)
        obj.sinew.pin_threshold = SNAP
    obj.sinew.pin_group, obj.sinew.use_goal = name, True


def _goal_strength(obj: Any, goal: Goal, size: float, scene: Any) -> float:
    """Return the strength of a goal, as a factor on the stiffness of a cube of the size and the softest material."""
    softest = min(moduli([material_settings(material) for material in obj.sinew.materials]))
    total = goal.stiffness * len(obj.data.vertices) * length_factor(scene) ** 2
    return total / (softest * size)


def _fill_collisions(obj: Any, modifier: Any, context: Any) -> None:
    """Set self-contact, and the colliders with their friction and distance."""
    is_cloth, collisions = modifier.type == "CLOTH", obj.sinew.collisions
    own = modifier.collision_settings if is_cloth else modifier.settings
    collisions.self_contact = own.use_self_collision
    if is_cloth and own.use_self_collision:
        collisions.contact_friction = FRICTION_UNIT * own.self_friction
    if is_cloth and not own.use_collision:
        collisions.collection = None
        return
    chosen = own.collection if is_cloth else own.collision_collection
    colliders = [each for each in _among(chosen, context) if each != obj and _collides(each)]
    if not colliders:
        return
    collisions.collection = _collection_of(colliders, chosen, obj, context)
    collisions.collider_friction = FRICTION_UNIT * _mean(colliders, "cloth_friction")
    collisions.thickness = _mean(colliders, "thickness_outer") + (own.distance_min if is_cloth else 0.0)


def _among(collection: Any, context: Any) -> Any:
    return context.view_layer.objects if collection is None else collection.all_objects


def _collides(obj: Any) -> bool:
    """Return True if an object is a collider of Blender's, and not a body."""
    return can_collide(obj) and obj.collision is not None and obj.collision.use and not obj.sinew.enabled


def _mean(colliders: list[Any], name: str) -> float:
    return float(np.mean([clean(getattr(each.collision, name)) for each in colliders]))


def _collection_of(colliders: list[Any], chosen: Any, obj: Any, context: Any) -> Any:
    """Return a collection of exactly these colliders: the present one, the chosen one, or a new one."""
    wanted = {each.session_uid for each in colliders}
    for found in (obj.sinew.collisions.collection, chosen):
        if found is not None and {o.session_uid for o in found.all_objects if can_collide(o) and o != obj} == wanted:
            return found
    made = bpy.data.collections.new(f"{obj.name} Colliders")
    context.scene.collection.children.link(made)
    for each in colliders:
        made.objects.link(each)
    return made


def _fill_field_weights(weights: Any, theirs: Any) -> None:
    weights.collection = theirs.collection
    for prop in weights.bl_rna.properties:
        if prop.type == "FLOAT" and hasattr(theirs, prop.identifier):
            setattr(weights, prop.identifier, getattr(theirs, prop.identifier))


def _fill_frames(settings: Any, cache: Any, scene: Any) -> None:
    """Set the frame range of the modifier's cache. The scene's range is used if it is the same."""
    frames = cache.frame_start, cache.frame_end
    settings.use_scene_range = frames == (scene.frame_start, scene.frame_end)
    settings.frame_start, settings.frame_end = frames
