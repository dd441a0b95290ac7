"""The built zip in a real window."""

from PIL import Image


def test_installed_extension_shows_its_tab(windowed):
    result = windowed.run("smoke", package="bl_ext.user_default.sinew")
    assert result.values["enabled"]
    assert result.values["blender"] >= [4, 2, 0]
    assert result.values["tab"] == "Sinew"
    colours = Image.open(result.photographs["sidebar"]).getcolors(maxcolors=1 << 24)
    assert len(colours) > 200, "the photograph is empty: nothing was drawn"


def test_no_network_and_no_script_error(windowed):
    result = windowed.run("smoke", package="bl_ext.user_default.sinew")
    assert "Traceback" not in result.log
