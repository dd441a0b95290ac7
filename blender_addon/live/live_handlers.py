"""Handlers of live mode for saving, loading, undo and frame changes.

Without a session, only the handler after an undo or load acts.
"""

from __future__ import annotations

from typing import Any

import bpy

from ..drawing import stand_in
from . import live, live_scene


@bpy.app.handlers.persistent
def before_load(*_: Any) -> None:
    """Handle ``load_pre``: end the session, since loading a file deletes all objects."""
    live.stop()


@bpy.app.handlers.persistent
def before_save(*_: Any) -> None:
    """Handle ``save_pre``: show the mesh and restore the frame, so that the file is saved without live mode.

    The timer then continues live mode.
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
    """Handle undo, redo and load: show meshes that an earlier session has hidden, and delete stand-ins.

    Live mode has hidden these meshes in the restored state. Stand-ins are temporary mesh objects that live mode moves.
    """
    session = live.current()
    live_scene.put_right(None if session is None else session.work.object_uid)
    stand_in.delete_strays(None if session is None or session.view is None else session.view.stand_in_uid)


@bpy.app.handlers.persistent
def after_frame_change(scene: Any, depsgraph: Any = None, *_: Any) -> None:
    """Handle ``frame_change_post``: report to the session that the scene was set to another frame.

    Frame changes by a render are ignored, since the render restores the frame itself.
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
