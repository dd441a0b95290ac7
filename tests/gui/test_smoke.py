"""The built zip in a real window."""

import pytest
from PIL import Image


@pytest.fixture(scope="module")
def smoke(windowed):
    return windowed.run("smoke", package="bl_ext.user_default.sinew")


def test_installed_extension_shows_its_tab(smoke):
    assert smoke.values["enabled"]
    assert smoke.values["blender"] >= [4, 2, 0]
    assert smoke.values["tab"] == "Sinew"


def test_the_window_is_drawn(smoke):
    colours = Image.open(smoke.photographs["sidebar"]).getcolors(maxcolors=1 << 24)
    assert len(colours) > 200, "the photograph is empty"


def test_no_script_fails_from_start_to_quit(smoke):
    assert "Traceback" not in smoke.log
    assert "Error:" not in smoke.log


def test_nothing_is_written_into_the_extensions_folder(smoke):
    assert smoke.values["files_at_start"] == smoke.values["files_at_end"]
