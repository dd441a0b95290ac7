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
OPENJD_WEDGE = TEMPLATES / "openjd_wedge" / "template.yaml"
FLAMENCO_WEDGE = TEMPLATES / "flamenco" / "sinew_wedge.js"
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


@pytest.fixture
def table(shot, tmp_path) -> Path:
    """A table of two variants for ``shot``, of which the second needs more memory than there is."""
    path = tmp_path / "table.csv"
    path.write_text("name,cells_across,youngs_modulus\ncoarse,3,1e5\nhuge,400,\n", encoding="utf-8")
    return path


@needs_openjd
def test_open_job_description_bakes_a_task_per_row_then_collects(saved, table, blender, tmp_path):
    assert "passes validation checks" in openjd("check", OPENJD_WEDGE)
    assert command.run(["farm", "--wedge", str(table)]) == 0
    written = json.loads((saved.parent / "sinew_farm" / "openjd_wedge" / "parameter_values.json").read_text("utf-8"))
    values = {entry["name"]: entry["value"] for entry in written["parameterValues"]}
    assert values["Rows"] == "1-2" and values["Table"] == str(table)
    values |= {"OutputDir": str(tmp_path / "out put"), "BlenderExecutable": str(blender)}
    parameters = [word for name, value in values.items() for word in ("-p", f"{name}={value}")]
    words = [sys.executable, "-m", "openjd", "run", str(OPENJD_WEDGE), "--step", "Collect", "--run-dependencies"]
    before = saved.read_bytes()
    done = subprocess.run([*words, *parameters], capture_output=True, text=True)
    said = done.stdout
    assert done.returncode != 0, "a variant failed"
    assert "sinew: huge: failed. " in said and "openjd_status: Body: frame 2 (2/2)" in said
    assert "openjd_fail: 1 of 2 variants are not done. “huge”: failed." in said
    rows = (tmp_path / "out put" / "results.csv").read_text().splitlines()
    assert rows[1].startswith("coarse,3,100000.0,done,") and rows[2].startswith("huge,400,,failed,")
    assert (tmp_path / "out put" / "contact_sheet.png").is_file() and saved.read_bytes() == before


def compiled(tmp_path: Path, script: Path = FLAMENCO, **settings: Any) -> dict[str, Any]:
    """The job that Flamenco makes of settings."""
    job = tmp_path / "job.json"
    job.write_text(json.dumps({"name": "shot", "settings": settings}))
    return json.loads(run("node", Path(__file__).with_name("flamenco_stub.js"), script, job))


@needs_node
@pytest.mark.parametrize("script", [FLAMENCO, FLAMENCO_WEDGE], ids=lambda script: script.stem)
def test_flamenco_knows_every_setting(tmp_path, script):
    """After Flamenco's schema of a job's settings, ``AvailableJobSetting``."""
    known = "key type subtype choices propargs description label default eval evalInfo visible required editable"
    given = {"frames": "1", "chunk_size": 1, "blendfile": "/a.blend", "format": "PNG", "render_output_path": "/x/#"}
    made = compiled(tmp_path, script, **given, rows="1", table="/a.csv", output_folder="/out")
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
def test_flamenco_bakes_a_task_per_row_then_collects(saved, table, blender, tmp_path):
    out = tmp_path / "out"
    given = {"blendfile": str(saved), "table": str(table), "output_folder": str(out), "run_python": False}
    tasks = compiled(tmp_path, FLAMENCO_WEDGE, rows="1-2", **given)["tasks"]
    assert [(task["name"], task["dependencies"]) for task in tasks] == [
        ("bake-1", []),
        ("bake-2", []),
        ("collect", ["bake-1", "bake-2"]),
    ]
    for task in tasks:
        call = task["commands"][0]["parameters"]
        assert call["argsBefore"] == ["--disable-autoexec"]
        words = [str(blender), "-b", *call["argsBefore"], call["blendfile"], *call["args"]]
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == (task["name"] == "collect"), done.stderr
    assert "sinew: error: 1 of 2 variants are not done. “huge”: failed." in done.stderr
    assert (out / "coarse" / "scene.blend").is_file() and (out / "contact_sheet.png").is_file()


@needs_node
def test_flamenco_refuses_films_and_lets_trusted_files_run_python(tmp_path):
    given = {"frames": "1", "chunk_size": 1, "blendfile": "/jobs/shot.flamenco.blend", "render_output_path": "/x/#"}
    trusted = compiled(tmp_path, **given, format="PNG", run_python=True)
    calls = [task["commands"][0]["parameters"] for task in trusted["tasks"]]
    assert all(call["argsBefore"] == ["--enable-autoexec"] for call in calls)
    assert calls[1]["blendfile"] == "/jobs/shot.baked.blend" == calls[0]["args"][-1]
    with pytest.raises(AssertionError, match="make no film"):
        compiled(tmp_path, **given, format="FFMPEG", run_python=False)
