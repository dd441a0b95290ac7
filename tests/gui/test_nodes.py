"""Dynamic nodes in a real viewport."""

import pytest


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
    assert chosen.values["grabs"] == 1 and chosen.values["pulled"] > 0.1, "the corner follows the mouse"
    assert chosen.values["refused"] == ["", ""]


def test_a_body_that_nodes_carry_is_baked(chosen):
    assert chosen.values["baked"] == ["DONE", 6]
