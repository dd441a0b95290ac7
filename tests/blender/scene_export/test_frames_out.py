"""Baked frames as shape keys: exact at frames, linear between, on the object or on a full duplicate."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import baking
from sinew.blender_addon.objects.modifier_stack import stack_position
from sinew.blender_addon.scene_export.frames_out import apply_frames, remove_result
from sinew.blender_addon.scene_export.shape_keys import write_keys
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.core.foundation.errors import MeshError

from ..scenes import keyed


def put(obj, seed=0):
    """Apply random frames; (object that carries them, frames, world positions by frame)."""
    job = make_job(obj, bpy.context)
    random = np.random.default_rng(seed)
    count = len(job.body.surface.positions)
    world = {f: random.uniform(-2.0, 2.0, (count, 3)) for f in range(job.frame_start, job.frame_end + 1)}
    world[job.frame_start] = job.body.surface.positions
    frames = sorted(world)
    return apply_frames(obj, bpy.context, job, frames, world.__getitem__), frames, world


def test_exact_at_frames_and_linear_between(body, evaluated):
    target, frames, world = put(body)
    assert target == body
    for frame in frames:
        assert np.abs(evaluated(body, frame) - world[frame]).max() < 1e-6
    for frame in frames[:-1]:
        between = 0.25 * world[frame + 1] + 0.75 * world[frame]
        assert np.abs(evaluated(body, frame + 0.25) - between).max() < 2e-6
    assert np.abs(evaluated(body, frames[-1] + 5) - world[frames[-1]]).max() < 1e-6
    assert np.abs(evaluated(body, frames[0] - 5) - world[frames[0]]).max() < 1e-6


def test_a_moving_scaled_object_shows_world_positions(body, evaluated):
    bpy.context.scene.unit_settings.scale_length = 0.5
    body.scale = (2.0, -0.5, 1.5)
    body.keyframe_insert("location", frame=1)
    body.location = (4.0, -1.0, 2.0)
    body.rotation_euler = (0.3, 0.9, -0.2)
    body.keyframe_insert("location", frame=4)
    _, frames, world = put(body)
    for frame in frames:
        assert np.abs(evaluated(body, frame) * 0.5 - world[frame]).max() < 1e-5


@pytest.mark.parametrize("old, new", [(100, 200), (100, 50), (100, 150)])
@pytest.mark.parametrize("kind", ["KEYS", "CACHE", "NODES"])
def test_results_stretch_with_the_scenes_time(body, saved, evaluated, kind, old, new):
    """Time remapping stretches whatever is animated: what is seen at a frame is what was simulated for it."""
    keyed(body, "rotation_euler", (1, (0.0, 0.0, 0.0)), (4, (0.0, 0.0, 1.0)))
    body.sinew.result, body.sinew.result_modes = kind, 12
    render = bpy.context.scene.render
    render.frame_map_old, render.frame_map_new = old, new
    body.sinew.frame_start, body.sinew.frame_end = -2, 5
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    store = baking.open_store(body)
    assert np.abs(store.read(5) - store.read(-2)).max() > 0.1
    for frame in store.frames():
        assert np.abs(evaluated(body, frame) - store.read(frame)).max() < (1e-5 if kind != "NODES" else 1e-4), frame

    def own(frame):
        world = evaluated(body, frame)  # the object stands at that frame from here on
        return world @ np.array(body.matrix_world)[:3, :3]

    assert np.abs(own(2.5) - 0.5 * (own(2) + own(3))).max() < 1e-5, "straight between frames"


def test_thousands_of_keys_do_not_drift(add_mesh, evaluated):
    triangle = add_mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    frames = list(range(1, 3001))
    positions = [np.full((3, 3), np.float32(np.sin(f))) for f in frames]
    write_keys(triangle, bpy.context.scene, frames, positions)
    for frame in (1, 2, 1500, 2900, 3000):
        assert np.abs(evaluated(triangle, frame) - positions[frame - 1]).max() < 1e-4
    half = evaluated(triangle, 2900.5)
    assert np.abs(half - 0.5 * (positions[2899] + positions[2900])).max() < 1e-3


def test_later_modifiers_stay_live(body, evaluated):
    body.modifiers.new("Subdivision", "SUBSURF").levels = 1
    target, frames, _ = put(body)
    assert target == body and len(body.data.vertices) == 12
    assert len(evaluated(body, frames[1])) > 12


def test_own_keys_survive_on_the_hidden_original(body, evaluated):
    body.shape_key_add(name="Basis")
    smile = body.shape_key_add(name="Smile", from_mix=False)
    smile.data[5].co = (9.0, 9.0, 9.0)
    smile.value = 0.5
    before = [tuple(p.co) for p in smile.data]
    target, frames, world = put(body)
    assert target != body and target.data != body.data
    assert target.matrix_world == body.matrix_world and not target.sinew.enabled
    assert body.hide_viewport and body.hide_render and not target.hide_render
    assert body.data.shape_keys.use_relative and smile.value == 0.5
    assert [tuple(p.co) for p in smile.data] == before
    for frame in frames:
        assert np.abs(evaluated(target, frame) - world[frame]).max() < 1e-6
    remove_result(body)
    assert not body.hide_viewport and not body.hide_render
    assert len(body.data.shape_keys.key_blocks) == 2 and len(bpy.data.objects) == 1
    assert len(bpy.data.meshes) == 1 and not bpy.data.actions


def test_a_shared_mesh_is_not_touched(body):
    twin = body.copy()
    bpy.context.scene.collection.objects.link(twin)
    target, _, _ = put(body)
    assert target != body and target.data != twin.data
    assert twin.data.shape_keys is None


def test_a_deforming_modifier_leads_to_a_duplicate_without_it(body, evaluated):
    hook_target = bpy.data.objects.new("Handle", None)
    bpy.context.scene.collection.objects.link(hook_target)
    hook = body.modifiers.new("Hook", "HOOK")
    hook.object = hook_target
    hook.vertex_indices_set([8, 9, 10, 11])
    hook_target.location = (0.0, 0.0, 1.0)
    body.modifiers.new("Subdivision", "SUBSURF").levels = 1
    assert body.sinew.simulated_label == "After “Hook”"
    target, frames, world = put(body)
    assert [m.name for m in target.modifiers] == ["Subdivision"]
    assert [m.name for m in body.modifiers] == ["Hook", "Subdivision"]
    assert world[1][8, 2] == pytest.approx(1.0)
    target.modifiers.clear()
    for frame in frames:
        assert np.abs(evaluated(target, frame) - world[frame]).max() < 1e-6


def test_a_deforming_parent_counts_as_a_modifier(body):
    lattice = bpy.data.objects.new("Cage", bpy.data.lattices.new("Cage"))
    bpy.context.scene.collection.objects.link(lattice)
    body.parent, body.parent_type = lattice, "LATTICE"
    assert not stack_position(body).on_itself and "Cage" in stack_position(body).label
    target, _, _ = put(body)
    assert target != body and target.parent == lattice and target.parent_type == "OBJECT"


def test_materials_uvs_and_groups_come_along(body):
    body.data.uv_layers.new(name="Map")
    body.data.materials.append(bpy.data.materials.new("Skin"))
    body.shape_key_add(name="Basis")
    target, _, _ = put(body)
    assert [layer.name for layer in target.data.uv_layers] == ["Map"]
    assert [m.name for m in target.data.materials] == ["Skin"]
    assert [g.name for g in target.vertex_groups] == ["Pins"]


@pytest.mark.parametrize("on_itself", [True, False])
def test_custom_normals_come_along(body, on_itself):
    body.data.normals_split_custom_set([(0.0, 0.6, 0.8)] * len(body.data.loops))
    if not on_itself:
        body.shape_key_add(name="Basis")
    before = [tuple(corner.vector) for corner in body.data.corner_normals]
    target, _, _ = put(body)
    assert (target == body) == on_itself and target.data.has_custom_normals
    assert np.abs(np.subtract([tuple(corner.vector) for corner in target.data.corner_normals], before)).max() < 1e-4
    assert np.abs(np.subtract(before, (0.0, 0.6, 0.8))).max() < 1e-3


def test_a_second_result_replaces_the_first(body, evaluated):
    put(body, seed=1)
    target, frames, world = put(body, seed=2)
    assert target == body and len(body.data.shape_keys.key_blocks) == len(frames)
    assert np.abs(evaluated(body, 3) - world[3]).max() < 1e-6
    remove_result(body)
    assert body.data.shape_keys is None and not bpy.data.actions


def test_another_vertex_count_is_refused_and_leaves_no_duplicate(body):
    body.shape_key_add(name="Basis")
    job = make_job(body, bpy.context)
    body.shape_key_clear()
    body.data.vertices.add(1)
    with pytest.raises(MeshError, match="13 vertices, the bake has 12"):
        apply_frames(body, bpy.context, job, [1], lambda frame: job.body.surface.positions)
    assert body.data.shape_keys is None and len(bpy.data.objects) == 1
