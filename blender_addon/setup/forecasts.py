"""Panel texts about the estimated cost of a bake: tetrahedra, memory, time per frame, space on disk.

Panels are redrawn often, above all while a slider is dragged. So measurements of the surface are cached
(``measure_in``), and the dependence on settings is a formula.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ...core.foundation.errors import SinewError
from ..objects.contact_groups import group_of
from ..objects.modifier_stack import DEFORMING, later_modifiers, stack_position
from ..scene_export.result_attributes import value_bytes, wanted_attributes
from ..translations.translate import translated
from .measure_in import measured_body
from .unit_format import two_digits

if TYPE_CHECKING:
    from ...core.geometry.tetrahedra.tet_count import SurfaceMeasure
    from ...core.jobs.checks.costs import Cost, Pace
    from ...core.jobs.job.job import Job

COARSE = 4.0
"""Distance of neighbouring vertices, in cells, from which a surface is too coarse to show the deformation."""
SMALL = 1e6
"""Size of attributes, bytes, that is not worth a line."""
FINER_MAKING = frozenset({"SUBSURF", "MULTIRES", "REMESH"})
"""Modifiers that refine a mesh."""

_paces: dict[str, Pace] = {}


def cost_words(obj: Any, context: Any) -> tuple[str, str]:
    """Return the estimated number of tetrahedra, memory and time per frame, as a text, and an icon.

    The text is empty if the estimates are unknown.
    """
    from ...core.foundation.process.available_memory import available_memory
    from ...core.geometry.tetrahedra.tet_count import MAX_TETS
    from ...core.jobs.checks.costs import size_words, time_words

    cost, method = _cost(obj, context), obj.sinew.method
    if cost is None:
        return "", "NONE"
    tets = two_digits(cost.tets)
    if method == "lattice" and cost.tets > MAX_TETS:
        return translated(
            "About {tets:,.0f} tetrahedra, more than the limit of {limit:,}", tets=tets, limit=MAX_TETS
        ), "ERROR"
    about = translated(
        "About {tets:,.0f} tetrahedra" if method == "lattice" else "Roughly {tets:,.0f} tetrahedra", tets=tets
    )
    words = translated(
        "{tetrahedra}, {size} memory, {time} per frame",
        tetrahedra=about,
        size=size_words(two_digits(cost.memory)),
        time=time_words(cost.seconds),
    )
    if _meets(obj, context):
        words += translated(
            " with contact" if _pace(obj) is not None else " with contact (give or take a factor of three)"
        )
    if len(group_of(obj, context)) > 1:
        words += translated(", not counting its contact partners")
    free = available_memory()
    if cost.memory > free:
        return translated("{words}: only {size} are free", words=words, size=size_words(two_digits(free))), "ERROR"
    return words + (translated(", as timed in the last bake") if _pace(obj) is not None else ""), "INFO"


def disk_words(obj: Any, context: Any) -> str:
    """Return the estimated size of a bake on disk, as text."""
    from ...core.jobs.checks.costs import frame_bytes, size_words

    frames = _frame_count(obj, context) + obj.sinew.pre_roll
    points, has_cache = _measure(obj, context)[1], obj.sinew.result == "CACHE"
    frames_alone = frame_bytes(points, frames, has_cache, obj.sinew.attributes.stress)
    cost = _cost(obj, context)
    return size_words(two_digits(frames_alone + (cost.disk if cost is not None else 0.0)))


def attribute_words(obj: Any, context: Any) -> str:
    """Return the estimated size of a body's attributes in the .blend, as text. Empty if it is small."""
    from ...core.jobs.checks.costs import size_words

    size = value_bytes(wanted_attributes(obj), _measure(obj, context)[1], _frame_count(obj, context))
    if size < SMALL:
        return ""
    return translated("The attributes will need about {size} in the .blend", size=size_words(two_digits(size)))


def _frame_count(obj: Any, context: Any) -> int:
    from ..scene_import.settings_in import frame_range

    first, last = frame_range(obj.sinew, context.scene)
    return max(0, last - first + 1)


def _cost(obj: Any, context: Any) -> Cost | None:
    """Return the estimated cost of a bake of the body, or None if it is unknown."""
    from ...core.jobs.checks.costs import cost_of
    from ..scene_import.settings_in import resolution_settings, solver_settings

    measure, points = _measure(obj, context)
    if measure is None:
        return None
    try:
        resolution, solver = resolution_settings(obj.sinew), solver_settings(obj.sinew, context.scene)
        return cost_of(measure, resolution, solver, points, _pace(obj), _meets(obj, context))
    except SinewError:  # a bake reports settings that another version has saved
        return None


def _meets(obj: Any, context: Any) -> bool:
    """Return True if the body can collide with other bodies or itself."""
    return obj.sinew.collisions.self_contact or len(group_of(obj, context)) > 1


def missing_words(method: str) -> str:
    """Return a message if the package for a meshing method is not installed. Otherwise the text is empty."""
    from ...core.foundation.process.foreign_module import is_installed
    from ...core.geometry.tetrahedra import tetgen_mesh

    if method != "clean" or is_installed(tetgen_mesh.PACKAGE):
        return ""
    return f"{translated('Clean needs TetGen, which is not installed.')} {tetgen_mesh.TO_GET}"


def coarse_words(obj: Any, context: Any) -> str:
    """Return a warning if the surface is too coarse to show the deformation. Otherwise the text is empty.

    A surface is too coarse if neighbouring vertices are at least ``COARSE`` cells apart.
    """
    measure, points = _measure(obj, context)
    if measure is None:
        return ""
    position = stack_position(obj)
    if all(modifier.type in DEFORMING for modifier in obj.modifiers[: position.below]):
        points = len(obj.data.vertices)  # later modifiers, which are not simulated, may have refined the measured mesh
    if measure.cells_between(points, obj.sinew.cells_across) < COARSE:
        return ""
    finer = [m.name for m in later_modifiers(obj, position) if m.type in FINER_MAKING and m.show_viewport]
    remedy = (
        translated("Simulate After Modifier “{modifier}”, or subdivide the mesh", modifier=finer[-1])
        if finer
        else translated("Subdivide the mesh")
    )
    return translated(
        "{points:,} vertices, much farther apart than cells: the surface stays straight between them. {remedy}.",
        points=points,
        remedy=remedy,
    )


def note_pace(job: Job, record: Any, steps: int, seconds: float) -> None:
    """Store the measured time per time step of a body in its bake ``record``, and for this session.

    ``steps``: number of time steps of the bake. ``seconds``: time that the bake took, s. The time is divided among
    bodies that were baked together.
    """
    from ...core.jobs.checks.costs import own_pace

    if steps < 1 or seconds <= 0.0 or record.tets < 1:
        return
    beside = [bpy.data.objects[each.name] for each in job.body.group_members if each.name in bpy.data.objects]
    pace = own_pace(job, seconds / steps, record.tets, [other.sinew.bake.tets for other in beside])
    record.pace_solver, record.pace_seconds, record.pace_modes = job.body.solver.solver, pace.seconds, pace.modes
    _paces[record.pace_solver] = pace


def _pace(obj: Any) -> Pace | None:
    """Return the measured time per step of the object's solver, or None."""
    solver = obj.sinew.solver
    if solver in _paces:
        return _paces[solver]
    records = (other.sinew.bake for other in (obj, *bpy.data.objects) if other.type == "MESH")
    return next((_pace_of(r) for r in records if r.pace_solver == solver and r.tets > 0), None)


def _pace_of(record: Any) -> Pace:
    from ...core.jobs.checks.costs import Pace

    return Pace(record.pace_seconds, record.tets, record.pace_modes)


def _measure(obj: Any, context: Any) -> tuple[SurfaceMeasure | None, int]:
    return measured_body(obj, context)[:2]
