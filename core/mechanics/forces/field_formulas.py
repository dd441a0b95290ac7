"""Formulas of the kinds of force fields, one function for each kind.

A field gives a body the acceleration that Blender gives a particle of one kilogram. `docs/design/forces.md` lists the
formulas, their sources and their comparison with Blender. In the functions r is the arm from the field's nearest point,
d its length, n the axis, s the strength and w the fraction of it that reaches a point.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .field_coordinates import FieldCoordinates, FieldForm, FieldNumbers


class FieldForce(NamedTuple):
    """Acceleration of masses by a field, at positions y with velocities v,

        a(y, v) = acceleration - stiffness (y - y0) - (drag + speed_drag |v|) v + turning x v

    around the positions y0 at which the field was evaluated.

    Attributes
    ----------
    acceleration : (p,3) m/s²; stiffness : (p,3,3) 1/s², semi-definite, or None
    drag : (p,) 1/s; speed_drag : (p,) 1/m; turning : (p,3) 1/s
    """

    acceleration: np.ndarray
    stiffness: np.ndarray | None = None
    drag: np.ndarray | float = 0.0
    speed_drag: np.ndarray | float = 0.0
    turning: np.ndarray | None = None

    def at(self, velocities: np.ndarray) -> np.ndarray:
        """Return the acceleration (p,3) m/s² at y0 with velocities (p,3) m/s."""
        speed = np.linalg.norm(velocities, axis=1)
        slowing = np.broadcast_to(self.drag + self.speed_drag * speed, speed.shape)[:, None] * velocities
        turned = 0.0 if self.turning is None else np.cross(self.turning, velocities)
        return self.acceleration - slowing + turned


def field_force(
    form: FieldForm,
    numbers: FieldNumbers,
    coordinates: FieldCoordinates,
    part: np.ndarray,
    samples: np.ndarray | None = None,
) -> FieldForce:
    """Return the force of a field on p points with these ``coordinates``; ``part`` (p,) is the fraction of the field's
    strength that reaches each point. Kinds without a formula (``SAMPLED``) use their ``samples`` (p,k) at the points.
    Arguments are in the field's unit of length, the result in metres.
    """
    if samples is None:
        pull = FORMULAS[form.kind](form, numbers, coordinates, part)
    elif form.kind == "FLUID_FLOW":
        pull = _fluid_flow(numbers, part, samples)
    else:
        pull = FieldForce(max(numbers.weight, 0.0) * samples)
    if form.kind not in WITHOUT_FLOW and numbers.flow != 0.0:
        pull = pull._replace(drag=pull.drag + numbers.flow * part)
    unit = form.unit_length
    return pull._replace(acceleration=unit * pull.acceleration, speed_drag=pull.speed_drag / unit)


def _force(form: FieldForm, numbers: FieldNumbers, coordinates: FieldCoordinates, part: np.ndarray) -> FieldForce:
    """Return the acceleration ``s w r / d``; with gravitation ``s w r / d³``."""
    strength = numbers.strength * part
    if form.gravitation:
        away = coordinates.distances > np.finfo(np.float32).eps
        strength = np.where(away, strength / np.where(away, coordinates.distances, 1.0) ** 2, 0.0)
    return FieldForce(strength[:, None] * coordinates.directions)


def _wind(_form: FieldForm, numbers: FieldNumbers, coordinates: FieldCoordinates, part: np.ndarray) -> FieldForce:
    """Return the acceleration ``s w n``."""
    return FieldForce((numbers.strength * part)[:, None] * coordinates.axes)


def _vortex(form: FieldForm, numbers: FieldNumbers, coordinates: FieldCoordinates, part: np.ndarray) -> FieldForce:
    """Return the acceleration of a vortex: about a point ``s w d (n x r) / |n x r|``; about a line ``s w n x u + (u -
    v)``, a centripetal acceleration and a drag of 1/s towards the velocity ``u = s w n x r`` of rotation.
    """
    if form.shape == "POINT":
        around = np.cross(coordinates.axes, coordinates.arms)
        length = np.linalg.norm(around, axis=1)
        size = numbers.strength * part * coordinates.distances / np.where(length > 0.0, length, 1.0)
        return FieldForce(size[:, None] * around)
    rate = (numbers.strength * part)[:, None]
    turning = rate * np.cross(coordinates.centre_axis, coordinates.centre_arms)
    inward = rate * np.cross(coordinates.centre_axis, turning)
    return FieldForce(inward + turning, drag=(part > 0.0).astype(np.float64))


def _magnet(form: FieldForm, numbers: FieldNumbers, coordinates: FieldCoordinates, part: np.ndarray) -> FieldForce:
    """Return the acceleration ``v x B``; B has length ``s w``, around the axis for a point or line, else along it."""
    field = np.cross(coordinates.axes, coordinates.arms) if form.shape in ("POINT", "LINE") else coordinates.axes
    length = np.linalg.norm(field, axis=1, keepdims=True)
    B = (numbers.strength * part)[:, None] * (field / np.where(length > 0.0, length, 1.0))
    return FieldForce(np.zeros_like(B), turning=-B)


def _harmonic(form: FieldForm, numbers: FieldNumbers, coordinates: FieldCoordinates, part: np.ndarray) -> FieldForce:
    """Return the acceleration of a damped spring of length rest, ``-s w r (d - rest) / d - 2 damping sqrt|s| v``."""
    rate, rest = numbers.strength * part, numbers.rest_length
    near = coordinates.distances > 0.0
    stretch = np.where(near, 1.0 - rest / np.where(near, coordinates.distances, 1.0), float(rest == 0.0))
    drag = 2.0 * numbers.damping * np.sqrt(abs(numbers.strength)) * (part > 0.0)
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


def _charge(_form: FieldForm, numbers: FieldNumbers, coordinates: FieldCoordinates, part: np.ndarray) -> FieldForce:
    """Return the acceleration ``q s w r``; ``numbers.strength`` is q s, with the body's charge q."""
    return FieldForce((numbers.strength * part)[:, None] * coordinates.arms)


def _drag(_form: FieldForm, numbers: FieldNumbers, coordinates: FieldCoordinates, part: np.ndarray) -> FieldForce:
    """Return the acceleration ``-w (s |v| + damping) v``, with s and damping at most ``STRONGEST_DRAG``."""
    cap = STRONGEST_DRAG
    drag, speed_drag = min(numbers.damping, cap) * part, min(numbers.strength, cap) * part
    return FieldForce(np.zeros_like(coordinates.arms), drag=drag, speed_drag=speed_drag)


def _fluid_flow(numbers: FieldNumbers, part: np.ndarray, samples: np.ndarray) -> FieldForce:
    """Return the acceleration ``s w rho (u - flow v)``; u, rho: the fluid's velocity and density (1 if it has none)."""
    influence = numbers.strength * part
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
"""Kinds sampled at grid nodes, with the number of values per node: an acceleration, or ``(rho u, rho)`` of a fluid."""

WITHOUT_FLOW = ("HARMONIC", "DRAG", "FLUID_FLOW")
"""Kinds to which ``flow`` adds no drag, since their formula contains drag."""

STRONGEST_DRAG = 2.0
"""Upper bound of drag coefficients."""
