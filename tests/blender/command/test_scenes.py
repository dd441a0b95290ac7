"""A .blend with several scenes on the command line: commands work in one and name the bodies that they leave out."""

from __future__ import annotations

import json
from pathlib import Path

import bpy
import numpy as np
import pytest
from sinew.blender_addon import command
from sinew.blender_addon.bake import baking

from ..scenes import keyed


@pytest.fixture
def two_scenes(body, saved) -> Path:
    """A saved .blend: “Body” in the scene that is active, “Other” in the scene “Shot2”, where gravity is keyed."""
    other, shot = body.copy(), bpy.data.scenes.new("Shot2")
    other.data, other.name = body.data.copy(), "Other"
    shot.collection.objects.link(other)
    keyed(shot, "gravity", (1, (0.0, 0.0, 0.0)), (2, (0.0, 0.0, -5.0)))
    shot.frame_start, shot.frame_end = 11, 12
    bpy.ops.wm.save_mainfile()
    return saved


def statuses(path: Path) -> dict[str, str]:
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return {name: bpy.data.objects[name].sinew.bake.status for name in ("Body", "Other")}


def test_bodies_of_other_scenes_are_named(two_scenes, capfd):
    assert command.main([str(two_scenes)]) == 0
    told = capfd.readouterr().err
    assert 'Bodies of the scene “Shot2” are left out: Other. Run the command again with --scene "Shot2"' in told
    assert statuses(two_scenes) == {"Body": "DONE", "Other": "NONE"}
    assert command.main([str(two_scenes)], "report") == 0
    assert command.main([str(two_scenes), "--output", str(two_scenes.parent / "farm")], "farm") == 0
    assert capfd.readouterr().err.count("“Shot2” are left out") == 2


@pytest.mark.parametrize("options", [["--scene", "Shot2"], ["--object", "Other"]])
def test_a_scene_is_chosen_by_its_name_or_by_that_of_a_body(two_scenes, capfd, options):
    assert command.main([str(two_scenes), *options]) == 0
    assert "left out" not in capfd.readouterr().err
    assert statuses(two_scenes) == {"Body": "NONE", "Other": "DONE"}
    assert bpy.context.scene.name == "Scene", "the .blend opens in the scene that was active"
    job = baking.open_store(bpy.data.objects["Other"]).job()
    np.testing.assert_allclose(job.body.accelerations[:, 0, 2], [0.0, -5.0, -5.0, -5.0], atol=1e-6)
    assert command.main([str(two_scenes), *options], "report") == 0
    assert "Other" in capfd.readouterr().out


def test_a_copy_opens_in_the_scene_that_was_baked(two_scenes):
    copy = two_scenes.with_name("copy.blend")
    assert command.main([str(two_scenes), "--scene", "Shot2", "--output", str(copy)]) == 0
    assert statuses(copy)["Other"] == "DONE" and bpy.context.scene.name == "Shot2"


def test_what_cannot_be_chosen(two_scenes, capfd):
    assert command.main([str(two_scenes), "--scene", "Shot3"]) == command.FAILED
    assert "The .blend has no scene “Shot3”. It has Scene, Shot2." in capfd.readouterr().err
    assert command.main([str(two_scenes), "--scene", "Shot2", "--object", "Body"]) == command.FAILED
    assert "The scene has no object “Body”" in capfd.readouterr().err
    bpy.data.scenes.new("Shot3").collection.objects.link(bpy.data.objects["Other"])
    bpy.ops.wm.save_mainfile()
    assert command.main([str(two_scenes), "--object", "Other"]) == command.FAILED
    assert "“Other” is in several scenes. Name one with --scene: Shot2, Shot3." in capfd.readouterr().err


def test_nothing_to_bake_in_the_active_scene(two_scenes, capfd):
    bpy.data.objects["Body"].sinew.enabled = False
    bpy.ops.wm.save_mainfile()
    assert command.main([str(two_scenes)]) == command.NOTHING_TO_BAKE
    assert "“Shot2” are left out: Other" in capfd.readouterr().err


def test_jobs_of_a_farm_work_in_the_scene(two_scenes):
    folder = two_scenes.parent / "farm"
    assert command.main([str(two_scenes), "--scene", "Shot2", "--output", str(folder)], "farm") == 0
    told = json.loads((folder / "openjd" / "parameter_values.json").read_text(encoding="utf-8"))["parameterValues"]
    values = {each["name"]: each["value"] for each in told}
    assert (values["SceneName"], values["Frames"]) == ("Shot2", "11-12")
