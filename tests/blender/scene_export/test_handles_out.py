"""Frames as handles that Geometry Nodes play: the same positions as shape keys, in a .blend that needs no Sinew."""

from __future__ import annotations

import itertools
import subprocess
import sys

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import baking
from sinew.blender_addon.scene_export.handle_nodes import ATTRIBUTE, handles_of
from sinew.blender_addon.scene_export.handles_out import write_handles
from sinew.blender_addon.scene_export.shape_keys import write_keys
from sinew.core.jobs.store import cached_handles as cached_handles_module
from sinew.core.jobs.store.cached_handles import CLOSE, Handles, cached_handles

TIMES = (1.0, 2.0, 2.4, 3.75, 4.0)
SIZE = 1.0


@pytest.fixture
def soft(body):
    """The bar, soft, for a solver of a subspace."""
    body.sinew.solver = "subspace_mixed_fem"
    body.sinew.modes, body.sinew.cubature_points = 4, 40
    body.sinew.result = "NODES"
    return body


@pytest.fixture
def moving(soft):
    """The same, turning, travelling and stretched while its pins follow; lengths are in half metres."""
    bpy.context.scene.unit_settings.scale_length = 0.5
    soft.scale = (1.5, -0.5, 2.0)
    for frame, place, turn in ((1, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)), (4, (0.3, -0.2, 0.4), (0.2, 0.5, -0.3))):
        soft.location, soft.rotation_euler = place, turn
        soft.keyframe_insert("location", frame=frame)
        soft.keyframe_insert("rotation_euler", frame=frame)
    return soft


def data_blocks():
    kinds = ("objects", "meshes", "node_groups", "actions", "shape_keys")
    return {kind: sorted(block.name for block in getattr(bpy.data, kind)) for kind in kinds}


def carrier(obj):
    return obj.sinew.bake.result or obj


def as_keys(obj, evaluated, times=TIMES):
    """Positions of the same frames as shape keys; they are handles again afterwards."""
    obj.sinew.result = "KEYS"
    assert bpy.ops.sinew.convert_result() == {"FINISHED"}
    assert carrier(obj).data.shape_keys is not None and not carrier(obj).modifiers
    found = [evaluated(carrier(obj), time) for time in times]
    obj.sinew.result = "NODES"
    assert bpy.ops.sinew.convert_result() == {"FINISHED"}
    return found


def test_equal_to_shape_keys_at_frames_and_between(soft, saved, evaluated):
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert soft.data.shape_keys is None and soft.sinew.bake.kind == "NODES"
    store = baking.open_store(soft)
    # So few vertices that handles meet them, but for the ridge that keeps handles short.
    near = cached_handles(store.job(), store, 1).errors[:, 1].max() + 1e-6 * SIZE
    assert near < 2e-6 * SIZE
    for time in (1, 2, 4):
        assert np.abs(evaluated(soft, time) - store.read(time)).max() < near
    played = [evaluated(soft, time) for time in TIMES]
    assert np.abs(played[-1] - played[0]).max() > 1e-3
    for mine, theirs in zip(played, as_keys(soft, evaluated), strict=True):
        assert np.abs(mine - theirs).max() < near


def test_a_moving_object_in_other_units(moving, saved, evaluated):
    bpy.ops.sinew.bake()
    played = [evaluated(moving, time) for time in TIMES]
    for mine, theirs in zip(played, as_keys(moving, evaluated), strict=True):
        assert np.abs(mine - theirs).max() < 1e-6 * SIZE
    store = baking.open_store(moving)
    assert np.abs(0.5 * played[-1] - store.read(4)).max() < 1e-6 * SIZE
    assert moving.sinew.bake.error == "The result equals the baked frames up to round-off."


def test_on_a_duplicate_with_later_modifiers(soft, saved, evaluated):
    soft.shape_key_add(name="Basis")
    soft.modifiers.new("Subdivision", "SUBSURF").levels = 1
    bpy.ops.sinew.bake()
    result = soft.sinew.bake.result
    assert [m.type for m in result.modifiers] == ["NODES", "SUBSURF"] and soft.hide_viewport
    assert [m.type for m in soft.modifiers] == ["SUBSURF"] and not soft.data.attributes.get(f"{ATTRIBUTE}1")
    smooth = evaluated(result, 3)
    result.modifiers["Subdivision"].show_viewport = False
    coarse, store = evaluated(result, 3), baking.open_store(soft)
    assert len(smooth) > len(coarse) and np.abs(coarse - store.read(3)).max() < 1e-6 * SIZE


def test_layers_of_the_mesh_go_along(soft, saved):
    layer = soft.data.uv_layers.new(name="UVMap")
    uv = np.random.default_rng(0).uniform(0.0, 1.0, 2 * len(layer.data)).astype(np.float32)
    layer.data.foreach_set("uv", uv)
    skin = bpy.data.materials.new("Skin")
    soft.data.materials.append(skin)
    for polygon in soft.data.polygons:
        polygon.use_smooth = True
    bpy.ops.sinew.bake()
    bpy.context.scene.frame_set(3)
    mesh = soft.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    played = np.empty_like(uv)
    mesh.uv_layers["UVMap"].data.foreach_get("uv", played)
    assert np.array_equal(played, uv) and [m.name for m in mesh.materials] == ["Skin"]
    assert all(polygon.use_smooth for polygon in mesh.polygons)


def corner_normals(obj, frame):
    bpy.context.scene.frame_set(frame)
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    flat = np.empty(3 * len(mesh.loops), dtype=np.float32)
    mesh.corner_normals.foreach_get("vector", flat)
    return flat


def test_custom_normals_go_along(soft, saved):
    for polygon in soft.data.polygons:
        polygon.use_smooth = True
    tilted = np.random.default_rng(0).normal(size=(len(soft.data.loops), 3)) + [0.0, 0.0, 4.0]
    soft.data.normals_split_custom_set((tilted / np.linalg.norm(tilted, axis=1)[:, None]).tolist())
    bpy.ops.sinew.bake()
    rest, played = corner_normals(soft, 1), corner_normals(soft, 4)
    soft.sinew.result = "KEYS"
    bpy.ops.sinew.convert_result()
    assert np.abs(corner_normals(soft, 4) - played).max() < 1e-3
    assert np.abs(played - rest).max() > 1e-2, "they turn with the surface"


def test_shape_keys_of_the_artist_survive(soft, saved):
    """Made on the object that carries the handles, they are none of the bake's."""
    bpy.ops.sinew.bake()
    soft.shape_key_add(name="Basis")
    soft.shape_key_add(name="Smile")
    assert baking.lost_words(soft) == "" and "shape keys" in soft.sinew.simulated_label
    bpy.ops.sinew.delete_bake()
    assert [block.name for block in soft.data.shape_keys.key_blocks] == ["Basis", "Smile"] and not soft.modifiers


def test_it_plays_without_the_extension(moving, saved, evaluated, tmp_path):
    bpy.ops.sinew.bake()
    expected = [evaluated(moving, time) for time in TIMES]
    bpy.ops.wm.save_mainfile()
    script = f"""
import bpy, numpy as np
assert not hasattr(bpy.types.Object, "sinew")
bpy.ops.wm.open_mainfile(filepath={str(saved)!r})
obj, found = bpy.data.objects["Body"], []
for time in {TIMES!r}:
    bpy.context.scene.frame_set(int(time), subframe=time - int(time))
    result = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    flat = np.empty(3 * len(result.data.vertices), dtype=np.float32)
    result.data.vertices.foreach_get("co", flat)
    matrix = np.array(result.matrix_world)
    found.append(flat.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3])
np.save({str(tmp_path / "played.npy")!r}, found)
"""
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, timeout=120)
    assert np.abs(np.load(tmp_path / "played.npy") - expected).max() < 1e-6 * SIZE


@pytest.mark.parametrize("own_keys", [False, True])
def test_delete_bake_leaves_nothing_behind(soft, saved, own_keys):
    soft.modifiers.new("Subdivision", "SUBSURF")
    if own_keys:
        soft.shape_key_add(name="Basis")
    blocks, layers = data_blocks(), [a.name for a in soft.data.attributes]
    bpy.ops.sinew.bake()
    assert data_blocks() != blocks
    assert bpy.ops.sinew.delete_bake() == {"FINISHED"}
    assert data_blocks() == blocks
    assert [a.name for a in soft.data.attributes] == layers and [m.name for m in soft.modifiers] == ["Subdivision"]


def test_a_job_after_the_bake_is_the_one_before(soft, saved):
    bpy.ops.sinew.bake()
    bpy.context.scene.frame_set(3)
    bpy.ops.sinew.check_bake()
    assert soft.sinew.bake.stale == ""


def test_copies_keep_what_they_play(soft, saved, evaluated):
    """A copy of a baked object has its record too, and its own mesh or the same."""
    bpy.ops.sinew.bake()
    expected = evaluated(soft, 3)
    own, same = soft.copy(), soft.copy()
    own.data = soft.data.copy()
    for twin in (own, same):
        bpy.context.scene.collection.objects.link(twin)
    bpy.ops.sinew.delete_bake()
    assert not soft.modifiers
    for twin in (own, same):
        assert np.array_equal(evaluated(twin, 3), expected) and baking.lost_words(twin) == ""
        bpy.context.view_layer.objects.active = twin
        bpy.ops.sinew.delete_bake()
    assert not bpy.data.node_groups and not soft.data.attributes.get(f"{ATTRIBUTE}1")
    assert not [o for o in bpy.data.objects if "Handles" in o.name] and not bpy.data.actions


def remove_modifier(obj):
    obj.modifiers.remove(obj.modifiers["Bake"])


def remove_handles(obj):
    bpy.data.objects.remove(handles_of(obj.sinew.bake.nodes))


def remove_keys(obj):
    handles_of(obj.sinew.bake.nodes).shape_key_clear()


def remove_weight(obj):
    obj.data.attributes.remove(obj.data.attributes[f"{ATTRIBUTE}2"])


@pytest.mark.parametrize(
    "remove, words",
    [
        (remove_modifier, "The Bake modifier was removed."),
        (remove_handles, "The handles of the bake were removed."),
        (remove_keys, "The handles of the bake were removed."),
        (remove_weight, "Weight attributes of the bake were removed."),
    ],
)
def test_parts_removed_by_hand_are_told_and_put_back(soft, saved, evaluated, remove, words):
    bpy.ops.sinew.bake()
    blocks, expected = data_blocks(), evaluated(soft, 3)
    assert baking.lost_words(soft) == ""
    remove(soft)
    assert baking.lost_words(soft) == words
    assert bpy.ops.sinew.resume_bake() == {"FINISHED"} and baking.lost_words(soft) == ""
    assert np.array_equal(evaluated(soft, 3), expected)
    for kind in ("objects", "node_groups"):
        assert len(data_blocks()[kind]) == len(blocks[kind])


def test_a_full_space_result_is_projected(body, saved, evaluated):
    """More modes follow closer, and Convert Result takes them without simulating again."""
    bpy.ops.sinew.bake()
    store, off = baking.open_store(body), []
    before = (store.folder / "frame_000004.sinew").stat().st_mtime_ns
    body.sinew.result = "NODES"
    for modes in (1, 8):
        body.sinew.result_modes = modes
        assert baking.kept_otherwise(body) and bpy.ops.sinew.convert_result.poll()
        assert bpy.ops.sinew.convert_result() == {"FINISHED"}
        assert body.sinew.bake.status == "DONE" and not bpy.ops.sinew.convert_result.poll()
        off.append(np.abs(evaluated(body, 4) - store.read(4)).max())
    assert (store.folder / "frame_000004.sinew").stat().st_mtime_ns == before
    assert 1e-6 < off[0] < 0.05 and off[1] < off[0]


def test_the_error_of_a_projection_is_told(body, saved, evaluated):
    body.sinew.result, body.sinew.result_modes = "NODES", 1
    bpy.ops.sinew.bake()
    store = baking.open_store(body)
    off = [np.linalg.norm(evaluated(body, f) - store.read(f), axis=1) for f in range(1, 5)]
    size = np.ptp(store.job().body.surface.positions, axis=0).max()
    mean, most = np.sqrt(np.mean(np.square(off))), np.max(off)
    told = body.sinew.bake.error
    assert told.startswith("Deviates from the bake by ") and "(frame " in told
    numbers = [float(before) for before, word in itertools.pairwise(told.split()) if word == "%"]
    assert numbers == pytest.approx([100 * mean / size, 100 * most / size], rel=0.06)


def test_modes_are_doubled_until_the_handles_are_close(body, saved):
    bpy.context.view_layer.objects.active = body
    body.sinew.materials[0].log_stiffness, body.sinew.frame_end = 3.3, 12
    body.sinew.result, body.sinew.result_modes = "NODES", 1
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    store = baking.open_store(body)
    handles, size = cached_handles(store.job(), store, 1), store.job().body.surface.size
    assert handles.largest_error < CLOSE * size and handles.weights.shape[1] > 2, "and the pins"
    assert "Shape Keys" not in body.sinew.bake.error and not baking.kept_otherwise(body)
    far = handles._replace(errors=handles.errors + 0.02 * size)
    assert "may show through one another; Shape Keys avoid this" in far.error_words(size)


def test_handles_that_let_parts_cross_leave_shape_keys(body, saved, monkeypatch):
    """A body without contact keeps its handles, with a note; here round-off counts as a large error."""
    bpy.context.view_layer.objects.active = body
    body.sinew.materials[0].log_stiffness = 3.3
    body.sinew.result = "NODES"
    monkeypatch.setattr(cached_handles_module, "CLOSE", -1.0)
    for meets, kind in ((False, "NODES"), (True, "KEYS")):
        body.sinew.collisions.self_contact, body.sinew.bake.message = meets, ""
        assert bpy.ops.sinew.bake() == {"FINISHED"}
        record = body.sinew.bake
        assert record.kind == kind and record.status == "DONE"
        assert ("would show through" in record.message) == (kind == "KEYS")
        assert bool(record.error) == (kind == "NODES")


def test_handles_that_cannot_be_found_leave_shape_keys(soft, saved, evaluated):
    """After a stop the result exists, and its message has the remedy."""
    soft.sinew.result = "KEYS"
    bpy.ops.sinew.bake()
    soft.sinew.result = "NODES"
    baking.put_result(soft, bpy.context, "STOPPED", baking.open_store(soft))
    assert soft.data.shape_keys is not None and "Convert Result" in soft.sinew.bake.message
    assert bpy.ops.sinew.convert_result() == {"FINISHED"}
    assert soft.data.shape_keys is None and soft.sinew.bake.message == ""
    assert soft.sinew.bake.status == "STOPPED"


def test_a_large_bake_stays_small(add_mesh, tmp_path):
    """50,000 vertices, 240 frames, 20 modes, of numbers that compress hardly, beside the mesh and its UVs."""
    random, path = np.random.default_rng(0), tmp_path / "large.blend"

    def size(compress):
        bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=compress)
        return path.stat().st_size / 1e6

    bpy.ops.mesh.primitive_grid_add(x_subdivisions=223, y_subdivisions=223)
    obj = bpy.context.object
    n = len(obj.data.vertices)
    assert n >= 50_000
    before = size(False)
    weights, moved = random.uniform(-1.0, 1.0, (n, 20)), random.uniform(-1.0, 1.0, (240, 21, 4, 3))
    numbers = np.zeros(3, np.float32), np.ones(1, np.float32), np.zeros((240, 2))
    frames = np.arange(1, 241, dtype=np.int32)
    write_handles(
        obj, bpy.context.scene, Handles(frames, weights.astype(np.float32), moved.astype(np.float32), *numbers)
    )
    assert size(False) - before < 5.0, "MB; shape keys take 144"
    assert size(True) < 6.0, "MB"


def middle_row(path):
    """Return the coverage of each pixel along the middle of a rendered frame."""
    scene = bpy.context.scene
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(str(path))
    width, height = image.size
    return np.array(image.pixels[:]).reshape(height, width, 4)[height // 2, :, 3]


def test_motion_blur_is_that_of_shape_keys(add_mesh, tmp_path):
    """Cycles takes the mesh between frames; a plate crosses the picture."""
    frames, moved = np.arange(1, 6, dtype=np.int32), np.zeros((5, 1, 4, 3), dtype=np.float32)
    moved[:, 0, 3, 0] = 0.6 * np.arange(5) - 1.2
    still = Handles(frames, np.zeros((4, 0), np.float32), moved, np.zeros(3), np.ones(1), np.zeros((5, 2)))
    corners = np.array([(-0.5, -0.5, 0.0), (0.5, -0.5, 0.0), (0.5, 0.5, 0.0), (-0.5, 0.5, 0.0)])
    scene = bpy.context.scene
    scene.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(scene.camera)
    scene.camera.location.z, scene.camera.data.type = 3.0, "ORTHO"
    scene.render.engine, scene.cycles.samples, scene.cycles.seed = "CYCLES", 64, 1
    scene.render.resolution_x, scene.render.resolution_y = 64, 16
    scene.render.film_transparent = scene.render.use_motion_blur = True
    scene.render.motion_blur_shutter = 1.0
    scene.frame_set(3)
    rows = []
    for kind in ("nodes", "keys"):
        plate = add_mesh(corners, [(0, 1, 2, 3)])
        if kind == "nodes":
            write_handles(plate, bpy.context.scene, still)
        else:
            write_keys(plate, bpy.context.scene, frames.tolist(), [corners + handle[0, 3] for handle in moved])
        rows.append(middle_row(tmp_path / f"{kind}.png"))
        bpy.data.objects.remove(plate)
    blurred = (rows[0] > 0.1 * rows[0].max()) & (rows[0] < 0.9 * rows[0].max())
    assert blurred.sum() > 8, "0.6 m in a frame"
    assert np.abs(rows[0] - rows[1]).max() < 0.02 * rows[0].max()
