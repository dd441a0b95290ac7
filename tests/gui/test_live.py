"""A body played with by mouse events in a window."""

import bpy
import numpy as np
from sinew.blender_addon.bake.baking import FrameStore


def test_play_drag_pin_record(windowed):
    result = windowed.run("live")
    said = result.values
    assert said["poll with another solver"]
    assert said["hidden"] and said["modal operators"] == 0 and said["message"] == ""
    assert said["grabs while dragging"] == 1 and said["modal while dragging"] == 1
    rest, pulled = said["pulled"]
    assert sum((a - b) ** 2 for a, b in zip(rest, pulled)) ** 0.5 > 0.1, "the nose follows the mouse"
    assert said["grabs after release"] == 0 and said["modal after release"] == 0
    assert said["ended"] and said["same"], said["before and after"]
    assert said["pinned"] == [True] and said["pins after a click on it"] == 0
    assert said["grabs after a click beside"] == 0 and said["after Esc in a drag"] == [0, True]
    assert said["take"] == ["DONE", 20, "", ""] and said["edited"] == ""
    assert len(said["springs"]) == 1 and said["springs"][0][0] == said["springs"][0][2]
    assert said["after one undo"] == ["NONE", 0, True], "one undo takes springs and bake back"
    assert "Traceback" not in result.log, result.log


def test_with_the_real_mouse(windowed):
    """Events of the X server, not simulated ones: Play, a drag, Record, a drag, Bake."""
    result = windowed.run("live_mouse", real_mouse=True)
    said = result.values
    assert said["grabbed"] == [1, 1] and said["away"] > 0.1 and said["released"] == [0, 0]
    assert said["pinned"] == [True] and said["selection kept"], "the drag is no selection"
    assert said["ended"] == [True, False], "Esc ends it and shows the mesh"
    assert said["in the take"] == [True, 1] and said["take"] == ["DONE", 60, 1], "the whole range, one spring"
    difference, moved = said["baked"]
    assert difference is not False and difference <= 1e-6 and moved > 0.1, "Bake gives the take's frames"
    assert "Traceback" not in result.log, result.log


def test_the_take_is_what_a_headless_bake_gives(windowed):
    cache = windowed.session / "sinew_cache"
    take = positions(cache / "live")
    code, log = windowed.headless("taken.blend", "sinew", "bake")
    assert code == 0, log
    baked = positions(cache / "taken")
    assert take.shape == baked.shape == (20, 507, 3) and np.abs(take[-1] - take[0]).max() > 0.1
    assert np.abs(take - baked).max() <= 1e-6
    bpy.ops.wm.open_mainfile(filepath=str(windowed.session / "taken.blend"))
    keys = bpy.data.objects["Suzanne"].data.shape_keys.key_blocks
    assert sum(key.name.startswith("Frame") for key in keys) == 20


def positions(cache):
    """(frames,n,3) of the one bake under a .blend's folder."""
    (folder,) = [place for place in cache.iterdir() if not place.name.endswith("-live")]
    store = FrameStore.open(folder)
    return np.array([store.read(frame) for frame in store.frames()])


def test_what_happens_meanwhile(windowed):
    """Undo, redo, Tab, Alt H, saving, other scenes, windows and files, renders, deletion, switching off."""
    result = windowed.run("live_events")
    said = result.values
    assert said["weights"] == "Weights of mode 1 of 8"
    assert said["after undo"] == said["after redo"] == [True, True, ""], "hidden again, and going on"
    assert said["after Esc"] == [False, False, ""]
    assert said["after undo and redo of what was done while live"] == [False, False, "", ""], (
        "shown, whatever came back"
    )
    goes_on = [True, True, "", True, 0]
    for what in ("Tab", "reveal", "save", "another workspace", "another window"):
        assert said[what] == goes_on, what
    assert said["another scene"] == [False, False, "Live mode ended: no window shows the scene any more.", False, 0]
    assert said["closed window"] == goes_on, "the other one is still there"
    assert said["dragged in the other window"] == [1, 1, True], "a grab, a tool, and its hints"
    assert said["closed while dragging"] == [0, 0, False, *goes_on[:3]], "let go, and its hints are gone"
    assert said["P"] == [False, True] and said["Right Arrow"] == 1 and said["P without it"] is None
    assert said["reset reads"] == [True, 1, False], "a modal operator, and the mesh is there to be read"
    assert said["reset stopped"] == [True, True, True, 0, ""] and said["reset read"] == [True, [], 0]
    hidden, words, standing = said["refused"]
    assert hidden and "refuses the preview's shader" in words and "moved instead" in words and len(standing) == 1
    assert said["preview off"] == [True, "", standing] and said["preview on"] == [True, "", []]
    assert "(out of memory). The mesh itself is moved" in said["error in drawing"][1] and said["error in drawing"][2]
    assert said["objects after a refusal"] == ["Empty", "Suzanne"]
    assert said["added by cycles"] == {name: 0 for name in said["added by cycles"]}
    assert len(said["megabytes"]) == 2 and said["megabytes"][1] - said["megabytes"][0] < 10.0, said["megabytes"]
    for what in ("render", "viewport"):
        assert said[f"{what}: after"] == [True, "", True], "it goes on, hidden again, and no frame was changed"
        assert said[f"{what}: frames asked for"] == 0, "the render goes first"
        assert len(said[f"{what}: covered"]) == 6 and min(said[f"{what}: covered"]) > 0.03, "the mesh is in the picture"
    assert said["another file"] == [False, False, "", False] and said["deleted"] == [False, None, "", False, 0]
    assert said["disabled"] == [False, False, False]
    assert result.log.count("Traceback") == 1, "of the one error in drawing, once"


def test_a_subdivision_is_seen_and_grabbed(windowed):
    result = windowed.run("subdivision")
    said = result.values
    assert said["drawn"] == [56, 3458, []] and said["ended"] == [True, False]
    assert said["jump"] < 5e-3 and said["beside"] < 0.15, "what is near the mouse is in the hand, where it is"
    assert np.hypot(*said["marked"]) < 25, "and its mark is on what is seen"
    right, up = said["led"]
    assert right < -15 and 60 < up < 140, "what is seen follows the mouse"
    assert said["left behind"] == []
    for trouble in ("Traceback", "Push constants"):
        assert trouble not in result.log, result.log
