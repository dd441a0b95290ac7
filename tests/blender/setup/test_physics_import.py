"""Blender's Soft Body and Cloth modifiers as settings of a body."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.properties.mirror import stiffness_of
from sinew.blender_addon.scene_import.weights_in import group_weights
from sinew.blender_addon.setup import physics_import
from sinew.blender_addon.setup.physics_import import DAMPING_UNIT, STIFFNESS_UNIT, importable

from ..addon.test_undo import values
from ..scenes import CUBE

VERTICES = len(CUBE[0])


@pytest.fixture
def cube(add_mesh):
    """A cube of 1 m, with weights of 0, 0.5 and 1."""
    obj = add_mesh(*CUBE)
    group = obj.vertex_groups.new(name="Painted")
    group.add([0, 1], 1.0, "REPLACE")
    group.add([2, 3], 0.5, "REPLACE")
    return obj


def add_collider(add_mesh, obj, **settings):
    floor = add_mesh([(-2, -2, -1), (2, -2, -1), (0, 2, -1)], [(0, 1, 2)], "Floor")
    floor.modifiers.new("Collision", "COLLISION")
    for name, value in settings.items():
        setattr(floor.collision, name, value)
    bpy.context.view_layer.objects.active = obj
    return floor


def do_import(kind):
    assert bpy.ops.sinew.import_physics(kind=kind) == {"FINISHED"}


def painted(obj, name):
    return group_weights(obj, obj.data, [name])[:, 0]


@pytest.mark.parametrize("kind", ["SOFT_BODY", "CLOTH"])
def test_blenders_units(cube, kind, evaluated):
    """Blender's own sag below a goal, and its terminal velocity, at a gravity of 0.00981 m per frame²."""
    own = cube.modifiers.new("Modifier", kind).settings
    cube.vertex_groups["Painted"].add(range(VERTICES), 0.8, "REPLACE")
    if kind == "SOFT_BODY":
        own.use_edges, own.goal_default, own.goal_spring, own.goal_friction = False, 1.0, 0.5, 10.0
        own.vertex_group_goal, own.friction = "Painted", 10.0
        stiffness, air = 1.0 / (1.0 - 0.5 * 0.8**4) - 1.0, own.friction
    else:
        own.vertex_group_mass, own.air_damping = "Painted", 5.0
        stiffness, air = own.pin_stiffness * 0.8**4, own.air_damping
    heights = [evaluated(cube, frame)[:, 2].mean() for frame in range(1, 101)]
    assert heights[0] - heights[-1] == pytest.approx(9.81 * own.mass / (STIFFNESS_UNIT * stiffness), rel=1e-3)
    cube.vertex_groups["Painted"].remove(range(VERTICES))
    own.goal_friction = 0.0
    heights = [evaluated(cube, frame)[:, 2].mean() for frame in range(1, 101)]
    rate = DAMPING_UNIT * air / own.mass / np.sqrt(STIFFNESS_UNIT)
    assert heights[-2] - heights[-1] == pytest.approx(0.00981 / rate, rel=1e-3)


def test_a_soft_body(cube, add_mesh):
    """The goal is as stiff in N/m as Blender's, whose gravity is 0.001 of the scene's."""
    floor = add_collider(add_mesh, cube, cloth_friction=40.0, thickness_outer=0.05)
    modifier = cube.modifiers.new("Softbody", "SOFT_BODY")
    own = modifier.settings
    own.mass, own.friction, own.vertex_group_goal, own.goal_default, own.goal_spring = 50.0, 4.0, "Painted", 1.0, 0.5
    own.use_self_collision = True
    own.effector_weights.gravity, own.effector_weights.wind = 0.25, 0.5
    modifier.point_cache.frame_start, modifier.point_cache.frame_end = 5, 30
    do_import("SOFT_BODY")
    settings = cube.sinew
    material = settings.materials[0]
    assert settings.enabled and not modifier.show_viewport and not modifier.show_render
    assert material.density == pytest.approx(50.0 * VERTICES)
    assert settings.mass_damping == pytest.approx(0.01 * np.sqrt(1000.0) * 4.0 / 50.0)
    half = 1.0 / (1.0 - 0.5**4 * 0.5) - 1.0
    weights = painted(cube, settings.pin_group)
    np.testing.assert_allclose(weights, [1.0, 1.0, half, half, 0.0, 0.0, 0.0, 0.0], rtol=1e-5)
    assert half < settings.pin_threshold <= 1.0 and settings.use_goal
    stiffness = settings.goal_strength * stiffness_of(material.log_stiffness) / VERTICES
    assert stiffness == pytest.approx(1000.0, rel=1e-4), "N/m of a vertex of full weight"
    assert settings.collisions.self_contact and list(settings.collisions.collection.all_objects) == [floor]
    assert settings.collisions.collider_friction == pytest.approx(0.4)
    assert settings.collisions.thickness == pytest.approx(0.05)
    assert (settings.field_weights.gravity, settings.field_weights.wind, settings.field_weights.all) == (0.25, 0.5, 1.0)
    assert (settings.use_scene_range, settings.frame_start, settings.frame_end) == (False, 5, 30)
    assert importable(cube) == []
    before = values(settings), weights.tolist(), len(bpy.data.collections), len(cube.vertex_groups)
    do_import("SOFT_BODY")
    after = values(settings), painted(cube, settings.pin_group).tolist()
    assert before == (*after, len(bpy.data.collections), len(cube.vertex_groups)), "a second import changes nothing"


def test_cloth_after_soft_body(cube, add_mesh):
    """Each modifier has its own button; pins of full weight need no other vertex group."""
    floor = add_collider(add_mesh, cube, thickness_outer=0.02)
    chosen = bpy.data.collections.new("Chosen")
    chosen.objects.link(floor)
    cube.vertex_groups["Painted"].remove([2, 3])
    cube.modifiers.new("Softbody", "SOFT_BODY")
    modifier = cube.modifiers.new("Cloth", "CLOTH")
    own, contact = modifier.settings, modifier.collision_settings
    own.mass, own.air_damping, own.vertex_group_mass, own.pin_stiffness = 2.0, 3.0, "Painted", 7.0
    contact.collection, contact.distance_min = chosen, 0.01
    contact.use_self_collision, contact.self_friction = True, 30.0
    assert importable(cube) == ["SOFT_BODY", "CLOTH"]
    do_import("CLOTH")
    settings = cube.sinew
    assert importable(cube) == ["SOFT_BODY"] and not modifier.show_viewport
    assert settings.pin_group == "Painted" and list(cube.vertex_groups.keys()) == ["Painted"]
    assert settings.materials[0].density == pytest.approx(2.0 * VERTICES)
    assert settings.mass_damping == pytest.approx(0.01 * np.sqrt(1000.0) * 3.0 / 2.0)
    stiffness = settings.goal_strength * stiffness_of(settings.materials[0].log_stiffness) / VERTICES
    assert stiffness == pytest.approx(7000.0, rel=1e-4), "all edges are 1 m long"
    assert settings.collisions.collection == chosen and settings.collisions.thickness == pytest.approx(0.03)
    assert settings.collisions.self_contact and settings.collisions.contact_friction == pytest.approx(0.3)
    contact.use_collision = False
    do_import("CLOTH")
    assert settings.collisions.collection is None


def test_the_rest_is_named(cube):
    modifier = cube.modifiers.new("Cloth", "CLOTH")
    modifier.settings.use_sewing_springs = modifier.settings.use_pressure = True
    modifier.settings.keyframe_insert("mass", frame=1)
    left = physics_import.import_physics(cube, "CLOTH", bpy.context)
    assert left == ["Sew Cloth", "Use Pressure", "keyframes"] and cube.sinew.rest_key == ""
    cube.shape_key_add(name="Basis")
    modifier.settings.rest_shape_key = cube.shape_key_add(name="Rest")
    modifier.settings.mass = 1e6
    assert "Mass (8e+06 kg/m³ is out of range)" in physics_import.import_physics(cube, "CLOTH", bpy.context)
    assert cube.sinew.rest_key == "Rest"


@pytest.mark.parametrize("faces", [[], [(0, 1, 3, 2)]], ids=["no faces", "a sheet"])
def test_a_mesh_without_volume(add_mesh, faces):
    obj = add_mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)], faces)
    modifier = obj.modifiers.new("Cloth", "CLOTH")
    if faces:
        left = physics_import.import_physics(obj, "CLOTH", bpy.context)
        assert left == ["Mass (the mesh encloses no volume: add a Solidify modifier)"]
        return
    with pytest.raises(RuntimeError, match="no faces, so it has no surface. Add faces"):
        bpy.ops.sinew.import_physics(kind="CLOTH")
    assert modifier.show_viewport and not obj.sinew.enabled


def test_objects_that_cannot_be_imported(cube, saved):
    with pytest.raises(RuntimeError, match="no Soft Body or Cloth"):
        bpy.ops.sinew.import_physics(kind="CLOTH")
    cube.modifiers.new("Cloth", "CLOTH")
    with pytest.raises(RuntimeError, match="no Soft Body modifier. Add one first"):
        bpy.ops.sinew.import_physics(kind="SOFT_BODY")
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(str(saved), link=True) as (_, here):
        here.objects = ["Body"]
    bpy.context.scene.collection.objects.link(here.objects[0])
    bpy.context.view_layer.objects.active = here.objects[0]
    with pytest.raises(RuntimeError, match="linked from another file. Make it a library override"):
        bpy.ops.sinew.import_physics(kind="CLOTH")
