"""Blender's fluid solver is whole in few of the Blenders that these tests run in: not in the wheels, nor in 4.3."""

import numpy as np
import pytest


def test_smoke_carries_a_body(windowed):
    if windowed.version < (5, 2):
        pytest.skip("this Blender cannot simulate fluids")
    said = windowed.run("fluid_flow").values
    assert said["baked"] == ["DONE", 12]
    start, half, end = np.array(said["places"])
    assert np.abs(start).max() < 1e-6
    assert (end[[0, 2]] > half[[0, 2]]).all() and (half[[0, 2]] > 0.01).all(), "as the smoke is blown: along x and up"
