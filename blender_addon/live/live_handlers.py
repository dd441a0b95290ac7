"""Handlers of live mode for saving, loading, undo and frame changes. Without a session they do nothing, except after an
undo or load.
"""

from __future__ import annotations

from typing import Any

import bpy

from ..drawing import stand_in
from . import live, live_scene


@bpy.app.handlers.persistent
def before_load(*_: Any) -> None:
    """Handle ``load_pre``: end the session, since loading another file deletes all objects of the current one."""
    live.stop()


@bpy.app.handlers.persistent
def before_save(*_: Any) -> None:
    """Handle ``save_pre``: show the mesh and restore the frame, so that the file is saved without live mode. The timer
    then continues live mode.
    """
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
    """Handle undo, redo and load. If the restored state was stored during live mode, show the meshes that are hidden in
    it, and delete the stand-ins (temporary display objects).
    """
    session = live.current()
    live_scene.put_right(None if session is None else session.work.object_uid)
    stand_in.delete_strays(None if session is None or session.view is None else session.view.stand_in_uid)


@bpy.app.handlers.persistent
def after_frame_change(scene: Any, depsgraph: Any = None, *_: Any) -> None:
    """Handle ``frame_change_post``: tell the session that the scene was set to another frame. Frame changes by a render
    are ignored, since the render restores the frame itself.
    """
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
