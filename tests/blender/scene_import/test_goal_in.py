"""A goal arrives with the pins: what is not held all the time is drawn by its weight, at the strength of each frame."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import baking
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.blender_addon.setup.copying import copy_settings
from sinew.core.jobs.job.body import Body

from ..scenes import keyed


@pytest.fixture
def graded(body):
    """The bar: its left end held, its middle painted by half the threshold and less, its right end free."""
    group = body.vertex_groups["Pins"]
    group.add([4, 5, 6], 0.25, "REPLACE")
    group.add([7], 0.1, "REPLACE")
    assert body.sinew.use_goal, "by default"
    return body


def read(obj) -> Body:
    return make_job(obj, bpy.context).body


def test_without_goal_weights_below_the_threshold_do_nothing(graded):
    graded.sinew.use_goal = False
    assert read(graded).goal is None
    graded.sinew.use_goal, graded.sinew.pin_group = True, ""
    assert read(graded).goal is None


def test_what_is_not_held_is_drawn_by_its_weight(graded):
    got = read(graded)
    assert got.pinned_vertices.tolist() == [0, 1, 2, 3]
    assert got.goal.vertices.tolist() == [4, 5, 6, 7] and got.goal.weights == pytest.approx([0.25] * 3 + [0.1])
    assert got.goal.stiffness.tolist() == [5.0] * 4 and got.goal.name == "Pins"


@pytest.mark.parametrize(
    ("threshold", "held", "drawn"),
    [
        (0.0, [*range(8)], None),
        (0.25, [*range(7)], [7]),
        (0.251, [0, 1, 2, 3], [4, 5, 6, 7]),
        (1.0, [0, 1, 2, 3], [4, 5, 6, 7]),
        (1.01, [], [*range(8)]),
    ],
)
def test_from_the_threshold_on_it_is_hard(graded, threshold, held, drawn):
    graded.sinew.pin_threshold = threshold
    got = read(graded)
    assert got.pinned_vertices.tolist() == held
    assert got.goal is None if drawn is None else got.goal.vertices.tolist() == drawn


def test_what_is_released_is_drawn_on_while_others_are_held(graded):
    graded.vertex_groups["Pins"].add([2, 3], 0.6, "REPLACE")
    keyed(graded.sinew, "pin_threshold", (1, 0.5), (2, 0.5), (3, 0.8))
    got = read(graded)
    assert got.pin_held.sum(axis=1).tolist() == [4, 4, 2, 2]
    assert got.goal.vertices.tolist() == [*range(2, 8)] and got.goal.weights[:2] == pytest.approx(0.6)
    assert got.goal.stiffness.tolist() == [5.0] * 4


def test_a_goal_lets_go_when_nothing_is_held_any_more(graded):
    keyed(graded.sinew, "pin_threshold", (1, 0.5), (2, 0.5), (3, 1.01))
    got = read(graded)
    assert got.pin_held[:2].all() and not got.pin_held[2:].any()
    assert got.goal.vertices.tolist() == [4, 5, 6, 7] and got.goal.stiffness.tolist() == [5.0, 5.0, 0.0, 0.0]


@pytest.mark.parametrize("keys", [(), ((1, 0.5), (3, 1.01))], ids=["held", "released"])
def test_pins_of_full_weights_alone_are_the_same_with_a_goal_and_without(body, keys):
    """By default nothing is different where no weight lies between 0 and the threshold."""
    assert body.sinew.use_goal
    keyed(body.sinew, "pin_threshold", *keys) if keys else None
    with_goal = read(body)
    body.sinew.use_goal = False
    without = read(body)
    assert with_goal.goal is None
    assert np.array_equal(with_goal.pin_held, without.pin_held)


def test_strength_is_keyed_and_targets_are_animated(graded):
    keyed(graded.sinew, "goal_strength", (1, 2.0), (3, 0.0))
    keyed(graded, "location", (1, (0.0, 0.0, 0.0)), (4, (3.0, 0.0, 0.0)))
    goal = read(graded).goal
    assert goal.stiffness[0] == 2.0 and 0.0 < goal.stiffness[1] < 2.0 and goal.stiffness[2:].tolist() == [0.0, 0.0]
    assert np.allclose(goal.targets[3] - goal.targets[0], [3.0, 0.0, 0.0], atol=1e-6)


def test_on_a_moving_body_it_is_sampled_between_frames(graded):
    keyed(graded, "rotation_euler", (1, (0.0, 0.0, 0.0)), (4, (0.0, 0.0, 3.0)))
    graded.sinew.substeps = 4
    got = read(graded)
    assert got.goal.targets.shape == got.pin_positions.shape == (13, 4, 3)


def test_an_edit_of_it_is_named_and_one_that_was_put_back_is_none(graded, saved):
    bpy.ops.sinew.bake()
    graded.sinew.goal_strength = 3.0
    bpy.ops.sinew.check_bake()
    assert graded.sinew.bake.stale == "pins (goal: strength)"
    graded.sinew.goal_strength = 5.0
    bpy.ops.sinew.check_bake()
    assert graded.sinew.bake.stale == ""
    graded.sinew.use_goal = False
    bpy.ops.sinew.check_bake()
    assert graded.sinew.bake.stale == "pins (goal was removed)"


def test_it_is_saved_and_copied(graded, add_mesh, saved):
    graded.sinew.goal_strength = 3.0
    other = add_mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)], "Other")
    copy_settings(graded, other)
    assert (other.sinew.use_goal, other.sinew.goal_strength) == (True, 3.0)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(saved))
    again = bpy.data.objects["Body"].sinew
    assert (again.use_goal, again.goal_strength) == (True, 3.0)


def test_a_bake_draws_and_keeps_it(graded, saved, evaluated):
    """Held softly at its left end alone, the bar sags more; what is drawn is in the file that the child reads."""
    graded.sinew.goal_strength = 1000.0
    bpy.ops.sinew.bake()
    drawn = evaluated(graded, 4)[8:, 2].mean()
    assert baking.open_store(graded).job().body.goal.stiffness.tolist() == [1000.0] * 4
    graded.sinew.use_goal = False
    bpy.ops.sinew.bake()
    assert evaluated(graded, 4)[8:, 2].mean() < drawn - 0.01


def test_a_group_that_only_draws_is_no_body_that_falls(graded, saved):
    graded.sinew.pin_threshold = 1.5
    bpy.ops.sinew.bake()
    assert graded.sinew.bake.pin_warning == ""
    graded.sinew.use_goal = False
    bpy.ops.sinew.bake()
    assert "body will fall" in graded.sinew.bake.pin_warning
