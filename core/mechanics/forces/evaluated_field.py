"""Force field at one time, the field's acceleration at given points, and the sum of several fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from ...geometry.mesh.nearest_point import NearestPointSearch
from .absorption import AbsorbingSurface, transmittance
from .field_coordinates import (
    FieldCoordinates,
    FieldForm,
    FieldNumbers,
    drawn_from,
    field_coordinates,
    strength_fraction,
)
from .field_formulas import FieldForce, field_force
from .field_samples import FieldSamples


@dataclass(frozen=True)
class EvaluatedField:
    """Force field at one time, in world space.

    Attributes
    ----------
    form, numbers : type and numeric parameters of the field
    centre : (3,) m; axis : (3,) unit
    surface : for the shape ``SURFACE``, the search for the surface point that is nearest to a given point; else None
    points, normals : (k,3) m and (k,3) unit; None except for the shape ``POINTS``, where k equal fields act
        together: each has its centre at one point of the field object, and the normal there as its axis
    samples : grid samples of a field whose kind has no formula, else None
    absorbing : surfaces that reduce the field behind them
    """

    form: FieldForm
    numbers: FieldNumbers
    centre: np.ndarray
    axis: np.ndarray
    surface: NearestPointSearch | None = None
    points: np.ndarray | None = None
    normals: np.ndarray | None = None
    samples: FieldSamples | None = None
    absorbing: tuple[AbsorbingSurface, ...] = ()

    def pull(self, points: np.ndarray) -> FieldForce:
        """Return the acceleration of masses by the field at ``points`` (p,3), m."""
        if self.form.shape == "POINTS":
            each = (
                self._pull_from(coordinates, normal, points) for coordinates, normal in zip(self.points, self.normals)
            )
            return sum_fields(list(each), len(points))
        return self._pull_from(self.centre, self.axis, points)

    def _pull_from(self, centre: np.ndarray, axis: np.ndarray, points: np.ndarray) -> FieldForce:
        unit = self.form.unit_length
        coordinates = field_coordinates(self.form, centre / unit, axis, points / unit)
        if self.form.shape == "SURFACE":
            coordinates = self._at_surface(coordinates, points)
        elif self.form.shape == "POINTS":
            # The height along the normal of a surface point is measured from the object's centre.
            coordinates = coordinates._replace(centre_arms=(points - self.centre) / unit, centre_axis=self.axis)
        samples = None if self.samples is None else self.samples.at(points)
        part = strength_fraction(self.form, self.numbers, coordinates)
        if self.absorbing:
            left = transmittance(self.absorbing, points, unit * drawn_from(self.form, self.numbers, coordinates))
            part = left * part
            # Sampled accelerations contain the falloff already; the formula of a fluid's flow applies ``part`` to it.
            samples = samples if samples is None or self.form.kind == "FLUID_FLOW" else left[:, None] * samples
        return field_force(self.form, self.numbers, coordinates, part, samples)

    def _at_surface(self, coordinates: FieldCoordinates, points: np.ndarray) -> FieldCoordinates:
        nearest = self.surface.nearest(points)
        arms = (points - nearest.points) / self.form.unit_length
        return coordinates._replace(arms=arms, distances=np.linalg.norm(arms, axis=1), axes=nearest.normals)


def sum_fields(pulls: Sequence[FieldForce], count: int) -> FieldForce:
    """Return the sum of the accelerations by several fields at the same ``count`` points; zero without fields."""
    return reduce(_both, pulls, FieldForce(np.zeros((count, 3))))


def _both(one: FieldForce, other: FieldForce) -> FieldForce:
    def sum_of(a: np.ndarray | None, b: np.ndarray | None) -> np.ndarray | None:
        return a if b is None else b if a is None else a + b

    return FieldForce(*(sum_of(a, b) for a, b in zip(one, other)))
