"""A bar that a keyed blade cuts, in a window."""

import pytest


@pytest.fixture(scope="module")
def cuts(windowed):
    return windowed.run("cuts").values


def test_the_split_adds_faces_with_a_material_slot(cuts):
    assert cuts["grown"] and cuts["slots"] >= 1


def test_the_free_half_falls(cuts):
    """In a free fall of six frames it falls by 0.31 m."""
    assert cuts["baked"] == ["DONE", 12]
    assert cuts["lowest"] < cuts["held"] - 0.2


def test_restore_takes_the_split_back(cuts):
    assert cuts["restored"]
