"""Vertex groups become weights that sum to one, while painting and on reading; named attributes replace them."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest
from sinew.blender_addon.objects.named_attributes import search_weights
from sinew.blender_addon.scene_import import weights_in
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.blender_addon.setup import painting
from sinew.core.foundation.errors import SettingsError
from sinew.core.mechanics.materials.weight_normalization import normalize_weights


@pytest.fixture
def painted(body):
    """Three materials: the first unpainted, the others overlapping on some vertices."""
    for name in ("Bone", "Rubber"):
        bpy.ops.sinew.add_material(preset=name)
        material = body.sinew.materials[-1]
        material.vertex_group = body.vertex_groups.new(name=name).name
    body.vertex_groups["Bone"].add([0, 1, 2], 0.75, "REPLACE")
    body.vertex_groups["Rubber"].add([2, 3], 0.25, "REPLACE")
    return body


def test_rows_sum_to_one_and_unpainted_vertices_are_the_first_material(painted):
    weights = make_job(painted, bpy.context).body.material_weights
    assert np.allclose(weights.sum(axis=1), 1.0)
    assert weights[0] == pytest.approx([0.25, 0.75, 0]) and weights[3] == pytest.approx([0.75, 0, 0.25])
    assert weights[2] == pytest.approx([0, 0.75, 0.25]) and weights[11] == pytest.approx([1, 0, 0])


def test_missing_groups_weigh_nothing(painted):
    weights = weights_in.group_weights(painted, painted.data, ["", "gone", "Bone"])
    assert not weights[:, :2].any() and weights[0, 2] == 0.75


def test_a_stroke_keeps_its_map_and_scales_the_others(painted):
    painted.sinew.materials[0].vertex_group = painted.vertex_groups.new(name="Flesh").name
    painted.sinew.active_material = 1
    bpy.ops.sinew.paint_material()
    assert painted.mode == "WEIGHT_PAINT" and painted.vertex_groups.active.name == "Bone"
    assert bpy.ops.sinew.normalize_maps() == {"FINISHED"}
    weights = weights_in.group_weights(painted, painted.data, ["Flesh", "Bone", "Rubber"])
    assert weights[0] == pytest.approx([0.25, 0.75, 0.0])
    assert weights[2] == pytest.approx([0.0, 0.75, 0.25])
    assert not weights[11].any()
    bpy.ops.sinew.stop_painting()
    assert painted.mode == "OBJECT"


def test_other_groups_are_not_our_maps(painted):
    painted.vertex_groups.active = painted.vertex_groups["Pins"]
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    assert not painting.paints_a_map(painted)
    assert not bpy.ops.sinew.normalize_maps.poll() and not bpy.ops.sinew.paint_stroke.poll()
    painted.vertex_groups.active = painted.vertex_groups["Bone"]
    assert painting.paints_a_map(painted)


def test_balance_touches_nothing_that_is_unpainted():
    weights = np.array([[0.0, 0.0, 0.0], [0.2, 0.6, 0.9], [0.5, 0.0, 0.0], [0.5, 0.25, 0.0]])
    result = painting.balanced(weights, kept=[0], fill=None)
    assert np.array_equal(result[0], weights[0]) and np.array_equal(result[2:], weights[2:])
    assert result[1] == pytest.approx([0.2, 0.32, 0.48])


def test_what_a_stroke_takes_away_goes_to_the_first_material():
    weights = np.array([[0.1, 0.25, 0.5]])
    assert painting.balanced(weights, kept=[1], fill=0)[0] == pytest.approx([0.25, 0.25, 0.5])
    assert painting.balanced(weights, kept=[0], fill=0)[0] == pytest.approx([0.1, 0.3, 0.6])
    assert painting.balanced(weights, kept=[2], fill=1)[0] == pytest.approx([0.1, 0.4, 0.5])


def test_locked_maps_stay_and_the_brush_leaves_them_room():
    weights = np.array([[0.3, 0.5, 0.6], [0.9, 0.5, 0.1], [0.2, 0.5, 0.0]])
    result = painting.balanced(weights, kept=[0], fill=None, locked=[1])
    assert result == pytest.approx(np.array([[0.3, 0.5, 0.2], [0.5, 0.5, 0.0], [0.2, 0.5, 0.0]]))
    assert painting.balanced(weights, kept=[2], fill=1, locked=[1])[2] == pytest.approx([0.2, 0.5, 0.0])
    assert painting.balanced(weights, kept=[1], fill=1, locked=[1])[0] == pytest.approx([0.5 / 3, 0.5, 1.0 / 3])


def test_the_stroke_knows_of_the_lock(painted):
    painted.vertex_groups["Rubber"].lock_weight = True
    painted.vertex_groups["Bone"].add([2], 0.9, "REPLACE")
    painted.vertex_groups.active = painted.vertex_groups["Bone"]
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    assert bpy.ops.sinew.normalize_maps() == {"FINISHED"}
    assert weights_in.group_weights(painted, painted.data, ["Bone", "Rubber"])[2] == pytest.approx([0.75, 0.25])


@pytest.mark.parametrize("locked", [False, True])
def test_the_stroke_knows_of_the_other_side(painted, locked):
    """A stroke that mirrors paints Rubber.R where Rubber.L is painted on this side, and full means full on both."""
    painted.sinew.materials[0].vertex_group = painted.vertex_groups.new(name="Flesh").name
    for old, new, vertex in (("Bone", "Rubber.L", 9), ("Rubber", "Rubber.R", 3)):
        group = painted.vertex_groups[old]
        next(m for m in painted.sinew.materials if m.vertex_group == old).vertex_group = group.name = new
        group.remove(range(12))
        group.add([vertex], 1.0, "REPLACE")
    painted.vertex_groups["Rubber.R"].lock_weight = locked
    painted.vertex_groups["Flesh"].add(range(12), 1.0, "REPLACE")
    painted.vertex_groups.active = painted.vertex_groups["Rubber.L"]
    painted.data.use_mirror_x = True
    painting.normalize_maps(painted)
    weights = weights_in.group_weights(painted, painted.data, ["Flesh", "Rubber.L", "Rubber.R"])
    assert weights[9] == pytest.approx([0, 1, 0]) and weights[3] == pytest.approx([0, 0, 1])
    painted.vertex_groups["Rubber.R"].add([9], 1.0, "REPLACE")
    painting.normalize_maps(painted)
    weights = weights_in.group_weights(painted, painted.data, ["Flesh", "Rubber.L", "Rubber.R"])
    assert weights[9] == pytest.approx([0, 0, 1] if locked else [0, 1, 0]), (
        "what is painted on goes first, locks before"
    )


@pytest.mark.parametrize("weights", [(0.0, 0.0), (0.5, 0.0), (0.25, 0.75), (1.0, 0.5)])
def test_the_interface_reads_weights_as_the_library_does(painted, weights):
    for name, weight in zip(("Bone", "Rubber"), weights, strict=True):
        painted.vertex_groups[name].add([5], weight, "REPLACE")
    raw = weights_in.group_weights(painted, painted.data, ["", "Bone", "Rubber"])
    assert np.array_equal(make_job(painted, bpy.context).body.material_weights, normalize_weights(raw))


def test_regions_become_surfaces_in_world_space(painted, add_mesh):
    bone = add_mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)], "Inner")
    bone.location = (0.0, 0.0, 5.0)
    bone.modifiers.new("Copies", "ARRAY").count = 3
    bone.hide_viewport = bone.hide_render = True  # as bones inside a body usually are
    painted.sinew.materials[1].region = bone
    job = make_job(painted, bpy.context)
    assert [layer.material for layer in job.body.layers] == [1]
    (surface,) = job.body.layers[0].surfaces
    assert surface.positions[:, 2].min() == pytest.approx(5.0)
    assert len(surface.positions) == 12 and bone.hide_viewport


# -- named attributes ---------------------------------------------------------------------------------------------


def stored(body, name, data_type="FLOAT", domain="POINT", value="X"):
    """Add a Geometry Nodes modifier that stores an attribute: the X coordinate, or a constant."""
    tree = bpy.data.node_groups.new(name, "GeometryNodeTree")
    for direction in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
    source, sink = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    store = tree.nodes.new("GeometryNodeStoreNamedAttribute")
    store.data_type, store.domain = data_type, domain
    store.inputs["Name"].default_value = name
    if value == "X":
        position, split = tree.nodes.new("GeometryNodeInputPosition"), tree.nodes.new("ShaderNodeSeparateXYZ")
        tree.links.new(position.outputs[0], split.inputs[0])
        tree.links.new(split.outputs[0], store.inputs["Value"])
    else:
        store.inputs["Value"].default_value = value
    tree.links.new(source.outputs[0], store.inputs["Geometry"])
    tree.links.new(store.outputs[0], sink.inputs[0])
    modifier = body.modifiers.new(name, "NODES")
    modifier.node_group = tree
    return modifier


def message(body) -> str:
    with pytest.raises(SettingsError) as raised:
        make_job(body, bpy.context)
    assert raised.value.remedy
    return raised.value.message


def test_every_picker_takes_an_attribute_of_later_nodes(body):
    X = np.array([v.co.x for v in body.data.vertices])
    stored(body, "Far")
    body.modifiers.new("Smooth", "SUBSURF")  # adds vertices after the nodes
    settings, material = body.sinew, body.sinew.materials[0]
    settings.pin_group = settings.refine_group = material.stiffness_map = material.muscle.activation_group = "Far"
    material.use_range, settings.use_goal = True, True
    bpy.ops.sinew.add_material(preset="Bone")
    settings.materials[1].vertex_group = "Far"
    bpy.ops.sinew.add_spring()
    settings.springs[0].vertex_group = "Far"
    made = make_job(body, bpy.context).body
    assert made.pinned_vertices.tolist() == np.flatnonzero(X >= 0.5).tolist()
    assert made.material_weights[:, 1] == pytest.approx(X) and made.stiffness_maps[:, 0] == pytest.approx(X)
    assert made.refinement == pytest.approx(X)
    assert made.springs[0].vertices.tolist() == np.flatnonzero(X > 0.0).tolist()
    assert all(modifier.show_viewport for modifier in body.modifiers)
    assert search_weights(settings, bpy.context, "a") == ["Far"]
    assert search_weights(settings, bpy.context, "") == [group.name for group in body.vertex_groups] + ["Far"]


def test_an_attribute_does_not_follow_the_baked_shape(body, saved):
    stored(body, "Far")
    body.sinew.materials[0].use_range, body.sinew.materials[0].stiffness_map = True, "Far"
    before = make_job(body, bpy.context).body.stiffness_maps
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    mesh = body.data
    for vertex in mesh.shape_keys.key_blocks[0].data:
        vertex.co.x += 0.25
    assert np.array_equal(make_job(body, bpy.context).body.stiffness_maps, before) and before.any()
    assert body.data == mesh and mesh.shape_keys is not None and len(bpy.data.meshes) == 1


def test_values_are_clipped_and_booleans_count(body):
    body.data.attributes.new("Own", "FLOAT", "POINT").data.foreach_set("value", np.linspace(-1.0, 2.0, 12))
    weights = weights_in.group_weights(body, body.data, ["Own", "Pins"])
    assert weights[:, 0] == pytest.approx(np.linspace(-1.0, 2.0, 12).clip(0.0, 1.0)) and weights[:, 1].sum() == 4.0
    body.data.attributes.new("Held", "BOOLEAN", "POINT").data[5].value = True
    body.sinew.pin_group = "Held"
    assert make_job(body, bpy.context).body.pinned_vertices.tolist() == [5]


def test_simulated_modifiers_make_attributes(body):
    """The nodes after the simulated position are named with a remedy; set to be simulated, they are read."""
    body.modifiers.new("Bend", "SIMPLE_DEFORM").angle = 0.0
    stored(body, "Far")
    body.sinew.pin_group = "Far"
    assert "no vertex group and no attribute “Far”" in message(body)
    body.sinew.simulate_at, body.sinew.simulate_after = "MODIFIER", "Far"
    assert len(make_job(body, bpy.context).body.pinned_vertices) == 8


@pytest.mark.parametrize(
    "kind, domain, value, words",
    [
        ("FLOAT", "FACE", "X", "is a float of each face, not a float at each point"),
        ("FLOAT", "EDGE", "X", "is a float of each edge"),
        ("FLOAT", "CORNER", "X", "is a float of each corner"),
        ("FLOAT_VECTOR", "POINT", (1.0, 0.0, 0.0), "is a float vector of each point"),
        ("FLOAT_COLOR", "POINT", (1.0, 0.0, 0.0, 1.0), "is a float color of each point"),
        ("FLOAT", "POINT", math.nan, "is not a finite number at vertex 0"),
        ("FLOAT", "POINT", math.inf, "is not a finite number at vertex 0"),
    ],
)
def test_bad_attributes_are_named(body, kind, domain, value, words):
    if value in (math.nan, math.inf):  # nodes rarely give them
        body.data.attributes.new("Far", kind, domain).data[0].value = value
    else:
        stored(body, "Far", kind, domain, value)
    body.sinew.pin_group = "Far"
    assert f"“Far” of “Body” {words}" in message(body)


def test_nodes_on_a_mesh_of_other_vertices_are_named(body):
    body.modifiers.new("Smooth", "SUBSURF")
    stored(body, "Far")
    body.sinew.pin_group = "Far"
    assert "points, but 12 vertices are simulated" in message(body)


def test_an_attribute_is_neither_painted_nor_picked(body):
    stored(body, "Far")
    body.sinew.materials[0].vertex_group = body.sinew.pin_group = "Far"
    with pytest.raises(RuntimeError, match="“Far” is an attribute"):
        bpy.ops.sinew.paint_material()
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    with pytest.raises(RuntimeError, match="“Far” is an attribute"):
        bpy.ops.sinew.assign_pins()
    assert body.sinew.pin_group == body.sinew.materials[0].vertex_group == "Far"
