"""Bodies and colliders that renders show otherwise than viewports, which are simulated, are named."""

from __future__ import annotations

import bpy
import pytest
from sinew.blender_addon import command
from sinew.blender_addon.objects.render_differences import body_words, collider_words, modifiers_differ

from ..scenes import CUBE


def add(obj, kind: str, viewport: bool = True, render: bool = True, **settings):
    modifier = obj.modifiers.new(kind.title(), kind)
    modifier.show_viewport, modifier.show_render = viewport, render
    for name, value in settings.items():
        setattr(modifier, name, value)
    return modifier


def words(obj) -> str:
    return body_words(obj, bpy.context.scene)


def of_collider(obj) -> str:
    return collider_words([obj], bpy.context.scene)


def test_a_body_that_is_alike_in_both_is_not_named(body):
    add(body, "ARMATURE")
    add(body, "SUBSURF", levels=1, render_levels=2)  # it refines the result, as it would the mesh
    add(body, "BEVEL", viewport=False)
    add(body, "WAVE", viewport=False, render=False)
    assert words(body) == ""


@pytest.mark.parametrize("kind", ["ARMATURE", "DISPLACE", "SOLIDIFY"])
def test_modifiers_that_are_off_in_one_of_both_are_named(body, kind):
    modifier = add(body, kind, viewport=False)
    assert f"“{kind.title()}” is off in viewports and on in renders. Make both alike." in words(body)
    modifier.show_viewport, modifier.show_render = True, False
    assert f"“{kind.title()}” is off in renders and on in viewports" in words(body)


def test_levels_of_what_is_simulated_are_compared_as_the_scene_simplifies_them(body):
    add(body, "SUBSURF", levels=1, render_levels=3)
    add(body, "ARMATURE")
    assert "“Subsurf” has level 1 in viewports and 3 in renders" in words(body)
    render = bpy.context.scene.render
    render.use_simplify, render.simplify_subdivision, render.simplify_subdivision_render = True, 1, 1
    assert words(body) == ""


def test_where_an_object_is_disabled_in_one_of_both(body):
    body.hide_render = True
    assert "“Body” is disabled in renders and seen in viewports" in words(body)
    assert of_collider(body) == words(body)
    body.hide_viewport = True
    assert words(body) == ""
    body.hide_render = False
    assert "“Body” is disabled in viewports and seen in renders" in words(body)


def test_colliders_are_named_with_their_modifiers(add_mesh):
    obstacle = add_mesh(*CUBE, name="Obstacle")
    add(obstacle, "SUBSURF", levels=1, render_levels=2)
    add(obstacle, "WAVE", viewport=False)
    told = of_collider(obstacle)
    assert "“Subsurf” has level 1 in viewports and 2 in renders (of “Obstacle”)" in told
    assert "“Wave” is off in viewports and on in renders (of “Obstacle”)" in told


def test_other_settings_for_renders(add_mesh):
    curve = bpy.data.objects.new("Curve", bpy.data.curves.new("Curve", "CURVE"))
    assert of_collider(curve) == ""
    curve.data.render_resolution_u = curve.data.resolution_u + 1
    assert "“Curve” has another Resolution in renders" in of_collider(curve)
    obstacle = add_mesh(*CUBE, name="Obstacle")
    nodes = add(obstacle, "NODES")
    particles = add(obstacle, "PARTICLE_SYSTEM")
    assert of_collider(obstacle) == ""
    inner, outer = (bpy.data.node_groups.new(name, "GeometryNodeTree") for name in ("Inner", "Outer"))
    inner.nodes.new("GeometryNodeIsViewport")
    outer.nodes.new("GeometryNodeGroup").node_tree = inner
    nodes.node_group = outer
    assert "“Nodes” has other settings in renders" in of_collider(obstacle)
    particles.particle_system.settings.display_percentage = 10
    assert modifiers_differ([particles], bpy.context.scene)


def test_a_bake_keeps_the_warnings_and_the_command_line_prints_them(body, collection, add_mesh, saved, capfd):
    obstacle = add_mesh(*CUBE, name="Obstacle")
    obstacle.location.x = 9.0
    collection.objects.link(obstacle)
    add(obstacle, "SUBSURF", levels=0, render_levels=1)
    add(body, "WAVE", viewport=False)
    bpy.ops.wm.save_mainfile()
    for options in (["--dry-run"], []):
        assert command.run(["bake", *options]) == 0
        told = capfd.readouterr().err
        assert "warning: The simulation uses what viewports show, and renders differ: “Wave” is off" in told
        assert "“Subsurf” has level 0 in viewports and 1 in renders (of “Obstacle”)" in told
    record = body.sinew.bake
    assert "“Wave”" in record.left_behind and "“Obstacle”" in record.contact_warning
