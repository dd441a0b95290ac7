"""Surfaces arrive in world space and metres, whatever transforms lie on the object."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.core.foundation.errors import MeshError

SHEAR = Matrix(((1.0, 0.7, 0.0, 0.2), (0.0, 1.0, 0.3, 0.0), (0.0, 0.0, 2.0, 1.0), (0.0, 0.0, 0.0, 1.0)))
TRANSFORMS = {
    "identity": Matrix.Identity(4),
    "rotated, scaled": Matrix.LocRotScale((1, -2, 3), Euler((0.3, 1.0, -0.5)), (2.0, 0.5, 3.0)),
    "mirrored": Matrix.LocRotScale((0, 0, 1), Euler((0.1, 0.2, 0.3)), (-1.0, 1.0, 1.0)),
    "sheared": SHEAR,
    "tiny": Matrix.Scale(1e-4, 4),
    "huge": Matrix.Scale(1e4, 4),
}


def signed_volume(surface) -> float:
    a, b, c = (surface.positions[surface.triangles[:, k]] for k in range(3))
    return float(np.einsum("ni,ni->n", a, np.cross(b, c)).sum() / 6.0)


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("scale_length", [1.0, 0.01])
def test_world_positions_in_metres(body, name, scale_length):
    body.parent = bpy.data.objects.new("Carrier", None)  # a parent's inverse carries what loc/rot/scale cannot: shear
    bpy.context.scene.collection.objects.link(body.parent)
    body.matrix_parent_inverse = TRANSFORMS[name]
    bpy.context.scene.unit_settings.scale_length = scale_length
    surface = make_job(body, bpy.context).body.surface
    matrix = np.array(TRANSFORMS[name])
    local = np.array([v.co for v in body.data.vertices])
    expected = (local @ matrix[:3, :3].T + matrix[:3, 3]) * scale_length
    assert np.abs(surface.positions - expected).max() <= 1e-6 * surface.size
    volume = 0.09 * abs(np.linalg.det(matrix[:3, :3])) * scale_length**3
    assert signed_volume(surface) == pytest.approx(volume, rel=1e-4)


def test_quads_become_two_triangles_each(body):
    assert len(make_job(body, bpy.context).body.surface.triangles) == 2 * len(body.data.polygons)


def test_a_modifier_above_the_place_is_not_simulated(body):
    body.modifiers.new("Subdivision", "SUBSURF").levels = 1
    assert len(make_job(body, bpy.context).body.surface.positions) == 12
    assert body.modifiers["Subdivision"].show_viewport
    body.sinew.simulate_at, body.sinew.simulate_after = "MODIFIER", "Subdivision"
    assert len(make_job(body, bpy.context).body.surface.positions) > 12


def test_pins_and_matrices_follow_the_animation(body):
    body.location = (0.0, 0.0, 0.0)
    body.keyframe_insert("location", frame=1)
    body.location = (3.0, 0.0, 0.0)
    body.keyframe_insert("location", frame=4)
    bpy.context.scene.frame_set(3)
    job = make_job(body, bpy.context)
    assert bpy.context.scene.frame_current == 3
    assert job.body.pinned_vertices.tolist() == [0, 1, 2, 3]
    moved = job.body.pin_positions - job.body.surface.positions[job.body.pinned_vertices]
    assert np.allclose(moved[0], 0.0) and np.allclose(moved[3], [3.0, 0.0, 0.0], atol=1e-6)
    assert job.body.object_to_world[3, 0, 3] == pytest.approx(3.0)


def test_pins_follow_an_armature_below_the_place(body):
    bend = body.modifiers.new("Bend", "SIMPLE_DEFORM")
    bend.deform_method, bend.angle = "TWIST", 0.0
    bend.keyframe_insert("angle", frame=1)
    bend.angle = math.pi
    bend.keyframe_insert("angle", frame=4)
    body.sinew.pin_group = ""
    group = body.vertex_groups.new(name="Far End")
    group.add([8, 9, 10, 11], 0.5, "REPLACE")
    group.add([7], 0.49, "REPLACE")
    body.sinew.pin_group = "Far End"
    job = make_job(body, bpy.context)
    assert job.body.pinned_vertices.tolist() == [8, 9, 10, 11]
    assert np.abs(job.body.pin_positions[-1] - job.body.pin_positions[0]).max() > 0.1


def test_a_mesh_that_changes_its_vertices_is_refused(body):
    body.sinew.simulate_at, body.sinew.simulate_after = "MODIFIER", "Copies"
    copies = body.modifiers.new("Copies", "ARRAY")
    copies.count = 1
    copies.keyframe_insert("count", frame=1)
    copies.count = 3
    copies.keyframe_insert("count", frame=4)
    with pytest.raises(MeshError, match="vertices at frame"):
        make_job(body, bpy.context)


MAKE = {"Mirror": "MIRROR", "Shell": "SOLIDIFY", "Row": "ARRAY", "Cut": "BOOLEAN", "Voxels": "REMESH", "Hide": "MASK"}


@pytest.mark.parametrize("name", MAKE)
def test_a_modifier_whose_shape_is_not_simulated_is_named(body, name):
    modifier = body.modifiers.new(name, MAKE[name])
    assert f"“{name}” comes after the simulated shape" in body.sinew.stack_warning
    modifier.show_viewport = False
    assert name in body.sinew.stack_warning, "renders show it"
    modifier.show_render = False
    assert body.sinew.stack_warning == "" and not bpy.ops.sinew.simulate_added_shape.poll()
    modifier.show_viewport = modifier.show_render = True
    body.modifiers.new("Fine", "SUBSURF")
    assert bpy.ops.sinew.simulate_added_shape() == {"FINISHED"}
    assert (body.sinew.simulate_at, body.sinew.simulate_after) == ("MODIFIER", name) and body.sinew.stack_warning == ""
    body.sinew.simulate_at = "AUTOMATIC"
    assert body.sinew.stack_warning
    body.sinew.simulate_at = "MESH"
    assert body.sinew.stack_warning == "", "as chosen"


def test_a_mirrored_half_is_simulated_whole(body, saved):
    mirror = body.modifiers.new("Mirror", "MIRROR")
    mirror.use_axis = (False, True, False)
    bpy.ops.sinew.simulate_added_shape()
    job = make_job(body, bpy.context)
    assert len(job.body.surface.positions) > 12 and np.ptp(job.body.surface.positions[:, 1]) == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("kind", "makes"),
    [
        ("GeometryNodeSetPosition", False), ("GeometryNodeSetShadeSmooth", False), ("GeometryNodeSubdivideMesh", False),
        ("GeometryNodeExtrudeMesh", True), ("GeometryNodeDeleteGeometry", True), ("GeometryNodeMeshBoolean", True),
        ("GeometryNodeObjectInfo", True),
    ],
)  # fmt: skip
@pytest.mark.parametrize("nested", [False, True])
def test_nodes_that_make_geometry_are_named(body, kind, makes, nested):
    def group_of(name, kind, tree=None):
        group = bpy.data.node_groups.new(name, "GeometryNodeTree")
        for way in ("INPUT", "OUTPUT"):
            group.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
        entry, leave, node = (group.nodes.new(each) for each in ("NodeGroupInput", "NodeGroupOutput", kind))
        if tree is not None:
            node.node_tree = tree
        sockets = [[s for s in each if s.type == "GEOMETRY"] for each in (node.inputs, node.outputs)]
        for socket in sockets[0][:1]:
            group.links.new(entry.outputs[0], socket)
        group.links.new(sockets[1][0], leave.inputs[0])
        aside = group.nodes.new("GeometryNodeObjectInfo")  # read, and not shown
        near = group.nodes.new("GeometryNodeSampleNearestSurface")
        group.links.new(aside.outputs["Geometry"], near.inputs[0])
        return group

    group = group_of("Inner", kind)
    group = group_of("Outer", "GeometryNodeGroup", group) if nested else group
    body.modifiers.new("Nodes", "NODES").node_group = group
    assert ("“Nodes”" in body.sinew.stack_warning) == makes
