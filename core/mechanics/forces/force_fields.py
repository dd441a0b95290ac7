"""Force fields as a load of a step.

Fields have their state at the end of the step, but are evaluated at the body's positions y0 at the beginning of the
step. Terms that resist motion (drag, flow, a harmonic field's spring and damping) are then a convex potential of the
positions y at the step's end, so they do not overshoot at any strength. For a mass m and a step h the potential is

    m (-a . d + d . K d / 2) + m h (c |v|² / 2 + e |v|³ / 3),      d = y - y0,  v = (y - base) / h

with the stiffness K, the drag coefficient c, the quadratic drag coefficient e, and ``base`` of :class:`Motion`. All
other terms form the constant acceleration a. Terms that would accelerate a body (a negative flow) use the velocity at
the beginning of the step. A magnetic field rotates that velocity by the angle of the whole step. Rotating instead of
adding a force keeps the speed, so the field adds no energy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .embedded_points import EmbeddedPoints
from .evaluated_field import EvaluatedField, sum_fields
from .field_formulas import FieldForce
from .step_potential import Motion, StepPotential


class MassPoints(NamedTuple):
    """Points in tets that carry the mass of a body: p ``points`` with the ``masses`` (p,) kg."""

    points: EmbeddedPoints
    masses: np.ndarray


class ForceFields:
    """Force fields that act on a body during one step."""

    def __init__(self, body: MassPoints, fields: Sequence[EvaluatedField]) -> None:
        self._body, self._fields = body, fields

    def begin(self, motion: Motion) -> ForceFieldPotential:
        """Return the potential of the fields in a step with the given ``motion``.

        The fields are evaluated at the beginning of the step.
        """
        points = self._body.points
        start = points.positions(motion.x_prev)
        velocities = np.zeros_like(start)
        if motion.velocities is not None:
            velocities = (points.positions(motion.x_prev + motion.step * motion.velocities) - start) / motion.step
        pull = sum_fields([field.pull(start) for field in self._fields], len(start))
        return ForceFieldPotential(self._body, pull, velocities, motion)


class ForceFieldPotential(StepPotential):
    """Potential of force fields during one step.

    ``pull``: acceleration by the fields at the p mass points of the body; ``velocities`` (p,3) m/s: velocities of these
    points at the beginning of the step.
    """

    def __init__(self, body: MassPoints, pull: FieldForce, velocities: np.ndarray, motion: Motion) -> None:
        self._points, self._masses, self._step = body.points, body.masses, motion.step
        self._start, self._base = body.points.positions(motion.x_prev), body.points.positions(motion.base)
        count = len(self._start)
        drag, speed_drag = (np.broadcast_to(each, count) for each in (pull.drag, pull.speed_drag))
        self._drag, self._speed_drag = np.maximum(drag, 0.0), np.maximum(speed_drag, 0.0)
        self._stiffness = pull.stiffness
        pushing = np.minimum(drag, 0.0) + np.minimum(speed_drag, 0.0) * np.linalg.norm(velocities, axis=1)
        self._acceleration = pull.acceleration - pushing[:, None] * velocities
        if pull.turning is not None:
            h = motion.at_end_of_step.step
            self._acceleration += (_turned(velocities, h * pull.turning) - velocities) / h
        self._slows = bool(self._drag.any() or self._speed_drag.any())

    def value(self, positions: np.ndarray) -> float:
        """Return the potential, J, at vertex ``positions`` (n,3) m."""
        y = self._points.positions(positions)
        moved = y - self._start
        each = -np.einsum("pi,pi->p", self._acceleration, moved)
        if self._stiffness is not None:
            each += 0.5 * np.einsum("pi,pij,pj->p", moved, self._stiffness, moved)
        if self._slows:
            speed = np.linalg.norm(y - self._base, axis=1) / self._step
            each += self._step * speed**2 * (self._drag / 2.0 + self._speed_drag * speed / 3.0)
        return float(self._masses @ each)

    def gradient(self, positions: np.ndarray) -> np.ndarray:
        """Return the gradient of the potential by the vertex positions, (n,3) N."""
        y = self._points.positions(positions)
        each = -self._acceleration
        if self._stiffness is not None:
            each = each + np.einsum("pij,pj->pi", self._stiffness, y - self._start)
        if self._slows:
            v = (y - self._base) / self._step
            each = each + (self._drag + self._speed_drag * np.linalg.norm(v, axis=1))[:, None] * v
        return self._points.spread(self._masses[:, None] * each)

    def add_stiffness(self, positions: np.ndarray, scale: float, blocks: np.ndarray) -> None:
        """Add ``scale`` times the stiffness of the fields to the element ``blocks`` (b,3,3).

        The stiffness is that of the harmonic springs and of the drag. ``positions`` (n,3), m: vertex positions, at
        which the drag is linearised.
        """
        if self._stiffness is None and not self._slows:
            return
        K = np.zeros((len(self._masses), 3, 3)) if self._stiffness is None else self._stiffness.copy()
        if self._slows:
            v = (self._points.positions(positions) - self._base) / self._step
            speed = np.linalg.norm(v, axis=1)
            K += ((self._drag + self._speed_drag * speed) / self._step)[:, None, None] * np.eye(3)
            along = v[:, :, None] * v[:, None, :] / np.maximum(speed, 1e-300)[:, None, None]
            K += (self._speed_drag / self._step)[:, None, None] * along
        self._points.add_stiffness(self._masses[:, None, None] * K, scale, blocks)


def _turned(vectors: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Return the ``vectors`` (p,3) rotated by the rotation vectors ``angles`` (p,3), in radians (Rodrigues)."""
    angle = np.linalg.norm(angles, axis=1, keepdims=True)
    axis = angles / np.where(angle > 0.0, angle, 1.0)
    along = axis * np.einsum("pi,pi->p", axis, vectors)[:, None]
    return along + np.cos(angle) * (vectors - along) + np.sin(angle) * np.cross(axis, vectors)
