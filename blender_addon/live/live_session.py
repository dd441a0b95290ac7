"""Session of live mode: the simulated body with its job, store, task and view."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ...core.foundation.events import LiveFrame
from ...core.jobs.job.job import Job
from ...core.jobs.store.frame_store import FrameStore
from ..jobs.task import Task
from ..translations.translate import translated
from ..window import visibility
from . import live_edits, live_scene
from .live_state import LiveState


@dataclass
class Session:
    """Session of live mode on one body.

    Objects, scenes and view layers are stored by identifiers that survive an undo.

    Attributes
    ----------
    stage : scene and view layer
    edits : check for edits since the start
    metres : length of a Blender unit, m
    work : task with the child process and the state
    view : draw handler; None until the child is ready
    reset_is_due : True if a changed setting requires a reset at the next poll
    drawn : frame drawn last
    looked_at : time of the last check for edits, s
    pending : labels of edits that take effect at the next Reset
    """

    stage: live_scene.Stage
    job: Job
    store: FrameStore
    metres: float
    edits: live_edits.Edits
    work: Task
    view: Any = None
    reset_is_due: bool = False
    drawn: LiveFrame | None = None
    looked_at: float = 0.0
    pending: list[str] = field(default_factory=list)

    @property
    def state(self) -> LiveState:
        """State of the task: playing or paused, displayed frame, grabs and requests."""
        return self.work.state

    @property
    def object(self) -> Any | None:
        """Body of the session, or None if it was deleted."""
        obj = visibility.object_of(self.work.object_uid, self.work.object_name)
        if obj is not None:
            self.work.object_name = obj.name  # it may have been renamed
        return obj

    @property
    def words_of_edits(self) -> str:
        """Message about edits that take effect only at the next Reset, or ""."""
        if self.state.stale:
            return translated("The modes were computed for other stiffness. Reset computes them again.")
        if self.pending:
            return translated(
                "Edited: {edits}. The edit takes effect at the next Reset.", edits=", ".join(self.pending)
            )
        return ""
