"""The pick tool in a real viewport."""

import numpy as np
import pytest
from PIL import Image


@pytest.fixture(scope="module")
def picked(windowed):
    return windowed.run("pick")


def test_the_button_works_in_every_mode(picked):
    assert picked.values["chosen"] == 3 * [["OBJECT", "sinew.pick_tool"]]


def test_a_click_adds_the_vertex_under_the_cursor_and_takes_it_out(picked):
    assert np.allclose(picked.values["clicked"], [[0.5, -1.0, 0.5]])
    assert picked.values["clicked again"] == 0


def test_the_opposite_vertex_is_picked_too(picked):
    assert np.allclose(picked.values["mirrored"], [-0.5, 0.5])


def test_a_box_adds_what_is_seen_and_takes_out_with_ctrl(picked):
    """Two columns of five on the front side, of which one vertex, and another, were picked already."""
    count, back = picked.values["boxed"]
    assert count == 11 and back == -1.0
    assert picked.values["boxed out"] == 11 - 6


def test_a_box_is_one_undo(picked):
    assert picked.values["undone"] == [11, "OBJECT"]


def test_a_spring_has_picks_of_its_own(picked):
    assert picked.values["spring"] == ["Spring", 1]


def test_a_click_beside_the_body_selects_and_one_on_a_body_makes_it_active_again(picked):
    assert picked.values["selected"] == ["Other", "Cube", 1]


def test_the_tool_goes_with_the_extension(picked):
    assert picked.values["without"] == "builtin.select_box"


def test_picks_are_drawn_as_dots(picked):
    boxed = np.asarray(Image.open(picked.photographs["2-boxed"]).convert("RGB"), dtype=float)[30:880, 80:1300] / 255.0
    orange = (boxed[..., 0] > 0.9) & (boxed[..., 1] < 0.65) & (boxed[..., 2] < 0.3)
    assert orange.sum() > 11 * 15


def test_nothing_is_said_of_an_error(picked):
    assert "Traceback" not in picked.log
    assert "Error" not in picked.log
