"""The extension is there and enabled; its tab opens in the sidebar."""

import sys
from pathlib import Path

import bpy


def files_of(package):
    folder = Path(sys.modules[package].__file__).parent
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if "__pycache__" not in p.parts)


def scenario(gui):
    package = gui.parameters["package"]
    gui.record("enabled", package in bpy.context.preferences.addons)
    gui.record("blender", list(bpy.app.version))
    gui.record("files_at_start", files_of(package))
    yield from gui.show_sidebar("Sinew")
    gui.record("tab", gui.region("UI").active_panel_category)
    yield from gui.photograph("sidebar")
    gui.record("files_at_end", files_of(package))
