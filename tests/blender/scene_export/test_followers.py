"""Followers of a hidden original's shape are named; those of its transform alone are not."""

from __future__ import annotations

import bpy
import pytest


@pytest.fixture
def keyed_body(body, saved):
    """A body whose bake lies on a duplicate, in a collection of its own."""
    body.shape_key_add(name="Basis")
    home = bpy.data.collections.new("Home")
    bpy.context.scene.collection.children.link(home)
    home.objects.link(body)
    body.vertex_groups.new(name="Corner").add([11], 1.0, "REPLACE")
    return body


def tree(kind, inside=None, **inputs):
    group = bpy.data.node_groups.new("Take", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        group.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    node, leave = group.nodes.new(kind), group.nodes.new("NodeGroupOutput")
    if inside is not None:
        node.node_tree = inside
    for name, value in inputs.items():
        node.inputs[name].default_value = value
    group.links.new(next(socket for socket in node.outputs if socket.type == "GEOMETRY"), leave.inputs[0])
    return group


def by_nodes(other, body):
    other.modifiers.new("Nodes", "NODES").node_group = tree("GeometryNodeObjectInfo", Object=body)


def by_nested_nodes(other, body):
    inner = tree("GeometryNodeObjectInfo", Object=body)
    other.modifiers.new("Nodes", "NODES").node_group = tree("GeometryNodeGroup", inner)


def by_collection_nodes(other, body):
    inner = tree("GeometryNodeCollectionInfo", Collection=body.users_collection[-1])
    other.modifiers.new("Nodes", "NODES").node_group = inner


def by_hidden_nodes(other, body):
    by_nodes(other, body)
    other.hide_viewport = True


def by_particles(other, body):
    other.modifiers.new("Particles", "PARTICLE_SYSTEM")
    settings = other.particle_systems[0].settings
    settings.render_type, settings.instance_object = "OBJECT", body


def by_vertex_group(other, body):
    constraint = other.constraints.new("COPY_LOCATION")
    constraint.target, constraint.subtarget = body, "Corner"


def by_shrinkwrap(other, body):
    other.constraints.new("SHRINKWRAP").target = body


def by_faces(other, body):
    other.parent, body.instance_type = body, "FACES"


def by_vertex(other, body):
    other.parent, other.parent_type = body, "VERTEX"


def by_parent(other, body):
    other.parent = body


def by_location(other, body):
    other.constraints.new("COPY_LOCATION").target = body


def by_driver(other, body):
    driver = other.driver_add("location", 0).driver
    variable = driver.variables.new()
    variable.type, variable.targets[0].id = "TRANSFORMS", body
    driver.expression = "var"


def by_material(other, body):
    material = bpy.data.materials.new("Skin")
    material.use_nodes = True
    material.node_tree.nodes.new("ShaderNodeTexCoord").object = body
    other.data.materials.append(material)


SHAPES = (by_nodes, by_nested_nodes, by_collection_nodes, by_hidden_nodes, by_particles, by_vertex_group, by_shrinkwrap)


@pytest.mark.parametrize("follow", [*SHAPES, by_faces, by_vertex])
def test_what_follows_the_shape_is_named(keyed_body, add_mesh, follow):
    follow(add_mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)], "Follower"), keyed_body)
    bpy.context.view_layer.objects.active = keyed_body
    for _again in range(2):
        assert bpy.ops.sinew.bake() == {"FINISHED"} and keyed_body.sinew.bake.result is not None
        assert keyed_body.sinew.bake.left_behind.startswith("“Follower” follows the hidden original")


@pytest.mark.parametrize("follow", [by_parent, by_location, by_driver, by_material])
def test_what_reads_the_transforms_is_not(keyed_body, add_mesh, follow):
    follow(add_mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)], "Follower"), keyed_body)
    bpy.context.view_layer.objects.active = keyed_body
    assert bpy.ops.sinew.bake() == {"FINISHED"} and keyed_body.sinew.bake.left_behind == ""


def test_hair_on_its_surface_is_named(keyed_body):
    curves = bpy.data.hair_curves.new("Hair")
    curves.surface = keyed_body
    hair = bpy.data.objects.new("Hair", curves)
    bpy.context.scene.collection.objects.link(hair)
    hair.modifiers.new("Deform", "NODES").node_group = tree("GeometryNodeDeformCurvesOnSurface")
    bpy.context.view_layer.objects.active = keyed_body
    assert bpy.ops.sinew.bake() == {"FINISHED"} and "“Hair”" in keyed_body.sinew.bake.left_behind


def test_cloth_that_collides_with_the_bake_is_not_named(keyed_body, add_mesh):
    keyed_body.modifiers.new("Collision", "COLLISION")
    add_mesh([(0, 0, 2), (1, 0, 2), (0, 1, 2)], [(0, 1, 2)], "Cloth").modifiers.new("Cloth", "CLOTH")
    bpy.context.view_layer.objects.active = keyed_body
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert any(m.type == "COLLISION" for m in keyed_body.sinew.bake.result.modifiers)
    assert keyed_body.sinew.bake.left_behind == ""
