"""Positions of points relative to a force field, and the falloff of the field's strength.

Shapes and falloffs are those of Blender's manual (Physics > Forces > Force Fields); `docs/design/forces.md` has the
formulas. Lengths are in units of the field's ``unit_length``, since ``(1 + d)^-power`` depends on the unit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

SHAPES = ("POINT", "LINE", "PLANE", "SURFACE", "POINTS")
FALLOFFS = ("SPHERE", "TUBE", "CONE")
Z_DIRECTIONS = ("BOTH", "POSITIVE", "NEGATIVE")


class FieldForm(NamedTuple):
    """Type of a force field.

    ``kind``: a key of ``field_formulas.FORMULAS`` or ``SAMPLED``; ``shape``, ``falloff``, ``z_direction``: entries of
    ``SHAPES``, ``FALLOFFS``, ``Z_DIRECTIONS``; ``gravitation``: divides a field of the kind FORCE by the squared
    distance; ``unit_length``: the field's unit of length in m.
    """

    kind: str
    shape: str = "POINT"
    falloff: str = "SPHERE"
    z_direction: str = "BOTH"
    gravitation: bool = False
    unit_length: float = 1.0


class FieldNumbers(NamedTuple):
    """Numeric parameters of a field at one time, with lengths in the field's ``unit_length``.

    ``damping`` is the damping ratio of a harmonic field, or the linear coefficient of drag. ``noise`` is the range in
    which the strength varies; ``weight`` multiplies the strength for one body. ``power``, ``distance_min`` and
    ``distance_max`` define the falloff with distance. ``radial_power``, ``radial_min`` and ``radial_max`` define the
    falloff across the axis: with distance for TUBE, with the angle in degrees for CONE.
    """

    strength: float
    damping: float = 0.0
    flow: float = 0.0
    power: float = 0.0
    distance_min: float = 0.0
    distance_max: float = np.inf
    radial_power: float = 0.0
    radial_min: float = 0.0
    radial_max: float = np.inf
    rest_length: float = 0.0
    noise: float = 0.0
    weight: float = 1.0


class FieldCoordinates(NamedTuple):
    """Positions of p points relative to a force field.

    The field's source is a point, line, plane or surface.

    Attributes
    ----------
    arms : (p,3) vector to each point from the nearest point of the source
    distances : (p,) lengths of the arms
    axes : (p,3) unit; the field's z axis, or the normal of a surface where the surface is nearest to the point
    centre_arms : (p,3) vector from the field's centre to each point
    centre_axis : (3,) unit; the field's z axis
    """

    arms: np.ndarray
    distances: np.ndarray
    axes: np.ndarray
    centre_arms: np.ndarray
    centre_axis: np.ndarray

    @property
    def directions(self) -> np.ndarray:
        """Unit vectors (p,3) to each point from the nearest point of the field's source.

        The vectors are 0 where the distance is 0.
        """
        return self.arms / np.where(self.distances > 0.0, self.distances, 1.0)[:, None]


def field_coordinates(form: FieldForm, centre: np.ndarray, axis: np.ndarray, points: np.ndarray) -> FieldCoordinates:
    """Return the coordinates of points relative to a field.

    ``points`` (p,3); ``centre`` (3,) and unit ``axis`` (3,) of the field. Depending on the field's shape, the field's
    source is the centre, the line along the axis, or the plane across the axis. Lengths are in the field's unit.
    """
    from_centre = points - centre
    along = (from_centre @ axis)[:, None] * axis
    # A vortex rotates about its axis in both shapes, LINE and PLANE.
    if form.shape == "LINE" or (form.shape == "PLANE" and form.kind == "VORTEX"):
        arms = from_centre - along
    elif form.shape == "PLANE":
        arms = along
    else:
        arms = from_centre
    axes = np.broadcast_to(axis, points.shape)
    return FieldCoordinates(arms, np.linalg.norm(arms, axis=1), axes, from_centre, axis)


def drawn_from(form: FieldForm, numbers: FieldNumbers, coordinates: FieldCoordinates) -> np.ndarray:
    """Return the vector along which the field's influence reaches each point, (p,3).

    Surfaces that cross the vector absorb the influence. The vector ends at the point. It starts at the nearest point of
    the field's source or, in a harmonic field, at the rest position of the spring that pulls the point.
    """
    if form.kind != "HARMONIC" or numbers.rest_length == 0.0:
        return coordinates.arms
    return coordinates.arms - numbers.rest_length * coordinates.directions


def strength_fraction(form: FieldForm, numbers: FieldNumbers, coordinates: FieldCoordinates) -> np.ndarray:
    """Return the factor of the field's strength at each point, (p,): falloff times weight.

    The factor is 0 beyond the field's maximum distances, and on the side of the field that ``z_direction`` excludes.
    """
    height = np.einsum("pi,pi->p", coordinates.axes, coordinates.centre_arms)
    part = np.full(len(height), max(numbers.weight, 0.0))
    if form.z_direction != "BOTH":
        part[height < 0.0 if form.z_direction == "POSITIVE" else height > 0.0] = 0.0
    bounds = numbers.distance_min, numbers.distance_max, numbers.power
    if form.falloff == "SPHERE":
        return part * _fade(coordinates.distances, *bounds)
    part *= _fade(np.abs(height), *bounds)
    if form.falloff == "TUBE":
        aside = np.linalg.norm(coordinates.centre_arms - height[:, None] * coordinates.axes, axis=1)
    else:
        length = np.linalg.norm(coordinates.centre_arms, axis=1)
        aside = np.degrees(np.arccos(np.clip(height / np.where(length > 0.0, length, 1.0), -1.0, 1.0)))
    return part * _fade(aside, numbers.radial_min, numbers.radial_max, numbers.radial_power)


def _fade(distance: np.ndarray, least: float, most: float, power: float) -> np.ndarray:
    """Return the falloff: 1 up to ``least``, then ``(1 + distance - least)^-power``, 0 beyond ``most``."""
    beyond = np.maximum(distance - least, 0.0)
    return np.where(distance > most, 0.0, (1.0 + beyond) ** -power)
