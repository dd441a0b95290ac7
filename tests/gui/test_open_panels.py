"""Panels are opened and used by clicks, as an artist does."""

import numpy as np
from PIL import Image


def seen(photograph):
    """Orange pixels and pale ones of the view's middle, left of the sidebar."""
    picture = np.asarray(Image.open(photograph).convert("RGB"), dtype=float)[380:560, 560:740] / 255.0
    orange = (picture[..., 0] > 0.9) & (picture[..., 1] < 0.65) & (picture[..., 2] < 0.3)
    pale = (picture[..., 0] > 0.95) & (picture[..., 1] > 0.65)
    return int(orange.sum()), int(pale.sum())


def test_panels_are_opened_by_clicks(windowed):
    result = windowed.run("open_panels")
    said = result.values
    assert said["ground"]
    assert "Frames 27-28, 40 did not converge" in said["report"] and "Factorization" in said["report"]
    assert said["report window"] == [2, "TEXT_EDITOR"]
    assert len(result.photographs) == 21
    assert [said[f"pins {when}"] for when in ("at first", "stay", "in the Physics tab")] == [False, True, True]
    orange, pale = np.subtract(*(seen(result.photographs[f"pins-{state}"]) for state in ("open", "closed")))
    assert orange > 50 and pale > 500, "held ones, and those of the goal"
    for trouble in ("Traceback", "rna_uiItem", "unknown operator"):
        assert trouble not in result.log, result.log
