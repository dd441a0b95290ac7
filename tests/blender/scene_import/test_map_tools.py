"""Blender's own tools on the maps of materials: whatever they leave is read as shares that sum to one."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.blender_addon.scene_import.weights_in import group_weights, material_weights


@pytest.fixture
def grid(add_mesh):
    """A plate of 9 x 9 vertices about the origin, Bone painted fully where x > 0.5, and its x."""
    x, y = (axis.ravel() for axis in np.meshgrid(np.linspace(-1.0, 1.0, 9), np.linspace(-1.0, 1.0, 9), indexing="ij"))
    faces = [(9 * i + j, 9 * i + j + 9, 9 * i + j + 10, 9 * i + j + 1) for i in range(8) for j in range(8)]
    obj = add_mesh(np.column_stack([x, y, 0.0 * x]), faces, "Plate")
    bpy.ops.sinew.enable()
    bpy.ops.sinew.add_material(preset="Bone")
    bpy.ops.sinew.paint_material()
    obj.vertex_groups["Bone"].add(np.flatnonzero(x > 0.5).tolist(), 1.0, "REPLACE")
    return obj, x


def read(obj):
    """Return the weights of a bake, checked to sum to one."""
    weights = make_job(obj, bpy.context).body.material_weights
    assert weights.min() >= 0.0
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-6)
    return weights


def test_a_smoothed_map_is_a_gradient(grid):
    obj, x = grid
    assert bpy.ops.object.vertex_group_smooth(group_select_mode="ACTIVE", factor=0.5, repeat=3) == {"FINISHED"}
    bone = read(obj)[:, 1]
    along = [bone[np.isclose(x, value)].mean() for value in np.linspace(-1.0, 1.0, 9)]
    assert (np.diff(along) >= -1e-6).all() and along[0] == 0.0 and along[-1] > 0.9
    assert sum(0.1 < value < 0.9 for value in along) >= 2, along


def test_a_smoothed_map_beside_that_of_the_first_material_is_a_gradient_too(grid):
    obj, x = grid
    obj.sinew.active_material = 0
    bpy.ops.sinew.paint_material()
    obj.vertex_groups["Soft Flesh"].add(np.flatnonzero(x <= 0.5).tolist(), 1.0, "REPLACE")
    bpy.ops.object.vertex_group_smooth(group_select_mode="ALL", factor=0.5, repeat=3)
    bone = read(obj)[:, 1]
    assert np.unique(np.round(bone, 3)).size >= 4 and bone.max() > 0.9 and bone.min() == 0.0


def test_a_mirrored_map_is_on_the_other_side(grid):
    obj, x = grid
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.object.vertex_group_mirror(mirror_weights=True, flip_group_names=False) == {"FINISHED"}
    assert np.array_equal(read(obj)[:, 1] == 1.0, x < -0.5)


def test_levels_and_an_inverted_map_stay_shares(grid):
    obj, x = grid
    bpy.ops.object.vertex_group_invert(group_select_mode="ACTIVE")
    assert np.array_equal(read(obj)[:, 1] == 1.0, x <= 0.5)
    bpy.ops.object.vertex_group_levels(group_select_mode="ACTIVE", gain=0.25)
    assert read(obj)[:, 1].max() == pytest.approx(0.25)


def test_a_gradient_of_weights_is_read_as_it_is(grid):
    """The gradient tool changes one map and leaves the others."""
    obj, x = grid
    group = obj.vertex_groups["Bone"]
    for vertex, value in enumerate((x + 1.0) / 2.0):
        group.add([vertex], float(value), "REPLACE")
    np.testing.assert_allclose(read(obj)[:, 1], (x + 1.0) / 2.0, atol=1e-6)


def test_transferred_maps_are_read(grid, add_mesh):
    source, _x = grid
    bpy.ops.object.vertex_group_smooth(group_select_mode="ACTIVE", factor=0.5, repeat=3)
    bpy.ops.object.mode_set(mode="OBJECT")
    x = np.repeat(np.linspace(-0.95, 0.95, 6), 6)
    y = np.tile(np.linspace(-0.95, 0.95, 6), 6)
    faces = [(6 * i + j, 6 * i + j + 6, 6 * i + j + 7, 6 * i + j + 1) for i in range(5) for j in range(5)]
    target = add_mesh(np.column_stack([x, y, 0.0 * x]), faces, "Copy")
    bpy.ops.sinew.enable()
    bpy.ops.sinew.add_material(preset="Bone")
    target.sinew.materials[1].vertex_group = "Bone"
    for obj in bpy.data.objects:
        obj.select_set(True)
    bpy.context.view_layer.objects.active = source
    assert bpy.ops.object.data_transfer(
        data_type="VGROUP_WEIGHTS",
        vert_mapping="POLYINTERP_NEAREST",
        layers_select_src="ALL",
        layers_select_dst="NAME",
    ) == {"FINISHED"}
    bone, painted = read(target)[:, 1], group_weights(source, source.data, ["Bone"])[:, 0]
    along = bone.reshape(6, 6).mean(axis=1)
    assert (np.diff(along) >= -1e-3).all() and along[-1] == pytest.approx(painted.max(), abs=0.1) and along[0] == 0.0


def test_a_transfer_modifier_is_read_where_it_is_simulated(grid, add_mesh):
    source, _x = grid
    bpy.ops.object.mode_set(mode="OBJECT")
    target = add_mesh([v.co for v in source.data.vertices], [tuple(p.vertices) for p in source.data.polygons], "Copy")
    bpy.ops.sinew.enable()
    bpy.ops.sinew.add_material(preset="Bone")
    target.sinew.materials[1].vertex_group = target.vertex_groups.new(name="Bone").name
    modifier = target.modifiers.new("Transfer", "DATA_TRANSFER")
    modifier.object, modifier.use_vert_data, modifier.data_types_verts = source, True, {"VGROUP_WEIGHTS"}
    modifier.vert_mapping = "NEAREST"
    assert not read(target)[:, 1].any() and "“Transfer” changes vertex groups" in target.sinew.stack_warning
    target.sinew.simulate_at, target.sinew.simulate_after = "MODIFIER", "Transfer"
    assert target.sinew.stack_warning == ""
    assert np.array_equal(read(target), material_weights(source, source.data))


@pytest.mark.parametrize("kind", ["VERTEX_WEIGHT_EDIT", "VERTEX_WEIGHT_MIX", "VERTEX_WEIGHT_PROXIMITY"])
def test_modifiers_that_change_maps_after_what_is_simulated_are_named(grid, kind):
    obj, _x = grid
    other = obj.vertex_groups.new(name="Other")
    modifier = obj.modifiers.new("Weigh", kind)
    name = "vertex_group_a" if kind == "VERTEX_WEIGHT_MIX" else "vertex_group"
    setattr(modifier, name, other.name)
    assert obj.sinew.stack_warning == "", "nothing reads that group"
    setattr(modifier, name, "Bone")
    assert "“Weigh” changes" in obj.sinew.stack_warning
    modifier.show_viewport = False
    assert obj.sinew.stack_warning == ""
