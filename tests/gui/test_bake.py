"""The whole way of an artist in a window; the result is the same as the bake without one."""

import importlib
import shutil

import bpy
import numpy as np


def shape_keys(path) -> np.ndarray:
    """(keys, n, 3) of Suzanne in a .blend, those of frames."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    keys = bpy.data.objects["Suzanne"].data.shape_keys.key_blocks
    blocks = [key for key in keys if key.name.startswith("Frame")]
    result = np.empty((len(blocks), 3 * len(blocks[0].data)), dtype=np.float32)
    for row, block in zip(result, blocks):
        block.data.foreach_get("co", row)
    return result.reshape(len(blocks), -1, 3)


def test_bake_stop_resume_undo_delete(windowed):
    result = windowed.run("bake")
    said = result.values
    assert not said["bake before saving"] and said["running"] and said["stopping"]
    assert said["asked for"][0] == "untitled.blend" and said["cancelled"] == ["", True, 1] and said["saved as"]
    assert said["modal operators"] == 0, "a modal operator would hold up autosave and undo"
    assert said["compiling"] == [True, True] and said["switched off"] == [True, True, True]
    assert said["newest"] == [True, True, True] and said["asked"] == said["not stopped"] == "RUNNING"
    status, frames, keys = said["stopped"]
    assert status == "STOPPED" and 5 <= frames < 24 and keys == frames
    assert said["done"] == ["DONE", 24, 24]
    assert said["after one undo"] == ["STOPPED", keys], "one undo takes the resumed bake back"
    assert said["after two undos"] == ["NONE", 0, True, 2], "and one more the bake that was stopped"
    assert said["after redo"] == ["DONE", 24] and said["stale"].startswith("materials (“")
    assert said["deleted"][:2] == ["NONE", 0]
    assert said["reading"] == [True, 1, True] and said["modal operators then"] == 0
    assert said["read no more"] == [True, 17, True, True]
    assert "Traceback" not in result.log, result.log


def test_headless_equals_windowed(windowed):
    importlib.import_module("sinew").register()
    code, log = windowed.headless("scene.blend", "sinew", "bake")
    assert code == 0 and "saved" in log, log
    window, headless = (shape_keys(windowed.session / name) for name in ("windowed.blend", "scene.blend"))
    assert window.shape == headless.shape == (24, 507, 3)
    # Not to the bit in Debian's Blender: it links the system's BLAS, which replaces cvxopt's inside its process,
    # while the window's bake runs in a child. Under the bpy wheels both have the same bits (tests/blender/test_child).
    assert np.abs(window - headless).max() <= 1e-7
    assert np.abs(window[-1] - window[0]).max() > 1e-3


def test_the_command_refuses_a_missing_blend(windowed):
    code, log = windowed.headless("missing.blend", "sinew", "bake")
    assert code == 1 and "No .blend is loaded" in log


def test_a_batch_in_blenders_of_their_own(windowed):
    shots = windowed.session / "shots"
    shots.mkdir()
    for name in ("a", "b"):
        shutil.copy(windowed.session / "scene.blend", shots / f"{name}.blend")
    batch = ["sinew", "batch", f"{windowed.session_path}/shots", "--jobs", "2", "--frames", "1-2"]
    said = windowed.command_line(*batch)
    assert "2 files: 2 done, 0 failed" in said and said.count("frame 2 (2/2)") == 2, said
    said = windowed.command_line(*batch)
    assert "2 files: 2 done, 0 failed" in said and said.count("complete, nothing to bake") == 2, said
