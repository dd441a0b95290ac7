"""``blender -b scene.blend --command sinew``: Blender's context has no window then."""

import importlib

import bpy
import numpy as np
import pytest


def positions(obj, frame):
    """World positions of the evaluated vertices of an object at a frame."""
    bpy.context.scene.frame_set(frame)
    shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    found = np.empty(3 * len(shown.data.vertices), dtype=np.float32)
    shown.data.vertices.foreach_get("co", found)
    matrix = np.array(shown.matrix_world)
    return found.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]


@pytest.fixture(scope="module")
def baked(windowed):
    """The body of the scene that is not active, baked and exported; its positions by frame."""
    windowed.run("command_line")
    words = ["--scene", "Shot 2", "--export", "glb", "--export", "fbx"]
    code, log = windowed.headless("shots.blend", "sinew", "bake", *words)
    assert code == 0 and log.count("exported frames 1-6") == 2, log
    importlib.import_module("sinew").register()
    bpy.ops.wm.open_mainfile(filepath=str(windowed.session / "shots.blend"))
    assert bpy.context.scene.name == "Scene", "the .blend opens in the scene that was active"
    bpy.context.window.scene = bpy.data.scenes["Shot 2"]
    ball = bpy.data.objects["Ball"]
    assert ball.sinew.bake.status == "DONE"
    return {frame: positions(ball, frame) for frame in range(1, 7)}


def test_force_fields_act(baked):
    """Turbulence is sampled in a temporary scene. Without it, the ball falls straight down."""
    assert np.abs(baked[6] - baked[1]).max(axis=0)[:2].min() > 1e-4


@pytest.mark.parametrize("ending", ["glb", "fbx"])
def test_exported_files_play_the_bake(windowed, baked, ending):
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    path = str(windowed.session / f"shots.{ending}")
    if ending == "glb":
        bpy.ops.import_scene.gltf(filepath=path)
    else:
        bpy.ops.import_scene.fbx(filepath=path, anim_offset=0.0)
    for frame, expected in baked.items():
        gaps = np.linalg.norm(positions(bpy.data.objects["Ball"], frame - 1)[:, None] - expected, axis=2)
        assert max(gaps.min(axis=0).max(), gaps.min(axis=1).max()) < 0.01 * np.ptp(expected, axis=0).max()


def test_a_report_of_another_scene(windowed, baked):
    code, log = windowed.headless("shots.blend", "sinew", "report", "--scene", "Shot 2")
    assert code == 0 and "Ball" in log, log
    code, log = windowed.headless("shots.blend", "sinew", "report")
    assert code == 3 and "No object of the scene has Sinew enabled" in log, log
