"""Blender's own physics in a scene. Its state depends on all earlier frames, so Blender must play it from its start."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy

from ..blend_data.node_trees import has_node


def restart_physics(scene: Any, depsgraph: Any) -> int | None:
    """Return the earliest start frame of the scene's unbaked physics, or None if there is none.

    Physics are rigid bodies, cloth, soft bodies, particles, dynamic paint, replayed fluids and simulation zones. Caches
    with skipped frames are invalidated, so that Blender simulates these frames instead of interpolating them.
    """
    evaluated = [block.original for block in depsgraph.ids if isinstance(block, bpy.types.Object)]
    shown = [(obj, modifier) for obj in evaluated for modifier in obj.modifiers if modifier.show_viewport]
    caches = [(obj, cache) for obj, modifier in shown for cache in _caches_of(modifier) if not cache.is_baked]
    world = scene.rigidbody_world
    if world is not None and world.enabled and world.collection is not None and len(world.collection.objects):
        caches += [(scene, world.point_cache)] if not world.point_cache.is_baked else []
    for owner, cache in caches:
        if cache.is_frame_skip:
            cache.frame_step = cache.frame_step
            owner.update_tag()
    others = [frame for _, modifier in shown for frame in _uncached_from(modifier, scene)]
    return min([*(cache.frame_start for _, cache in caches), *others], default=None)


def _caches_of(modifier: Any) -> Iterator[Any]:
    match modifier.type:
        case "CLOTH" | "SOFT_BODY":
            yield modifier.point_cache
        case "PARTICLE_SYSTEM":
            system = modifier.particle_system
            if system.settings.type == "EMITTER" or system.use_hair_dynamics:
                yield system.point_cache
        case "DYNAMIC_PAINT" if modifier.canvas_settings is not None:
            yield from (surface.point_cache for surface in modifier.canvas_settings.canvas_surfaces)


def _uncached_from(modifier: Any, scene: Any) -> Iterator[int]:
    """Yield the start frame of a replayed fluid or a simulation zone, which have no point cache."""
    match modifier.type:
        case "FLUID" if modifier.fluid_type == "DOMAIN" and modifier.domain_settings.cache_type == "REPLAY":
            yield modifier.domain_settings.cache_frame_start
        case "NODES" if modifier.node_group is not None and has_node(modifier.node_group, "SIMULATION_OUTPUT"):
            yield scene.frame_start
