"""The header of 3D Views tells of what goes on, at each of its stages."""

from __future__ import annotations

from types import SimpleNamespace
from unittest.mock import MagicMock

import bpy
from sinew.blender_addon.child import running
from sinew.blender_addon.child.machine import Stage, State
from sinew.blender_addon.child.work import Work
from sinew.ui.bake import header_progress


def test_while_the_scene_is_read_nothing_is_ordered_yet(body, monkeypatch):
    work = Work(body.session_uid, "Body", None, None, None, state=State(Stage.READING))
    monkeypatch.setattr(running, "_works", [work])
    layout = MagicMock()
    header_progress(SimpleNamespace(layout=layout), bpy.context)
    bar = layout.row.return_value
    assert "“Body”" in bar.row.return_value.progress.call_args.kwargs["text"]
    assert bar.operator.call_args.args == ("sinew.stop_bake",)
