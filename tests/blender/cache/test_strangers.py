"""A .blend and the folders beside it may be a stranger's, or damaged: nothing of anybody else's is written or deleted,
nothing is asked that the user did not ask, and what is wrong with one body is no other's trouble.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from pathlib import Path

import bpy
import pytest
from sinew.blender_addon import command
from sinew.blender_addon.bake import baking, comparison
from sinew.blender_addon.blend_data import stored_paths
from sinew.blender_addon.cache.frame_folders import default_folder, recorded_folder
from sinew.blender_addon.drawing import overlay_tets
from sinew.core.jobs.store.frame_store import FrameStore

from .test_cache_owner import content

needs_links = pytest.mark.skipif(sys.platform == "win32", reason="links want a privilege there")
OUR_NAMES = (
    "frame_000001.sinew", "frame_000002.sinew.part", "state_000001.sinew", "job.npz", "about.sinew", "handles.sinew",
    "worker.log", "sinew_bake.pc2", "lock",
)  # fmt: skip


def tree(folder: Path) -> dict[str, bytes]:
    """All that is below a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else b"" for p in sorted(folder.rglob("*"))}


@pytest.fixture
def baked(body, saved):
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    bpy.ops.wm.save_mainfile()
    return body


# -- what is another's ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["papers", "sinew_cache/scene/papers", "sinew_cache/other/papers", "a bake"])
@pytest.mark.parametrize("verb", ["delete_bake", "bake", "resume_bake"])
def test_a_record_may_name_any_folder_and_nothing_there_is_touched(baked, saved, tmp_path, place, verb):
    folder, store = tmp_path / place, recorded_folder(baked)
    if place == "a bake":  # of the library, say, or of another .blend that is not there now
        shutil.copytree(store, folder)
    else:
        folder.mkdir(parents=True)
        for name in OUR_NAMES:
            (folder / name).write_bytes(b"mine")
    ghost = folder.with_name(f"{folder.name}-compare")
    shutil.copytree(folder, ghost)
    before = content(folder), content(ghost)
    baked.sinew.bake.folder = str(folder)
    if verb == "resume_bake":
        baked.sinew.bake.status = "STOPPED"
    if verb == "resume_bake" and place != "a bake":
        with pytest.raises(RuntimeError, match="The record of the bake in .* is damaged. Bake again."):
            bpy.ops.sinew.resume_bake()
    else:
        assert getattr(bpy.ops.sinew, verb)() == {"FINISHED"}
    own = folder.is_relative_to(tmp_path / "sinew_cache" / "scene") and verb == "bake"
    assert own or (content(folder), content(ghost)) == before
    assert verb != "delete_bake" or (baked.sinew.bake.status == "NONE" and baked.data.shape_keys is None)


@needs_links
@pytest.mark.parametrize("linked", ["sinew_cache", "sinew_cache/scene", "sinew_cache/scene/BODY", "-live -compare"])
def test_nothing_is_written_or_deleted_where_a_link_leads(baked, saved, tmp_path, linked):
    """Into the cache of another project, whose .blend and body may be called the same; frames are read there."""
    mine, name = tmp_path / "sinew_cache", recorded_folder(baked).name
    for ending in ("-live", "-compare"):
        shutil.copytree(recorded_folder(baked), mine / "scene" / f"{name}{ending}")
    before, place = tree(mine), tmp_path / "stranger"
    place.mkdir()
    shutil.copy(saved, place / "scene.blend")
    links = [linked.replace("BODY", name)]
    if linked.startswith("-"):
        links = [f"sinew_cache/scene/{name}{ending}" for ending in linked.split()]
    for link in links:
        (place / link).parent.mkdir(parents=True, exist_ok=True)
        (place / link).symlink_to(tmp_path / link)
    bpy.ops.wm.open_mainfile(filepath=str(place / "scene.blend"))
    body = bpy.data.objects["Body"]
    body.sinew.compare.solver, body.sinew.solver, body.sinew.modes = "OWN", "subspace_mixed_fem", 3
    said = []
    for verb in ("compare", "bake", "resume_bake", "remove_ghost", "delete_bake", "bake", "delete_bake"):
        try:
            getattr(bpy.ops.sinew, verb)()
        except RuntimeError as error:
            said.append(str(error))
        assert tree(mine) == before, verb
    assert any("is a link to" in words and "Replace the link" in words for words in said) or "-" in linked
    assert body.sinew.bake.status == "NONE" and body.data.shape_keys is None


@needs_links
@pytest.mark.parametrize("linked", ["", "openjd", "openjd/template.yaml", "openjd/parameter_values.json", "flamenco"])
@pytest.mark.parametrize("to", ["there", "nothing"])
def test_the_files_for_farms_are_written_through_no_link(saved, tmp_path, linked, to):
    treasure = tmp_path / "treasure"
    place = tmp_path / "sinew_farm" / linked
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.suffix:
        treasure.write_text("mine")
    else:
        treasure.mkdir()
        (treasure / "template.yaml").write_text("mine")
    before = treasure.read_bytes() if place.suffix else tree(treasure)
    place.symlink_to(treasure if to == "there" else tmp_path / "nothing")
    code = command.run(["farm"])
    assert (treasure.read_bytes() if place.suffix else tree(treasure)) == before
    assert not (tmp_path / "nothing").exists()
    assert code == (0 if place.suffix else 1)


@needs_links
@pytest.mark.parametrize("link", [os.symlink, os.link])
@pytest.mark.parametrize("by", ["button", "command", "report", "log"])
def test_what_is_written_beside_a_blend_goes_through_no_link(baked, saved, blender, tmp_path, link, by):
    treasure = tmp_path / "treasure"
    treasure.write_text("mine")
    batch = ["batch", str(saved), "--dry-run"]
    logs = f"scene-{hashlib.sha256(os.fsencode(saved.resolve())).hexdigest()[:8]}.log"
    target = tmp_path / {"report": "scene.csv", "log": logs}.get(by, "scene.usdc")
    for path in (target, target.with_name(f"{target.name}.part"), tmp_path / "scene.sinew-exporting.usdc"):
        link(treasure, path)
    done = {
        "button": lambda: bpy.ops.sinew.export_bake(filepath=str(target)) == {"FINISHED"},
        "command": lambda: command.run(["bake", "--export=usd"]) == 0,
        "report": lambda: command.run(["report", "--csv", "--output", str(target)]) == 0,
        "log": lambda: command.run([*batch, "--blender", str(blender), "--logs", str(tmp_path)]) == 0,
    }[by]()
    assert done and treasure.read_text() == "mine" and target.stat().st_size > 10 and not target.is_symlink()


# -- what cannot be read ----------------------------------------------------------------------------------------------


def damage(path: Path, body, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Save a file whose body has a record that leads nowhere, in one of several ways."""
    folder = recorded_folder(body)
    if how == "too long":
        body.sinew.bake.folder = f"//{'x' * 1000}/{'y' * 5000}"
    if how == "not to be entered":
        body.sinew.bake.folder = f"//private/{folder.name}"
        (path.parent / "private").mkdir()

        def refusing(function):
            def asked(place, *rest, **more):
                if not isinstance(place, int) and "private" in os.fsdecode(place):
                    raise PermissionError(13, "Permission denied", place)
                return function(place, *rest, **more)

            return asked

        for name in ("stat", "lstat", "scandir", "listdir", "open"):
            monkeypatch.setattr(os, name, refusing(getattr(os, name)))
    if how == "a file":
        shutil.copytree(folder, path.parent / "copied")
        body.sinew.bake.folder = f"//copied/about.sinew/{folder.name}"
    if how == "no text":
        body.sinew.bake.folder, body.sinew.live_layer = "//sinew_cache/scene/unlike", "no such layer"
        body.sinew.bake.shows, body.sinew.materials[0].name = "unlike either", "no material's"
    bpy.ops.wm.save_mainfile(compress=False)
    if how == "no text":
        data = path.read_bytes()
        for text in (b"/scene/unlike", b"no such layer", b"unlike either", b"no material's"):
            assert text in data
            data = data.replace(text, text[:-1] + b"\xe9")
        path.write_bytes(data)


@pytest.mark.parametrize("how", ["too long", "not to be entered", "a file", "no text"])
def test_one_bad_record_is_no_other_bodys_trouble(baked, saved, tmp_path, capfd, monkeypatch, how):
    for name in ("A good one", "Z good one"):  # Blender's lists go by name
        twin = baked.copy()
        twin.name, twin.data = name, baked.data.copy()
        bpy.context.scene.collection.objects.link(twin)
    damage(saved, baked, how, monkeypatch)
    elsewhere = tmp_path / "elsewhere" / "scene.blend"
    elsewhere.parent.mkdir()
    shutil.copy(saved, elsewhere)
    bpy.ops.wm.open_mainfile(filepath=str(elsewhere))
    first = tmp_path / "sinew_cache" / "scene"
    for name in ("A good one", "Z good one"):
        assert recorded_folder(bpy.data.objects[name]).parent == first, "they name their frames where these were"
    body = bpy.context.view_layer.objects.active = bpy.data.objects["Body"]
    for name in dir(bpy.ops.sinew):
        getattr(bpy.ops.sinew, name).poll()
    said = baking.has_frames(body), baking.is_elsewhere(body), baking.astray_words(body), comparison.seen(body)
    assert said[0] is False and overlay_tets.newest_store(body)[0] is None
    with pytest.raises(RuntimeError, match="are not in|Bake it first|cannot be read"):
        bpy.ops.sinew.check_bake()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "elsewhere" / "again.blend"))
    assert bpy.ops.sinew.bake() == {"FINISHED"} and body.sinew.bake.status == "DONE"
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="paths are text there")
def test_a_blend_whose_path_is_no_text_says_so(baked, saved, tmp_path, capfd):
    place = os.fsdecode(os.path.join(os.fsencode(tmp_path), b"caf\xe9"))
    os.mkdir(place)
    shutil.copy(saved, place)
    path = os.path.join(place, saved.name)
    bpy.ops.wm.open_mainfile(filepath=path)
    bpy.context.view_layer.objects.active = bpy.data.objects["Body"]
    for name in dir(bpy.ops.sinew):
        getattr(bpy.ops.sinew, name).poll()
    with pytest.raises(RuntimeError, match="is not UTF-8. Rename the file or folder"):
        bpy.ops.sinew.bake()
    assert command.run(["farm"]) == 1 and command.main([path]) == 1
    said = capfd.readouterr().err
    assert "Traceback" not in said and "is not UTF-8" in said


# -- what is not asked ------------------------------------------------------------------------------------------------


def test_another_computer_is_what_a_share_names():
    other = stored_paths.is_on_another_computer
    for path in (r"\\evil\share\x", r"//evil/share/x", r"\\?\UNC\evil\share\x", r"\\.\pipe\x", r"\\studio\other\x"):
        assert other(path, r"C:\shots\a.blend") and other(path, "") and other(path, r"\\studio\shots\a.blend")
    assert not other(r"\\studio\library\x", r"C:\shots\a.blend", r"\\studio\library\props.blend", r"D:\b.blend")
    for path in (r"C:\x", r"D:\x\..\y", r"\x", "x", r"\\studio\shots\sinew_cache\a", "//STUDIO/Shots/b"):
        assert not other(path, r"\\studio\shots\a.blend")


@pytest.mark.parametrize("which", ["folder", "home", "cache"])
def test_opening_a_file_asks_no_other_computer(body, saved, monkeypatch, which):
    """Windows would tell it the user's name and a hash of the password."""
    body.sinew.result = "CACHE"
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    record = body.sinew.bake
    if which == "folder":
        record.folder = "/evil/share/frames"
    elif which == "home":
        record.home = "/evil/share"
    else:
        body.modifiers[0].filepath = "/evil/share/sinew_bake.pc2"
    bpy.ops.wm.save_mainfile()
    asked = []

    def listening(function):
        def ask(place, *rest, **more):
            asked.append(str(place))
            return function(place, *rest, **more)

        return ask

    monkeypatch.setattr(stored_paths, "_ON_WINDOWS", True)
    is_evil = lambda path, *_known: os.path.normpath(path).startswith("/evil")  # noqa: E731
    monkeypatch.setattr(stored_paths, "is_on_another_computer", is_evil)
    for name in ("stat", "lstat", "scandir", "listdir", "open"):
        monkeypatch.setattr(os, name, listening(getattr(os, name)))
    bpy.ops.wm.open_mainfile(filepath=str(saved))
    body = bpy.context.view_layer.objects.active = bpy.data.objects["Body"]
    for name in dir(bpy.ops.sinew):
        getattr(bpy.ops.sinew, name).poll()
    baking.astray_words(body), baking.is_elsewhere(body), comparison.seen(body), overlay_tets.newest_store(body)
    bpy.ops.wm.save_mainfile()
    assert asked and not [place for place in asked if "evil" in place]
    if which == "folder":
        shutil.rmtree(default_folder(body))
        with pytest.raises(RuntimeError, match="not in /evil/share/frames.*on this computer"):
            bpy.ops.sinew.check_bake()
    else:
        assert FrameStore(recorded_folder(body)).frames() == [1, 2, 3, 4]
