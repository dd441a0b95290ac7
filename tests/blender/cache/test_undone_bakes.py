"""Undo restores deleted and replaced bakes with their frames until the file is saved without them."""

import shutil
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import baking
from sinew.blender_addon.cache import frame_folders, undone_bakes
from sinew.blender_addon.cache.frame_folders import default_folder, recorded_folder
from sinew.core.foundation.errors import StoreError
from sinew.core.jobs.store.frame_store import FrameStore


def body_now():
    """The object after an undo, which makes earlier references invalid."""
    return bpy.data.objects["Body"]


def shown(frame: int = 3) -> np.ndarray:
    bpy.context.scene.frame_set(frame)
    evaluated = body_now().evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    return np.array([vertex.co for vertex in evaluated.vertices])


def folders() -> set[str]:
    home = frame_folders.home_folder()
    return {path.name for path in home.iterdir()} if home.is_dir() else set()


@pytest.fixture
def baked(body, saved, request):
    body.sinew.result = getattr(request, "param", "KEYS")
    bpy.ops.sinew.bake()
    assert body.sinew.bake.status == "DONE", body.sinew.bake.message
    bpy.ops.ed.undo_push(message="Baked")
    return body


def press(name: str) -> None:
    assert getattr(bpy.ops.sinew, name)("EXEC_DEFAULT", True) == {"FINISHED"}


@pytest.mark.parametrize("baked", ["KEYS", "NODES", "CACHE"], indirect=True)
@pytest.mark.parametrize("button", ["delete_bake", "disable"])
def test_undo_restores_a_deleted_bake(baked, button):
    before = shown()
    press(button)
    assert not baking.has_frames(body_now()) and np.abs(shown() - before).max() > 1e-4
    bpy.ops.ed.undo()
    assert body_now().sinew.enabled and not baking.astray_words(body_now())
    assert np.array_equal(shown(), before) and bpy.ops.sinew.check_bake() == {"FINISHED"}
    bpy.ops.ed.redo()
    assert not baking.has_frames(body_now())
    bpy.ops.wm.save_mainfile()
    assert not folders()


def test_deleted_frames_stay_until_this_file_is_saved(baked, tmp_path):
    press("delete_bake")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "copy.blend"), copy=True)
    assert len(folders()) == 1 and body_now().sinew.bake.is_deleted
    with pytest.raises(StoreError, match="no baked frames"):
        baking.open_store(body_now())
    bpy.ops.wm.save_mainfile()
    assert not folders() and not body_now().sinew.bake.is_deleted


@pytest.mark.parametrize("baked", ["KEYS", "CACHE"], indirect=True)
def test_undo_restores_the_bake_before_the_last(baked):
    before = shown()
    baked.sinew.materials[0].density *= 0.3
    bpy.ops.ed.undo_push(message="Stiffer")
    press("bake")
    after = shown()
    assert np.abs(after - before).max() > 1e-4 and len(folders()) == 2
    for step, seen in ((bpy.ops.ed.undo, before), (bpy.ops.ed.redo, after), (bpy.ops.ed.undo, before)):
        step()
        assert np.array_equal(shown(), seen) and not baking.astray_words(body_now())
        assert baking.shown_store(body_now()).key() == body_now().sinew.bake.shows
    bpy.ops.wm.save_mainfile()
    assert folders() == {recorded_folder(body_now()).name} and not baking.astray_words(body_now())


def test_a_disk_without_room_for_both_keeps_none(baked, monkeypatch):
    def check(*together, **_):
        if any(undone_bakes.UNDO in each.store.folder.name for each in together):
            raise StoreError("The bake needs about 1 GB on disk.")

    monkeypatch.setattr(baking, "check_disk_space", check)
    press("bake")
    assert body_now().sinew.bake.status == "DONE" and len(folders()) == 1


def test_a_disk_without_room_for_one_bake_keeps_the_earlier_ones(baked, monkeypatch):
    press("bake")
    assert len(folders()) == 2
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0.0))
    monkeypatch.setattr(FrameStore, "size_on_disk", lambda _: 1.0)
    with pytest.raises(RuntimeError, match="on disk"):
        bpy.ops.sinew.bake()
    assert len(folders()) == 2


def test_what_a_crash_left_of_earlier_bakes_goes_with_the_next_one(baked):
    press("bake")
    undone_bakes.forget()  # as of a session that ended
    press("bake")
    assert len(folders()) == 2


def test_a_new_object_of_the_name_of_a_deleted_one_has_no_bake(baked, saved):
    folder = recorded_folder(baked)
    bpy.data.objects.remove(baked)
    bpy.ops.mesh.primitive_cube_add()
    bpy.context.object.name = "Body"
    bpy.ops.sinew.enable()
    body = body_now()
    assert folder.is_dir() and default_folder(body) != folder and not baking.has_frames(body)
    assert not bpy.ops.sinew.resume_bake.poll()


def test_tetrahedra_of_a_baked_body_can_be_rebuilt_and_undo_restores_the_bake(baked):
    before, key = shown(), body_now().sinew.bake.shows
    body_now().sinew.cells_across = 6
    bpy.ops.ed.undo_push(message="Finer")
    press("tetrahedralize")
    assert body_now().sinew.bake.status == "NONE" and not baking.has_frames(body_now())
    bpy.ops.ed.undo()
    assert body_now().sinew.bake.status == "DONE" and np.array_equal(shown(), before)
    assert baking.shown_store(body_now()).key() == key and baking.shown_store(body_now()).frames() == [1, 2, 3, 4]


@pytest.mark.parametrize("baked", ["KEYS", "NODES", "CACHE"], indirect=True)
@pytest.mark.parametrize("kind", ["KEYS", "NODES", "CACHE"])
def test_undo_restores_a_converted_result(baked, kind):
    if baked.sinew.result == kind:
        assert not bpy.ops.sinew.convert_result.poll()
        return
    before, was = shown(), baked.sinew.bake.kind
    body_now().sinew.result = kind
    bpy.ops.ed.undo_push(message="Result")
    press("convert_result")
    assert body_now().sinew.bake.kind == kind
    bpy.ops.ed.undo()
    assert body_now().sinew.bake.kind == was and not baking.astray_words(body_now())
    assert np.array_equal(shown(), before)


def test_a_bake_that_cannot_begin_leaves_the_earlier_one(baked, monkeypatch):
    def fail(*_):
        raise StoreError("The folder cannot be written.")

    before = shown()
    monkeypatch.setattr(baking.FrameStore, "create", fail)
    with pytest.raises(RuntimeError, match="cannot be written"):
        bpy.ops.sinew.bake()
    assert body_now().sinew.bake.status == "DONE" and not baking.astray_words(body_now())
    assert np.array_equal(shown(), before) and baking.shown_store(body_now()).frames() == [1, 2, 3, 4]


def test_a_body_whose_name_looks_like_an_earlier_bake_keeps_its_frames(baked):
    folder = recorded_folder(baked)
    twin = folder.with_name("a-undo-12345678")
    folder.rename(twin)
    undone_bakes.delete_kept()
    assert twin.is_dir() and list(undone_bakes._left_by(None)) == []
