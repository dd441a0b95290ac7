"""Overlays in a real viewport: the legend, the slice, the marks, and nothing of them when overlays are off."""

import numpy as np
import pytest
from PIL import Image

PINS, SPRINGS, COLLIDERS = (0.27, 0.78, 1.0), (1.0, 0.99, 0.0), (0.07, 0.53, 0.33)


@pytest.fixture(scope="module")
def shown(windowed):
    return windowed.run("overlays")


def photograph(result, name):
    x, y, width, height = result.values["viewport"]
    picture = Image.open(result.photographs[name]).convert("RGB").crop((x, y, x + width, y + height))
    return np.asarray(picture, dtype=float) / 255.0


def near(pixels, colour, away=0.04):
    return np.abs(pixels - np.array(colour)).max(axis=-1) < away


def corner(pixels):
    """Return the corner with the legend."""
    return pixels[-300:, -260:]


def middle(pixels):
    """Return the pixels around the body, without the legend, the tools and the sidebar's edge."""
    return pixels[80:-60, 100:-280]


def test_before_there_are_tetrahedra_the_legend_asks_for_them(shown):
    before, first = photograph(shown, "0-nothing"), photograph(shown, "1-first")
    changed = (np.abs(before - first) > 0.1).any(axis=-1)
    assert corner(changed).sum() > 100
    assert middle(changed).sum() == 0


def test_the_legend_shows_the_colours_of_the_tetrahedra(shown):
    tets = photograph(shown, "2-tets")
    for colour in ((0.16, 0.18, 0.45), (0.65, 0.10, 0.15)):
        assert near(corner(tets), colour, 0.06).sum() > 10  # the bar's first and last rows, 9 pixels wide
    body = middle(tets)
    blue = body[..., 2] > body[..., 0] + 0.12
    red = body[..., 0] > body[..., 2] + 0.12
    assert blue.sum() > 5000 and red.sum() > 5000
    # Soft is at the left, stiff at the right.
    assert np.nonzero(blue)[1].mean() + 100 < np.nonzero(red)[1].mean()


def test_the_slice_moves(shown):
    nothing = photograph(shown, "0-nothing")
    covered = []
    for name in ("2-tets", "3-slice", "4-moved"):
        changed = (np.abs(middle(photograph(shown, name)) - middle(nothing)) > 0.08).any(axis=-1)
        covered.append(np.nonzero(changed)[1].max())
    assert covered[0] > covered[1] + 50 > covered[2] + 100


def test_materials_have_their_own_colours(shown):
    stiffness, materials = photograph(shown, "4-moved"), photograph(shown, "5-materials")
    assert (np.abs(corner(stiffness) - corner(materials)) > 0.1).any(axis=-1).sum() > 500


def test_marks_are_there_and_go_with_the_overlays(shown):
    nothing, marks = middle(photograph(shown, "0-nothing")), middle(photograph(shown, "6-marks"))
    for colour in (PINS, SPRINGS, COLLIDERS):
        assert near(marks, colour, 0.06).sum() > 100, colour
    off = middle(photograph(shown, "8-off"))
    assert not any(near(off, colour, 0.06).any() for colour in (PINS, SPRINGS, COLLIDERS))
    assert nothing.shape == off.shape


def test_nothing_is_said_of_an_error(shown):
    assert "Traceback" not in shown.log
    assert "Error" not in shown.log
