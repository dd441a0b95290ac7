"""The extension is there and enabled; its tab opens in the sidebar."""

import bpy


def scenario(gui):
    package = gui.parameters["package"]
    gui.record("enabled", package in bpy.context.preferences.addons)
    gui.record("blender", list(bpy.app.version))
    yield from gui.show_sidebar("Sinew")
    gui.record("tab", gui.region("UI").active_panel_category)
    yield from gui.photograph("sidebar")
