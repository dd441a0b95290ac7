"""Panels are opened and used by clicks, as an artist does."""

import numpy as np
from PIL import Image


def seen(photograph):
    """Blue pixels and pale ones of the view's middle, left of the sidebar."""
    picture = np.asarray(Image.open(photograph).convert("RGB"), dtype=float)[380:560, 560:740] / 255.0
    blue = (picture[..., 2] > 0.9) & (picture[..., 1] < 0.85) & (picture[..., 0] < 0.4)
    pale = (picture[..., 2] > 0.95) & (picture[..., 0] > 0.5)
    return int(blue.sum()), int(pale.sum())


def test_panels_are_opened_by_clicks(windowed):
    result = windowed.run("open_panels")
    said = result.values
    assert said["ground"]
    assert "Frames 27-28, 40 did not converge" in said["report"] and "Factorization" in said["report"]
    assert said["report window"] == [2, "TEXT_EDITOR"]
    assert len(result.photographs) == 22
    assert [said[f"pins {when}"] for when in ("at first", "stay", "in the Physics tab")] == [False, True, True]
    blue, pale = np.subtract(*(seen(result.photographs[f"pins-{state}"]) for state in ("open", "closed")))
    assert blue > 50 and pale > 300, "held ones, and those of the goal"
    for trouble in ("Traceback", "rna_uiItem", "unknown operator"):
        assert trouble not in result.log, result.log
