"""The header of 3D Views, panels and the status bar tell of what goes on, as there is room."""

from __future__ import annotations

from types import SimpleNamespace
from unittest.mock import MagicMock

import blf
import bpy
import pytest
from sinew.blender_addon.jobs import job_queue
from sinew.blender_addon.jobs.state_machine import Stage, State
from sinew.blender_addon.jobs.task import Task
from sinew.blender_addon.live.live_hints import draw_hints
from sinew.core.foundation.events import Phase
from sinew.ui import bake, panel_base
from sinew.ui.bake import header_progress


def context_of(width):
    """Blender's, with a region of a width, at a scale of one: without a window the scale is 0."""
    preferences = SimpleNamespace(system=SimpleNamespace(ui_scale=1.0), ui_styles=bpy.context.preferences.ui_styles)
    return SimpleNamespace(region=SimpleNamespace(width=width), preferences=preferences)


def pixels(text):
    blf.size(0, bpy.context.preferences.ui_styles[0].widget.points)
    return blf.dimensions(0, text)[0]


def test_while_the_scene_is_read_nothing_is_ordered_yet(body, monkeypatch):
    work = Task(body.session_uid, "Body", None, None, None, state=State(Stage.READING))
    monkeypatch.setattr(job_queue, "_works", [work])
    layout = MagicMock()
    header_progress(SimpleNamespace(layout=layout), context_of(1000))
    bar = layout.row.return_value
    assert "“Body”" in bar.row.return_value.progress.call_args.kwargs["text"]
    assert bar.operator.call_args.args == ("sinew.stop_bake",)


STATES = {
    "simulating": State(
        Stage.RUNNING,
        "Ghost, 2 of 12",
        phase=Phase("simulate", 0, 0),
        frames_total=250,
        frames_done=17,
        last_step={"iterations": 23, "contacts": 12345, "distance": 1.23e-4},
    ),
    "preparing": State(Stage.RUNNING, "Ghost, 2 of 12", phase=Phase("subspace", 1, 4, step="cubature")),
    "compiling": State(Stage.RUNNING, phase=Phase("compile", 30, 100)),
    "reading": State(Stage.READING, "Ghost, 2 of 12", part=0.4),
}
IN_SHORT = {
    "simulating": ["Frame 17 / 250", "7 %"],
    "preparing": ["Choosing Cubature Points", "25 %"],
    "compiling": ["First-Time Setup 30 %", "30 %"],
    "reading": ["Reading Animation 40 %", "40 %"],
}


@pytest.mark.parametrize("stage", STATES)
def test_progress_is_shortened_by_what_matters_least(stage):
    """The body's name goes first, then which of several it is, then how long it takes; the share stays."""
    state, fullest = STATES[stage], STATES[stage].label
    texts = bake._how_far(state, 65.0, "A Body With Quite A Long Name")
    assert texts[0].startswith("“A Body With Quite A Long Name”: ") and texts[1].startswith(fullest)
    assert all(text.endswith(", 1:05 left") for text in texts[:3])
    assert texts[3:] == IN_SHORT[stage]
    for width in range(20, 700, 40):
        shown = panel_base.fitting(texts, width, context_of(width))
        assert pixels(shown) <= width or shown == texts[-1]
        before = texts[: texts.index(shown)]
        assert all(pixels(text) > width for text in before), "no more is left out than has to be"


@pytest.mark.parametrize("width", [130, 180, 280, 600])
def test_no_line_of_a_progress_is_wider_than_the_panel(body, monkeypatch, width):
    written = []
    work = Task(body.session_uid, "Body", None, None, None, state=STATES["simulating"])
    layout = MagicMock()
    layout.column.return_value.label = lambda text="", **_: written.append(text)
    layout.label = lambda text="", **_: written.append(text)
    layout.progress = lambda text, **_: written.append(text)
    monkeypatch.setattr(bake, "draw_button", lambda *_, **__: None)
    bake.draw_progress(layout, work, context_of(width))
    room = width - panel_base.MARGINS
    assert len(written) > 2 and all(pixels(text) <= room or " " not in text for text in written), written


def test_hints_leave_room_for_the_words_of_keys():
    """The icon of a key is wider than others: words are labels of their own beside it."""
    layout = MagicMock()
    draw_hints(layout, [("Pull", "MOUSE_LMB_DRAG"), ("Pin", "EVENT_CTRL"), ("", "EVENT_ESC")])
    row = layout.row.return_value
    assert [call.kwargs for call in row.label.call_args_list] == [{"text": "Pull"}, {"text": "Pin"}]
    icons = [call.kwargs for call in row.row.return_value.label.call_args_list]
    assert icons == [{"text": "", "icon": icon} for icon in ("MOUSE_LMB_DRAG", "EVENT_CTRL", "EVENT_ESC")]
    assert row.row.return_value.ui_units_x > 1.0
