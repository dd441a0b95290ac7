"""Changes of the scene by live mode: the mesh is hidden, and the current frame is set.

Both changes are reverted when live mode ends. A mark on the object (``Object.sinew.live_layer``) records that live mode
has hidden the object's mesh. An undo, or loading a file that was saved automatically, restores the mark together with
the visibility of the mesh. So a mesh hidden by live mode can always be recognized, even after a crash.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import bpy

from ..blend_data.text_decoding import text_of
from ..window import visibility


@dataclass
class Stage:
    """Scene and view layer of a session, and their state before the session.

    Identifiers that survive an undo stand for the scene and the view layer.

    Attributes
    ----------
    object_uid, scene_uid : ``session_uid`` of the body and the scene
    layer_name : name of the view layer
    frame, subframe : frame of the scene before the session
    hidden : True while live mode hides the mesh
    was_selected : True if the object was selected before live mode hid its mesh
    """

    object_uid: int
    scene_uid: int
    layer_name: str
    frame: int | None = None
    subframe: float = 0.0
    hidden: bool = False
    was_selected: bool = False
    _at: int | None = None
    _moving: bool = False
    _changed: bool = False

    @classmethod
    def of(cls, obj: Any, context: Any) -> Stage:
        """Return a Stage for an object, and the scene and view layer of a context.

        The mesh of the object stays visible until :meth:`begin`.
        """
        return cls(obj.session_uid, context.scene.session_uid, context.view_layer.name)

    @property
    def scene(self) -> Any | None:
        """Scene, or None if it was deleted."""
        return next((s for s in bpy.data.scenes if s.session_uid == self.scene_uid), None)

    @property
    def layer(self) -> Any | None:
        """View layer, or None if it was deleted."""
        scene = self.scene
        return None if scene is None else scene.view_layers.get(self.layer_name)

    def is_shown_in(self, context: Any) -> bool:
        """Return True if a context shows this scene and view layer."""
        scene, layer = context.scene, context.view_layer
        return scene.session_uid == self.scene_uid and layer.name == self.layer_name

    def begin(self, obj: Any) -> None:
        """Store the current frame and hide the mesh."""
        scene = self.scene
        self.frame, self.subframe = scene.frame_current, scene.frame_subframe
        self._at = self.frame
        self.hide(obj)

    def is_in_a_window(self) -> bool:
        """Return True if any window shows this scene and view layer."""
        return any(
            w.scene == self.scene and w.view_layer.name == self.layer_name for w in bpy.context.window_manager.windows
        )

    # -- the mesh -------------------------------------------------------------------------------------------------

    def hide(self, obj: Any) -> None:
        """Hide the mesh, unless the mesh is hidden already.

        This method is called repeatedly, since an undo or Reveal Hidden shows the mesh again.
        """
        layer = self.layer
        if obj.hide_get(view_layer=layer):
            return
        if not self.hidden:
            self.was_selected = obj.select_get(view_layer=layer)
        obj.sinew.live_layer = layer.name
        obj.hide_set(True, view_layer=layer)
        self.hidden = True

    def show(self) -> None:
        """Show the mesh and restore its selection.

        A deleted object or view layer is skipped.
        """
        obj, layer = visibility.object_of(self.object_uid), self.layer
        if not self.hidden:
            return
        self.hidden = False
        if obj is None:
            return
        obj.sinew.live_layer = ""
        if layer is not None and obj.name in layer.objects:
            obj.hide_set(False, view_layer=layer)
            obj.select_set(self.was_selected, view_layer=layer)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show the mesh within the context, so that the mesh can be read at other frames.

        Live mode does not react to frame changes within the context. On exit, a mesh that was hidden before is hidden
        again.
        """
        hidden = self.hidden
        self.show()
        try:
            with self.unnoticed():
                yield
        finally:
            obj = visibility.object_of(self.object_uid)
            if hidden and obj is not None and self.layer is not None:
                self.hide(obj)

    # -- the frame ------------------------------------------------------------------------------------------------

    def follow(self, frame: int) -> None:
        """Set the scene to the simulated ``frame``, so that animated objects match the body."""
        scene, self._at = self.scene, frame
        if scene is None or scene.frame_current == frame:
            return
        with self.unnoticed():
            scene.frame_set(frame)

    @contextmanager
    def unnoticed(self) -> Iterator[None]:
        """Ignore frame changes within the context (:meth:`note_frame_change`).

        Live mode itself makes these frame changes.
        """
        self._moving = True
        try:
            yield
        finally:
            self._moving = False

    def note_frame_change(self, scene: Any) -> None:
        """Record a frame change that live mode did not make.

        A return to the frame that live mode has set, as after a render, is ignored.
        """
        if not self._moving and scene.session_uid == self.scene_uid and scene.frame_current != self._at:
            self._changed = True

    def frame_was_changed(self) -> bool:
        """Return True if a frame change was recorded (:meth:`note_frame_change`) since the last call."""
        changed, self._changed = self._changed, False
        return changed

    def restore(self) -> None:
        """Show the mesh, and set the scene to the frame at which live mode began."""
        self.show()
        scene = self.scene
        if scene is None or self.frame is None:
            return
        if (scene.frame_current, scene.frame_subframe) != (self.frame, self.subframe):
            scene.frame_set(self.frame, subframe=self.subframe)


def is_rendering() -> bool:
    """Return True if Blender renders the scene or a viewport animation.

    Blender then sets the frame itself.
    """
    return bpy.app.is_job_running("RENDER") or is_rendering_viewport()


def is_rendering_viewport() -> bool:
    """Return True if Blender renders a viewport animation, in which hidden objects do not appear."""
    windows = bpy.context.window_manager.windows
    return any(tool.bl_idname == "RENDER_OT_opengl" for window in windows for tool in window.modal_operators)


def is_played_back() -> bool:
    """Return True if a window plays the animation."""
    return any(window.screen.is_animation_playing for window in bpy.context.window_manager.windows)


def reason_to_end(obj: Any | None, stage: Stage) -> str:
    """Return the reason why live mode must end for the body, or ""."""
    layer = stage.layer
    is_there = obj is not None and layer is not None and obj.name in layer.objects
    if obj is None or not is_there and not obj.users_scene:  # last: Blender searches all objects for it
        return "Live mode ended: the object was deleted."
    if not is_there or obj.hide_viewport:
        return "Live mode ended: the object is not part of the view layer any more."
    if obj.mode != "OBJECT":
        return f"Live mode ended: the object is in {obj.mode.replace('_', ' ').title()} Mode."
    if not obj.sinew.enabled:
        return "Live mode ended: Sinew was turned off."
    if not stage.is_in_a_window():
        return "Live mode ended: no window shows the scene any more."
    return ""


def put_right(played_with: int | None) -> None:
    """Show meshes that live mode has hidden, but that belong to no running session.

    An undo or an autosaved file can bring back such a mesh.

    ``played_with``: ``session_uid`` of the running session's body, which stays hidden, or None without a session.
    """
    for obj in bpy.data.objects:
        name = text_of(obj.sinew, "live_layer")
        if not name or obj.session_uid == played_with or obj.library is not None:
            continue
        obj.sinew.live_layer = ""
        for scene in obj.users_scene:
            layer = scene.view_layers.get(name)
            if layer is not None and obj.name in layer.objects:
                obj.hide_set(False, view_layer=layer)
