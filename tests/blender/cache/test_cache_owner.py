"""A cache belongs to one object of one .blend: Save As, Save Copy, duplicates, appended copies, renamed files."""

from __future__ import annotations

import errno
import shutil
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import baking
from sinew.blender_addon.cache.frame_folders import recorded_folder
from sinew.blender_addon.scene_export import mesh_cache

from ..scenes import keyed


@pytest.fixture
def half_baked(body, saved):
    """Stopped after three of four frames, as Mesh Cache; saved."""
    body.sinew.result = "CACHE"
    bpy.context.scene.frame_set(3)
    assert bpy.ops.sinew.bake_to_current() == {"FINISHED"}
    bpy.ops.wm.save_mainfile()
    return body


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def save_as(path: Path, **options) -> Path:
    path.parent.mkdir(exist_ok=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(path), **options)
    return path


def frames_after_resume(obj, evaluated):
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.sinew.resume_bake() == {"FINISHED"} and obj.sinew.bake.status == "DONE"
    return evaluated(obj, 4)


@pytest.mark.parametrize("place", ["scene_v2.blend", "elsewhere/scene.blend", "elsewhere/scene_v2.blend"])
def test_save_as_keeps_both_files_working(half_baked, saved, evaluated, place):
    """The new file plays the old frames, goes on in a folder of its own, and takes nothing from the old one."""
    first, expected = recorded_folder(half_baked), evaluated(half_baked, 3)
    before = content(first)
    new = save_as(saved.parent / place)
    assert recorded_folder(half_baked).resolve() == first
    assert np.array_equal(evaluated(half_baked, 3), expected)
    bpy.ops.wm.open_mainfile(filepath=str(new))
    body = bpy.data.objects["Body"]
    assert np.array_equal(evaluated(body, 3), expected)
    last = frames_after_resume(body, evaluated)
    own = recorded_folder(body)
    assert own.parent == new.parent / "sinew_cache" / new.stem and content(first) == before
    assert Path(bpy.path.abspath(body.modifiers[0].filepath)).is_relative_to(own)
    assert bpy.ops.sinew.delete_bake() == {"FINISHED"}
    bpy.ops.wm.save_mainfile()
    assert not own.exists() and content(first) == before
    bpy.ops.wm.open_mainfile(filepath=str(saved))
    body = bpy.data.objects["Body"]
    assert np.array_equal(evaluated(body, 3), expected)
    assert np.array_equal(frames_after_resume(body, evaluated), last) and recorded_folder(body) == first


def test_what_windows_has_kept_is_found_elsewhere(half_baked, saved):
    """Records are kept in the form of every system; Blender of Windows may write a modifier's path in its own."""
    (cache,) = half_baked.modifiers
    name = recorded_folder(half_baked).name
    assert half_baked.sinew.bake.folder == f"//sinew_cache/scene/{name}"
    assert cache.filepath == f"//sinew_cache/scene/{name}/sinew_bake.pc2"
    assert mesh_cache.lost(half_baked, half_baked.sinew.bake) == ""
    cache.filepath = f"//sinew_cache\\scene\\{name}\\sinew_bake.pc2"
    assert mesh_cache.lost(half_baked, half_baked.sinew.bake) == ""


def test_a_backup_writes_to_a_folder_of_its_own(half_baked, saved, evaluated):
    first, expected = recorded_folder(half_baked), evaluated(half_baked, 3)
    before, backup = content(first), saved.with_suffix(".blend1")
    shutil.copyfile(saved, backup)
    bpy.ops.wm.open_mainfile(filepath=str(backup))
    body = bpy.data.objects["Body"]
    assert np.array_equal(evaluated(body, 3), expected)
    frames_after_resume(body, evaluated)
    assert recorded_folder(body).parent.name == "scene.blend1" and content(first) == before
    assert bpy.ops.sinew.bake() == {"FINISHED"} and content(first) == before


def test_deleting_after_save_as_leaves_the_old_files_frames(half_baked, saved):
    first = recorded_folder(half_baked)
    save_as(saved.parent / "scene_v2.blend")
    assert bpy.ops.sinew.delete_bake() == {"FINISHED"} and len(content(first)) > 3


def test_save_copy_leaves_the_open_file_alone(half_baked, saved, evaluated):
    before = half_baked.sinew.bake.folder
    copy = save_as(saved.parent / "elsewhere" / "copy.blend", copy=True)
    assert half_baked.sinew.bake.folder == before
    first = recorded_folder(half_baked)
    bpy.ops.wm.open_mainfile(filepath=str(copy))
    assert recorded_folder(bpy.data.objects["Body"]).resolve() == first


def renamed(path: Path, name: str):
    """The file under another name, given outside of Blender, and opened; its body."""
    new = path.rename(path.with_name(name))
    bpy.ops.wm.open_mainfile(filepath=str(new))
    return bpy.data.objects["Body"]


@pytest.mark.parametrize("how", ["resume_bake", "bake"])
def test_a_file_renamed_outside_takes_its_frames_with_it(half_baked, saved, evaluated, how):
    """The folder of the old name is nobody's then: it moves as soon as something is written to it."""
    first, expected = recorded_folder(half_baked), evaluated(half_baked, 3)
    before = content(first)
    first.with_name(f"{first.name}-live").mkdir()
    body = renamed(saved, "shot.blend")
    assert recorded_folder(body) == first and content(first) == before
    assert np.array_equal(evaluated(body, 3), expected)
    assert getattr(bpy.ops.sinew, how)() == {"FINISHED"} and body.sinew.bake.status == "DONE"
    own = recorded_folder(body)
    assert own.parent == saved.parent / "sinew_cache" / "shot" and len(content(own)) >= len(before)
    assert not first.parent.exists(), "none is left behind"
    assert own.with_name(f"{own.name}-live").is_dir()
    assert np.array_equal(evaluated(body, 3), expected)
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)  # not saved: it names the folder that was
    body = bpy.data.objects["Body"]
    assert recorded_folder(body) == own and np.array_equal(evaluated(body, 3), expected)
    bpy.ops.sinew.delete_bake()
    bpy.ops.wm.save_mainfile()
    assert not (saved.parent / "sinew_cache").exists()


@pytest.mark.parametrize("how", ["resume_bake", "bake", "delete_bake"])
def test_a_version_before_that_was_renamed_keeps_its_frames(half_baked, saved, evaluated, how):
    """The file of the folder's name is gone, but another beside has the body: the frames may be its."""
    first, expected = recorded_folder(half_baked), evaluated(half_baked, 3)
    before = content(first)
    save_as(saved.with_name("scene_v2.blend"))
    saved.rename(saved.with_name("scene_old.blend"))
    assert getattr(bpy.ops.sinew, how)() == {"FINISHED"} and content(first) == before
    bpy.ops.wm.open_mainfile(filepath=str(saved.with_name("scene_old.blend")))
    body = bpy.data.objects["Body"]
    assert recorded_folder(body) == first and np.array_equal(evaluated(body, 3), expected)


def test_a_file_beside_that_cannot_be_read_may_have_the_frames(half_baked, saved):
    first = recorded_folder(half_baked)
    saved.with_name("broken.blend").write_bytes(b"BLENDER")
    renamed(saved, "shot.blend")
    assert bpy.ops.sinew.delete_bake() == {"FINISHED"} and first.is_dir()


def test_frames_that_cannot_be_moved_say_so(half_baked, saved, evaluated, monkeypatch):
    expected = evaluated(half_baked, 3)
    body = renamed(saved, "shot.blend")
    first = recorded_folder(body)

    def refuse(self, target):
        raise OSError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", refuse)
        with pytest.raises(RuntimeError, match="cannot be moved to .*Permission denied"):
            bpy.ops.sinew.bake()
    assert recorded_folder(body) == first and np.array_equal(evaluated(body, 3), expected)
    assert bpy.ops.sinew.bake() == {"FINISHED"} and not first.exists()


def came_elsewhere(path: Path, how: str):
    """The file in another folder, opened there; its body."""
    elsewhere = path.parent / "elsewhere"
    elsewhere.mkdir()
    shutil.copy(path, elsewhere)
    if how == "moved":
        path.unlink()
    if how == "all of it copied":
        shutil.copytree(path.parent / "sinew_cache", elsewhere / "sinew_cache")
    bpy.ops.wm.open_mainfile(filepath=str(elsewhere / path.name))
    return bpy.data.objects["Body"]


@pytest.mark.parametrize("how", ["moved", "copied", "all of it copied"])
@pytest.mark.parametrize("write", ["bake", "resume_bake", "bring_frames"])
def test_a_file_that_came_elsewhere_finds_its_frames(half_baked, saved, evaluated, how, write):
    """Beside it, or else where they were; from there they come along if no other file has them."""
    first, expected = recorded_folder(half_baked), evaluated(half_baked, 3)
    before = content(first)
    body = came_elsewhere(saved, how)
    elsewhere = saved.parent / "elsewhere"
    assert recorded_folder(body) == (elsewhere / first.relative_to(saved.parent) if "all" in how else first)
    assert np.array_equal(evaluated(body, 3), expected)
    if how == "all of it copied" and write == "bring_frames":
        assert not bpy.ops.sinew.bring_frames.poll()
        return
    assert getattr(bpy.ops.sinew, write)() == {"FINISHED"}
    own = recorded_folder(body)
    assert own.parent == elsewhere / "sinew_cache" / "scene" and np.array_equal(evaluated(body, 3), expected)
    if how == "moved":
        assert not (saved.parent / "sinew_cache").exists(), "none is left behind"
    else:
        assert content(first) == before


@pytest.mark.parametrize("fails", [False, True])
def test_frames_move_to_another_disk(half_baked, saved, evaluated, monkeypatch, fails):
    """There a rename is refused: they are copied, and deleted when the copy is whole."""
    first, expected = recorded_folder(half_baked), evaluated(half_baked, 3)
    before, rename = content(first), Path.rename
    body = came_elsewhere(saved, "moved")

    def refuse(self, target):
        if self == first:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        return rename(self, target)

    def copy_a_part(source, target, ignore):
        Path(target).mkdir()
        shutil.copy(source / "job.npz", target)
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", refuse)
        if fails:
            patch.setattr(shutil, "copytree", copy_a_part)
            with pytest.raises(RuntimeError, match="cannot be moved to .*No space left"):
                bpy.ops.sinew.bring_frames()
            assert recorded_folder(body) == first and content(first) == before
            assert not list((saved.parent / "elsewhere" / "sinew_cache").glob("*/*"))
            return
        assert bpy.ops.sinew.bring_frames() == {"FINISHED"} and not first.exists()
    assert content(recorded_folder(body)) == before and np.array_equal(evaluated(body, 3), expected)


def test_a_record_that_names_no_frames_moves_nothing(half_baked, saved):
    """It may be a stranger's."""
    treasure = saved.parent / "sinew_cache" / "other" / "treasure"
    treasure.mkdir(parents=True)
    (treasure / "frame_000001.npy").write_bytes(b"mine")
    half_baked.sinew.bake.folder = str(treasure)
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert content(treasure) == {"frame_000001.npy": b"mine"}


@pytest.mark.skipif(sys.platform == "win32", reason="links want a privilege there")
def test_a_copy_holds_nothing_that_links_lead_to(half_baked, saved):
    first = recorded_folder(half_baked)
    (saved.parent / "secret").write_text("mine")
    (first / "notes").symlink_to(saved.parent / "secret")
    save_as(saved.parent / "elsewhere" / "scene.blend")
    assert bpy.ops.sinew.resume_bake() == {"FINISHED"} and half_baked.sinew.bake.status == "DONE"
    own = recorded_folder(half_baked)
    assert own.parent.parent.parent == saved.parent / "elsewhere"
    assert all(b"mine" not in data for data in content(own).values())


@pytest.mark.parametrize("linked", [False, True], ids=["Shift+D", "Alt+D"])
def test_a_duplicate_goes_on_in_a_folder_of_its_own(half_baked, evaluated, linked):
    first = recorded_folder(half_baked)
    before = content(first)
    half_baked.select_set(True)
    bpy.context.view_layer.objects.active = half_baked
    bpy.ops.object.duplicate(linked=linked)
    twin = bpy.context.object
    assert twin != half_baked and recorded_folder(twin) == first
    last = frames_after_resume(twin, evaluated)
    assert recorded_folder(twin) != first and content(first) == before
    assert half_baked.sinew.bake.status == "STOPPED" and recorded_folder(half_baked) == first
    assert np.array_equal(frames_after_resume(half_baked, evaluated), last) and recorded_folder(half_baked) == first


def test_a_duplicates_new_bake_leaves_the_originals_alone(half_baked, evaluated):
    before = content(recorded_folder(half_baked))
    twin = half_baked.copy()
    bpy.context.scene.collection.objects.link(twin)
    bpy.context.view_layer.objects.active = twin
    keyed(twin, "location", (1, (0.0, 0.0, 0.0)), (4, (0.0, 0.0, 0.5)))
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert recorded_folder(twin) != recorded_folder(half_baked)
    assert content(recorded_folder(half_baked)) == before


def test_an_appended_copy_has_frames_of_its_own(half_baked, saved, evaluated):
    """From another file beside: its frames are copied when it goes on."""
    first = recorded_folder(half_baked)
    before = content(first)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    save_as(saved.parent / "shot.blend")
    bpy.ops.wm.append(directory=f"{saved}/Object/", filename="Body")
    body = bpy.data.objects["Body"]
    bpy.context.scene.frame_set(1)
    frames_after_resume(body, evaluated)
    assert recorded_folder(body).parent.name == "shot" and content(first) == before


def test_a_copy_that_fails_says_so_and_leaves_nothing(half_baked, saved, monkeypatch):
    from sinew.blender_addon.cache import cache_owner

    def full(source, target, ignore):
        Path(target).mkdir(parents=True)
        raise OSError(28, "No space left on device")

    save_as(saved.parent / "scene_v2.blend")
    monkeypatch.setattr(cache_owner.shutil, "copytree", full)
    with pytest.raises(RuntimeError, match="cannot be copied .*No space left"):
        bpy.ops.sinew.resume_bake()
    assert not any((saved.parent / "sinew_cache" / "scene_v2").iterdir())
    assert baking.open_store(half_baked).frames() == [1, 2, 3]
