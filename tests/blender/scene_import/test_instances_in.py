"""Colliders that are instances arrive as what they show: Geometry Nodes, collection instances, instancing on faces."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.core.foundation.errors import ColliderError

from ..scenes import CUBE, keyed


@pytest.fixture
def prop(add_mesh, body):
    """A cube in a collection of its own, which no scene shows, at x = 10."""
    obj = add_mesh(*CUBE, "Prop")
    bpy.context.scene.collection.objects.unlink(obj)
    bpy.data.collections.new("Asset").objects.link(obj)
    obj.location.x = 10.0
    bpy.context.view_layer.objects.active = body
    return obj


@pytest.fixture
def empty(collection, prop):
    """An empty among the colliders that shows the asset."""
    obj = bpy.data.objects.new("Crate", None)
    obj.instance_type, obj.instance_collection = "COLLECTION", bpy.data.collections["Asset"]
    collection.objects.link(obj)
    return obj


def colliders_of(body):
    return make_job(body, bpy.context).body.colliders


def volume(collider, frame=0):
    a, b, c = collider.positions[frame][collider.triangles].transpose(1, 0, 2)
    return np.sum(a * np.cross(b, c)) / 6.0


def scatter(add_mesh, collection, source):
    """Points of a grid, on each of which Geometry Nodes put an instance of an object, or of a cube of theirs."""
    obj = add_mesh([(0, 0, -5), (4, 0, -5), (0, 4, -5)], [], "Scatter")
    bpy.context.scene.collection.objects.unlink(obj)
    collection.objects.link(obj)
    tree = bpy.data.node_groups.new("Scatter", "GeometryNodeTree")
    for direction in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
    start, end = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    put = tree.nodes.new("GeometryNodeInstanceOnPoints")
    if source is None:
        thing = tree.nodes.new("GeometryNodeMeshCube")
        tree.links.new(thing.outputs["Mesh"], put.inputs["Instance"])
    else:
        thing = tree.nodes.new("GeometryNodeObjectInfo")
        thing.inputs["Object"].default_value, thing.inputs["As Instance"].default_value = source, True
        tree.links.new(thing.outputs["Geometry"], put.inputs["Instance"])
    tree.links.new(start.outputs[0], put.inputs["Points"])
    tree.links.new(put.outputs[0], end.inputs[0])
    obj.modifiers.new("Scatter", "NODES").node_group = tree
    return obj


@pytest.mark.parametrize("of_objects", [True, False])
def test_geometry_nodes_instances_collide(body, add_mesh, collection, prop, of_objects):
    obj = scatter(add_mesh, collection, prop if of_objects else None)
    bpy.context.view_layer.objects.active = body
    keyed(obj, "location", (1, (0.0, 0.0, 0.0)), (4, (0.0, 0.0, 3.0)))
    (collider,) = colliders_of(body)
    assert collider.name.startswith("Scatter > ") and collider.positions.shape == (4, 24, 3)
    assert volume(collider) == pytest.approx(3.0), "three cubes of a cubic metre, outward"
    assert np.allclose(collider.positions[3] - collider.positions[0], [0.0, 0.0, 3.0], atol=1e-5)


@pytest.mark.parametrize("hidden", ["no", "in viewports", "by its eye"])
def test_a_collection_instance_collides(body, empty, hidden):
    keyed(empty, "location", (1, (0.0, 0.0, 0.0)), (4, (0.0, 6.0, 0.0)))
    empty.scale = (-2.0, 2.0, 2.0)
    empty.hide_viewport = hidden == "in viewports"
    if hidden == "by its eye":
        empty.hide_set(True)
    (collider,) = colliders_of(body)
    assert collider.name == "Crate > Prop" and volume(collider) == pytest.approx(8.0), "mirrored, and outward still"
    assert collider.positions[0][:, 0].min() == pytest.approx(-22.0)
    assert np.allclose(collider.positions[3] - collider.positions[0], [0.0, 6.0, 0.0], atol=1e-5)
    assert empty.hide_viewport == (hidden == "in viewports") and empty.hide_get() == (hidden == "by its eye")


def test_instances_within_instances_collide(body, empty, add_mesh):
    lamp = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    inner = bpy.data.objects.new("Inner", None)
    inner.instance_type, inner.instance_collection = "COLLECTION", empty.instance_collection
    outer = bpy.data.collections.new("Outer")
    for obj in (lamp, inner):
        outer.objects.link(obj)
    inner.location.x = 5.0
    empty.instance_collection = outer
    (collider,) = colliders_of(body)
    assert collider.positions[0][:, 0].min() == pytest.approx(15.0) and len(collider.positions[0]) == 8


def test_each_object_of_an_asset_is_a_collider_of_its_own(body, empty, prop):
    """So that parts that touch are not welded."""
    other = prop.copy()
    other.name, other.location.x = "Lid", 11.0
    empty.instance_collection.objects.link(other)
    assert [c.name for c in colliders_of(body)] == ["Crate > Lid", "Crate > Prop"]


def test_the_body_itself_is_no_obstacle_as_an_instance(body, empty):
    empty.instance_collection.objects.link(body)
    assert [c.name for c in colliders_of(body)] == ["Crate > Prop"]


def test_instancing_on_faces_leaves_out_the_instancer(body, add_mesh, collection, prop):
    obj = add_mesh([(0, 0, -5), (1, 0, -5), (1, 1, -5), (0, 1, -5)], [(0, 1, 2, 3)], "Tiles")
    bpy.context.scene.collection.objects.unlink(obj)
    collection.objects.link(obj)
    prop.parent, obj.instance_type, obj.show_instancer_for_viewport = obj, "FACES", False
    collection.objects.link(prop)
    bpy.context.view_layer.objects.active = body
    found = {c.name: c for c in colliders_of(body)}
    assert "Tiles" not in found
    assert np.allclose(found["Tiles > Prop"].positions.mean((0, 1)), [10.5, 0.5, -5.0], atol=0.6), "amid the face"


def test_an_instance_of_nothing_is_named(body, empty, prop):
    prop.hide_viewport = True
    with pytest.raises(ColliderError, match="“Crate” has no faces at frame 1"):
        colliders_of(body)


def test_instances_that_come_later_are_named(body, empty, prop):
    keyed(prop, "hide_viewport", (1, False), (3, True))
    with pytest.raises(ColliderError, match="“Crate > Prop” changes its mesh: 8 vertices at first, and 0 at frame 3"):
        colliders_of(body)


def test_a_collider_that_an_nla_strip_moves_is_animated(body, collection, prop):
    collection.objects.link(prop)
    keyed(prop, "location", (1, (0.0, 0.0, 0.0)), (4, (0.0, 0.0, 3.0)))
    animation = prop.animation_data
    animation.nla_tracks.new().strips.new("Rise", 1, animation.action)
    animation.action = None
    (collider,) = colliders_of(body)
    assert len(collider.positions) == 4
    assert np.allclose(collider.positions[3] - collider.positions[0], [0.0, 0.0, 3.0], atol=1e-5)
