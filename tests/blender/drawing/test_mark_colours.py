"""Marks, ghosts and Blender's selection can be told apart by all eyes; the legend lists what is there."""

from __future__ import annotations

from functools import partial
from itertools import combinations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.draw_handlers import overlays
from sinew.blender_addon.drawing import overlay_marks as marks
from sinew.blender_addon.drawing.gpu_overlay import Painter, View, marks_batch
from sinew.blender_addon.drawing.overlay_shader import FORMS
from sinew.blender_addon.properties.compare_properties import SinewCompare

from .. import card

APART = 24.0
"""CIE76 difference; two patches of 2.3 are just told apart when they touch."""

# Machado, Oliveira and Fernandes 2009, severity 1, for linear colours.
SIGHTS = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab(linear):
    """CIELAB of a linear colour (3,), D65."""
    part = TO_XYZ @ np.clip(linear, 0.0, 1.0) / [0.9505, 1.0, 1.089]
    f = np.where(part > 0.008856, np.cbrt(part), 7.787 * part + 16.0 / 116.0)
    return np.array([116.0 * f[1] - 16.0, 500.0 * (f[0] - f[1]), 200.0 * (f[1] - f[2])])


def linear_of(shown):
    """A linear colour (3,) of one as a screen shows it."""
    shown = np.array(shown)
    return np.where(shown <= 0.04045, shown / 12.92, ((shown + 0.055) / 1.055) ** 2.4)


@pytest.mark.parametrize("sight", SIGHTS)
def test_colours_can_be_told_apart(sight):
    theme = bpy.context.preferences.themes[0].view_3d
    ours = {name: getattr(marks, name) for name in ("PINS", "SPRINGS", "NODES", "COLLIDERS", "OUTSIDE", "NEWEST")}
    ours["ghost"] = SinewCompare.bl_rna.properties["color"].default_array[:3]
    selection = {name: linear_of(getattr(theme, name)[:3]) for name in ("object_active", "object_selected")}
    seen = {name: lab(SIGHTS[sight] @ np.array(colour)) for name, colour in {**ours, **selection}.items()}
    near = {
        pair: float(np.linalg.norm(seen[pair[0]] - seen[pair[1]]))
        for pair in combinations(seen, 2)
        if set(pair) != set(selection)
    }
    assert min(near.values()) > APART, sorted(near.items(), key=lambda item: item[1])[:3]


def test_the_legend_lists_the_marks_that_are_there_and_no_others(body, monkeypatch):
    """Whatever is asked for: while picking all that can be picked is."""
    asked, drawn = {"pins", "springs", "nodes", "colliders"}, overlays.Overlays()
    monkeypatch.setattr(overlays, "marks_batch", lambda kind, points: points if len(points) else None)

    def listed():
        drawn.forget_marks()
        kept = overlays.latest(drawn._marks, body.session_uid, overlays.MarksOf)
        kept.own(body, body, bpy.context)
        for collider in marks.colliders_of(body, bpy.context):
            kept.collider(collider, body, bpy.context)
        return [(words, form) for _, words, form in drawn.legend(body, asked, None).rows]

    try:
        assert listed() == [("Pins", "SQUARE")]
        body.vertex_groups["Pins"].add([6], 0.25, "REPLACE")
        assert listed() == [("Pins", "SQUARE"), ("Goal, Paler Where Weaker", "SQUARE")]
        bpy.context.view_layer.objects.active = body
        bpy.ops.sinew.add_spring()
        assert len(listed()) == 2, "a spring without vertices"
        body.vertex_groups.new(name="Tip").add([11], 1.0, "REPLACE")
        body.sinew.springs[0].vertex_group = body.sinew.node_group = "Tip"
        assert listed()[2:] == [("Springs", "DIAMOND"), ("Dynamic Nodes", "ROUND")]
        body.sinew.collisions.use_ground = True
        assert ("Colliders", "LINE") in listed()
        body.sinew.collisions.use_ground = False
        bpy.ops.mesh.primitive_cube_add()
        body.sinew.collisions.collection = obstacles = bpy.data.collections.new("Obstacles")
        obstacles.objects.link(bpy.context.object)
        bpy.context.view_layer.update()
        assert ("Colliders", "LINE") in listed()
        body.sinew.pin_group = ""
        assert "Pins" not in dict(listed())
    finally:
        drawn.remove()


def test_forms_of_marks_can_be_told_apart():
    card.make_ready()
    painter, view = Painter(), View(*card.straight_down(2.0))
    dot = marks_batch("POINTS", np.array([[0.0, 0.0, 0.0]]))
    seen = {}
    for form in FORMS:
        draw = partial(painter.marks, "POINTS", dot, view, np.eye(4), (1.0, 1.0, 1.0), 40.0, form)
        seen[form] = card.picture(draw, background=(0.0, 0.0, 1.0))[..., 2] < 0.9
        seen[form] |= card.picture(draw, background=(0.0, 0.0, 1.0))[..., 0] > 0.9
    for one, other in combinations(FORMS, 2):
        assert (seen[one] != seen[other]).sum() > 0.1 * seen[one].sum(), (one, other)
