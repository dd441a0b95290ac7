"""Formulas of the kinds of force fields, one function for each kind.

A field gives a body the acceleration that Blender gives a particle of one kilogram. `docs/design/forces.md` lists the
formulas, their sources and their comparison with Blender. In the formulas, s is the field's strength. The parameter
``factor``, w in the formulas, multiplies the strength at each point. It contains the falloff with distance, a weight
per body, and the effect of absorbing surfaces.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .field_coordinates import FieldCoordinates, FieldForm, FieldNumbers


class FieldForce(NamedTuple):
    """Acceleration of p masses by a field, as a function of positions y and velocities v:

        a(y, v) = acceleration - stiffness (y - y0) - (drag + speed_drag |v|) v + cross(turning, v)

    The field was evaluated at the positions y0.

    Attributes
    ----------
    acceleration : (p,3) m/s²
    stiffness : (p,3,3) 1/s², semi-definite, or None
    drag : (p,) 1/s
    speed_drag : (p,) 1/m
    turning : (p,3) 1/s, or None
    """

    acceleration: np.ndarray
    stiffness: np.ndarray | None = None
    drag: np.ndarray | float = 0.0
    speed_drag: np.ndarray | float = 0.0
    turning: np.ndarray | None = None

    def at(self, velocities: np.ndarray) -> np.ndarray:
        """Return the acceleration (p,3), m/s², for ``velocities`` (p,3), m/s.

        The positions are those at which the field was evaluated.
        """
        speed = np.linalg.norm(velocities, axis=1)
        slowing = np.broadcast_to(self.drag + self.speed_drag * speed, speed.shape)[:, None] * velocities
        turned = 0.0 if self.turning is None else np.cross(self.turning, velocities)
        return self.acceleration - slowing + turned


def field_force(
    form: FieldForm,
    numbers: FieldNumbers,
    coordinates: FieldCoordinates,
    factor: np.ndarray,
    samples: np.ndarray | None = None,
) -> FieldForce:
    """Return the acceleration by a field at p points.

    ``coordinates``: positions of the points relative to the field. ``factor`` (p,): number by which the field's
    strength is multiplied at each point (``strength_fraction``, less the part that surfaces absorb). ``samples`` (p,k):
    values at the points, for kinds without a formula (``SAMPLED``). Arguments are in the field's unit of length, the
    result is in metres.
    """
    if samples is None:
        pull = FORMULAS[form.kind](form, numbers, coordinates, factor)
    elif form.kind == "FLUID_FLOW":
        pull = _fluid_flow(numbers, factor, samples)
    else:
        pull = FieldForce(max(numbers.weight, 0.0) * samples)
    if form.kind not in WITHOUT_FLOW and numbers.flow != 0.0:
        pull = pull._replace(drag=pull.drag + numbers.flow * factor)
    unit = form.unit_length
    return pull._replace(acceleration=unit * pull.acceleration, speed_drag=pull.speed_drag / unit)


def _force(form: FieldForm, numbers: FieldNumbers, coordinates: FieldCoordinates, factor: np.ndarray) -> FieldForce:
    """Return the acceleration ``s w r / d`` by a force field, or ``s w r / d³`` if the form has ``gravitation``.

    r is the vector of length d from the field's source to a point, and s the field's strength. w (``factor``)
    multiplies the strength at the point.
    """
    strength = numbers.strength * factor
    if form.gravitation:
        away = coordinates.distances > np.finfo(np.float32).eps
        strength = np.where(away, strength / np.where(away, coordinates.distances, 1.0) ** 2, 0.0)
    return FieldForce(strength[:, None] * coordinates.directions)


def _wind(_form: FieldForm, numbers: FieldNumbers, coordinates: FieldCoordinates, factor: np.ndarray) -> FieldForce:
    """Return the acceleration ``s w n`` by a wind field.

    s is the field's strength, and w (``factor``) multiplies the strength at a point. n is the field's z axis, or the
    normal of the field's surface or vertex for the shapes SURFACE and POINTS.
    """
    return FieldForce((numbers.strength * factor)[:, None] * coordinates.axes)


def _vortex(form: FieldForm, numbers: FieldNumbers, coordinates: FieldCoordinates, factor: np.ndarray) -> FieldForce:
    """Return the acceleration of a vortex about the field's z axis n.

    r is the vector from the field's centre to a point, and v the point's velocity. s is the field's strength, and w
    (``factor``) multiplies the strength at the point. In a field of shape POINT, the acceleration is
    ``s w |r| (n x r) / |n x r|``. In other shapes, the velocity of rotation is ``u = s w n x r`` and the acceleration
    ``s w n x u + (u - v)``: a centripetal acceleration, and where w > 0 a drag towards u with the coefficient 1 per
    second.
    """
    if form.shape == "POINT":
        around = np.cross(coordinates.axes, coordinates.arms)
        length = np.linalg.norm(around, axis=1)
        size = numbers.strength * factor * coordinates.distances / np.where(length > 0.0, length, 1.0)
        return FieldForce(size[:, None] * around)
    rate = (numbers.strength * factor)[:, None]
    turning = rate * np.cross(coordinates.centre_axis, coordinates.centre_arms)
    inward = rate * np.cross(coordinates.centre_axis, turning)
    return FieldForce(inward + turning, drag=(factor > 0.0).astype(np.float64))


def _magnet(form: FieldForm, numbers: FieldNumbers, coordinates: FieldCoordinates, factor: np.ndarray) -> FieldForce:
    """Return the acceleration ``v x B`` at velocity v, with a vector B of length ``s w``.

    B circles the axis for the shapes POINT and LINE, and is parallel to the axis for other shapes. s is the field's
    strength, and w (``factor``) multiplies the strength at a point.
    """
    field = np.cross(coordinates.axes, coordinates.arms) if form.shape in ("POINT", "LINE") else coordinates.axes
    length = np.linalg.norm(field, axis=1, keepdims=True)
    B = (numbers.strength * factor)[:, None] * (field / np.where(length > 0.0, length, 1.0))
    return FieldForce(np.zeros_like(B), turning=-B)


def _harmonic(form: FieldForm, numbers: FieldNumbers, coordinates: FieldCoordinates, factor: np.ndarray) -> FieldForce:
    """Return the acceleration ``-s w r (d - rest) / d - 2 damping sqrt|s| v`` by a harmonic field.

    r is the vector of length d from the field's source to a point, and v the point's velocity. s is the field's
    strength, and w (``factor``) multiplies the strength at the point. ``rest`` is the rest length of the field's
    spring. ``damping`` is the field's damping ratio, which acts where w > 0.
    """
    rate, rest = numbers.strength * factor, numbers.rest_length
    near = coordinates.distances > 0.0
    stretch = np.where(near, 1.0 - rest / np.where(near, coordinates.distances, 1.0), float(rest == 0.0))
    drag = 2.0 * numbers.damping * np.sqrt(abs(numbers.strength)) * (factor > 0.0)
    pull = FieldForce(-(rate * stretch)[:, None] * coordinates.arms, drag=drag)
    if numbers.strength <= 0.0:
        return pull
    # Stiffness s w along the arm; across it, if the arm can rotate, s w (d - rest) / d under tension.
    n = coordinates.axes if form.shape == "PLANE" and rest == 0.0 else coordinates.directions
    K = n[:, :, None] * n[:, None, :]
    if form.shape in ("POINT", "POINTS", "LINE"):
        fixed = coordinates.axes[:, :, None] * coordinates.axes[:, None, :] if form.shape == "LINE" else 0.0
        K = K + np.maximum(stretch, 0.0)[:, None, None] * (np.eye(3) - fixed - K)
    return pull._replace(stiffness=rate[:, None, None] * K)


def _charge(_form: FieldForm, numbers: FieldNumbers, coordinates: FieldCoordinates, factor: np.ndarray) -> FieldForce:
    """Return the acceleration ``q s w r`` by a charge field.

    ``numbers.strength`` is the product q s of the body's charge and the field's strength. w (``factor``) multiplies the
    strength at a point. r is the vector from the field's source to the point, not normalized.
    """
    return FieldForce((numbers.strength * factor)[:, None] * coordinates.arms)


def _drag(_form: FieldForm, numbers: FieldNumbers, coordinates: FieldCoordinates, factor: np.ndarray) -> FieldForce:
    """Return the acceleration ``-w (s |v| + damping) v`` at velocity v.

    s is the field's strength, and ``damping`` the linear coefficient of drag. Both are at most ``STRONGEST_DRAG``. w
    (``factor``) multiplies both at a point.
    """
    cap = STRONGEST_DRAG
    drag, speed_drag = min(numbers.damping, cap) * factor, min(numbers.strength, cap) * factor
    return FieldForce(np.zeros_like(coordinates.arms), drag=drag, speed_drag=speed_drag)


def _fluid_flow(numbers: FieldNumbers, factor: np.ndarray, samples: np.ndarray) -> FieldForce:
    """Return the acceleration ``s w rho (u - flow v)`` at velocity v, in a fluid of velocity u and density rho.

    s is the field's strength, and w (``factor``) multiplies the strength at a point. flow is ``numbers.flow``.
    ``samples`` (p,4): rho u and rho.
    """
    influence = numbers.strength * factor
    return FieldForce(influence[:, None] * samples[:, :3], drag=numbers.flow * influence * samples[:, 3])


Formula = Callable[[FieldForm, FieldNumbers, FieldCoordinates, np.ndarray], FieldForce]

FORMULAS: dict[str, Formula] = {
    "FORCE": _force,
    "WIND": _wind,
    "VORTEX": _vortex,
    "MAGNET": _magnet,
    "HARMONIC": _harmonic,
    "CHARGE": _charge,
    "DRAG": _drag,
}

SAMPLED = {"TEXTURE": 3, "TURBULENCE": 3, "FLUID_FLOW": 4}
"""Kinds of fields that are sampled at grid nodes, and the number of values per node. Three values are an acceleration.
Four values are ``(rho u, rho)`` of a fluid, with the velocity u and the density rho.
"""

WITHOUT_FLOW = ("HARMONIC", "DRAG", "FLUID_FLOW")
"""Kinds of fields to which the parameter ``flow`` adds no drag, since their own formulas contain drag."""

STRONGEST_DRAG = 2.0
"""Upper bound of the linear and of the quadratic coefficient of drag fields."""
