"""The preview in a real viewport."""

import numpy as np
import pytest
from PIL import Image


@pytest.fixture(scope="module")
def shown(windowed):
    return windowed.run("preview")


def viewport(result, name):
    x, y, width, height = result.values["viewport"]
    # Less what lies over the viewport: header above, sidebar and gizmo at the right, tools at the left.
    box = (x + 100, y + 80, x + width - 200, y + height - 60)
    return np.asarray(Image.open(result.photographs[name]).convert("RGB").crop(box), dtype=float) / 255.0


def reddish(pixels):
    return pixels[..., 0] > pixels[..., 2] + 0.15


def test_it_looks_like_solid_mode_and_lies_in_the_same_depth(shown):
    solid, preview = viewport(shown, "1-solid"), viewport(shown, "2-preview")
    there, drawn = reddish(solid), reddish(preview)
    assert there.mean() > 0.03
    # The cube in front hides as much of either.
    assert (there != drawn).mean() < 0.004
    inside = there & drawn
    assert np.abs(solid[inside].mean(axis=0) - preview[inside].mean(axis=0)).max() < 0.05


def test_its_colour_is_that_of_the_light_whatever_the_frame_buffer_encodes(shown):
    x, y = shown.values["square"]
    seen = np.asarray(Image.open(shown.photographs["6-square"]).convert("RGB"), dtype=float)[y, x] / 255.0
    linear = np.array([0.8, 0.3, 0.08]) * 0.9 * 0.95
    assert np.abs(seen - (1.055 * linear ** (1.0 / 2.4) - 0.055)).max() < 0.01


def test_handles_and_overlays_are_seen(shown):
    straight, bent = viewport(shown, "2-preview"), viewport(shown, "3-bent")
    overlays, clusters = viewport(shown, "4-overlays"), viewport(shown, "5-clusters")
    assert (reddish(straight) != reddish(bent)).mean() > 0.02
    blue = overlays[..., 2] > overlays[..., 0] + 0.15
    yellow = (overlays[..., 0] > 0.95) & (overlays[..., 2] < 0.5) & (overlays[..., 1] > 0.8)
    assert blue.sum() > 500 and yellow.sum() > 100
    hues = np.unique(np.round(clusters[(clusters.max(axis=2) - clusters.min(axis=2)) > 0.3], 1), axis=0)
    assert len(hues) > 10


def test_wires_and_xray(shown):
    bent, wires, xray = (viewport(shown, name) for name in ("3-bent", "7-wires", "8-xray"))
    inside = reddish(bent)
    assert reddish(wires).mean() < 0.001 and wires[inside].mean() < 0.9 * wires[~inside].mean(), "dark lines, no faces"
    behind = viewport(shown, "6-square")[0, 0]
    mixed = [np.abs(xray[inside].mean(axis=0) - other).max() for other in (bent[inside].mean(axis=0), behind)]
    assert min(mixed) > 0.02, "between the body and what is behind it"


def test_it_is_drawn_where_the_object_would_be(shown):
    said = shown.values
    assert said["seen"] and said["seen out of it"] and said["seen at the end"]
    assert said["seen in its own local view"] and said["still seen in it"] and said["stand-in seen in it"]
    assert not said["seen in a local view of another"] and not said["seen in a hidden collection"]


def test_nothing_is_said_of_an_error(shown):
    assert "Traceback" not in shown.log
    assert "Error" not in shown.log
