"""Dynamic nodes in a real viewport."""

import numpy as np
import pytest
from PIL import Image


@pytest.fixture(scope="module")
def chosen(windowed):
    return windowed.run("nodes")


def test_as_many_as_the_number_says_are_proposed(chosen):
    """In pairs, since the cube is its own mirror image."""
    proposed = chosen.values["proposed"]
    assert len(proposed) == 4
    assert sorted([-x, y, z] for x, y, z in proposed) == sorted(proposed)


def test_a_click_adds_one(chosen):
    added = [place for place in chosen.values["clicked"] if place not in chosen.values["proposed"]]
    assert added == [[0.0, -1.0, 0.0]]


def test_a_body_that_nodes_carry_is_played_with(chosen):
    assert chosen.values["grabs"] == 1 and chosen.values["pulled"] > 0.1, "its front follows the mouse"
    assert chosen.values["refused"] == ["", ""]


def test_a_body_that_nodes_carry_is_baked(chosen):
    assert chosen.values["baked"] == ["DONE", 6]


def test_nodes_are_drawn_with_their_balls(chosen):
    """Violet circles, which reach out of the cube."""
    before, after = (violet(chosen.photographs[name]) for name in ("0-none", "2-clicked"))
    assert after.sum() > before.sum() + 1500, "thousands, where dots are tens"


def violet(photograph):
    """Return whether pixels have the colour of the nodes."""
    red, green, blue = np.moveaxis(np.asarray(Image.open(photograph).convert("RGB"), dtype=float), -1, 0)
    return (blue > 200) & (red > 120) & (red < 220) & (green < 120)
