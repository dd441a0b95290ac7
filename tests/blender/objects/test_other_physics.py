"""Blender's physics is read as it is when the timeline is played from its start, however the file is entered."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.objects.other_physics import restart_physics
from sinew.blender_addon.scene_import.job_in import make_job

from ..scenes import CUBE

FIRST, LAST = 15, 17


def moving_up() -> object:
    """Nodes with a simulation zone that moves the mesh up by a tenth a frame."""
    tree = bpy.data.node_groups.new("Up", "GeometryNodeTree")
    for direction in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
    kinds = "NodeGroupInput", "GeometryNodeSimulationInput", "GeometryNodeSetPosition", "GeometryNodeSimulationOutput"
    given, begin, move, end = (tree.nodes.new(kind) for kind in kinds)
    begin.pair_with_output(end)
    move.inputs["Offset"].default_value = 0.0, 0.0, 0.1
    links = (given, begin, "Geometry"), (begin, move, "Geometry"), (move, end, "Geometry")
    for source, target, name in (*links, (end, tree.nodes.new("NodeGroupOutput"), "Geometry")):
        tree.links.new(source.outputs[name], target.inputs[name])
    return tree


def animate(obj, kind: str) -> None:
    """Have physics move an object from frame 1 on."""
    if kind.startswith("rigid"):
        with bpy.context.temp_override(object=obj, active_object=obj, selected_objects=[obj]):
            bpy.ops.rigidbody.object_add()
        obj.hide_viewport = kind == "rigid, hidden"
    elif kind == "simulation zone":
        obj.modifiers.new("Nodes", "NODES").node_group = moving_up()
    else:
        obj.modifiers.new("Physics", kind)
        if kind == "SOFT_BODY":
            obj.modifiers["Physics"].settings.use_goal = False


def heights(positions: np.ndarray) -> np.ndarray:
    return np.asarray(positions)[..., 2].mean(axis=-1)


def played(obj) -> list[float]:
    """Heights at the frames that are simulated, as a viewport shows them when the timeline is played from 1."""
    found, hidden = [], obj.hide_viewport
    obj.hide_viewport = False
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        seen = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append(np.mean([(seen.matrix_world @ v.co).z for v in seen.data.vertices]))
    obj.hide_viewport = hidden
    return found[FIRST - 1 :]


@pytest.mark.parametrize("kind", ["rigid", "rigid, hidden", "CLOTH", "SOFT_BODY", "simulation zone"])
def test_physics_is_read_as_played_from_its_start(body, collection, add_mesh, kind):
    body.sinew.frame_start, body.sinew.frame_end = FIRST, LAST
    obstacles = []
    for name in ("Obstacle", "Twin"):  # alike, and far apart; only one is a collider
        obstacles.append(add_mesh(*CUBE, name=name))
        obstacles[-1].location = 10.0 + 10.0 * len(obstacles), 0.0, 5.0
        animate(obstacles[-1], kind)
    collection.objects.link(obstacles[0])
    bpy.context.scene.frame_set(1)
    bpy.context.scene.frame_set(16)  # entered in the middle: some caches have a frame of it then
    fresh = heights(make_job(body, bpy.context).body.colliders[0].positions)
    assert bpy.context.scene.frame_current == 16
    expected = played(obstacles[1])
    assert abs(expected[0] - 5.5) > 0.1 and fresh == pytest.approx(expected, abs=1e-3)
    again = make_job(body, bpy.context)
    assert np.array_equal(heights(again.body.colliders[0].positions), fresh)


def test_the_first_frame_of_physics(body, add_mesh):
    def first() -> int | None:
        return restart_physics(bpy.context.scene, bpy.context.evaluated_depsgraph_get())

    assert first() is None
    obstacle = add_mesh(*CUBE, name="Obstacle")
    cloth = obstacle.modifiers.new("Cloth", "CLOTH")
    cloth.point_cache.frame_start = 7
    assert first() == 7
    obstacle.modifiers.new("Particles", "PARTICLE_SYSTEM")  # Blender has their cache begin at 1
    assert first() == 1
    obstacle.particle_systems[0].settings.type = "HAIR"
    assert first() == 7
    cloth.show_viewport = False
    assert first() is None
    bpy.context.scene.frame_start = 4
    obstacle.modifiers.new("Nodes", "NODES").node_group = moving_up()
    assert first() == 4
