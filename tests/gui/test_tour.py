"""A tour: all stations of an artist's way, one after the other in one Blender."""

import pytest


def test_from_a_head_to_a_picture(windowed):
    result = windowed.run("tour")
    said = result.values
    mode, painted = said["painted"]
    assert mode == "WEIGHT_PAINT" and painted > 3
    tets, summary = said["tetrahedra"]
    assert tets > 500 and f"{tets:,}" in summary
    group, picked = said["picked"]
    assert group == "Pins" and picked > 3
    assert said["stopped"] == ["STOPPED", True] and said["resumed"] == ["DONE", 40]
    frame, moved = said["scrubbed"]
    assert frame == 16 and moved > 1e-3, "the playhead was pulled, and the head follows"
    assert said["stepped"] == 17
    assert said["undone"] == [900, 40, "DONE"] and said["redone"] == [800, 40]
    assert said["opened"] == ["DONE", 40, 12] and said["plays the same"] == pytest.approx(0.0, abs=1e-6)
    assert said["rendered"] > 0.05, "the picture shows a head"
    assert "Traceback" not in result.log, result.log
