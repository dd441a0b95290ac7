"""Handlers of live mode for saving, loading, undo and frame changes; idle without a session."""

from __future__ import annotations

from typing import Any

import bpy

from ..drawing import stand_in
from . import live, live_scene


@bpy.app.handlers.persistent
def before_load(*_: Any) -> None:
    """The file that is left is gone with all its objects."""
    live.stop()


@bpy.app.handlers.persistent
def before_save(*_: Any) -> None:
    """The file gets the mesh as the artist has it; the timer hides it again."""
    session = live.current()
    if session is not None:
        session.stage.show()
        if not live_scene.is_rendering():
            session.stage.follow(session.stage.frame)
        session.drawn = None  # the timer follows the simulation again
        if session.view is not None:
            session.view.put_away()


@bpy.app.handlers.persistent
def after_return(*_: Any) -> None:
    """An undo, a redo or a load has brought back what was once: meshes hidden by us, stand-ins."""
    session = live.current()
    live_scene.put_right(None if session is None else session.work.object_uid)
    stand_in.delete_strays(None if session is None or session.view is None else session.view.stand_in_uid)


@bpy.app.handlers.persistent
def after_frame_change(scene: Any, depsgraph: Any = None, *_: Any) -> None:
    """By whomever, but a render, which goes back by itself."""
    session = live.current()
    rendered = depsgraph is not None and depsgraph.mode == "RENDER"  # asked first: then it is another thread
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
