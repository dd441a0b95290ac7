"""Directions along curves and tubes around them, against a circular arc."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.foundation.errors import MaterialError
from sinew.core.mechanics.fibres.directions import SAMPLES, directions_along
from sinew.core.mechanics.fibres.tubes import SIDES, tube

SEGMENTS = 12
TURN = 0.5 * np.pi / SEGMENTS
"""Angle between two segments of the arc, a quarter circle of radius 1."""


def on_arc(angles):
    return np.column_stack([np.cos(angles), np.sin(angles), np.zeros(len(angles))])


ARC = on_arc(np.linspace(0.0, 0.5 * np.pi, SEGMENTS + 1))


def test_fibres_follow_an_arc():
    """Within the spacing of the samples; at the ends, the tangent is that of the segment, off by half a turn."""
    angles = np.linspace(0.0, 0.5 * np.pi, 400)
    found = directions_along(0.95 * on_arc(angles), [ARC])
    exact = np.column_stack([-np.sin(angles), np.cos(angles), np.zeros(400)])
    error = np.arccos(np.clip((found.along * exact).sum(axis=1), -1.0, 1.0))
    inner = (angles > TURN) & (angles < 0.5 * np.pi - TURN)
    assert error[inner].max() < 1.2 * TURN / SAMPLES and error.max() < 0.6 * TURN
    assert np.abs(found.part - angles / (0.5 * np.pi)).max() < 1.0 / (SAMPLES * SEGMENTS)


def test_a_tube_has_the_volume_of_a_torus_sector():
    """By Pappus: area of the section, a polygon, times the length of the arc."""
    surface = tube(ARC, np.full(len(ARC), 0.1))
    a, b, c = (surface.positions[surface.triangles[:, k]] for k in range(3))
    area = 0.5 * SIDES * 0.1**2 * np.sin(2.0 * np.pi / SIDES)
    assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0 == pytest.approx(0.5 * np.pi * area, rel=TURN**2)


@pytest.mark.parametrize(
    "use", [lambda points: tube(points, np.ones(3)), lambda points: directions_along(ARC, [points])]
)
def test_a_curve_that_turns_back_is_refused(use):
    with pytest.raises(MaterialError, match="turns back"):
        use(np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.0, 0.0]]))


def test_directions_are_blended_between_curves_of_either_sense():
    """Two curves at an angle of 60 degrees, one of them reversed: halfway, the bisector; the change is even."""
    turned = np.array([np.cos(np.pi / 3.0), np.sin(np.pi / 3.0), 0.0])
    first = np.array([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    second = np.array([0.0, 0.0, 0.2]) + np.outer([1.0, -1.0], turned)
    heights = np.linspace(0.0, 0.2, 21)
    found = directions_along(np.column_stack([0.0 * heights, 0.0 * heights, heights]), [first, second])
    angles = np.degrees(np.arctan(found.along[:, 1] / found.along[:, 0]))
    assert angles[[0, 10, 20]] == pytest.approx([0.0, 30.0, 60.0], abs=0.5)
    assert (np.diff(angles) > 0.0).all() and np.diff(angles).max() < 12.0
    assert np.linalg.norm(found.along, axis=1) == pytest.approx(1.0)


def test_of_many_curves_the_nearest_counts():
    rng = np.random.default_rng(5)
    roots = rng.uniform(size=(500, 3))
    steps = 0.02 * rng.standard_normal((500, 3))
    found = directions_along(roots + 0.5 * steps, [np.array([a, a + d]) for a, d in zip(roots, steps, strict=True)])
    along = (found.along * steps).sum(axis=1) / np.linalg.norm(steps, axis=1)
    assert np.mean(along > 0.999) > 0.95
