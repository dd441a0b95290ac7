"""Absorption: what of a field comes through surfaces, for every shape of the field."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.mechanics.forces.absorption import AbsorbingSurface, transmittance
from sinew.core.mechanics.forces.evaluated_field import EvaluatedField
from sinew.core.mechanics.forces.field_coordinates import FieldForm, FieldNumbers
from sinew.core.mechanics.forces.field_formulas import FORMULAS
from sinew.core.mechanics.forces.field_samples import FieldSamples

SQUARE = np.array([[-1.0, -1.0, 1.0], [1.0, -1.0, 1.0], [1.0, 1.0, 1.0], [-1.0, 1.0, 1.0]])
FACES = np.array([[0, 1, 2], [0, 2, 3]])
UP = np.array([0.0, 0.0, 1.0])
BEHIND, BEFORE, ASIDE = [0.4, 0.3, 2.0], [0.4, 0.3, 0.5], [3.0, 0.0, 2.0]
PLACES = np.array([BEHIND, BEFORE, ASIDE])


def sheet(absorption=0.75, height=1.0) -> AbsorbingSurface:
    return AbsorbingSurface(SQUARE + [0.0, 0.0, height - 1.0], FACES, absorption)


def moment(kind="FORCE", shape="POINT", absorbing=(), unit=1.0, **numbers) -> EvaluatedField:
    form = FieldForm(kind, shape, unit_length=unit)
    return EvaluatedField(form, FieldNumbers(2.0, **numbers), np.zeros(3), UP, absorbing=tuple(absorbing))


def test_what_lies_behind_loses_a_part():
    assert transmittance([sheet()], PLACES, PLACES).tolist() == [0.25, 1.0, 1.0]
    assert transmittance([sheet(), sheet(0.5, 1.5)], PLACES, PLACES).tolist() == [0.125, 1.0, 1.0]
    assert transmittance([sheet(), sheet(1.0, 3.0)], PLACES, PLACES).tolist() == [0.25, 1.0, 1.0]
    assert transmittance([], PLACES, PLACES).tolist() == [1.0, 1.0, 1.0]


def test_a_surface_that_is_crossed_twice_takes_once():
    twice = AbsorbingSurface(
        np.concatenate([SQUARE, SQUARE + [0.0, 0.0, 0.5]]), np.concatenate([FACES, FACES + 4]), 0.75
    )
    assert transmittance([twice], PLACES, PLACES).tolist() == [0.25, 1.0, 1.0]


@pytest.mark.parametrize(("absorption", "left"), [(0.0, 1.0), (1.0, 0.0), (7.0, 0.0), (-1.0, 1.0)])
def test_it_takes_nothing_to_everything(absorption, left):
    assert transmittance([sheet(absorption)], PLACES, PLACES)[0] == left


def test_a_surface_that_moves_is_found_where_it_is():
    there = AbsorbingSurface(SQUARE + [1.5, 0.0, 0.0], FACES, 0.75, like=sheet())
    assert transmittance([there], PLACES, PLACES).tolist() == [1.0, 1.0, 0.25]


@pytest.mark.parametrize("kind", FORMULAS)
def test_a_full_one_leaves_nothing_of_any_type(kind):
    there, behind = (moment(kind, absorbing=[sheet(1.0)] * k, flow=0.5, damping=0.5).pull(PLACES) for k in (0, 1))
    velocities = np.array([[1.0, 2.0, 3.0]] * 3)
    assert (behind.at(velocities)[0] == 0.0).all() and np.abs(there.at(velocities)[0]).max() > 0.1
    assert np.array_equal(behind.at(velocities)[1:], there.at(velocities)[1:])


@pytest.mark.parametrize(
    ("shape", "left"),
    # A plane shines along its normal, a line across itself: past the side of a sheet, and along below it.
    [("POINT", [0.25, 1.0, 1.0]), ("PLANE", [0.25, 1.0, 1.0]), ("LINE", [1.0, 1.0, 1.0])],
)
def test_it_comes_from_the_nearest_place_of_the_field(shape, left):
    there, behind = (moment("WIND", shape, [sheet()] * k).pull(PLACES).acceleration[:, 2] for k in (0, 1))
    assert behind / there == pytest.approx(left)


def test_a_plane_is_shaded_straight_along_its_normal():
    far = np.array([[0.9, 0.9, 100.0], [1.1, 0.0, 100.0]])
    assert moment("WIND", "PLANE", [sheet()]).pull(far).acceleration[:, 2].tolist() == [0.5, 2.0]


def test_every_point_is_a_source_of_its_own():
    sources = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.5]])
    one = moment("WIND", "POINTS", [sheet()])
    both = EvaluatedField(
        one.form, one.numbers, one.centre, UP, points=sources, normals=np.array([UP, UP]), absorbing=(sheet(),)
    )
    assert both.pull(np.array([BEHIND])).acceleration[0, 2] == pytest.approx(0.25 * 2.0 + 2.0)


def test_a_harmonic_field_comes_from_where_it_rests():
    """A rest length of 1.5 about the origin: the sphere lies between the sheet and a point 2 above."""
    high = np.array([[0.0, 0.0, 2.0], [0.0, 0.0, 0.5]])
    there, behind = (moment("HARMONIC", absorbing=[sheet()] * k, rest_length=1.5).pull(high) for k in (0, 1))
    assert behind.acceleration[0].tolist() == there.acceleration[0].tolist()
    assert behind.acceleration[1] == pytest.approx(0.25 * there.acceleration[1])


def test_what_was_sampled_loses_as_much():
    samples = FieldSamples(np.full(3, -5.0), np.full(3, 5.0), np.ones((2, 2, 2, 3)))
    shaded = EvaluatedField(
        FieldForm("TURBULENCE"), FieldNumbers(2.0), np.zeros(3), UP, samples=samples, absorbing=(sheet(),)
    )
    assert shaded.pull(PLACES).acceleration[:, 0] == pytest.approx([0.25, 1.0, 1.0])


def test_lengths_of_the_field_are_metres_of_the_surface():
    tenth = AbsorbingSurface(0.1 * SQUARE, FACES, 0.75)
    found = moment(absorbing=[tenth], unit=0.1).pull(0.1 * PLACES).acceleration
    assert found == pytest.approx(0.1 * moment(absorbing=[sheet()]).pull(PLACES).acceleration)
