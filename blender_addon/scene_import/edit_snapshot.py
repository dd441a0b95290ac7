"""Cheap snapshot of a body's inputs, to detect edits: settings and a checksum of vertices, without animated values."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.jobs.job.fingerprints import LENGTHS
from ..blend_data.list_animation import animated_paths
from ..objects.bones import bone_of
from .mesh_in import length_factor
from .muscles_in import muscle_values
from .settings_in import (
    contact_settings,
    depth_settings,
    ground_of,
    is_gravity_animated,
    material_settings,
    resolution_settings,
    solver_settings,
)

TRANSFORM = ("location", "rotation_", "scale", "delta_")
"""Prefixes of the data paths of an object's transform."""


def snapshot(obj: Any, scene: Any, solver: str | None = None) -> dict[str, Any]:
    """Return the inputs of a body that are cheap to read, by labels.

    Messages about edits quote the labels, such as "materials". Snapshots are equal if nothing was edited, even in
    another Blender session. ``solver`` replaces the body's solver.
    """
    settings, animated = obj.sinew, animated_paths(obj)
    materials = []
    for k, m in enumerate(settings.materials):
        keyed = [f"sinew.materials[{k}].{name}" in animated for name in ("log_stiffness", "log_painted_stiffness")]
        stiff = keyed[0] or m.log_stiffness, keyed[1] or m.log_painted_stiffness
        active = f"sinew.materials[{k}].muscle.activation" in animated or m.muscle.activation
        materials.append((*stiff, m.muscle.enabled and active, *without_stiffness(m, scene)))
    collisions = settings.collisions
    obstacles = collisions.collection and collisions.collection.name_full
    met = (
        contact_settings(settings, scene).bodies,
        collisions.contact_collection and collisions.contact_collection.name_full,
    )
    pairs = [
        (pair.name, pair.use_friction and pair.friction, pair.use_thickness and pair.thickness)
        for pair in settings.pairs
    ]
    ties = [_tie(tie, f"sinew.ties[{k}]", animated) for k, tie in enumerate(settings.ties)]
    springs = [_spring(s, f"sinew.springs[{k}]", animated) for k, s in enumerate(settings.springs) if not s.take]
    chamber = settings.chamber
    whole = scene.frame_start, scene.frame_end, scene.render.fps, scene.render.fps_base
    own = settings.use_scene_range, settings.frame_start, settings.frame_end, settings.pre_roll
    moves = any(path.startswith(TRANSFORM) for path in animated)
    return {
        LENGTHS: length_factor(scene),
        "materials": materials,
        "resolution": (
            resolution_settings(settings),
            settings.refine_group,
            settings.simulate_at,
            settings.simulate_after,
        ),
        "rest shape": settings.rest_key,
        "solver": (_solver(settings, scene, solver), settings.control_vibrations, settings.node_group),
        "collisions": (
            ground_of(settings, scene),
            obstacles and (obstacles, collisions.collider_friction, collisions.thickness),
            *(met, pairs),
        ),
        "pins": (settings.pin_group, _unless_keyed(settings, "pin_threshold", animated), *_goal(settings, animated)),
        "springs": springs,
        "ties": (ties, bone_of(obj) and _joint(obj, animated)),
        "pressure": chamber.enabled
        and (
            chamber.vertex_group,
            chamber.shared,
            chamber.is_gas,
            "sinew.chamber.pressure" in animated or chamber.pressure,
        ),
        "fields": (settings.acceleration_attribute, _weights(settings.field_weights)),
        "frame range": (whole, own),
        "place of the object": moves or [tuple(row) for row in obj.matrix_basis],
        "mesh": (*checksum(obj.data), *filter(None, [settings.cuts.split_from])),
    }


def _solver(settings: Any, scene: Any, solver: str | None) -> Any:
    found = solver_settings(settings, scene, solver)
    return (replace(found, gravity=(0.0, 0.0, 0.0)), "keyed gravity") if is_gravity_animated(scene) else found


def _goal(settings: Any, animated: set[str]) -> tuple[Any, ...]:
    return (_unless_keyed(settings, "goal_strength", animated),) if settings.use_goal else ()


def _unless_keyed(settings: Any, name: str, animated: set[str]) -> Any:
    return f"sinew.{name}" in animated or getattr(settings, name)


def _spring(spring: Any, path: str, animated: set[str]) -> tuple[Any, ...]:
    target = spring.target and spring.target.name_full
    return spring.vertex_group, spring.end, target, f"{path}.strength" in animated or spring.strength


def _tie(tie: Any, path: str, animated: set[str]) -> tuple[Any, ...]:
    breaks = tie.use_breaking and tie.breaking_stress
    return tie.name, tie.kind, tie.vertex_group, tie.distance, breaks, f"{path}.strength" in animated or tie.strength


def _joint(obj: Any, animated: set[str]) -> tuple[Any, ...]:
    joint, armature = obj.sinew.joint, obj.parent.data
    limits = "use_limits", "lower", "upper", "cone", "lower_twist", "upper_twist"
    names = "kind", "axis", *limits, "stiffness", "to_animation"
    pull = "sinew.joint.follow" in animated or joint.follow
    return (
        pull,
        "sinew.follow" in animated_paths(armature) or armature.sinew.follow,
        *(getattr(joint, n) for n in names),
    )


def _weights(weights: Any) -> list[Any]:
    names = (prop.identifier for prop in weights.bl_rna.properties if prop.type == "FLOAT")
    return [weights.collection and weights.collection.name_full, *(getattr(weights, name) for name in names)]


def checksum(mesh: Any) -> tuple[int, ...]:
    """Return a checksum of a mesh's vertex positions, and the numbers of edges and faces.

    In Edit Mode, the result is that of the mesh before Edit Mode was entered.
    """
    flat = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    if mesh.is_editmode or not flat.size:  # Edit Mode has no mesh attributes
        mesh.vertices.foreach_get("co", flat)
    else:
        mesh.attributes["position"].data.foreach_get("vector", flat)  # one copy; ``vertices`` are copied one by one
    return zlib.crc32(flat), len(mesh.edges), len(mesh.polygons)


def without_stiffness(material: Any, scene: Any) -> tuple[Any, ...]:
    """Return a material's settings, map, regions, depth and fibres, without stiffness, activation and name."""
    settings = material_settings(material)
    kept = replace(settings, youngs_modulus=1.0, painted_modulus=None, name=""), material.use_range
    return (*kept, *_place_of(material, scene))


def _place_of(material: Any, scene: Any) -> tuple[Any, ...]:
    regions = material.regions
    maps = material.vertex_group, material.use_range and material.stiffness_map
    place = *maps, regions and (regions.name_full, material.is_followed), depth_settings(material, scene)
    return *place, muscle_values(material.muscle)
