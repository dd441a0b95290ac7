"""What the resolution that is set will cost, in words for the panel: tetrahedra, memory, time a frame.

A panel is drawn often, a slider being dragged most of all: the surface is measured anew once in a while, and what
depends on the settings is a formula.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import bpy

from ..core.errors import SinewError
from .bridge.stack import DEFORMING, later_modifiers, place_of

if TYPE_CHECKING:
    from ..core.mesh.tet_count import SurfaceMeasure
    from ..core.simulation.forecast import Forecast, Pace

LASTING = 2.0
"""Seconds for which a surface counts as measured."""
COARSE = 4.0
"""Cells between neighbouring vertices from which on a surface hides what the tetrahedra do."""
FINER_MAKING = frozenset({"SUBSURF", "MULTIRES", "REMESH"})
"""Modifiers after which a coarse mesh is fine."""

_measures: dict[int, tuple[float, tuple[Any, ...], SurfaceMeasure | None, int]] = {}
_paces: dict[str, Pace] = {}


def cost_words(obj: Any, context: Any) -> tuple[str, str]:
    """What the body will cost at its settings, and an icon; "" where that cannot be told."""
    from ..core.linear_solvers.available_memory import available_memory
    from ..core.mesh.tet_count import MAX_TETS
    from ..core.simulation.disk_space import size_words
    from ..core.simulation.forecast import time_words

    cost, method = _forecast(obj, context), obj.sinew.method
    if cost is None:
        return "", "NONE"
    tets = _two_digits(cost.tets)
    if method == "lattice" and cost.tets > MAX_TETS:
        return f"About {tets:,.0f} tetrahedra: more than {MAX_TETS:,} are refused", "ERROR"
    words = "About" if method == "lattice" else "Roughly"
    words += (
        f" {tets:,.0f} tetrahedra, {size_words(_two_digits(cost.memory))} of memory, {time_words(cost.seconds)} a frame"
    )
    free = available_memory()
    if free is not None and cost.memory > free:
        return f"{words}: only {size_words(_two_digits(free))} are free", "ERROR"
    return words + (", going by the last bake" if cost.is_measured else ""), "INFO"


def disk_words(obj: Any, context: Any) -> str:
    """About how much room a bake will take on disk."""
    from ..core.simulation.disk_space import body_bytes, expected_bytes, size_words
    from .bridge.settings_in import frame_range, solver_settings

    first, last = frame_range(obj.sinew, context.scene)
    frames = max(0, last - first + 1 + obj.sinew.pre_roll)
    size = expected_bytes(_measure(obj, context)[1], frames, obj.sinew.result == "CACHE")
    if (cost := _forecast(obj, context)) is not None:
        size += body_bytes(cost.tets, solver_settings(obj.sinew, context.scene))
    return size_words(_two_digits(size))


def _forecast(obj: Any, context: Any) -> Forecast | None:
    """What is expected of the body at its settings; None where that cannot be told."""
    from ..core.simulation.forecast import forecast
    from .bridge.settings_in import resolution_settings, solver_settings

    measure, points = _measure(obj, context)
    if measure is None:
        return None
    try:
        resolution, solver = resolution_settings(obj.sinew), solver_settings(obj.sinew, context.scene)
        return forecast(measure, resolution, solver, points, _pace(obj))
    except SinewError:  # a setting of another version: a bake will tell
        return None


def missing_words(method: str) -> str:
    """What a method of making tetrahedra needs and is not installed, and how to get it; "" where it is."""
    from ..core.mesh import clean
    from ..core.mesh.foreign_module import is_installed

    if method != "clean" or is_installed(clean.PACKAGE):
        return ""
    return f"Clean needs TetGen, which is not installed. {clean.TO_GET}"


def coarse_words(obj: Any, context: Any) -> str:
    """What is lost where vertices lie much farther apart than cells, and the remedy; "" where they do not."""
    measure, points = _measure(obj, context)
    if measure is None:
        return ""
    place = place_of(obj)
    if all(modifier.type in DEFORMING for modifier in obj.modifiers[: place.below]):
        points = len(obj.data.vertices)  # what was measured may have been made finer after the place
    if measure.cells_between(points, obj.sinew.cells_across) < COARSE:
        return ""
    finer = [m.name for m in later_modifiers(obj, place) if m.type in FINER_MAKING and m.show_viewport]
    remedy = f"Simulate After Modifier “{finer[-1]}”, or subdivide the mesh" if finer else "Subdivide the mesh"
    return f"{points:,} vertices, much farther apart than cells: nothing bends between them. {remedy}."


def note_pace(solver: str, record: Any, steps: int, seconds: float, modes: int) -> None:
    """Keep how long the steps of a bake took, on its record and until Blender is closed."""
    if steps < 1 or seconds <= 0.0 or record.tets < 1:
        return
    record.pace_solver, record.pace_seconds, record.pace_modes = solver, seconds / steps, modes
    _paces[solver] = _pace_of(record)


def _pace(obj: Any) -> Pace | None:
    """What the newest bake with the object's solver has told; of this session, else of any body in the file."""
    solver = obj.sinew.solver
    if solver in _paces:
        return _paces[solver]
    records = (other.sinew.bake for other in (obj, *bpy.data.objects) if other.type == "MESH")
    return next((_pace_of(r) for r in records if r.pace_solver == solver and r.tets > 0), None)


def _pace_of(record: Any) -> Pace:
    from ..core.simulation.forecast import Pace

    return Pace(record.pace_seconds, record.tets, record.pace_modes)


def _measure(obj: Any, context: Any) -> tuple[SurfaceMeasure | None, int]:
    from .bridge.measure_in import surface_measure

    place = place_of(obj)
    counts = len(obj.data.vertices), len(obj.data.polygons)
    key = place.below, counts, obj.sinew.finer_group, tuple(map(tuple, obj.matrix_world))
    now = time.monotonic()
    made, kept, measure, points = _measures.get(obj.session_uid, (0.0, (), None, 0))
    if kept != key or now > made + LASTING:
        measure, points = surface_measure(obj, place, context)
        if len(_measures) > 100:
            _measures.clear()
        _measures[obj.session_uid] = now, key, measure, points
    return measure, points


def _two_digits(value: float) -> float:
    return float(f"{value:.2g}")
