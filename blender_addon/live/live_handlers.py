"""Handlers of live mode for saving, loading, undo and frame changes; idle without a session."""

from __future__ import annotations

from typing import Any

import bpy

from ..drawing import stand_in
from . import live, live_scene


@bpy.app.handlers.persistent
def before_load(*_: Any) -> None:
    """End the session, since loading another file deletes all objects of the current one."""
    live.stop()


@bpy.app.handlers.persistent
def before_save(*_: Any) -> None:
    """Save the file without live mode: mesh shown, frame restored. The timer hides the mesh again."""
    session = live.current()
    if session is not None:
        session.stage.show()
        if not live_scene.is_rendering():
            session.stage.follow(session.stage.frame)
        session.drawn = None  # the timer sets the simulated frame again
        if session.view is not None:
            session.view.put_away()


@bpy.app.handlers.persistent
def after_return(*_: Any) -> None:
    """Show meshes that an undo, redo or load hid again, and delete stand-ins (meshes for display) that it restored."""
    session = live.current()
    live_scene.put_right(None if session is None else session.work.object_uid)
    stand_in.delete_strays(None if session is None or session.view is None else session.view.stand_in_uid)


@bpy.app.handlers.persistent
def after_frame_change(scene: Any, depsgraph: Any = None, *_: Any) -> None:
    """Note a frame change; those of renders are ignored, since renders restore the frame."""
    session = live.current()
    rendered = depsgraph is not None and depsgraph.mode == "RENDER"  # first: renders use another thread
    if session is not None and not rendered and not live_scene.is_rendering_viewport():
        session.stage.note_frame_change(scene)


HANDLERS = (
    ("load_pre", before_load),
    ("save_pre", before_save),
    ("undo_post", after_return),
    ("redo_post", after_return),
    ("load_post", after_return),
    ("frame_change_post", after_frame_change),
)
