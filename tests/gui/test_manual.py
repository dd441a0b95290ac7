"""Adding an example is one step of undo; the pictures of the manual are cut out of photographs."""

import os
from pathlib import Path

import pytest
from PIL import Image, ImageChops

PICTURES = Path(__file__).resolve().parents[2] / "out" / "manual"
LARGEST = 200_000
"""Bytes of a picture that is checked in."""
MENU = (340, 430, 700, 868)
"""Rectangle of the menu on the screen."""
VIEW, WITH_WORDS = (240, 90, 1030, 900), (60, 90, 1030, 900)
"""Rectangles of the 3D View beside its tools, without and with the text in its corner."""


@pytest.fixture(scope="module")
def shown(windowed):
    """Run the scenario; its views that take minutes and compile kernels are photographed for the manual alone."""
    whole = "SINEW_MANUAL" in os.environ
    return windowed.run("manual", tetrahedra=whole)


def trimmed(picture):
    """Without the empty rows below what is drawn, the tabs, and the border."""
    picture = picture.crop((0, 0, picture.width - 24, picture.height - 4))
    empty = Image.new("RGB", picture.size, picture.getpixel((picture.width // 2, picture.height - 20)))
    _left, _top, _right, bottom = ImageChops.difference(picture, empty).crop((12, 0, 300, picture.height)).getbbox()
    return picture.crop((0, 0, picture.width, min(picture.height, bottom + 10)))


def save(picture, name):
    """Write it with few colors, for ``build_addon.py manual``; its bytes."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    target = PICTURES / f"{name}.png"
    picture.quantize(128, dither=Image.Dither.NONE).save(target, optimize=True)
    return target.stat().st_size


def test_an_example_is_one_step_of_undo(shown):
    assert shown.values["undone"] and shown.values["redone"]
    for trouble in ("Traceback", "rna_uiItem", "unknown operator"):
        assert trouble not in shown.log, shown.log


def test_pictures_for_the_manual(shown):
    x, y, width, height = shown.values["sidebar"]
    for name, path in shown.photographs.items():
        picture = Image.open(path).convert("RGB")
        if name.startswith("panel-"):
            picture = trimmed(picture.crop((x, y, x + width, y + height)))
            assert 120 < picture.height < height - 40, f"{name} is {picture.height} pixels tall"
        elif name == "examples-menu":
            picture = picture.crop(MENU)
        elif name in ("overlays", "compare", "vibrations"):
            picture = picture.crop(WITH_WORDS if name == "vibrations" else VIEW)
        assert save(picture, name) < LARGEST, name
