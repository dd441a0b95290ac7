"""Reader of muscles: the fibres of physical materials, their ends or curves, and their activation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import bpy
import numpy as np
from mathutils.geometry import interpolate_bezier

from ...core.foundation.errors import MaterialError
from ...core.foundation.schema.muscle_settings import MuscleSettings
from ...core.jobs.job.muscle import FibreCurve, Muscle
from ..objects.linked import is_in, out_of_view
from ..objects.modifier_stack import shown
from ..properties.mirror import clean
from .animation_in import EvaluatedFrame
from .mesh_in import object_to_world, transform, unit_scale, vectors_of
from .weights_in import group_weights, has_weights

IGNORED = {"rna_type", "name", "activation"}
"""Properties of a muscle that :func:`muscle_values` leaves out."""

PER_SEGMENT = 8
"""Points per segment of a Bézier spline."""


def muscles_of(obj: Any) -> list[tuple[int, Any]]:
    """Return the physical materials that are muscles, with their indices."""
    return [(k, material) for k, material in enumerate(obj.sinew.materials) if material.muscle.enabled]


def activation_at(moment: EvaluatedFrame) -> list[float]:
    """Return the activation of each muscle of the object at a frame."""
    return muscle_activation(moment.obj)


def muscle_activation(obj: Any) -> list[float]:
    """Return the activation of each muscle of the object at the current frame."""
    return [clean(material.muscle.activation) for _, material in muscles_of(obj)]


def muscle_values(muscle: Any) -> tuple[Any, ...]:
    """Return the settings of a muscle except its activation, for comparison; empty if *Muscle* is off."""
    if not muscle.enabled:
        return ()
    names = (prop.identifier for prop in muscle.bl_rna.properties if prop.identifier not in IGNORED)
    return tuple(_named(getattr(muscle, name)) for name in names)


def muscle_settings(muscle: Any) -> MuscleSettings:
    """Return the settings of the fibres of a muscle."""
    return MuscleSettings(**{item.name: _value(getattr(muscle, item.name)) for item in fields(MuscleSettings)})


def read_muscles(obj: Any, mesh: Any, scene: Any, context: Any) -> tuple[Muscle, ...]:
    """Return the muscles of an object at the current frame, without their activation.

    Raises MaterialError if a vertex group or a curve is missing or cannot be used.
    """
    found = []
    for index, material in muscles_of(obj):
        own = material.muscle
        settings = muscle_settings(own)
        by_curve = own.direction == "CURVES"
        names = [("Activation Map", own.activation_group)]
        names += [] if by_curve else [("Origin", own.origin_group), ("Insertion", own.insertion_group)]
        for label, name in names:
            if name and not has_weights(obj, mesh, name):
                raise MaterialError(
                    f"The vertex group “{name}”, {label} of the muscle “{material.name}”, does not exist any more.",
                    f"Choose another vertex group under Muscle, or clear {label}.",
                )
        weights = group_weights(obj, mesh, [name for _, name in names]).T
        ends = [] if by_curve else [np.flatnonzero(each > 0.0).astype(np.int32) for each in weights[1:]]
        curves = _curves(own, material.name, scene, context) if by_curve else ()
        scale = np.clip(weights[0], 0.0, 1.0) if own.activation_group else None
        found.append(Muscle(index, settings, (0.0,), *(ends or ((), ())), curves, scale))
    return tuple(found)


def with_activation(muscles: Sequence[Muscle], samples: np.ndarray) -> tuple[Muscle, ...]:
    """Return the muscles with their activation ``samples`` (frames, muscles)."""
    return tuple(replace(muscle, activation=samples[:, k]) for k, muscle in enumerate(muscles))


def _named(value: Any) -> Any:
    return value.name_full if isinstance(value, bpy.types.ID) else value


def _value(value: Any) -> Any:
    return clean(value) if isinstance(value, float) else value


def _curves(own: Any, muscle: str, scene: Any, context: Any) -> tuple[FibreCurve, ...]:
    """Return the curves that the fibres of the muscle ``own`` follow, in world space, metres."""
    curve = own.curve
    if curve is None or not curve.users_collection:
        raise MaterialError(
            f"The muscle “{muscle}” has no curve.", "Choose a curve, hair curves or an armature under Muscle."
        )
    with shown(curve):
        evaluated = curve.evaluated_get(context.evaluated_depsgraph_get())
        if not evaluated.is_evaluated or not is_in(context.view_layer, curve):
            raise out_of_view(f"The curve “{curve.name}”")
        matrix = object_to_world(evaluated, scene)
        lines = _LINES[curve.type](evaluated, own, muscle)
    stretch = float(np.cbrt(abs(np.linalg.det(matrix[:3, :3])))) if unit_scale(scene) else 1.0
    found = [FibreCurve(transform(matrix, points), stretch * radii) for points, radii in lines if len(points) > 1]
    if not found:
        raise MaterialError(f"The curve “{curve.name}” has no spline of two points.", "Add points to the curve.")
    return tuple(found)


Lines = list[tuple[np.ndarray, np.ndarray]]
"""Points (k,3) of polylines, in object coordinates, and their radii (k,)."""


def _splines(curve: Any, _own: Any, muscle: str) -> Lines:
    """Return the splines of a curve object, with the radii of its bevel."""
    if any(spline.use_cyclic_u for spline in curve.data.splines):
        raise MaterialError(
            f"The curve “{curve.name}” of the muscle “{muscle}” is cyclic.",
            "Switch off Cyclic U: a muscle needs two ends.",
        )
    depth = clean(curve.data.bevel_depth)
    return [(points, depth * radii) for points, radii in map(_points, curve.data.splines)]


def _strands(curves: Any, _own: Any, _muscle: str) -> Lines:
    """Return the strands of hair curves, which have no radius: a strand's thickness is not a muscle's."""
    data = curves.data
    positions = vectors_of(data.points, "position") if len(data.points) else np.zeros((0, 3))
    strands = np.split(positions, [strand.first_point_index for strand in data.curves][1:])
    return [(strand, np.zeros(len(strand))) for strand in strands]


def _bone(armature: Any, own: Any, muscle: str) -> Lines:
    """Return the muscle's bone, as posed."""
    bone = armature.pose.bones.get(own.bone)
    if bone is None:
        raise MaterialError(
            f"The armature “{armature.name}” has no bone “{own.bone}” for the muscle “{muscle}”.",
            "Choose a bone under Muscle.",
        )
    return [(np.array([bone.head, bone.tail], dtype=np.float64), np.zeros(2))]


_LINES = {"CURVE": _splines, "CURVES": _strands, "ARMATURE": _bone}


def _points(spline: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the points (k,3) of a spline, in object coordinates, and the radii (k,)."""
    if spline.type != "BEZIER":
        points = np.array([point.co[:3] for point in spline.points], dtype=np.float64)
        return points, np.array([point.radius for point in spline.points], dtype=np.float64)
    points, radii = [], []
    for first, second in zip(spline.bezier_points, spline.bezier_points[1:]):
        handles = first.co, first.handle_right, second.handle_left, second.co
        points += [tuple(point) for point in interpolate_bezier(*handles, PER_SEGMENT + 1)[:-1]]
        radii += list(np.linspace(first.radius, second.radius, PER_SEGMENT + 1)[:-1])
    if len(spline.bezier_points):
        last = spline.bezier_points[-1]
        points, radii = [*points, tuple(last.co)], [*radii, last.radius]
    return np.array(points, dtype=np.float64).reshape(-1, 3), np.array(radii, dtype=np.float64)
