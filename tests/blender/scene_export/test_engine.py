"""*Send to Engine*: glTF and FBX play the baked positions, read by other code than wrote them; the scene stays."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from ..addon.test_cycles import data_blocks
from .gltf_reader import Glb

FRAMES = (1, 3, 5, 7, 8)
CLOSE = 0.01
"""Largest distance from the baked positions, as a fraction of the size."""


@pytest.fixture
def baked(body, saved):
    """A cantilever that swings about its support, while the support moves; its frames."""
    body.sinew.frame_end = 8
    for frame, place, angle in ((1, 0.0, 0.0), (8, 0.5, 1.0)):
        body.location[1], body.rotation_euler[2] = place, angle
        body.keyframe_insert("location", frame=frame)
        body.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_end = 250
    bpy.ops.object.select_all(action="DESELECT")
    body.select_set(True)
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    return body


@pytest.fixture
def pile(baked):
    """The cantilever, a twin with a Subdivision after its bake, and bodies that fall and turn."""
    bodies = [baked]
    for k in (1, 2):
        twin = baked.copy()
        twin.data, twin.name = baked.data.copy(), f"Piece {k}"
        twin.animation_data_clear()
        twin.location, twin.rotation_euler = (0.0, 2.0 * k, 0.0), (0.0, 0.3, 0.0)
        twin.sinew.property_unset("bake")
        twin.shape_key_clear()
        bpy.context.scene.collection.objects.link(twin)
        bodies.append(twin)
    bodies[1].modifiers.new("Subdivision", "SUBSURF")
    bodies[2].sinew.pin_group = ""
    for twin in bodies[1:]:
        bpy.context.view_layer.objects.active = twin
        assert bpy.ops.sinew.bake() == {"FINISHED"}
        twin.select_set(True)
    return bodies


def nearest(shown, baked):
    """The largest distance of a vertex from the other set, both ways: files split vertices and change their order."""
    gaps = np.linalg.norm(shown[:, None] - baked[None], axis=2)
    return max(gaps.min(axis=0).max(), gaps.min(axis=1).max()) / np.ptp(baked, axis=0).max()


def send(path, **settings):
    return bpy.ops.sinew.send_to_engine(filepath=str(path), **settings)


FORMS = [("TARGETS", False), ("TARGETS", True), ("FRAMES", False), ("SKELETON", False), ("SKELETON", True)]


@pytest.mark.parametrize(("form", "follows"), FORMS)
def test_gltf_plays_the_bake(pile, evaluated, tmp_path, form, follows):
    names = [obj.name for obj in pile]
    expected = {frame: [evaluated(obj, frame) for obj in pile] for frame in FRAMES}
    assert send(tmp_path / "out.glb", form=form, root_motion=follows) == {"FINISHED"}
    glb, fps = Glb(tmp_path / "out.glb"), bpy.context.scene.render.fps
    assert glb.end() == pytest.approx(7.0 / fps, abs=1e-6)
    for frame in FRAMES:
        for name, baked in zip(names, expected[frame]):
            assert nearest(glb.positions(name, (frame - 1) / fps), baked) < CLOSE, (frame, name)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert bpy.ops.import_scene.gltf(filepath=str(tmp_path / "out.glb")) == {"FINISHED"}
    compare_imported(names, expected, evaluated)


@pytest.mark.parametrize(("form", "follows"), [("TARGETS", False), ("SKELETON", True)])
def test_fbx_plays_the_bake(pile, evaluated, tmp_path, form, follows):
    names = [obj.name for obj in pile]
    expected = {frame: [evaluated(obj, frame) for obj in pile] for frame in FRAMES}
    assert send(tmp_path / "out.fbx", form=form, root_motion=follows) == {"FINISHED"}
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert bpy.ops.import_scene.fbx(filepath=str(tmp_path / "out.fbx"), anim_offset=0.0) == {"FINISHED"}
    compare_imported(names, expected, evaluated)


def compare_imported(names, expected, evaluated):
    """The file's first frame is 0."""
    for frame in FRAMES:
        for name, baked in zip(names, expected[frame]):
            shown = evaluated(bpy.data.objects[name], frame - 1)
            assert nearest(shown, baked) < CLOSE, (frame, name)


def test_the_scene_and_the_names_stay(pile, tmp_path):
    bpy.context.scene.frame_set(3)
    before, chosen, active = data_blocks(), bpy.context.selected_objects, bpy.context.object
    for form in ("TARGETS", "SKELETON"):
        for kind in ("GLB", "FBX"):
            assert send(tmp_path / "out", form=form, file_format=kind, count=4) == {"FINISHED"}
    assert data_blocks() == before and bpy.context.scene.frame_current == 3
    assert (bpy.context.selected_objects, bpy.context.object, bpy.context.mode) == (chosen, active, "OBJECT")
    assert {path.name for path in tmp_path.iterdir()} >= {"out.glb", "out.fbx"}
    assert send(tmp_path / "out.v2", file_format="GLTF") == {"FINISHED"}
    assert (tmp_path / "out.v2.gltf").is_file() and (tmp_path / "out.v2.bin").is_file()


@pytest.mark.parametrize("kind", ["GLB", "FBX"])
def test_the_window_shows_its_scene_and_view_layer_again(baked, tmp_path, kind):
    """Blender's exporter of glTF shows the exported scene in the window."""
    for name in ("Another", "Scene 2", "Zone"):  # whose neighbour in Blender's list is not the scene of the window
        bpy.data.scenes.new(name)
    window, own = bpy.context.window, bpy.context.scene
    window.view_layer = layer = own.view_layers.new("Matte")
    layer.objects.active = baked
    baked.select_set(True, view_layer=layer)
    assert send(tmp_path / "a file", file_format=kind) == {"FINISHED"}
    assert (window.scene, window.view_layer, bpy.context.scene) == (own, layer, own)
    assert bpy.context.object == baked and baked.select_get()


def refused(words, path, **settings):
    before, files = data_blocks(), sorted(path.parent.iterdir()) if path.parent.is_dir() else []
    with pytest.raises(RuntimeError, match=words):
        send(path, **settings)
    assert data_blocks() == before and (not path.parent.is_dir() or sorted(path.parent.iterdir()) == files)


def test_bad_input_is_refused_with_a_remedy(baked, tmp_path, monkeypatch):
    path = tmp_path / "out.glb"
    path.write_bytes(b"kept")
    refused("13 bones are asked for.*12 or less", path, form="SKELETON", count=13)
    refused("cannot be written.*Check the folder", tmp_path / "missing" / "out.glb")

    modifier = baked.modifiers.new("Build", "BUILD")
    modifier.frame_start, modifier.frame_duration = 2, 4
    refused("no vertices|changes its mesh.*choose Alembic or USD", path)
    baked.modifiers.remove(modifier)

    baked.data.shape_keys.key_blocks[3].data[5].co[0] = float("nan")
    refused("“Body”: The position of vertex .* is not a number.*Bake again", path)
    baked.data.shape_keys.key_blocks[3].data[5].co[0] = 0.0
    (tmp_path / "folder.glb").mkdir()
    refused("folder.glb cannot be written", tmp_path / "folder.glb")
    assert path.read_bytes() == b"kept"
    monkeypatch.setattr("sinew.blender_addon.bake.engine_export.has_exporter", lambda kind: False)
    refused("add-on “glTF 2.0 format”.*is not enabled. Enable it in Preferences", path, file_format="GLB")


def test_an_unfinished_or_edited_bake_is_reported(baked, tmp_path, capfd):
    baked.sinew.bake.status = "STOPPED"
    baked.sinew.cells_across = 5
    assert send(tmp_path / "out.glb", form="SKELETON", count=1) == {"FINISHED"}
    said = capfd.readouterr().out
    assert "the bake stopped after 8 frames. Resume continues it" in said and "was edited since its bake" in said
    assert "The error is larger than the tolerance" in said


def test_still_and_single_frames_are_refused(body, saved, tmp_path):
    assert not bpy.ops.sinew.send_to_engine.poll()
    body.sinew.frame_end = 1
    bpy.ops.sinew.bake()
    body.select_set(True)
    refused("two frames at least", tmp_path / "out.glb")
    body.sinew.frame_end = 4
    bpy.context.scene.use_gravity = False
    bpy.ops.sinew.bake()
    for form in ("TARGETS", "FRAMES", "SKELETON"):
        refused("Nothing moves in frames 1-4", tmp_path / "out.glb", form=form)
