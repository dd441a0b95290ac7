"""The first button of the panel is what is wanted next."""

from __future__ import annotations

from types import SimpleNamespace
from unittest.mock import MagicMock

import bpy
import pytest
from sinew.ui.bake import draw_first


def first_button(obj):
    screen = SimpleNamespace(is_animation_playing=False)
    context = MagicMock(screen=screen, region=SimpleNamespace(width=300), scene=bpy.context.scene, blend_data=bpy.data)
    context.preferences.system.ui_scale = 1.0
    layout = MagicMock()
    draw_first(layout, context, obj)
    return layout.row.return_value.operator.call_args_list[0].args[0]


@pytest.mark.parametrize("status", ("STOPPED", "FAILED"))
def test_what_was_edited_is_not_gone_on_with(body, saved, status):
    assert first_button(body) == "sinew.bake"
    bpy.ops.sinew.bake()
    assert first_button(body) == "screen.animation_play"
    body.sinew.bake.status = status
    assert first_button(body) == "sinew.resume_bake"
    body.sinew.materials[0].density = 900.0
    assert first_button(body) == "sinew.bake"
    with pytest.raises(RuntimeError, match="Edited since the bake began: materials"):
        bpy.ops.sinew.resume_bake()


def test_what_left_nothing_is_not_gone_on_with(body, saved):
    body.sinew.bake.status = "FAILED"
    assert first_button(body) == "sinew.bake" and not bpy.ops.sinew.resume_bake.poll()
