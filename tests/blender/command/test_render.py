"""``sinew bake --render``: which images are rendered, which are kept, and that none is ever half an image."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import bpy
import pytest
from sinew.blender_addon import command
from sinew.blender_addon.command.render import PARTIAL, render_frames
from sinew.core.foundation.errors import RenderError


def images(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def times(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


NAMES = ["shot_0001.png", "shot_0003.png", "shot_0005.png"]


def test_the_frames_are_rendered_as_the_scene_has_them(shot, capfd):
    assert command.run(["bake", "--render"]) == 0
    assert images(shot) == NAMES
    assert "rendered 3, kept 0 of 3" in capfd.readouterr().err
    scene = bpy.context.scene
    assert scene.render.filepath == "//images/shot_" and (scene.frame_start, scene.frame_end) == (1, 5)


def test_update_renders_what_is_missing_and_what_is_older_than_the_scene(shot, capfd):
    bake = ["bake", "--render", "--update"]
    assert command.run(bake) == 0
    before = times(shot)
    (shot / NAMES[1]).unlink()
    assert command.run(bake) == 0
    after = times(shot)
    assert [name for name in NAMES if after[name] != before.get(name)] == [NAMES[1]]
    bpy.ops.wm.save_mainfile()
    assert command.run(bake) == 0
    assert all(times(shot)[name] > after[name] for name in NAMES), "the .blend is newer than all of them"
    assert "rendered 1, kept 2 of 3" in capfd.readouterr().err


def test_images_from_the_future_are_rendered_again(shot):
    """The clock was set back after they were made: the .blend may be newer."""
    bake = ["bake", "--render", "--update"]
    assert command.run(bake) == 0
    ahead = time.time() + 3600.0
    os.utime(shot / NAMES[0], (ahead, ahead))
    assert command.run(bake) == 0
    assert times(shot)[NAMES[0]] < ahead * 1e9
    os.utime(bpy.data.filepath, (ahead, ahead))
    before = times(shot)
    assert command.run(bake) == 0
    assert all(times(shot)[name] > before[name] for name in NAMES), "the .blend is from the future"


def test_a_bake_that_replaces_another_renders_everything(shot):
    assert command.run(["bake", "--render"]) == 0
    before = times(shot)
    assert command.run(["bake", "--render"]) == 0
    assert all(times(shot)[name] > before[name] for name in NAMES)


def test_the_scenes_own_overwrite_is_heeded(shot):
    shot.mkdir()
    (shot / NAMES[0]).write_bytes(b"kept")
    bpy.context.scene.render.use_overwrite = False
    render_frames(lambda text: None, [], keep_current=False)
    assert (shot / NAMES[0]).read_bytes() == b"kept" and images(shot) == NAMES


def test_markers_change_the_camera(shot):
    scene = bpy.context.scene
    second = scene.camera.copy()
    second.location.z = 50.0
    scene.collection.objects.link(second)
    for frame, camera in ((1, scene.camera), (3, second)):
        scene.timeline_markers.new(f"{frame}", frame=frame).camera = camera
    used = []
    note = lambda scene, *_: used.append(scene.camera.name)  # noqa: E731 - handlers are kept by identity
    bpy.app.handlers.render_pre.append(note)
    render_frames(lambda text: None, [], keep_current=False)
    bpy.app.handlers.render_pre.remove(note)
    assert used == ["Camera", "Camera.001", "Camera.001"]


def test_a_signal_stops_after_the_frame(shot):
    caught: list[signal.Signals] = []
    render_frames(lambda text: caught.append(signal.SIGTERM), caught, keep_current=False)
    assert images(shot) == NAMES[:1]


def test_what_a_killed_render_left_is_cleared(shot):
    (shot / PARTIAL).mkdir(parents=True)
    (shot / PARTIAL / "shot_0001.png").write_bytes(b"half")
    render_frames(lambda text: None, [], keep_current=True)
    assert images(shot) == NAMES and (shot / NAMES[0]).read_bytes() != b"half"


def test_a_film_is_one_file(shot):
    settings = bpy.context.scene.render.image_settings
    if hasattr(settings, "media_type"):  # since 5.0
        settings.media_type = "VIDEO"
    settings.file_format = "FFMPEG"
    bpy.context.scene.render.ffmpeg.format = "MKV"
    said: list[str] = []
    render_frames(said.append, [], keep_current=False)
    (film,) = images(shot)
    assert film.startswith("shot_") and film.endswith(".mkv")
    render_frames(said.append, [], keep_current=True)
    assert "rendered 0, kept 1 of 1" in said[-1]


def test_a_scene_without_a_camera_is_refused(shot, capfd):
    bpy.context.scene.camera = None
    assert command.run(["bake", "--render"]) == 1
    assert "sinew: error: Frame 1 cannot be rendered" in capfd.readouterr().err


def test_a_folder_that_cannot_be_written_is_refused(shot):
    shot.write_bytes(b"a file of that name")
    with pytest.raises(RenderError, match="images cannot be written"):
        render_frames(lambda text: None, [], keep_current=False)
    assert os.path.isfile(shot)
