"""A bake kept as a PC2 file that Mesh Cache plays: the positions of shape keys, and the artist's own stays."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import baking
from sinew.blender_addon.objects.modifier_stack import stack_position
from sinew.blender_addon.scene_export.frames_out import apply_cache, apply_frames, remove_result
from sinew.blender_addon.scene_export.mesh_cache import cache_path
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.core.foundation.errors import MeshError, StoreError


@pytest.fixture
def frames_of(saved):
    """Random frames of an object: its job, frame numbers, world positions by frame."""

    def make(obj, seed=0):
        job = make_job(obj, bpy.context)
        random = np.random.default_rng(seed)
        world = {f: random.uniform(-2.0, 2.0, job.body.surface.positions.shape) for f in range(1, 5)}
        world[1] = job.body.surface.positions
        return job, sorted(world), world

    return make


def put(obj, made, folder: Path):
    job, frames, world = made
    return apply_cache(obj, bpy.context, job, frames, world.__getitem__, folder)


def test_it_plays_what_shape_keys_play(body, frames_of, evaluated, tmp_path):
    """At frames, between them, before the first and after the last; scaled, turned and moving."""
    body.scale = (2.0, -0.5, 1.5)
    body.keyframe_insert("location", frame=1)
    body.location, body.rotation_euler = (4.0, -1.0, 2.0), (0.3, 0.9, -0.2)
    body.keyframe_insert("location", frame=4)
    job, frames, world = made = frames_of(body)
    apply_frames(body, bpy.context, job, frames, world.__getitem__)
    times = (-3, 1, 1.25, 1.5, 2, 3.75, 4, 9)
    expected = [evaluated(body, time) for time in times]
    assert put(body, made, tmp_path) == body and body.data.shape_keys is None
    for time, positions in zip(times, expected):
        assert np.abs(evaluated(body, time) - positions).max() < 1e-6, time
    assert body.modifiers[0].filepath == "//sinew_bake.pc2"
    assert not list(tmp_path.glob("*.part"))


def test_keys_and_deformers_of_the_artist_stay(body, frames_of, evaluated, tmp_path):
    """No duplicate: the modifier stands after the last that deforms, and a Subdivision after it stays live."""
    body.shape_key_add(name="Basis")
    body.shape_key_add(name="Smile", from_mix=False).value = 0.5
    handle = bpy.data.objects.new("Handle", None)
    bpy.context.scene.collection.objects.link(handle)
    hook = body.modifiers.new("Hook", "HOOK")
    hook.object = handle
    hook.vertex_indices_set([8, 9, 10, 11])
    handle.location = (0.0, 0.0, 1.0)
    body.modifiers.new("Subdivision", "SUBSURF").levels = 1
    job, frames, world = made = frames_of(body)
    before = job.fingerprints()
    assert put(body, made, tmp_path) == body and len(bpy.data.objects) == 2
    assert [m.type for m in body.modifiers] == ["HOOK", "MESH_CACHE", "SUBSURF"]
    assert body.data.shape_keys.key_blocks["Smile"].value == 0.5 and not body.hide_viewport
    assert make_job(body, bpy.context).fingerprints() == before, "the result is not simulated in its turn"
    assert body.sinew.simulated_label == "After “Hook”"
    put(body, made, tmp_path)
    assert [m.type for m in body.modifiers] == ["HOOK", "MESH_CACHE", "SUBSURF"]
    body.modifiers["Subdivision"].show_viewport = False
    for frame in frames:
        assert np.abs(evaluated(body, frame) - world[frame]).max() < 1e-6
    remove_result(body)
    assert [m.name for m in body.modifiers] == ["Hook", "Subdivision"]


@pytest.mark.parametrize("kind", ["more vertices", "other in renders"])
def test_a_modifier_that_makes_vertices_leads_to_a_duplicate(body, frames_of, evaluated, tmp_path, kind):
    """A render may subdivide otherwise, and a cache of another number of vertices shows nothing."""
    subdivision = body.modifiers.new("Subdivision", "SUBSURF")
    subdivision.levels, subdivision.render_levels = (1, 2) if kind == "more vertices" else (0, 2)
    subdivision.show_viewport = kind == "more vertices"
    body.sinew.simulate_at, body.sinew.simulate_after = "MODIFIER", "Subdivision"
    _, frames, world = made = frames_of(body)
    target = put(body, made, tmp_path)
    assert target != body and [m.type for m in target.modifiers] == ["MESH_CACHE"] and body.hide_render
    for frame in frames:
        assert np.abs(evaluated(target, frame) - world[frame]).max() < 1e-6
    remove_result(body)
    assert not body.hide_render and len(bpy.data.objects) == 1


def test_an_artists_own_mesh_cache_deforms_ours_does_not(body, frames_of, tmp_path):
    own = body.modifiers.new("Walk", "MESH_CACHE")
    own.filepath = "//walk.pc2"
    assert stack_position(body).below == 1
    own.filepath = "//somewhere\\sinew_bake.pc2"
    assert stack_position(body).below == 0


def test_another_vertex_count_is_refused_before_the_file_is_touched(body, frames_of, tmp_path):
    made = frames_of(body)
    body.data.vertices.add(1)
    with pytest.raises(MeshError, match="13 vertices, the bake has 12"):
        put(body, made, tmp_path)
    assert not cache_path(tmp_path).exists() and not body.modifiers


def test_a_file_that_cannot_be_written_leaves_the_object(body, frames_of, tmp_path):
    made = frames_of(body)
    with pytest.raises(StoreError, match="cannot be written"):
        put(body, made, tmp_path / "not there")
    assert not body.modifiers and body.data.shape_keys is None


@pytest.mark.parametrize("kind", ["CACHE", "NODES"])
def test_a_modifier_that_is_pinned_to_the_end_stays_there(body, saved, evaluated, kind):
    """Shade Auto Smooth adds such a modifier; new ones are then not the last."""
    body.modifiers.new("Subdivision", "SUBSURF")
    body.modifiers.new("Smooth by Angle", "NODES").use_pin_to_last = True
    body.sinew.result, body.sinew.result_modes = kind, 4
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert [modifier.name for modifier in body.modifiers] == ["Bake", "Subdivision", "Smooth by Angle"]
    assert np.abs(evaluated(body, 4) - evaluated(body, 1)).max() > 1e-3


def test_bake_convert_and_delete(body, saved, evaluated):
    """The buttons: the result as a file, as keys and as a file again, the same positions each time."""
    body.sinew.result = "CACHE"
    assert bpy.ops.sinew.bake() == {"FINISHED"} and body.sinew.bake.kind == "CACHE"
    expected, folder = evaluated(body, 3), baking.open_store(body).folder
    assert body.modifiers[0].filepath.startswith("//sinew_cache/scene/")
    assert baking.lost_words(body) == "" and not bpy.ops.sinew.convert_result.poll()
    for result in ("KEYS", "CACHE"):
        body.sinew.result = result
        assert bpy.ops.sinew.convert_result() == {"FINISHED"} and body.sinew.bake.kind == result
        assert np.abs(evaluated(body, 3) - expected).max() < 1e-6
    cache_path(folder).unlink()
    assert baking.lost_words(body) == "The cache file sinew_bake.pc2 is missing."
    assert bpy.ops.sinew.resume_bake() == {"FINISHED"} and baking.lost_words(body) == ""
    body.modifiers.clear()
    assert baking.lost_words(body) == "The Mesh Cache modifier was removed."
    bpy.ops.sinew.delete_bake()
    bpy.ops.wm.save_mainfile()
    assert not folder.exists() and not body.modifiers and body.sinew.bake.status == "NONE"
