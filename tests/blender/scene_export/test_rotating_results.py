"""Between frames a body that rotates keeps its size."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.blend_data.list_animation import curves_at

from ..scenes import keyed

SMALL = 1e-3


@pytest.fixture
def spinning(body, saved):
    """Its object spins by 60 degrees a frame, about a point beside it, and travels; the body floats at rest."""
    bpy.context.scene.gravity = (0.0, 0.0, 0.0)
    body.sinew.pin_group = ""
    keyed(body, "rotation_euler", (1, (0.0, 0.0, 0.0)), (4, (0.0, 0.0, np.pi)))
    keyed(body, "location", (1, (2.0, 0.0, 0.0)), (4, (-1.0, 3.0, 0.0)))
    for name in ("rotation_euler", "location"):
        for curve in curves_at(body, name):
            for point in curve.keyframe_points:
                point.interpolation = "LINEAR"
    body.scale = (1.5, -0.5, 1.0)
    body.sinew.result_modes = 4
    return body


@pytest.mark.parametrize("kind", ["KEYS", "NODES"])
@pytest.mark.parametrize("remapped", [False, True])
def test_a_body_at_rest_stays_where_it_is(spinning, evaluated, kind, remapped):
    if remapped:
        bpy.context.scene.render.frame_map_new = 50
    spinning.sinew.result = kind
    rest = evaluated(spinning, 1)
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    for frame in (1, 1.5, 2, 2.25, 2.5, 3.75, 4):
        off = np.abs(evaluated(spinning, frame) - rest).max() / np.ptp(rest, axis=0).max()
        # Off the midpoint a parabola stands for the arc, and time goes linearly: 3 % of the radius about its axis.
        assert off < (SMALL if frame % 0.5 == 0 else 0.04), frame


def test_pins_that_stand_still_do_so_between_frames(spinning, evaluated):
    spinning.sinew.pin_group = "Pins"
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    pins = [(0.0, y, z) for y in (0.0, 0.3) for z in (0.0, 0.3)]
    for frame in (1.5, 2.5, 3.5):
        world = evaluated(spinning, frame)[:4]
        matrix = np.array(spinning.matrix_world)
        assert np.abs((world - matrix[:3, 3]) @ np.linalg.inv(matrix[:3, :3]).T - pins).max() < SMALL


def test_what_does_not_rotate_has_no_key_between(body, saved):
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    names = [block.name for block in body.data.shape_keys.key_blocks]
    assert names == [f"Frame {frame}" for frame in (1, 2, 3, 4)]


def test_mesh_cache_warns_and_shape_keys_do_not(spinning):
    spinning.scale = (1.0, 1.0, 1.0)
    assert bpy.ops.sinew.bake() == {"FINISHED"} and spinning.sinew.bake.message == ""
    spinning.sinew.result = "CACHE"
    assert bpy.ops.sinew.convert_result() == {"FINISHED"}
    assert "13 % smaller" in spinning.sinew.bake.message and "Shape Keys" in spinning.sinew.bake.message
