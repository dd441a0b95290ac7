"""Bakes as Alembic and USD: what comes back in has the baked positions."""

from __future__ import annotations

import subprocess
import sys

import bpy
import numpy as np
import pytest
from sinew.blender_addon.scene_export import exported


@pytest.fixture
def two_bodies(body, saved, evaluated):
    """Bodies that move through the scene: one carries its bake, the other's is on a duplicate."""
    body.keyframe_insert("location", frame=1)
    body.location = (0.5, 0.0, 0.25)
    body.keyframe_insert("location", frame=4)
    twin = body.copy()
    twin.data, twin.name = body.data.copy(), "Twin"
    bpy.context.scene.collection.objects.link(twin)
    twin.animation_data_clear()
    twin.location = (0.0, 2.0, 0.0)
    twin.shape_key_add(name="Basis")
    for obj in (twin, body):
        bpy.context.view_layer.objects.active = obj
        assert bpy.ops.sinew.bake() == {"FINISHED"}
        obj.select_set(obj == body)
    twin.sinew.bake.result.select_set(True)
    return body, twin.sinew.bake.result


@pytest.mark.parametrize("ending", [".abc", ".usdc"])
def test_positions_come_back(two_bodies, evaluated, tmp_path, ending):
    expected = [[evaluated(obj, frame) for frame in (1, 2, 4)] for obj in two_bodies]
    bpy.context.scene.frame_end = 250
    bpy.context.scene.frame_set(3)
    chosen = bpy.context.selected_objects
    assert bpy.ops.sinew.export_bake(filepath=str(tmp_path / f"out{ending}")) == {"FINISHED"}
    assert bpy.context.selected_objects == chosen and bpy.context.scene.frame_current == 3
    assert (bpy.context.scene.frame_start, bpy.context.scene.frame_end) == (1, 250)
    before = set(bpy.data.objects)
    read = bpy.ops.wm.alembic_import if ending == ".abc" else bpy.ops.wm.usd_import
    more = {"as_background_job": False} if ending == ".abc" else {}
    assert read(filepath=str(tmp_path / f"out{ending}"), **more) == {"FINISHED"}
    found = [obj for obj in set(bpy.data.objects) - before if obj.type == "MESH"]
    assert len(found) == 2
    for obj, positions in zip(two_bodies, expected):
        nearest = min(found, key=lambda other: np.abs(evaluated(other, 1) - positions[0]).max())
        for frame, there in zip((1, 2, 4), positions):
            assert np.abs(evaluated(nearest, frame) - there).max() < 1e-5, (obj.name, frame)
    assert np.abs(expected[0][2] - expected[0][0]).max() > 0.1


def test_the_ending_is_that_of_the_format(two_bodies, tmp_path):
    export = bpy.ops.sinew.export_bake
    assert export(filepath=str(tmp_path / "shot.v2"), file_format="USD") == {"FINISHED"}
    assert (tmp_path / "shot.v2.usdc").is_file()
    assert export(filepath=str(tmp_path / "out.abc"), file_format="USD") == {"FINISHED"}
    assert (tmp_path / "out.usdc").is_file() and not (tmp_path / "out.abc").exists()


def test_frames_before_0_are_written_or_refused(body, tmp_path):
    for frame in (-4, 4):
        body.location[2] = float(frame)
        body.keyframe_insert("location", frame=frame)
    exported.export([body], bpy.context, tmp_path / "out.abc", "ALEMBIC", (-4, 4))
    with pytest.raises(RuntimeError, match="no negative frames"):
        exported.export([body], bpy.context, tmp_path / "out.usdc", "USD", (-4, 4))
    before = set(bpy.data.objects)
    assert bpy.ops.wm.alembic_import(filepath=str(tmp_path / "out.abc"), as_background_job=False) == {"FINISHED"}
    (read,) = (obj for obj in set(bpy.data.objects) - before if obj.type == "MESH")
    for frame in (-4, 4):
        bpy.context.scene.frame_set(frame)
        place = read.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation
        assert place[2] == pytest.approx(frame, abs=1e-4)


def test_a_bake_out_of_sight_is_named(two_bodies, tmp_path):
    home = bpy.context.scene.collection
    home.objects.unlink(two_bodies[1])
    other = bpy.data.scenes.new("Other")
    other.collection.objects.link(two_bodies[1])
    twin = bpy.data.objects["Twin"]
    twin.hide_viewport = False
    twin.select_set(True)
    with pytest.raises(RuntimeError, match="“Twin Bake” is not part of the view layer"):
        bpy.ops.sinew.export_bake(filepath=str(tmp_path / "out.abc"))


def test_grey_without_a_bake_or_an_exporter(body, saved):
    assert not bpy.ops.sinew.export_bake.poll()
    bpy.ops.sinew.bake()
    assert bpy.ops.sinew.export_bake.poll()
    bpy.context.view_layer.objects.active = None
    body.select_set(False)
    assert not bpy.ops.sinew.export_bake.poll()


THERE_AND_BACK = """
import os, sys
import bpy, numpy as np
blend, path, out = sys.argv[1:]
bpy.ops.wm.open_mainfile(filepath=blend)
if path.endswith(".glb"):
    bpy.ops.export_scene.gltf(filepath=path)
else:
    # By these Blender's exporter writes what objects alone play, not their shape keys.
    bpy.ops.export_scene.fbx(filepath=path, bake_anim_use_nla_strips=False, bake_anim_use_all_actions=False)
bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
if path.endswith(".glb"):
    bpy.ops.import_scene.gltf(filepath=path)
else:
    bpy.ops.import_scene.fbx(filepath=path, anim_offset=0.0)
(obj,) = [obj for obj in bpy.data.objects if obj.type == "MESH"]
found = []
for frame in (1, 2, 4):
    bpy.context.scene.frame_set(frame)
    shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    found.append([shown.matrix_world @ vertex.co for vertex in shown.data.vertices])
np.save(out, np.array(found))
os._exit(0)  # Blender's module may wait forever at its end after an export to glTF
"""


@pytest.mark.parametrize("ending", [".glb", ".fbx"])
@pytest.mark.parametrize("pre_roll", [0, 2])
def test_shape_keys_move_in_other_programs(body, saved, evaluated, tmp_path, ending, pre_roll):
    body.sinew.pre_roll = pre_roll
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 4
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    expected = [evaluated(body, frame) for frame in (1, 2, 4)]
    assert np.abs(expected[2] - expected[0]).max() > 0.01
    bpy.ops.wm.save_mainfile()
    paths = str(saved), str(tmp_path / f"out{ending}"), str(tmp_path / "back.npy")
    subprocess.run([sys.executable, "-c", THERE_AND_BACK, *paths], check=True, capture_output=True, timeout=120)
    for here, there in zip(np.load(paths[2]), expected):  # glTF splits vertices at sharp edges
        gaps = np.linalg.norm(here[:, None] - there[None], axis=2)
        assert gaps.min(axis=0).max() < 1e-5 and gaps.min(axis=1).max() < 1e-5
