"""A body with a collider and a spring, baked by a click on the button."""

import numpy as np


def test_a_cube_lies_on_a_slope(windowed):
    result = windowed.run("contact")
    said = result.values
    assert said["bake"][0] == "DONE", said["bake"]
    weight = 0.4**3 * 1050.0 * 9.81
    assert abs(said["strength"] / (weight / (0.01 * 0.49)) - 1.0) < 0.05, "a hundredth of its 49 cm across"
    assert abs(said["bake"][1] / (weight / 9.81) - 1.0) < 0.05
    gaps, slips = np.array(said["gaps"]), np.array(said["slips"])
    assert gaps.min() > 0.0, "nothing goes through"
    assert gaps[-1] < 0.01 * 0.49, "nor floats"
    assert abs(slips[18] - slips[9]) < 0.05, "tan 15 degrees is less than the friction"
    assert "Traceback" not in result.log, result.log
