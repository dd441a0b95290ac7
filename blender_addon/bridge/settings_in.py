"""Properties -> the library's settings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...core.errors import SettingsError
from ...core.model.settings import DepthSettings, Ground, MaterialSettings, ResolutionSettings, SolverSettings
from ...core.simulation.job import Job
from ..choices import OWN, solver_items
from ..mirror import clean, stiffness_of
from .mesh_in import unit_scale

LEAST_CELLS = ResolutionSettings.__dataclass_fields__["cells_across"].metadata["range"][0]


def material_settings(material: Any) -> MaterialSettings:
    """One physical material."""
    return MaterialSettings(
        name=material.name,
        youngs_modulus=stiffness_of(material.log_stiffness),
        poissons_ratio=clean(material.poissons_ratio),
        density=clean(material.density),
        energy=material.energy,
        painted_modulus=stiffness_of(material.log_painted_stiffness) if material.use_range else None,
    )


def depth_settings(material: Any, scene: Any) -> DepthSettings | None:
    """How deep one physical material lies, or None where that does not matter."""
    if material.depth_kind == "NONE":
        return None
    scale = unit_scale(scene)
    return DepthSettings(
        kind=material.depth_kind.lower(), depth=clean(material.depth) * scale, fade=clean(material.fade) * scale
    )


def resolution_settings(settings: Any) -> ResolutionSettings:
    """How the body is filled with tetrahedra."""
    return ResolutionSettings(settings.method, settings.cells_across, clean(settings.finest))


def solver_settings(settings: Any, scene: Any, solver: str | None = None, substeps: int = 0) -> SolverSettings:
    """How time is stepped; ``solver`` and ``substeps`` replace the object's choices. Gravity is the scene's, as its
    panel shows it, times the body's field weight.
    """
    known = [item[0] for item in solver_items()]
    if solver is not None and solver not in known:
        raise SettingsError(f"There is no solver “{solver}”.", f"Choose one of {', '.join(known)}.")
    scale = unit_scale(scene) * clean(settings.field_weights.gravity)
    gravity = tuple(clean(g) * scale for g in scene.gravity) if scene.use_gravity else (0.0, 0.0, 0.0)
    return SolverSettings(
        solver=solver or settings.solver,
        integrator=settings.integrator,
        substeps=substeps or settings.substeps,
        max_iterations=settings.max_iterations,
        stop_rule=settings.stop_rule,
        tolerance=clean(settings.tolerance),
        decrement_tolerance=clean(settings.decrement_tolerance),
        acceleration_tolerance=clean(settings.acceleration_tolerance),
        mass_damping=clean(settings.mass_damping),
        stiffness_damping=clean(settings.stiffness_damping),
        quadratic_finish=settings.quadratic_finish,
        linear_solver=settings.linear_solver,
        inner_iterations=settings.inner_iterations,
        modes=settings.modes,
        cubature_points=settings.cubature_points,
        damping_factor=clean(settings.damping_factor),
        gravity=gravity,
    )


def compared(job: Job, compare: Any) -> Job:
    """A job of a body with what a bake that is compared with it has otherwise."""
    names = ("substeps", "max_iterations", "modes")
    other: dict[str, Any] = {name: getattr(compare, name) for name in names if getattr(compare, name)}
    other |= {name: getattr(compare, name) for name in ("solver", "integrator") if getattr(compare, name) != OWN}
    across = compare.cells_across or job.resolution.cells_across
    return replace(
        job,
        solver=replace(job.solver, **other),
        resolution=replace(job.resolution, cells_across=max(across, LEAST_CELLS)),
    )


def ground_settings(settings: Any, scene: Any) -> Ground | None:
    """The floor that the body falls onto, if there is one."""
    collisions, scale = settings.collisions, unit_scale(scene)
    if not collisions.use_ground:
        return None
    return Ground(
        height=clean(collisions.height) * scale,
        friction=clean(collisions.friction),
        thickness=clean(collisions.thickness) * scale,
    )


def frame_range(settings: Any, scene: Any, frames: tuple[int, int] | None = None) -> tuple[int, int]:
    """First and last frame, both included; ``frames`` replaces the object's choice."""
    if frames is not None:
        return frames
    if settings.use_scene_range:
        return scene.frame_start, scene.frame_end
    return settings.frame_start, settings.frame_end
