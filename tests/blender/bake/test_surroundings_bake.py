"""Baked in Blender: bodies rest on the ground, follow springs, fall when they are let go, and are pushed."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import baking

from ..scenes import keyed

RATE = 24.0


@pytest.fixture
def loose(body, saved):
    """The bar without pins and without gravity, stiff enough to move as one."""
    body.sinew.pin_group = ""
    body.sinew.materials[0].stiffness_unit, body.sinew.materials[0].stiffness_value = "MPA", 1.0
    bpy.context.scene.use_gravity = False
    return body


def bake(body, frames: int) -> np.ndarray:
    """World positions (frames, n, 3) of a bake."""
    body.sinew.frame_end = frames
    assert bpy.ops.sinew.bake() == {"FINISHED"}, body.sinew.bake.message
    store = baking.open_store(body)
    return np.array([store.read(frame) for frame in store.frames()])


def test_a_body_that_is_dropped_rests_on_the_ground(loose):
    bpy.context.scene.use_gravity = True
    loose.location = (0.0, 0.0, 0.3)
    loose.sinew.collisions.use_ground, loose.sinew.collisions.height = True, -0.1
    z = bake(loose, 40)[:, :, 2]
    lowest = z.min(axis=1)
    assert lowest[0] == pytest.approx(0.3) and lowest.min() > -0.12
    assert lowest[-1] == pytest.approx(-0.1 + loose.sinew.collisions.thickness, abs=5e-3)
    assert np.abs(z[-1] - z[-2]).max() * RATE < 0.02, "it lies still"


def test_a_body_that_begins_in_the_ground_is_pushed_out_and_told(loose):
    """And what is told leads out of it: after Separate Overlaps nothing is told any more."""
    loose.sinew.collisions.use_ground, loose.sinew.collisions.height = True, 0.05
    z, record = bake(loose, 4)[:, :, 2], loose.sinew.bake
    assert z[-1].min() > z[0].min() and record.status == "DONE" and record.separation_object == loose
    assert "starts inside “Ground”, 50 mm deep" in record.contact_warning
    assert bpy.ops.sinew.move_out() == {"FINISHED"}
    assert bake(loose, 3)[:, :, 2].min() > 0.05
    assert not record.contact_warning and record.separation_object is None


def test_a_spring_draws_a_body_along_with_an_object(loose):
    handle = bpy.data.objects.new("Handle", None)
    bpy.context.scene.collection.objects.link(handle)
    keyed(handle, "location", (1, (0.0, 0.0, 0.0)), (10, (0.0, 0.0, 0.5)))
    every = loose.vertex_groups.new(name="Every")
    every.add(list(range(12)), 1.0, "REPLACE")
    bpy.ops.sinew.add_spring()
    spring = loose.sinew.springs[0]
    spring.vertex_group, spring.end, spring.target, spring.strength = "Every", "OBJECT", handle, 1e4
    loose.sinew.mass_damping = 5.0
    moved = bake(loose, 40)
    assert np.abs(moved[-1] - moved[0] - [0.0, 0.0, 0.5]).max() < 0.01


def test_a_soft_pin_that_is_let_go_no_longer_pulls(loose):
    keyed(loose, "location", (1, (0.0, 0.0, 0.0)), (6, (0.0, 0.0, 1.0)))
    loose.vertex_groups.new(name="Every").add(list(range(12)), 1.0, "REPLACE")
    bpy.ops.sinew.add_spring()
    spring = loose.sinew.springs[0]
    spring.vertex_group, spring.strength = "Every", 0.0
    moved = bake(loose, 6)
    assert np.abs(moved[-1] - moved[0]).max() < 1e-6


def test_a_body_whose_pins_are_released_falls_freely(loose):
    bpy.context.scene.use_gravity = True
    loose.sinew.pin_group = "Pins"
    loose.sinew.materials[0].stiffness_unit, loose.sinew.materials[0].stiffness_value = "GPA", 10.0
    keyed(loose.sinew, "pin_threshold", (4, 0.5), (5, 1.1))
    height = bake(loose, 12)[:, :, 2].mean(axis=1)
    assert np.abs(height[:4] - height[0]).max() < 1e-4
    acceleration = np.diff(height, 2) * RATE**2
    assert acceleration[4:] == pytest.approx(np.full(6, -9.81), rel=1e-2)


def test_a_moving_collider_pushes_the_body(loose, add_mesh):
    wall = add_mesh([(0, -1, -1), (0, 1, -1), (0, 1, 1), (0, -1, 1)], [(0, 1, 2, 3)], "Wall")
    obstacles = bpy.data.collections.new("Obstacles")
    bpy.context.scene.collection.children.link(obstacles)
    obstacles.objects.link(wall)
    keyed(wall, "location", (1, (-0.2, 0.0, 0.0)), (24, (0.8, 0.0, 0.0)))
    loose.sinew.collisions.collection = obstacles
    bpy.context.view_layer.objects.active = loose
    x = bake(loose, 24)[:, :, 0]
    assert x[0].min() == pytest.approx(0.0) and x[-1].min() > 0.79
    assert np.ptp(x[-1]) == pytest.approx(1.0, rel=0.05), "the bar is as long as before"


def test_a_field_accelerates_the_body(loose):
    attribute = loose.data.attributes.new("Wind", "FLOAT_VECTOR", "POINT")
    attribute.data.foreach_set("vector", np.tile([0.0, 2.0, 0.0], 12))
    loose.sinew.acceleration_attribute = "Wind"
    y = bake(loose, 8)[:, :, 1]
    # From rest, the first step of implicit Euler has the whole acceleration.
    assert np.diff(y, 2, axis=0) * RATE**2 == pytest.approx(np.full((6, 12), 2.0), rel=1e-4)


@pytest.mark.parametrize("solver", ["mixed_fem", "newton", "linearly_implicit"])
def test_a_step_of_ten_seconds_ends_in_numbers_or_in_words(loose, solver):
    render, sinew = bpy.context.scene.render, loose.sinew
    render.fps, render.fps_base = 1, 10.0
    bpy.context.scene.use_gravity = True
    sinew.solver, sinew.pin_group, sinew.frame_end = solver, "Pins", 4
    outcome = bpy.ops.sinew.bake()
    assert outcome == {"FINISHED"} and baking.open_store(loose).job().frame_rate == 0.1
    positions = baking.open_store(loose).read(4)
    assert np.isfinite(positions).all() and np.abs(positions).max() < 2.0, "held at one end, it sags"


def embedded(body, add_mesh, low, high) -> np.ndarray:
    """The first 8 frames of a body that a block goes through, (8, n, 3)."""
    corners = np.array([np.where(bits, high, low) for bits in np.ndindex(2, 2, 2)])
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    block = add_mesh(corners, faces, "Block")
    obstacles = bpy.data.collections.new("Obstacles")
    obstacles.objects.link(block)
    body.sinew.collisions.collection = obstacles
    bpy.context.view_layer.objects.active = body
    return bake(body, 8)


def test_a_block_that_holds_the_body_at_first_pushes_it_out_slowly(loose, add_mesh):
    """It shares three sides of the bar. The farthest corner comes out at half a size a second, but for its inertia."""
    low, high = np.zeros(3), np.ones(3)
    moved = embedded(loose, add_mesh, low, high)
    deepest = np.minimum(moved - low, high - moved).min(axis=2).max(axis=1)
    rates = -np.diff(deepest) * RATE
    assert deepest[0] == pytest.approx(0.3)
    assert rates.min() > 0.4
    assert rates.max() < 0.6


def test_a_post_in_the_body_at_first_does_not_make_it_leap(loose, add_mesh):
    """Points leave it by opposite sides, so it may stay stuck, but nothing flies away."""
    moved = embedded(loose, add_mesh, np.array([0.4, 0.1, -0.4]), np.array([0.6, 0.2, 0.1]))
    speeds = np.linalg.norm(np.diff(moved, axis=0), axis=2) * RATE
    assert 0.1 < speeds.max() < 1.0, "it is pushed, at about half a size a second"


@pytest.mark.parametrize("strength", [0.0, 1e8])
def test_springs_of_extreme_strength(loose, strength):
    loose.vertex_groups.new(name="One").add([8], 1.0, "REPLACE")
    bpy.ops.sinew.add_spring()
    loose.sinew.springs[0].vertex_group, loose.sinew.springs[0].strength = "One", strength
    bpy.context.scene.use_gravity = True
    moved = bake(loose, 4)
    fallen = moved[0, 8, 2] - moved[-1, 8, 2]
    assert fallen < 1e-3 if strength else fallen > 0.05
