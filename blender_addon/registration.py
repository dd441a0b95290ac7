"""Registers everything: classes, properties, keys, the command, and the handlers that end a child in time."""

from __future__ import annotations

import atexit
import os
import sys
from typing import Any

import bpy

from . import (
    ADDON_ID,
    PACKAGE,
    bake_queue,
    command,
    ghosts,
    job,
    live_handlers,
    overlay_properties,
    overlays,
    playback,
    preferences,
    properties,
    reading,
    restart,
    save_handlers,
)

_keys: list[tuple[Any, Any]] = []
_commands: list[Any] = []
_is_registered = False


def register() -> None:
    """Called once by Blender, or by a script that wants the properties."""
    from .. import operators, ui
    from ..ui import pick_tool
    from ..ui.body import physics_button
    from ..ui.examples import add_menu
    from ..ui.live import status_hints

    restart.look()
    _set_kernel_cache()
    properties.register()
    overlay_properties.register()
    for cls in (*preferences.CLASSES, *operators.CLASSES, *ui.CLASSES):
        bpy.utils.register_class(cls)
    _define_stroke()
    bpy.types.PHYSICS_PT_add.append(physics_button)
    bpy.types.VIEW3D_MT_add.append(add_menu)
    reading.register()  # first: what is read is put back as live mode had it, which then puts that back
    live_handlers.register()
    save_handlers.register()
    overlays.register()
    ghosts.register()
    pick_tool.register()
    bpy.types.STATUSBAR_HT_header.prepend(status_hints)
    bpy.app.handlers.load_pre.append(stop_child_before_load)
    bpy.app.handlers.animation_playback_post.append(playback.note_end)
    atexit.register(leave)
    _add_keys()
    _commands.append(bpy.utils.register_cli_command(ADDON_ID, command.run))
    global _is_registered
    _is_registered = True


def unregister() -> None:
    """The reverse, a running child ended first. A second call, as some Blenders make at exit, does nothing."""
    if not is_registered():
        return
    from .. import operators, ui
    from ..ui import pick_tool
    from ..ui.body import physics_button
    from ..ui.examples import add_menu
    from ..ui.live import status_hints

    pick_tool.unregister()
    ghosts.unregister()
    overlays.unregister()
    live_handlers.unregister()
    save_handlers.unregister()
    reading.unregister()
    bake_queue.clear()
    job.abandon()
    _end_threads()
    bpy.types.STATUSBAR_HT_header.remove(status_hints)
    atexit.unregister(leave)
    if bpy.app.timers.is_registered(job.drain):
        bpy.app.timers.unregister(job.drain)
    if bpy.app.timers.is_registered(bake_queue.advance):
        bpy.app.timers.unregister(bake_queue.advance)
    while _commands:
        bpy.utils.unregister_cli_command(_commands.pop())
    while _keys:
        keymap, item = _keys.pop()
        keymap.keymap_items.remove(item)
    bpy.app.handlers.load_pre.remove(stop_child_before_load)
    bpy.app.handlers.animation_playback_post.remove(playback.note_end)
    bpy.types.PHYSICS_PT_add.remove(physics_button)
    bpy.types.VIEW3D_MT_add.remove(add_menu)
    for cls in reversed((*preferences.CLASSES, *operators.CLASSES, *ui.CLASSES)):
        bpy.utils.unregister_class(cls)
    overlay_properties.unregister()
    properties.unregister()
    global _is_registered
    _is_registered = False


def _end_threads() -> None:
    """Those of the kernels, if any kernel has run in this process: its module is not loaded for that."""
    if kernels := sys.modules.get(f"{PACKAGE}.core.jit"):
        kernels.end_threads()


def leave() -> None:
    """At exit. Blender has unregistered by then; some ``bpy`` wheels have not, and would crash freeing our classes."""
    unregister()
    _let_go_of_bpy()


def _let_go_of_bpy() -> None:
    """Blender 4.2 keeps classes whose properties call functions, and with them their modules. Those would hold ``bpy``
    beyond the interpreter's end; what it then frees, it frees without an interpreter, and crashes."""
    for name, module in list(sys.modules.items()):
        if name.startswith(f"{PACKAGE}."):
            vars(module).pop("bpy", None)


def is_registered() -> bool:
    """Whether objects have our properties; told without ``bpy``, which is not there any more after :func:`leave`."""
    return _is_registered


@bpy.app.handlers.persistent
def stop_child_before_load(*_: Any) -> None:
    """Another file is about to be loaded: the object that the child works for goes away, its frames stay."""
    bake_queue.clear()
    job.abandon()


def _set_kernel_cache() -> None:
    """Compiled kernels go under the user's folder for the extension, unless the user names another; elsewhere the
    library chooses.
    """
    if PACKAGE.startswith("bl_ext.") and not os.environ.get("SINEW_KERNEL_CACHE"):
        os.environ["SINEW_KERNEL_CACHE"] = bpy.utils.extension_path_user(PACKAGE, path="kernels", create=True)


def _define_stroke() -> None:
    stroke = bpy.types.SINEW_OT_paint_stroke
    stroke.define("PAINT_OT_weight_paint")
    stroke.define("SINEW_OT_normalize_maps")


def _add_keys() -> None:
    configuration = bpy.context.window_manager.keyconfigs.addon
    if configuration is None:  # under --background there are no keys
        return
    keymap = configuration.keymaps.new(name="Window", space_type="EMPTY")
    item = keymap.keymap_items.new("sinew.stop_bake", "ESC", "PRESS")
    item.properties.by_key = True
    _keys.append((keymap, item))
    item = keymap.keymap_items.new("sinew.live_stop", "ESC", "PRESS")
    item.properties.by_key = True
    _keys.append((keymap, item))
    keymap = configuration.keymaps.new(name="Object Mode", space_type="EMPTY")
    for with_ctrl in (False, True):
        item = keymap.keymap_items.new("sinew.live_grab", "LEFTMOUSE", "PRESS", ctrl=with_ctrl)
        item.properties.pin = with_ctrl
        _keys.append((keymap, item))
    item = keymap.keymap_items.new("sinew.live_play", "P", "PRESS")
    item.properties.by_key = True
    _keys.append((keymap, item))
    _keys.append((keymap, keymap.keymap_items.new("sinew.live_step", "RIGHT_ARROW", "PRESS", repeat=True)))
    keymap = configuration.keymaps.new(name="Weight Paint", space_type="EMPTY")
    for modifier, mode in (({}, "NORMAL"), ({"ctrl": True}, "INVERT"), ({"shift": True}, "SMOOTH")):
        item = keymap.keymap_items.new("sinew.paint_stroke", "LEFTMOUSE", "PRESS", **modifier)
        stroke = item.properties.PAINT_OT_weight_paint
        is_mode = mode in stroke.bl_rna.properties["mode"].enum_items
        setattr(stroke, "mode" if is_mode else "brush_toggle", mode)  # since 5.0 smoothing is a toggle of the brush
        _keys.append((keymap, item))
