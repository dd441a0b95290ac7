"""Painting a material with the mouse."""

import pytest


def test_a_stroke_keeps_the_sum_at_one_and_is_one_undo_step(windowed):
    result = windowed.run("paint")
    said = result.values
    assert said["mode"] == "WEIGHT_PAINT" and said["active map"] == "Bone"
    assert said["sum before"] == pytest.approx([1.0, 1.0])
    assert said["painted"] > 0, "the stroke painted nothing"
    assert said["sum after"] == pytest.approx([1.0, 1.0], abs=1e-4)
    assert said["after undo"] == [pytest.approx(1.0), pytest.approx(1.0), 0, "WEIGHT_PAINT"]
    assert said["other map"][:2] == pytest.approx([1.0, 1.0]) and said["other map"][2] > 0
    correlation, values = said["gradient"]
    assert abs(correlation) > 0.8 and values > 10, "the gradient tool draws a gradient, and that is what is read"
    assert said["gradient sums"] < 1e-6 and not said["stroke with the gradient tool"]
    left, right = said["both sides"]
    assert left > 0.6 and right == pytest.approx(left, abs=1e-3), "a stroke that mirrors is as strong on the other side"
    assert said["sums of both sides"] < 1e-6
    assert "Traceback" not in result.log, result.log
