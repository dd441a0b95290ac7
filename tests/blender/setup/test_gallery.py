"""Gallery of the site: .blend files that play anywhere, a camera that sees the bodies, and light from above."""

from __future__ import annotations

import importlib
import io
import shutil
import tempfile
from pathlib import Path

import bpy
import numpy as np
import pytest
import sinew
from sinew.blender_addon.cache.frame_folders import CACHE, recorded_folder
from sinew.blender_addon.setup import asset_library

DOCS = Path(__file__).resolve().parents[3] / "docs"


@pytest.fixture(scope="module")
def gallery():
    """The script that makes the gallery."""
    if sinew.__name__ != "sinew":
        pytest.skip("only the repository has the script")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS / "manual"))
        return importlib.import_module("render_gallery")


def named_folders(blend, *folders):
    """Return those of the ``folders``, and of the usual ones of this computer, whose paths are in a .blend file."""
    zstandard = pytest.importorskip("zstandard")
    with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(blend.read_bytes()), read_across_frames=True) as reader:
        content = reader.read()
    assert content.startswith(b"BLENDER")
    usual = (Path.home(), Path(tempfile.gettempdir()), DOCS.parent)
    return [folder for folder in (*folders, *usual) if str(folder) != "/" and str(folder).encode() in content]


def test_a_download_plays_in_any_folder_and_names_none(gallery, body, saved, evaluated, tmp_path):
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    scene, baked = bpy.context.scene, evaluated(body, 4)
    assert np.abs(baked - evaluated(body, 1)).max() > 1e-3
    gallery.manual.light(scene, gallery.manual.SHOTS["jelly_bear"])
    download = tmp_path / "made" / "body.blend"
    download.parent.mkdir()
    gallery.save_blend(scene, download)
    assert named_folders(download, tmp_path) == [] and named_folders(saved, tmp_path) == []
    elsewhere = tmp_path / "elsewhere"
    shutil.move(download.parent, elsewhere)
    shutil.rmtree(tmp_path / CACHE)
    saved.unlink()
    bpy.ops.wm.open_mainfile(filepath=str(elsewhere / download.name))
    opened = bpy.data.objects["Body"]
    assert evaluated(opened, 4).tolist() == baked.tolist()
    assert recorded_folder(opened).parents[2] == elsewhere and bpy.context.scene.render.filepath == "//"


def test_the_assets_name_no_folder():
    files = sorted(asset_library.FOLDER.glob("*.blend"))
    assert len(files) == 3 and [named_folders(file) for file in files] == [[], [], []]


def moving(add_mesh, path):
    """Add a tetrahedron of 0.2 m with shape keys. ``path``: pairs of a frame and a location, which are keyed."""
    corners = 0.2 * np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)])
    obj = add_mesh(corners, [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)])
    obj.shape_key_add(name="Basis")
    for frame, location in path:
        obj.location = location
        obj.keyframe_insert("location", frame=frame)


@pytest.mark.parametrize("far", [0.0, 3.0])
def test_the_camera_sees_the_bodies_in_all_frames(far, gallery, add_mesh):
    scene, shown = bpy.context.scene, range(1, 60, 2)
    moving(add_mesh, [(1, (0.0, 0.0, 0.0)), (15, (0.0, 0.0, 0.0)), (40, (far, 0.0, 0.4 * far)), (59, (0.0, 0.0, 0.0))])
    gallery.manual.light(scene, gallery.manual.SHOTS["jelly_bear"])
    home, locations = scene.camera.location.copy(), []

    def hidden():
        """Return the frames in which the bodies are not all in the picture, and note the locations of the camera."""
        frames = []
        for frame in shown:
            points = gallery.points_of_bodies(scene, frame)
            locations.append(scene.camera.location.copy())
            frames += [] if gallery.sees(scene, points) else [frame]
        return frames

    assert bool(hidden()) == bool(far)
    gallery.follow_bodies(scene, shown)
    assert hidden() == [] and (scene.camera.animation_data is not None) == bool(far)
    assert all(scene.camera.rotation_euler.to_matrix().col[2].dot(each - home) > -1e-5 for each in locations)
    scene.frame_set(1)
    assert (scene.camera.location - home).length < 1e-6, "it stays where it sees them"


def test_the_light_of_a_clip_comes_from_above(gallery, tmp_path):
    """A lid above the camera darkens the floor."""
    bpy.ops.mesh.primitive_cube_add(size=1.0, scale=(9.0, 9.0, 0.1))
    gallery.manual.light(bpy.context.scene, gallery.manual.SHOTS["jelly_bear"])
    brightness = []
    for name in ("open", "covered"):
        with gallery.Image.open(gallery.manual.render_frame(tmp_path / f"{name}.png", (64, 48))) as picture:
            brightness.append(np.asarray(picture.convert("L"), dtype=float)[-8:].mean())
        bpy.ops.mesh.primitive_cube_add(size=1.0, scale=(9.0, 9.0, 0.1), location=(0.0, 0.0, 3.0))
    assert brightness[0] > 1.2 * brightness[1]
