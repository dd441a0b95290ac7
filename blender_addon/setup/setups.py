"""Set-ups: all settings of a body with its vertex groups and muscles' curves, for another mesh.

The other mesh may have other vertices and another size: weights and curves follow the closest points of the surfaces.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import bpy
import numpy as np

from ...core.foundation.errors import SettingsError
from ..objects.surface_transfer import SurfaceTransfer
from ..objects.vertex_weights import set_weights
from ..scene_import.mesh_in import triangles_of, unkeyed_positions
from ..scene_import.weights_in import group_weights
from .copying import GROUPS, Values, fill_settings, settings_of

DATA_BLOCK = "data-block"
"""Key of the type of a data-block in settings; ``name`` is that of its name."""

SPACES = {"Object": "objects", "Collection": "collections"}
"""Names of the lists in ``bpy.data`` of the data-blocks that settings may name, by type."""


class Spline(NamedTuple):
    """Spline of a curve.

    ``kind``: POLY, BEZIER or NURBS. ``points`` (k,9): points, left and right handles, in the body's object coordinates.
    ``radii`` (k,). ``order``: order of a NURBS spline.
    """

    kind: str
    points: np.ndarray
    radii: np.ndarray
    order: int


class MuscleCurve(NamedTuple):
    """Curve of the muscle of the physical material ``material``."""

    material: str
    name: str
    bevel: float
    splines: tuple[Spline, ...]


class Setup(NamedTuple):
    """Set-up of a body.

    ``positions`` (n,3), ``triangles`` (t,3): its mesh, in object coordinates. ``settings``: its settings, in which a
    data-block is a dictionary of its type and name. ``groups``: weights (n,) of the vertex groups that the
    settings name. ``curves``: its muscles' curves.
    """

    positions: np.ndarray
    triangles: np.ndarray
    settings: Values
    groups: dict[str, np.ndarray]
    curves: tuple[MuscleCurve, ...]


def setup_of(obj: Any) -> Setup:
    """Return the set-up of a body."""
    settings = settings_of(obj)
    names = [name for name in _names_of_groups(settings) if name in obj.vertex_groups]
    groups = dict(zip(names, group_weights(obj, obj.data, names).T, strict=True))
    curves = []
    for material in settings["materials"]:
        curve = material["muscle"]["curve"]
        if curve is not None and curve.type == "CURVE":
            curves.append(_curve_of(curve, material["name"], obj))
            material["muscle"]["curve"] = None
    triangles = triangles_of(obj.data, mirrored=False)
    return Setup(unkeyed_positions(obj), triangles, _mapped(settings, _reference), groups, tuple(curves))


def mirrored(setup: Setup) -> Setup:
    """Return the mirror image of a set-up across X: names that end with .L and .R change their sides."""
    flip = bpy.utils.flip_name
    reflection = np.array([-1.0, 1.0, 1.0])
    curves = tuple(
        MuscleCurve(
            flip(curve.material),
            flip(curve.name),
            curve.bevel,
            tuple(spline._replace(points=spline.points * np.tile(reflection, 3)) for spline in curve.splines),
        )
        for curve in setup.curves
    )
    groups = {flip(name): weights for name, weights in setup.groups.items()}
    return Setup(setup.positions * reflection, setup.triangles[:, ::-1], _flipped(setup.settings), groups, curves)


def apply_setup(setup: Setup, obj: Any, fit: bool, replace: bool) -> list[str]:
    """Give the mesh object ``obj`` a set-up. Returns descriptions of what was left out.

    Parameters
    ----------
    fit : True to fit the bounding box of the set-up's mesh to that of ``obj`` first
    replace : True to replace the weights of existing vertex groups of the same name

    Raises SettingsError, before anything is changed, if the set-up or the mesh has no faces.
    """
    if not len(setup.triangles) or not len(obj.data.polygons):
        raise SettingsError("A mesh without faces has no surface.", "Choose a mesh with faces.")
    transfer = SurfaceTransfer(setup.positions, setup.triangles, unkeyed_positions(obj), fit)
    left: list[str] = []
    for name, weights in setup.groups.items():
        if replace or name not in obj.vertex_groups:
            found = transfer.weights(weights)
            if weights.any() and not found.any():
                left.append(f"weights of “{name}”, which no vertex is near")
            set_weights(obj, name, found)
    left += fill_settings(_mapped(setup.settings, lambda value: _resolved(value, obj, left)), obj)
    materials = obj.sinew.materials
    for curve in setup.curves:
        materials[curve.material].muscle.curve = _make_curve(curve, obj, transfer)
    return list(dict.fromkeys(left))


def _names_of_groups(values: Any) -> list[str]:
    """Return the names of vertex groups in settings, each once."""
    if isinstance(values, list):
        found = [name for item in values for name in _names_of_groups(item)]
    elif isinstance(values, dict):
        own = [value for key, value in values.items() if key in GROUPS and value]
        found = [*own, *(name for value in values.values() for name in _names_of_groups(value))]
    else:
        found = []
    return list(dict.fromkeys(found))


def _mapped(values: Any, change: Any) -> Any:
    """Return settings in which ``change`` is applied to each value that is not a group or a list."""
    if isinstance(values, dict) and DATA_BLOCK not in values:
        return {key: _mapped(value, change) for key, value in values.items()}
    if isinstance(values, list):
        return [_mapped(value, change) for value in values]
    return change(values)


def _reference(value: Any) -> Any:
    """Return the type and name of a data-block. Other values are returned as they are."""
    return {DATA_BLOCK: type(value).__name__, "name": value.name} if isinstance(value, bpy.types.ID) else value


def _resolved(value: Any, obj: Any, left: list[str]) -> Any:
    """Return the data-block that a dictionary names, or None. Other values are returned as they are.

    An armature is that of the Armature modifier of ``obj``, if it has one.
    """
    if not isinstance(value, dict):
        return value
    space, name = SPACES.get(value[DATA_BLOCK]), value["name"]
    found = None if space is None else getattr(bpy.data, space).get(name)
    if space == "objects" and (found is None or found.type == "ARMATURE"):
        found = next((m.object for m in obj.modifiers if m.type == "ARMATURE" and m.object is not None), found)
    if found is None:
        left.append(f"“{name}”, which this file does not have")
    return found


def _flipped(values: Any, key: str = "") -> Any:
    """Return settings with the names of items, vertex groups and bones of the other side."""
    if isinstance(values, dict) and DATA_BLOCK not in values:
        return {each: _flipped(value, each) for each, value in values.items()}
    if isinstance(values, list):
        return [_flipped(value) for value in values]
    return bpy.utils.flip_name(values) if key in {"name", "bone", *GROUPS} else values


def _curve_of(curve: Any, material: str, body: Any) -> MuscleCurve:
    matrix = np.array(body.matrix_world.inverted() @ curve.matrix_world)
    factor = float(np.cbrt(abs(np.linalg.det(matrix[:3, :3]))))
    splines = []
    for spline in curve.data.splines:
        is_bezier = spline.type == "BEZIER"
        points = spline.bezier_points if is_bezier else spline.points
        at = [(*p.co, *p.handle_left, *p.handle_right) if is_bezier else (*p.co[:3],) * 3 for p in points]
        places = np.array(at, dtype=np.float64).reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]
        radii = np.array([point.radius for point in points], dtype=np.float64)
        splines.append(Spline(spline.type, places.reshape(-1, 9), radii, spline.order_u))
    return MuscleCurve(material, curve.name, factor * curve.data.bevel_depth, tuple(splines))


def _make_curve(curve: MuscleCurve, obj: Any, transfer: SurfaceTransfer) -> Any:
    """Return a new curve object that follows the surface of ``obj``."""
    data = bpy.data.curves.new(curve.name, "CURVE")
    data.dimensions, data.bevel_depth = "3D", curve.bevel * transfer.scale
    for each in curve.splines:
        spline = data.splines.new(each.kind)
        points = spline.bezier_points if each.kind == "BEZIER" else spline.points
        points.add(len(each.points) - 1)
        moved = transfer.points(each.points.reshape(-1, 3)).reshape(-1, 3, 3)
        for point, (at, before, after), radius in zip(points, moved, each.radii, strict=True):
            point.radius = radius
            if each.kind == "BEZIER":
                point.co, point.handle_left, point.handle_right = at, before, after
            else:
                point.co = (*at, 1.0)
        if each.kind == "NURBS":
            spline.use_endpoint_u, spline.order_u = True, each.order
    made = bpy.data.objects.new(curve.name, data)
    made.matrix_world = obj.matrix_world
    for collection in obj.users_collection:
        collection.objects.link(made)
    return made
