"""Conversion of a Blender object to a :class:`Job`. An object that cannot be baked raises an error with a remedy."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

from ...core.foundation.errors import MeshError, SettingsError, SinewError, StoreError
from ...core.foundation.schema.settings import ContactSettings
from ...core.jobs.job.body import Body
from ...core.jobs.job.groups import check_group, split_jobs
from ...core.jobs.job.job import Job
from ..blend_data.temporary_values import is_animated
from ..objects import linked
from ..objects.bones import animated, armatures_of
from ..objects.contact_groups import contact_partners, group_of
from ..objects.modifier_stack import (
    StackPosition,
    check_stack_position,
    cut_after,
    shown,
    stack_position,
    with_collections,
)
from ..window.stepwise import Steps, at_once
from .animation_in import FrameSampler, at_frame, for_each, run_up, sample_frames
from .body_in import BodySampler
from .bones.joints_in import JointSampler
from .colliders_in import Seen, collider_objects, collider_samplers
from .force_fields_in import FieldSamplers
from .layers_in import check_maps, followed_objects, layer_maps, material_layers, region_samplers, stiffness_maps
from .mesh_in import length_factor, mesh_at_position, seams_of
from .muscles_in import read_muscles, with_activation
from .pairs_in import pair_settings, tie_samplers
from .picks import mend
from .refinement_in import refinement_weights
from .rest_in import rest_and_start
from .settings_in import (
    contact_settings,
    frame_range,
    ground_of,
    material_settings,
    resolution_settings,
    solver_settings,
)
from .springs_in import spring_samplers, spring_targets
from .weights_in import material_weights


def make_job(*arguments: Any, **changes: Any) -> Job:
    """Return the job of a body, computed at once. The arguments are those of :func:`job_steps`."""
    return at_once(job_steps(*arguments, **changes))


def job_steps(
    obj: Any,
    context: Any,
    frames: tuple[int, int] | None = None,
    solver: str | None = None,
    without_springs: Collection[str] = (),
    substeps: int = 0,
    beside: Sequence[Any] = (),
    alone: bool = False,
) -> Steps[Job]:
    """Return the job of the body ``obj``, one frame or subframe per step of the generator.

    Between steps, the scene is at the evaluated frame, and hidden objects that the job needs are enabled. At the end,
    the scene is restored. Only repairs of vertex groups remain (``picks.mend``). Raises SinewError if ``obj`` cannot be
    baked.

    ``frames``, ``solver``, ``substeps``: values that replace the object's settings, unless None or 0.
    ``without_springs``: names of springs to omit.
    ``beside``: further bodies of the job, sampled in the same pass over the frames. The :func:`terms` of all bodies
        must be equal. A body in ``beside`` that cannot be baked is left out of the job.
    ``alone``: True if the bodies that collide with ``obj`` become colliders.
    """
    settings, scene = obj.sinew, context.scene
    span = first, last = simulated_range(settings, scene, frames)
    seen: Seen = {}
    readings = [_Reading(each, context, seen, alone) for each in (obj, *beside)]
    bodies: list[Body] = []
    with at_frame(scene):
        with ExitStack() as stack:
            for_each(readings, lambda reading: stack.enter_context(reading.opened()))
            yield from run_up(context, first)
            for_each(readings, lambda reading: reading.begin(span, without_springs))
            yield from sample_frames(readings, scene, span, substeps or settings.substeps)
        # The scene is at the first frame: animated settings that are read once have their values there.
        for_each(readings, lambda reading: bodies.append(reading.body(span, solver, substeps)))
    rate = float(f"{scene.render.fps / scene.render.fps_base:.9g}")
    clock = {"frame_start": first, "frame_end": last, "frame_rate": rate, "pre_roll": settings.pre_roll}
    return Job(bodies=tuple(bodies), **clock, length_factor=length_factor(scene))


def group_steps(
    bodies: Sequence[Any],
    context: Any,
    frames: tuple[int, int] | None = None,
    solver: str | None = None,
    read: Callable[[Any, Any], Steps[Job]] | None = None,
) -> Steps[list[Job]]:
    """Return the jobs of a contact group, in the order of ``bodies``.

    The bodies of a contact group are baked together (:func:`contact_groups.group_of`). Each job names the other
    members. A group of one body is read with ``read(body, context)``, by default :func:`job_steps`. Raises SinewError
    if a body cannot be baked or the bodies' settings do not match.
    """
    if len(bodies) == 1:
        alone = read(bodies[0], context) if read else job_steps(bodies[0], context, frames, solver)
        job = yield from alone
        if job.body.contact.self_contact:
            check_group([job])
        return split_jobs(job)
    found: dict[str, Job] = {}
    while left := [obj for obj in bodies if obj.name not in found]:  # the error of a body read beside is raised later
        shared = terms(left[0], context, frames)
        beside = [obj for obj in left[1:] if terms(obj, context, frames) == shared]
        job = yield from job_steps(left[0], context, frames, solver, beside=beside)
        found |= {body.name: job.alone(k) for k, body in enumerate(job.bodies)}
    alone = [found[obj.name] for obj in bodies]
    check_group(alone)
    return split_jobs(replace(alone[0], bodies=tuple(job.body for job in alone)))


class _Reading(FrameSampler):
    """Reader of one body from the scene."""

    def __init__(self, obj: Any, context: Any, seen: Seen, alone: bool) -> None:
        super().__init__(obj, context)
        self._seen, self._alone = seen, alone

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Disable the modifiers after the simulation within the context, enable hidden colliders, spring targets and
        regions, and move the armatures of bone bodies by the artist's actions.
        """
        obj, context = self.obj, self.context
        _check(obj, context)
        mend(obj)
        self.position = stack_position(obj)
        outside = collider_samplers(obj, context, self._seen, self._alone)
        needed = *spring_targets(obj), *followed_objects(obj)
        own_animation = animated(armatures_of(group_of(obj, context)))
        with own_animation, cut_after(obj, self.position), shown(*needed), outside as self._colliders:
            yield

    def begin(self, span: tuple[int, int], without_springs: Collection[str]) -> None:
        """Read the constant inputs at the first frame, and create the samplers of the animated inputs.

        ``span``: first and last frame.
        ``without_springs``: names of springs to omit.
        """
        obj, position, context, scene = self.obj, self.position, self.context, self.context.scene
        materials = tuple(material_settings(m) for m in obj.sinew.materials)
        with mesh_at_position(obj, position, context) as (mesh, evaluated):
            _check_faces(obj, mesh, position)
            check_maps(obj, mesh)
            surface, start = rest_and_start(obj, mesh, evaluated, scene)
            seams = seams_of(mesh)
            weights, stiffening, covers = material_weights(obj, mesh), stiffness_maps(obj, mesh), layer_maps(obj, mesh)
            self._own, finer = BodySampler(obj, position, mesh), refinement_weights(obj, mesh)
            muscles = read_muscles(obj, mesh, scene, context)
            self._ties = tie_samplers(obj, mesh)
            self._springs = spring_samplers(obj, position, mesh, context, without_springs)
        self._own.check_groups(surface)
        self._joint = JointSampler(obj, position, surface, context)
        self._still = {
            "surface": surface,
            "initial_shape": start,
            "materials": materials,
            "material_weights": weights,
            "stiffness_maps": stiffening,
            "layers": material_layers(obj, covers, scene, context),
            "refinement": finer,
            "seams": seams,
        }
        self._muscles = muscles
        self._fields, self._regions = FieldSamplers(obj, context, span), region_samplers(obj, context)
        samplers = (self._own, *self._springs, *self._regions, *self._ties, self._joint, *self._colliders, self._fields)
        self.tracks = [track for each in samplers for track in each.tracks]
        self.vertex_count = len(surface.positions)

    def body(self, span: tuple[int, int], solver: str | None, substeps: int) -> Body:
        """Return the body from the sampled tracks.

        ``span``: first and last frame.
        ``solver``, ``substeps``: values that replace the body's settings, unless None or 0.
        """
        obj, scene, first, fields = self.obj, self.context.scene, span[0], self._fields
        positions, matrices = self._still["surface"].positions, self._own.matrices.samples()
        colliders = (c for sampler in self._colliders for c in sampler.colliders(obj, scene))
        obstacles = *ground_of(obj.sinew, scene), *colliders
        body = Body(
            name=obj.name,
            resolution=resolution_settings(obj.sinew),
            solver=solver_settings(obj.sinew, scene, solver, substeps),
            springs=(*(sampler.spring() for sampler in self._springs), *self._joint.springs()),
            regions=tuple(region for sampler in self._regions for region in sampler.regions()),
            colliders=obstacles,
            pairs=pair_settings(obj, obstacles, scene, self._alone),
            ties=tuple(each.tie(scene, [o.name for o in obstacles]) for each in self._ties),
            joints=self._joint.joints,
            **_meets(obj, self.context, self._alone),
            force_fields=fields.force_fields(positions, matrices, self.context, first),
            absorbers=fields.absorbers(),
            muscles=with_activation(self._muscles, self._own.activation.samples()),
            **self._still,
            **self._own.parts(),
        )
        return body.with_tracks(span[1] - first + 1, first)


def _meets(obj: Any, context: Any, alone: bool) -> dict[str, Any]:
    """Return a body's contact settings and contact partners, as fields of a ``Body`` by name."""
    if alone and (obj.sinew.collisions.self_contact or len(group_of(obj, context)) > 1):
        return {"contact": ContactSettings(bodies=False)}
    only = obj.sinew.collisions.contact_collection is not None
    met = tuple(each.name for each in contact_partners(obj, context)) if only else None
    return {"contact": contact_settings(obj.sinew, context.scene), "contact_with": met}


def terms(obj: Any, context: Any, frames: tuple[int, int] | None = None) -> tuple[Any, ...]:
    """Return the settings that must be equal for bodies sampled in the same pass.

    The settings are frame range, pre-roll, substeps, and hidden objects to enable. An enabled object may move other
    objects, so the hidden objects count. Raises SinewError if ``obj`` cannot be read.
    """
    check_object(obj, context)
    settings = obj.sinew
    needed = obj, *spring_targets(obj), *followed_objects(obj), *collider_objects(obj, context)
    layer, span = context.view_layer, simulated_range(settings, context.scene, frames)
    overridden = (b for b in with_collections(*needed) if b.hide_viewport or is_animated(b, "hide_viewport"))
    eyes = {each for each in needed if linked.is_in(layer, each) and each.hide_get(view_layer=layer)}
    return span, settings.pre_roll, settings.substeps, set(overridden), eyes


def _check(obj: Any, context: Any) -> None:
    check_object(obj, context)
    if not obj.sinew.materials:
        raise SettingsError("The body has no physical material.", "Add one under Physical Materials.")


def simulated_range(settings: Any, scene: Any, frames: tuple[int, int] | None = None) -> tuple[int, int]:
    """Return the first and the last simulated frame, pre-roll included.

    ``frames`` replaces the body's frame range. Raises SettingsError if the frame range is empty.
    """
    first, last = frame_range(settings, scene, frames)
    if last < first:
        raise SettingsError(f"The frame range {first}-{last} is empty.", "Set the end frame after the start frame.")
    return first - settings.pre_roll, last


def check_object(obj: Any, context: Any) -> None:
    """Check that an object can be read as a body.

    Raises MeshError if the object is not a mesh with faces. Raises MeshError if the object cannot be read at present,
    for example in Edit Mode.
    """
    if obj.type != "MESH":
        raise MeshError(f"“{obj.name}” is not a mesh.", "Convert it to a mesh first (Object > Convert > Mesh).")
    if obj.mode == "EDIT":
        raise MeshError(f"“{obj.name}” is in Edit Mode.", "Leave Edit Mode first (Tab).")
    if words := linked.linked_words(obj):
        raise MeshError(words, "")
    if not linked.is_in(context.view_layer, obj):
        raise linked.out_of_view(f"“{obj.name}”")
    if len(obj.data.polygons) == 0 and stack_position(obj).on_itself:
        raise MeshError(f"“{obj.name}” has no faces.", "Add faces: a body needs a surface.")
    check_stack_position(obj)


def _check_faces(obj: Any, mesh: Any, position: StackPosition) -> None:
    if position.below and len(mesh.polygons) == 0:
        raise MeshError(
            f"“{obj.name}” has no faces {position.label[0].lower()}{position.label[1:]}.",
            "Fix the modifier, or choose another modifier under Resolution > Simulate.",
        )


def out_of_date(changed: list[str]) -> SinewError:
    """Return the error for resuming a bake whose job has changed.

    ``changed``: labels of the changes.
    """
    if "version" in changed:
        return StoreError("Another version of Sinew made these frames.", "Delete Bake and bake again.")
    return StoreError(
        f"Edited since the bake began: {', '.join(changed)}.", "Undo the edit, or Delete Bake and bake again."
    )
