"""Bone bodies, set up and baked in a window."""

import pytest


@pytest.fixture(scope="module")
def bones(windowed):
    return windowed.run("bones").values


def test_bones_get_bodies_and_an_action(bones):
    assert bones["bodies"] == ["Lower Body", "Upper Body"] and bones["baked"] == [["DONE", 12]] * 2
    assert bones["action"] == "Armature Bake"


def test_the_limp_bone_hangs_from_the_animated_one(bones):
    upper, lower = bones["tails"]
    assert upper == pytest.approx(1.0, abs=1e-4) and lower < 0.8


def test_one_undo_takes_the_action_back(bones):
    assert bones["undone"]
