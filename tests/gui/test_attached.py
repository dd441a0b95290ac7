"""Ties and pressure, set up and baked in a window."""

import pytest


@pytest.fixture(scope="module")
def attached(windowed):
    return windowed.run("attached").values


def test_a_tie_names_the_selected_body_and_both_are_baked(attached):
    assert attached["other"] == "Bar" and attached["baked"] == [["DONE", 8]] * 2


def test_the_block_hangs_from_the_bar(attached):
    """In a free fall of seven frames it would be 0.4 m below it."""
    assert -0.35 < attached["apart"] < -0.1


def test_the_balloon_is_inflated(attached):
    assert attached["balloon"] == ["DONE", 8] and attached["width"] > 0.255
