"""Pins and what a goal draws are marked: by weight, and while their panel is open."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import numpy as np
from sinew.blender_addon.draw_handlers import open_panel, overlays
from sinew.blender_addon.drawing import overlay_marks as marks
from sinew.blender_addon.drawing.gpu_overlay import Painter, View, marks_batch
from sinew.blender_addon.scene_import.weights_in import group_weights

from .. import card


def test_a_goal_is_marked_by_weight_below_the_threshold(body):
    obj, group = body, body.vertex_groups["Pins"]
    group.add([4, 5], 0.25, "REPLACE")
    positions = marks.shown_positions(obj, obj, bpy.context.evaluated_depsgraph_get())

    def marked():
        found = marks.mark_points(obj, group_weights(obj, obj.data, marks.groups_of(obj)), positions)
        return found["pins"], found["goal"]

    obj.sinew.use_goal = False
    assert len(marked()[1]) == 0
    obj.sinew.use_goal = True
    pins, goal = marked()
    assert np.array_equal(pins, positions[:4])
    assert np.array_equal(goal, np.column_stack([positions[4:6], [0.25, 0.25]]))
    obj.sinew.pin_threshold = 0.25
    assert [len(each) for each in marked()] == [6, 0]


def test_dots_of_a_goal_are_paler_where_it_is_weaker():
    card.make_ready()
    points = np.array([[-0.5, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.5], [0.5, 0.0, 0.0, 1.0]])
    dots = marks_batch("POINTS", points)
    red, view = (1.0, 0.0, 0.0), View(*card.straight_down(2.0))
    seen = card.picture(lambda: Painter().marks("POINTS", dots, view, np.eye(4), red, 12.0))
    pale, middle, full = (seen[32, column, :3] for column in (16, 32, 48))
    assert pale.min() > 0.95 and full[0] > 0.95 and full[1:].max() == 0.0
    assert middle[0] > 0.95 and 0.2 < middle[1] < 0.6


def test_pins_are_shown_while_their_panel_is_drawn(body, monkeypatch):
    """One that is closed is not drawn after its parent; one that is hidden is in no editor that is shown."""
    panel, looks = open_panel.OpenPanel(), []
    timers = SimpleNamespace(register=lambda look, **_: looks.append(look), is_registered=lambda look: bool(looks))
    areas = [SimpleNamespace(as_pointer=lambda k=k: k) for k in (1, 2)]
    shown = {1, 2}
    monkeypatch.setattr(open_panel, "bpy", SimpleNamespace(app=SimpleNamespace(timers=timers)))
    monkeypatch.setattr(open_panel, "PINS", panel)
    monkeypatch.setattr(open_panel, "_areas", lambda: areas)
    monkeypatch.setattr(open_panel, "_shows_tab", lambda area: area.as_pointer() in shown)
    overlay = SimpleNamespace(show_overlays=True)
    workspace = SimpleNamespace(sinew=bpy.context.workspace.sinew, tools=bpy.context.workspace.tools)
    context = SimpleNamespace(space_data=SimpleNamespace(overlay=overlay), workspace=workspace, mode="OBJECT")
    of = [SimpleNamespace(area=area) for area in areas]
    assert overlays.asked_for(context) == frozenset()

    def draw(k, with_panel):
        looks.clear()
        panel.parent_drawn(of[k])
        if with_panel:
            panel.drawn(of[k])
        assert looks.pop()() is None

    draw(0, True)
    assert overlays.asked_for(context) == {"pins"}
    draw(1, False)
    assert panel.is_open, "it is open in the other editor"
    overlay.show_overlays = False
    assert overlays.asked_for(context) == frozenset()
    overlay.show_overlays = True
    shown.remove(1)
    assert not panel.is_open, "that editor shows another tab"
    shown.add(1)
    draw(0, False)
    assert overlays.asked_for(context) == frozenset()
