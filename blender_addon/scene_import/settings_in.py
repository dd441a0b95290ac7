"""Conversion of Blender properties to the library's settings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any, TypeVar

from ...core.foundation.schema.settings import (
    ContactSettings,
    DepthSettings,
    MaterialSettings,
    ResolutionSettings,
    SolverSettings,
    moduli,
)
from ...core.jobs.job.environment import Ground
from ...core.jobs.job.job import Job
from ..blend_data.list_animation import animated_paths
from ..properties.choices import OWN, own_parameters
from ..properties.matter_properties import PLASTICITY
from ..properties.mirror import clean, stiffness_of
from ..properties.outside_properties import CONTROLLED
from .animation_in import EvaluatedFrame
from .mesh_in import acceleration_scale, unit_scale

Settings = TypeVar("Settings")
SUFFIX = re.compile(r"\.\d{3,}$")
"""Number that Blender appends to a name that another data-block has."""
GRAVITY = frozenset({"gravity", "use_gravity"})
"""Data paths of a scene's gravity."""
LEAST_CELLS = ResolutionSettings.__dataclass_fields__["cells_across"].metadata["range"][0]


def _taken(cls: type[Settings], owner: Any, names: Iterable[str] = (), scale: float = 1.0, **others: Any) -> Settings:
    """Return settings of the class ``cls`` read from the property group ``owner``, lengths times ``scale``."""
    for item in fields(cls):
        if item.name in names or (not names and item.name not in others):
            value = getattr(owner, item.name)
            value = clean(value) if isinstance(value, float) else value
            others[item.name] = value * scale if item.metadata.get("unit") == "m" else value
    return cls(**others)


def material_settings(material: Any) -> MaterialSettings:
    """Return the settings of a physical material."""
    painted = stiffness_of(material.log_painted_stiffness) if material.use_range else None
    return _matter_settings(material, material.name, painted_modulus=painted)


def shader_settings(shader: Any) -> MaterialSettings:
    """Return the physical values that a Blender material carries. Raises MaterialError if a value is not valid."""
    return _matter_settings(shader.sinew, SUFFIX.sub("", shader.name))


def _matter_settings(matter: Any, name: str, **others: Any) -> MaterialSettings:
    plastic = PLASTICITY if matter.yield_strain else ()
    names = "poissons_ratio", "density", "energy", *own_parameters(matter.energy), *plastic
    stiffness = stiffness_of(matter.log_stiffness)
    return _taken(MaterialSettings, matter, names, name=name, youngs_modulus=stiffness, **others)


def moduli_at(moment: EvaluatedFrame) -> list[float]:
    """Return the Young's moduli of the object's materials at a frame, Pa.

    The order is that of :func:`core.foundation.schema.settings.moduli`.
    """
    return moduli([material_settings(m) for m in moment.obj.sinew.materials])


def vibration_stiffness(settings: Any) -> list[float]:
    """Return one stiffness factor per controlled vibration.

    The list is empty if vibrations are not controlled.
    """
    factors = (getattr(settings.vibrations, name) for name in CONTROLLED if settings.control_vibrations)
    return [clean(factor) for factor in factors]


def vibrations_at(moment: EvaluatedFrame) -> list[float]:
    """Return one stiffness factor per controlled vibration at a frame.

    The list is empty if vibrations are not controlled.
    """
    return vibration_stiffness(moment.obj.sinew)


def depth_settings(material: Any, scene: Any) -> DepthSettings | None:
    """Return the depth settings of a physical material, or None for any depth."""
    if material.depth_kind == "NONE":
        return None
    return _taken(DepthSettings, material, scale=unit_scale(scene), kind=material.depth_kind.lower())


def resolution_settings(settings: Any) -> ResolutionSettings:
    """Return the tetrahedralization settings of a body."""
    return _taken(ResolutionSettings, settings)


def solver_settings(settings: Any, scene: Any, solver: str | None = None, substeps: int = 0) -> SolverSettings:
    """Return the solver settings of a body.

    ``solver`` and ``substeps`` replace the body's own settings, unless None or 0. Gravity is the scene's gravity times
    the body's field weight of gravity.
    """
    chosen = {"solver": solver or settings.solver, "substeps": substeps or settings.substeps}
    return _taken(SolverSettings, settings, gravity=gravity_on(settings, scene), **chosen)


def gravity_on(settings: Any, scene: Any) -> tuple[float, ...]:
    """Return the gravity on a body, m/s².

    The result is the scene's gravity times the body's field weight of gravity.
    """
    scale = acceleration_scale(scene) * clean(settings.field_weights.gravity)
    return tuple(clean(g) * scale for g in scene.gravity) if scene.use_gravity else (0.0, 0.0, 0.0)


def gravity_at(moment: EvaluatedFrame) -> tuple[float, ...]:
    """Return the gravity on a body at a frame, m/s²."""
    return gravity_on(moment.obj.sinew, moment.context.scene)


def is_gravity_animated(scene: Any) -> bool:
    """Return True if F-curves or drivers set the scene's gravity."""
    return not GRAVITY.isdisjoint(animated_paths(scene))


def compared(job: Job, compare: Any, solver: str) -> Job:
    """Return the job of a comparison bake.

    The ``solver`` and the settings chosen in the property group ``compare`` replace those of ``job``.
    """
    other: dict[str, Any] = {"solver": solver}
    if compare.integrator != OWN:
        other["integrator"] = compare.integrator
    # Settings that the other solver does not read are hidden in the panel, so they must not change the job.
    read = ("substeps", *replace(job.body.solver, **other).kind.settings)
    names = (name for name in ("substeps", "max_iterations", "modes") if name in read)
    other |= {name: getattr(compare, name) for name in names if getattr(compare, name)}
    matches = ("match_resolution", *({"match_full_space"} & set(read)))
    other |= {name: getattr(compare, name) == "ON" for name in matches if getattr(compare, name) != OWN}
    if compare.match_method != OWN and replace(job.body.solver, **other).is_matched:
        other["match_method"] = compare.match_method
    factors = job.body.vibration_stiffness if compare.control_vibrations else None
    across = compare.cells_across or job.body.resolution.cells_across
    return job.with_body(
        solver=replace(job.body.solver, **other),
        vibration_stiffness=factors,
        resolution=replace(job.body.resolution, cells_across=max(across, LEAST_CELLS)),
    )


def contact_settings(settings: Any, scene: Any) -> ContactSettings:
    """Return the contact settings of a body."""
    own = settings.collisions
    return ContactSettings(
        bodies=own.contact_bodies,
        self_contact=own.self_contact,
        friction=clean(own.contact_friction),
        thickness=clean(own.contact_thickness) * unit_scale(scene),
        grow_apart=own.grow_apart,
    )


def ground_of(settings: Any, scene: Any) -> tuple[Ground, ...]:
    """Return the ground of a body as a tuple, empty if the ground is disabled."""
    own, names = settings.collisions, ("friction", "thickness", "height")
    return (_taken(Ground, own, names, unit_scale(scene)),) if own.use_ground else ()


def frame_range(settings: Any, scene: Any, frames: tuple[int, int] | None = None) -> tuple[int, int]:
    """Return the first and the last frame to simulate, both included.

    ``frames`` replaces the object's settings.
    """
    if frames is not None:
        return frames
    if settings.use_scene_range:
        return scene.frame_start, scene.frame_end
    return settings.frame_start, settings.frame_end
