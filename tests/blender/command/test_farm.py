"""``sinew farm``: its templates are what farms take, and a job made from them bakes and renders."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import bpy
import pytest
from sinew.blender_addon import command
from sinew.blender_addon.command.farm import TEMPLATES

OPENJD = TEMPLATES / "openjd" / "template.yaml"
FLAMENCO = TEMPLATES / "flamenco" / "sinew_bake_render.js"

needs_openjd = pytest.mark.skipif(importlib.util.find_spec("openjd") is None, reason="openjd-cli is not installed")
needs_node = pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")


def run(*words: Any) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def openjd(*words: Any) -> str:
    return run(sys.executable, "-m", "openjd", *words)


def images(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*.png"))


def test_templates_are_written_beside_the_blend_and_filled_from_it(shot, saved, tmp_path, capfd):
    texture = tmp_path / "skin ä.png"
    image = bpy.data.images.new("Skin", 2, 2)
    image.filepath_raw, image.file_format, image.use_fake_user = str(texture), "PNG", True
    image.save()
    bpy.data.images.load(str(texture)).use_fake_user = True
    assert command.run(["farm"]) == 0
    folder = saved.parent / "sinew_farm"
    assert (folder / "openjd" / "template.yaml").read_bytes() == OPENJD.read_bytes()
    assert (folder / "flamenco" / FLAMENCO.name).read_bytes() == FLAMENCO.read_bytes()
    values = json.loads((folder / "openjd" / "parameter_values.json").read_text(encoding="utf-8"))["parameterValues"]
    said = {entry["name"]: entry["value"] for entry in values}
    assert said["SceneFile"] == str(saved) and said["Frames"] == "1-5:2" and said["ImageName"] == "scene_####"
    files = json.loads((folder / "openjd" / "asset_references.json").read_text(encoding="utf-8"))
    assert files["assetReferences"]["inputs"]["filenames"] == [str(texture)]
    assert "deadline bundle submit" in capfd.readouterr().err


def test_without_a_blend_the_templates_alone_are_written(tmp_path):
    assert command.run(["farm", "--output", str(tmp_path / "jobs")]) == 0
    assert sorted(path.name for path in (tmp_path / "jobs" / "openjd").iterdir()) == ["template.yaml"]
    blocked = tmp_path / "file"
    blocked.write_bytes(b"")
    assert command.run(["farm", "--output", str(blocked / "jobs")]) == 1


@needs_openjd
def test_open_job_description_bakes_then_renders(shot, saved, blender, tmp_path):
    assert "passes validation checks" in openjd("check", OPENJD)
    output, before = tmp_path / "out put", saved.read_bytes()
    values = {"SceneFile": saved, "Frames": "1-5:2", "ChunkSize": 2, "OutputDir": output, "BlenderExecutable": blender}
    parameters = [word for name, value in values.items() for word in ("-p", f"{name}={value}")]
    said = openjd("run", OPENJD, "--step", "Render", "--run-dependencies", *parameters)
    assert said.index("sinew: saved") < said.index("frame_0001.png"), "the bake comes first"
    assert "openjd_status: Body: frame 2 (2/2)" in said and "openjd_progress: 100.0" in said
    assert "openjd_status: rendered frame 3 (1/1)" in said or "openjd_status: rendered frame 3 (2/2)" in said
    assert images(output) == ["frame_0001.png", "frame_0003.png", "frame_0005.png"]
    assert saved.read_bytes() == before
    bpy.ops.wm.open_mainfile(filepath=str(output / "baked.blend"))
    assert bpy.data.objects["Body"].sinew.bake.status == "DONE"


@needs_openjd
def test_open_job_description_fails_where_the_bake_does(saved, blender, tmp_path):
    words = ["-p", f"SceneFile={saved}", "-p", "Frames=1-2", "-p", f"OutputDir={tmp_path}"]
    command_line = [sys.executable, "-m", "openjd", "run", OPENJD, "--step", "Render", "--run-dependencies", *words]
    done = subprocess.run([*command_line, "-p", f"BlenderExecutable={blender}"], capture_output=True, text=True)
    assert done.returncode != 0 and "No object of the scene has Sinew enabled" in done.stdout
    assert not images(tmp_path), "nothing is rendered"


def compiled(tmp_path: Path, **settings: Any) -> dict[str, Any]:
    """The job that Flamenco makes of settings."""
    job = tmp_path / "job.json"
    job.write_text(json.dumps({"name": "shot", "settings": settings}))
    return json.loads(run("node", Path(__file__).with_name("flamenco_stub.js"), FLAMENCO, job))


@needs_node
def test_flamenco_knows_every_setting(tmp_path):
    """After Flamenco's schema of a job's settings, ``AvailableJobSetting``."""
    known = "key type subtype choices propargs description label default eval evalInfo visible required editable"
    made = compiled(tmp_path, frames="1", chunk_size=1, blendfile="/a.blend", format="PNG", render_output_path="/x/#")
    settings = made["jobType"]["settings"]
    for setting in settings:
        assert set(setting) <= set(known.split()), setting
        assert setting["type"] in ("string", "int32", "float", "bool")
        assert setting.get("visible", "visible") in ("visible", "hidden", "submission", "web")
        assert setting.get("subtype", "file_path") in ("file_path", "dir_path", "file_name", "hashed_file_path")
        if "eval" in setting:
            compile(setting["eval"], setting["key"], "eval")  # Python, which the add-on evaluates
    assert len({setting["key"] for setting in settings}) == len(settings)


@needs_node
def test_flamenco_bakes_then_renders_chunks(shot, saved, blender, tmp_path):
    renders = tmp_path / "renders"
    given = {"frames": "1-3, 5", "chunk_size": 3, "blendfile": str(saved), "format": "PNG", "run_python": False}
    made = compiled(tmp_path, **given, render_output_path=f"{renders}/shot/{{timestamp}}/######")
    tasks, before = made["tasks"], saved.read_bytes()
    assert [(task["name"], task["dependencies"]) for task in tasks] == [
        ("bake", []),
        ("render-1-3", ["bake"]),
        ("render-5", ["bake"]),
    ]
    for task in tasks:
        assert task["type"] == "blender" and [each["name"] for each in task["commands"]] == ["blender-render"]
        call = task["commands"][0]["parameters"]
        assert call["exe"] == "{blender}" and call["exeArgs"] == "{blenderArgs}"
        assert call["argsBefore"] == ["--disable-autoexec"]
        run(blender, "-b", "-y", *call["argsBefore"], call["blendfile"], *call["args"])
    folder = renders / "shot" / "2026-01-02_030405"
    assert images(folder) == [f"{frame:06d}.png" for frame in (1, 2, 3, 5)]
    assert saved.read_bytes() == before and (saved.parent / "scene.baked.blend").is_file()


@needs_node
def test_flamenco_refuses_films_and_lets_trusted_files_run_python(tmp_path):
    given = {"frames": "1", "chunk_size": 1, "blendfile": "/jobs/shot.flamenco.blend", "render_output_path": "/x/#"}
    trusted = compiled(tmp_path, **given, format="PNG", run_python=True)
    calls = [task["commands"][0]["parameters"] for task in trusted["tasks"]]
    assert all(call["argsBefore"] == ["--enable-autoexec"] for call in calls)
    assert calls[1]["blendfile"] == "/jobs/shot.baked.blend" == calls[0]["args"][-1]
    with pytest.raises(AssertionError, match="make no film"):
        compiled(tmp_path, **given, format="FFMPEG", run_python=False)
