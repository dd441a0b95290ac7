"""Estimates of a body from its surface, without tetrahedra and fast enough for a panel.

The estimates are volume fractions of materials, sag, weight, and measures that determine the number of tetrahedra.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...core.foundation.errors import SinewError
from ...core.foundation.schema.settings import EARTH
from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ...core.geometry.tetrahedra.rigid_tet import principal_moments, rigid_tet
from ..objects.modifier_stack import stack_position
from ..properties.mirror import clean
from ..scene_import.mesh_in import (
    acceleration_scale,
    object_to_world,
    transform,
    triangles_of,
    unit_scale,
    vertex_positions,
)
from ..scene_import.refinement_in import sampled_refinement
from ..scene_import.weights_in import group_weights, material_weights

if TYPE_CHECKING:
    from ...core.geometry.tetrahedra.tet_count import SurfaceMeasure
    from ...core.jobs.checks.sag import Sag

LASTING = 2.0
"""Minimum lifetime of a cached measurement, s."""
RARELY = 50.0
"""Minimum lifetime of a cached measurement, as a multiple of the time it took.

Panels are redrawn constantly while the pointer moves, so slow measurements must be rare.
"""
DOWN = np.array([0.0, 0.0, -1.0])
"""Direction of the estimated sag if the scene's gravity is zero."""

_bodies: dict[int, tuple[float, tuple[Any, ...], BodyMeasure]] = {}
"""Cached measurements by the body's ``session_uid``: expiry time, s (monotonic clock), key of the inputs, measurement.
"""


class BodyMeasure(NamedTuple):
    """Estimates of a body from its surface.

    Attributes
    ----------
    surface : measures of the surface; None if it has no area
    points : number of vertices
    shares : (k,) painted fraction per material, averaged over the vertices; materials with a region or a depth count as
        unpainted; None if unknown
    sag : sag under the body's weight; None if the body encloses no volume
    moments : (3,) principal moments of inertia of a rigid body per density, m⁵; None if it is not rigid or not closed
    """

    surface: SurfaceMeasure | None
    points: int
    shares: np.ndarray | None
    sag: Sag | None
    moments: np.ndarray | None = None


def measured_body(obj: Any, context: Any) -> BodyMeasure:
    """Return the estimates of a body from a cache.

    The body is measured again if an input has changed, or if the cached estimates have expired.
    """
    settings, scene, now = obj.sinew, context.scene, time.monotonic()
    counts = (
        len(obj.data.vertices),
        len(obj.data.polygons),
        stack_position(obj).below,
        tuple(map(tuple, obj.matrix_world)),
    )
    maps = tuple((each.vertex_group, each.is_layer) for each in settings.materials)
    groups = settings.refine_group, settings.pin_group, settings.pin_threshold, maps
    key = counts, groups, settings.method, unit_scale(scene), tuple(scene.gravity)
    until, known, found = _bodies.get(obj.session_uid, (0.0, (), None))
    if found is None or known != key or now > until:
        found = measure_body(obj, context)
        if len(_bodies) > 100:
            _bodies.clear()
        lasting = max(LASTING, RARELY * (time.monotonic() - now))
        _bodies[obj.session_uid] = time.monotonic() + lasting, key, found
    return found


def forget(obj: Any) -> None:
    """Drop the cached estimates of a body."""
    _bodies.pop(obj.session_uid, None)


def measure_body(obj: Any, context: Any) -> BodyMeasure:
    """Estimate properties of a body, such as size, volume and sag, from the surface of a mesh.

    The mesh approximates the simulated shape of the body.
    """
    from ...core.jobs.checks.sag import sag_of

    settings, gravity = obj.sinew, np.array(context.scene.gravity)
    strength = np.linalg.norm(gravity)
    down = gravity / strength if strength else DOWN
    measure, mesh, surface = _measured_about(obj, context)
    shares = sag = moments = None
    with suppress(SinewError):  # a bake reports it
        if measure is not None and settings.materials:
            shares = material_weights(obj, mesh).mean(axis=0)
        if measure is not None and measure.is_solid:
            pinned = np.flatnonzero(group_weights(obj, mesh, [settings.pin_group]) >= settings.pin_threshold)
            sag = sag_of(surface, measure, pinned, down)
        if settings.method == "rigid":
            moments = principal_moments(rigid_tet(surface))
    return BodyMeasure(measure, len(mesh.vertices), shares, sag, moments)


def sheet_distance(obj: Any, context: Any) -> float:
    """Return the estimated lower limit of the contact distance between the body and sheets, in Blender units.

    Sheets are colliders that are open meshes. Penalty contact uses the limit if the set distance is smaller. The limit
    is 0 if the body's surface has no area.
    """
    from ...core.contact.penalty.sheet_thickness import sheet_thickness

    measure, _, _ = _measured_about(obj, context)
    return 0.0 if measure is None else sheet_thickness(measure.size) / unit_scale(context.scene)


def weight_and_size(obj: Any, scene: Any) -> tuple[float, float]:
    """Return the weight of the object's mesh, N, and its longest side in world space, m.

    The weight is 0 if the surface encloses no volume. Painted densities are averaged over the vertices. Materials with
    a region or a depth are ignored.
    """
    measure, _ = _measured(obj, obj.data, scene)
    if measure is None or not obj.sinew.materials:
        return 0.0, 0.0
    if not measure.is_solid:
        return 0.0, measure.size
    density = material_weights(obj, obj.data).mean(axis=0) @ [clean(m.density) for m in obj.sinew.materials]
    return measure.volume * float(density) * gravity_of(scene), measure.size


def gravity_of(scene: Any) -> float:
    """Return the magnitude of the scene's gravity, m/s². A scene without gravity returns Earth's."""
    own = acceleration_scale(scene) * float(np.linalg.norm(scene.gravity)) if scene.use_gravity else 0.0
    return own or EARTH


def _measured_about(obj: Any, context: Any) -> tuple[SurfaceMeasure | None, Any, SurfaceMesh]:
    """Return the measures of a body's surface, the measured Blender mesh, and the triangulated surface.

    The mesh approximates the simulated shape without a new evaluation.
    """
    mesh = obj.data
    if stack_position(obj).below:
        evaluated = obj.evaluated_get(context.evaluated_depsgraph_get())
        mesh = evaluated.data if evaluated.is_evaluated else mesh
    measure, surface = _measured(obj, mesh, context.scene)
    samples = None
    with suppress(SinewError):  # a bake reports it
        samples = measure and sampled_refinement(obj, mesh, surface)
    return measure and replace(measure, samples=samples), mesh, surface


def _measured(obj: Any, mesh: Any, scene: Any) -> tuple[SurfaceMeasure | None, SurfaceMesh]:
    from ...core.geometry.tetrahedra.tet_count import measure_surface

    positions = transform(object_to_world(obj, scene), vertex_positions(mesh))
    surface = SurfaceMesh(positions, triangles_of(mesh, mirrored=False))
    return measure_surface(surface), surface
