"""Registration of the add-on with Blender: classes, properties, key bindings, command and handlers."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Iterator
from typing import Any

import bpy

from . import command
from .bake import batch_read, outdated
from .blend_data.names import ADDON_ID, PACKAGE
from .cache import save_handlers, undone_bakes
from .draw_handlers import mode_playback
from .draw_handlers.bake_progress_view import BakeProgressView
from .draw_handlers.compare_view import CompareView
from .draw_handlers.overlays import Overlays
from .jobs import compiling, job_queue
from .live import live, live_handlers
from .properties import overlay_properties, preferences, properties
from .setup import dropped_materials
from .translations import translate
from .window import esc_after_playback, restart

ANSWERING = (
    job_queue,
    live_handlers,
    undone_bakes,
    save_handlers,
    esc_after_playback,
    batch_read,
    outdated,
    mode_playback,
    dropped_materials,
)
"""Modules with ``HANDLERS``, in calling order.

A reading of the scene changes the frame. ``job_queue`` cancels such a reading, so ``job_queue`` must come before
``live_handlers``, which restores the scene.
"""

KEYS = (
    ("Window", "stop_vibration", "ESC", {}, {"by_key": True}),
    ("Window", "stop_bake", "ESC", {}, {"by_key": True}),
    ("Window", "live_stop", "ESC", {}, {"by_key": True}),
    ("Object Mode", "live_grab", "LEFTMOUSE", {}, {"pin": False}),
    ("Object Mode", "live_grab", "LEFTMOUSE", {"ctrl": True}, {"pin": True}),
    ("Object Mode", "live_play", "P", {}, {"by_key": True}),
    ("Object Mode", "live_step", "RIGHT_ARROW", {"repeat": True}, {}),
)
"""Key bindings: keymap, operator, key, options of the key event, and properties of the operator."""

_keys: list[tuple[Any, Any]] = []
_commands: list[Any] = []
_layers: list[Any] = []
_is_registered = False


def register() -> None:
    """Register the add-on in Blender, or in a script that uses the ``bpy`` module. A second call does nothing."""
    if is_registered():
        return
    from .. import operators, ui
    from ..ui import pick_tool
    from ..ui.bake import header_progress, status_words
    from ..ui.body import physics_button
    from ..ui.examples import add_menu
    from ..ui.live import status_hints
    from ..ui.materials import asset_menu

    restart.look()
    translate.register()
    properties.register()
    overlay_properties.register()
    for cls in (*preferences.CLASSES, *operators.CLASSES, *ui.CLASSES):
        bpy.utils.register_class(cls)
    _define_stroke()
    bpy.types.PHYSICS_PT_add.append(physics_button)
    bpy.types.VIEW3D_MT_add.append(add_menu)
    for menu in _asset_menus():
        menu.append(asset_menu)
    save_handlers.register()
    _layers.extend((Overlays(), CompareView(), BakeProgressView()))
    for handlers, handler in _handlers():
        handlers.append(handler)
    pick_tool.register()
    for draw in (status_hints, status_words):
        bpy.types.STATUSBAR_HT_header.prepend(draw)
    bpy.types.VIEW3D_HT_header.append(header_progress)
    atexit.register(leave)
    _add_keys()
    _commands.append(bpy.utils.register_cli_command(ADDON_ID, command.run))
    compiling.begin()
    global _is_registered
    _is_registered = True


def unregister() -> None:
    """Kill the child process and undo :func:`register`. A second call does nothing.

    Some versions of Blender call this function twice at exit.
    """
    if not is_registered():
        return
    from .. import operators, ui
    from ..ui import pick_tool
    from ..ui.bake import header_progress, status_words
    from ..ui.body import physics_button
    from ..ui.examples import add_menu
    from ..ui.live import status_hints
    from ..ui.materials import asset_menu

    for handlers, handler in _handlers():
        handlers.remove(handler)
    pick_tool.unregister()
    while _layers:
        _layers.pop().remove()
    mode_playback.unregister()
    outdated.unregister()
    live.stop()
    job_queue.unregister()
    compiling.end()
    _end_threads()
    for draw in (status_hints, status_words):
        bpy.types.STATUSBAR_HT_header.remove(draw)
    bpy.types.VIEW3D_HT_header.remove(header_progress)
    atexit.unregister(leave)
    while _commands:
        bpy.utils.unregister_cli_command(_commands.pop())
    while _keys:
        keymap, item = _keys.pop()
        keymap.keymap_items.remove(item)
    bpy.types.PHYSICS_PT_add.remove(physics_button)
    bpy.types.VIEW3D_MT_add.remove(add_menu)
    for menu in _asset_menus():
        menu.remove(asset_menu)
    for cls in reversed((*preferences.CLASSES, *operators.CLASSES, *ui.CLASSES)):
        bpy.utils.unregister_class(cls)
    overlay_properties.unregister()
    properties.unregister()
    translate.unregister()
    global _is_registered
    _is_registered = False


def _handlers() -> Iterator[tuple[list[Any], Any]]:
    """Yield pairs of a handler list of Blender and a handler of Sinew for this list."""
    handlers = [pair for module in ANSWERING for pair in module.HANDLERS]
    for name, handler in [*handlers, *(pair for layer in _layers for pair in layer.handlers.items())]:
        if hasattr(bpy.app.handlers, name):
            yield getattr(bpy.app.handlers, name), handler


def _asset_menus() -> tuple[Any, ...]:
    """Return the context menu and the header's menus of the Asset Browser."""
    return bpy.types.ASSETBROWSER_MT_context_menu, bpy.types.ASSETBROWSER_MT_editor_menus


def _end_threads() -> None:
    """End the worker threads of the Numba kernels."""
    if kernels := sys.modules.get(f"{PACKAGE}.core.foundation.kernels.jit"):
        kernels.end_threads()


def leave() -> None:
    """Unregister the add-on at exit.

    Some ``bpy`` wheels do not unregister add-ons, and crash when they free the classes of a registered add-on.
    """
    unregister()
    _let_go_of_bpy()


def _let_go_of_bpy() -> None:
    """Remove ``bpy`` from the modules of Sinew at exit.

    Blender 4.2 never frees classes whose properties have callbacks, nor their modules. A reference to ``bpy`` in such a
    module would outlive the interpreter, and freeing it then crashes.
    """
    for name, module in list(sys.modules.items()):
        if name.startswith(f"{PACKAGE}."):
            vars(module).pop("bpy", None)


def is_registered() -> bool:
    """Return True if the add-on is registered. Callable even after :func:`leave`."""
    return _is_registered


def _define_stroke() -> None:
    stroke = bpy.types.SINEW_OT_paint_stroke
    stroke.define("PAINT_OT_weight_paint")
    stroke.define("SINEW_OT_normalize_maps")


def _add_keys() -> None:
    configuration = bpy.context.window_manager.keyconfigs.addon
    if configuration is None:  # with --background Blender has no key configuration
        return
    for editor, operator, key, pressed, given in KEYS:
        keymap = configuration.keymaps.new(name=editor, space_type="EMPTY")
        item = keymap.keymap_items.new(f"sinew.{operator}", key, "PRESS", **pressed)
        for name, value in given.items():
            setattr(item.properties, name, value)
        _keys.append((keymap, item))
    keymap = configuration.keymaps.new(name="Weight Paint", space_type="EMPTY")
    for modifier, mode in (({}, "NORMAL"), ({"ctrl": True}, "INVERT"), ({"shift": True}, "SMOOTH")):
        item = keymap.keymap_items.new("sinew.paint_stroke", "LEFTMOUSE", "PRESS", **modifier)
        stroke = item.properties.PAINT_OT_weight_paint
        is_mode = mode in stroke.bl_rna.properties["mode"].enum_items
        setattr(stroke, "mode" if is_mode else "brush_toggle", mode)  # since 5.0 smoothing is a toggle of the brush
        _keys.append((keymap, item))
