"""Two bodies that meet, in a window."""

import numpy as np
import pytest
from PIL import Image


@pytest.fixture(scope="module")
def met(windowed):
    return windowed.run("meet")


def test_both_are_baked_by_one_button(met):
    assert met.values["both"] == 2 and met.values["done"] == [["DONE", 8]] * 2
    assert "iterations" in met.values["words"]
    assert met.values["undone"] == [["FAILED", 0]] * 2, "one undo takes both back to what was refused"


def test_an_overlap_is_told_and_mended(met):
    assert all("“High” and “Low” overlap by" in words for words in met.values["refused"])


def test_what_overlaps_is_untangled(met):
    assert met.values["untangled"] == [["DONE", 8]] * 2


def test_contacts_are_drawn(met):
    before, after = (
        np.asarray(Image.open(met.photographs[name]).convert("RGB"), dtype=float)
        for name in ("3-at-work", "4-contacts")
    )
    red = [((p[..., 0] > 150) & (p[..., 1] < 60) & (p[..., 2] < 80)).sum() for p in (before, after)]
    assert red[1] > red[0] + 20
