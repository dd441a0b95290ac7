"""Settle: the static equilibrium of a body at the current frame, as a shape key of its mesh.

The rest shape is the body's *Rest Shape*, or else the mesh without shape keys. Muscles, pins, springs, colliders and
gravity act as at the current frame. The shape that is shown is the start, so a sculpted body relaxes from there.

A baked shape becomes the rest shape by the same kind of key (:func:`put_rest`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...core.foundation.errors import MeshError
from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ...core.jobs.job.job import Job
from ...core.jobs.store.frame_store import FrameStore
from ...core.numerics.integrators import statics
from ..scene_export.key_of_shape import displacements_to, new_key, set_key
from ..scene_import.job_in import job_steps
from ..scene_import.mesh_in import object_to_world, transform, unkeyed_positions
from ..scene_import.rest_in import KEY_NAME as REST_NAME
from ..window.stepwise import Steps

KEY_NAME = "Settled"

STEPS = 3
"""Static steps. After the first one, friction acts from the equilibrium, and springs of pins have their stiffness."""

ITERATIONS = 100
"""Most iterations of a step: the start may be far from the equilibrium."""


def settle_steps(obj: Any, context: Any) -> Steps[Job]:
    """Return the job of a body's equilibrium, one frame of the scene per step of the generator.

    Its last frame is the equilibrium at the current frame. Bodies that collide with ``obj`` are colliders. Raises
    SinewError if ``obj`` cannot be simulated.
    """
    frame = context.scene.frame_current
    job = yield from job_steps(obj, context, frames=(frame, frame), alone=True)
    for _ in range(STEPS):
        job = job.extended()
    body, settings = job.body, job.body.solver
    if not (settings.kind.iterates and settings.kind.integrates):
        settings = replace(settings, solver="mixed_fem")
    settings = replace(
        settings, integrator=statics.NAME, substeps=1, max_iterations=max(settings.max_iterations, ITERATIONS)
    )
    body = replace(body, solver=settings)
    basis = unkeyed_positions(obj)
    if not obj.sinew.rest_key and len(basis) == len(body.surface.positions):
        evaluated = obj.evaluated_get(context.evaluated_depsgraph_get())
        rest = SurfaceMesh(transform(object_to_world(evaluated, context.scene), basis), body.surface.triangles)
        body = replace(body, surface=rest, initial_shape=body.surface.positions)
    return replace(job, bodies=(body,))


def put_settled(obj: Any, context: Any, store: FrameStore) -> Any:
    """Show the equilibrium in a store as the shape key :data:`KEY_NAME` of ``obj``, and return the key.

    The mesh without keys becomes the body's rest shape, unless it has one.
    """
    key = _shown_key(obj, KEY_NAME, np.asarray(store.read(store.job().frame_end)), context)
    obj.sinew.rest_key = obj.sinew.rest_key or obj.data.shape_keys.reference_key.name
    return key


def put_rest(obj: Any, target: np.ndarray, context: Any) -> Any:
    """Make a baked shape the rest shape of ``obj``, and show it as a shape key. Return the key.

    ``target`` (n,3): baked vertex positions, world space, m. All other keys are muted, since the rest shape holds what
    they do. Raises MeshError if modifiers before the simulation change the number of vertices.
    """
    keys = obj.data.shape_keys
    others = [] if keys is None else [key for key in keys.key_blocks[1:] if key.name != REST_NAME and not key.mute]
    for key in others:
        key.mute = True
    context.view_layer.update()
    try:
        key = _shown_key(obj, REST_NAME, target, context)
    except MeshError:
        for key in others:
            key.mute = False
        raise
    obj.sinew.rest_key = key.name
    return key


def _shown_key(obj: Any, name: str, target: np.ndarray, context: Any) -> Any:
    """Add or update the shape key ``name``, so that the mesh is shown in the shape ``target`` (n,3). Return the key."""
    keys = obj.data.shape_keys
    key = None if keys is None else keys.key_blocks.get(name)
    if key is not None:
        key.value = 0.0
        context.view_layer.update()
    moved = displacements_to(obj, target, context)
    key = key or new_key(obj, name)
    set_key(key, unkeyed_positions(obj) + moved)
    key.value = 1.0
    obj.active_shape_key_index = obj.data.shape_keys.key_blocks.find(name)
    obj.data.update()
    return key
