"""``sinew bake`` without a window: exit codes, one clear line on failure, the saved result, signals, resume."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
import types
from pathlib import Path

import bpy
import numpy as np
import pytest
import sinew
from sinew.blender_addon import command
from sinew.blender_addon.bake import baking
from sinew.blender_addon.command import bake, export
from sinew.blender_addon.command.console import ConsoleReporter
from sinew.blender_addon.setup import defaults
from sinew.core.foundation.errors import MeshError
from sinew.core.foundation.events import Phase
from sinew.core.foundation.schema.solver_kinds import SOLVER_KINDS
from sinew.core.simulation.preparation import body_mesh
from sinew.core.simulation.preparation.body_mesh import tetrahedralize

LAUNCHER = Path(__file__).parents[1] / "command_line.py"


@pytest.fixture
def scene(body, saved) -> Path:
    """A saved .blend with one body."""
    bpy.ops.wm.save_mainfile()
    return saved


def launch(*arguments) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, str(LAUNCHER), "bake", *map(str, arguments)],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_the_result_is_saved_in_the_blend(scene, capfd):
    assert command.main([str(scene)]) == 0
    said = capfd.readouterr().err
    assert "frame 4 (4/4)" in said and "saved" in said and "remaining" in said
    bpy.ops.wm.open_mainfile(filepath=str(scene))
    obj = bpy.data.objects["Body"]
    assert len(obj.data.shape_keys.key_blocks) == 4 and obj.sinew.bake.status == "DONE"


def test_a_material_that_is_nowhere_is_told(scene, capfd):
    defaults.add_material(bpy.data.objects["Body"], "Bone")
    assert command.run(["bake", "--frames", "1-2"]) == 0
    assert "warning: “Bone” is not assigned yet" in capfd.readouterr().err


def test_frames_and_solver_replace_the_objects(scene):
    """Attributes are those that the scene asks for."""
    bpy.data.objects["Body"].sinew.attributes.stress = True
    assert command.run(["bake", "--object", "Body", "--frames", "2-3", "--solver", "newton"]) == 0
    store = baking.open_store(bpy.data.objects["Body"])
    assert store.stress(3).any() and bpy.data.objects["Body"].modifiers[-1].name == "Bake Attributes"
    assert store.frames() == [2, 3] and store.job().body.solver.solver == "newton"


def test_a_second_bake_replaces_the_first(scene):
    assert command.run(["bake"]) == 0 and command.run(["bake", "--frames", "1-2"]) == 0
    assert len(bpy.data.objects["Body"].data.shape_keys.key_blocks) == 2


def test_the_result_may_be_geometry_nodes_and_be_converted(scene, capfd):
    """Resuming a bake that is done converts its result."""
    assert command.run(["bake", "--solver", "subspace_fem", "--result", "nodes"]) == 0
    obj = bpy.data.objects["Body"]
    assert obj.sinew.bake.kind == obj.sinew.result == "NODES" and obj.data.shape_keys is None
    assert "The result equals the baked frames up to round-off." in capfd.readouterr().err
    assert command.run(["bake", "--solver", "subspace_fem", "--result", "keys", "--resume"]) == 0
    obj = bpy.data.objects["Body"]
    assert obj.sinew.bake.kind == "KEYS" and not obj.modifiers and len(obj.data.shape_keys.key_blocks) == 4


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--object", "Nobody"], "no object “Nobody”"),
        (["--frames", "5-2"], "5-2 is empty"),
        (["--resume"], "no baked frames"),
    ],
)
def test_refusals_are_one_line_and_exit_1(scene, capfd, arguments, said):
    assert command.run(["bake", *arguments]) == 1
    lines = [line for line in capfd.readouterr().err.splitlines() if line.startswith("sinew")]
    assert len(lines) == 1 and lines[0].startswith("sinew: error: ") and said in lines[0]


def test_a_body_that_fails_leaves_the_others_their_bakes(scene, capfd, tmp_path, monkeypatch):
    """Two of four fail, one before and one after its bake has begun; the same command again does only those."""
    for name in "BCD":
        twin = bpy.data.objects["Body"].copy()
        twin.data, twin.name = twin.data.copy(), name
        bpy.context.scene.collection.objects.link(twin)
    b, c = bpy.data.objects["B"], bpy.data.objects["C"]
    b.data.vertices[0].co.x, c.sinew.cells_across = float("nan"), 5
    bpy.ops.wm.save_mainfile()

    def hollow(surface, resolution, *rest):
        if resolution.cells_across == 5:
            raise MeshError("The mesh encloses nothing.", "Close its holes.")
        return tetrahedralize(surface, resolution, *rest)

    monkeypatch.setattr(body_mesh, "tetrahedralize", hollow)
    before = scene.read_bytes()
    assert command.run(["bake", "--output", str(tmp_path / "out.blend")]) == 1
    assert not (tmp_path / "out.blend").exists() and scene.read_bytes() == before
    bpy.ops.wm.open_mainfile(filepath=str(scene))
    capfd.readouterr()
    for arguments in ([], ["--update"]):
        assert command.run(["bake", "--render", *arguments]) == 1
        bpy.ops.wm.open_mainfile(filepath=str(scene))
        said = capfd.readouterr().err.splitlines()
        assert said[-1].startswith(
            "sinew: error: 2 of 4 bodies failed. B: Vertex 0 has a position that is not a number"
        )
        assert "C: The mesh encloses nothing. Close its holes." in said[-1]
        assert not any("rendered" in line for line in said)
        assert ("sinew: D: complete, nothing to bake" in said) == bool(arguments)
        assert {name: bpy.data.objects[name].sinew.bake.status for name in ("Body", "B", "C", "D")} == {
            "Body": "DONE", "B": "NONE", "C": "FAILED", "D": "DONE"
        }  # fmt: skip
        assert "encloses nothing" in bpy.data.objects["C"].sinew.bake.message
    b = bpy.data.objects["B"]
    assert b.data.shape_keys is None and len(bpy.data.objects["D"].data.shape_keys.key_blocks) == 4


def test_what_is_linked_may_have_the_name_of_what_is_here(scene, tmp_path, capfd):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"), copy=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.objects = ["Body"]
    first, here = bpy.data.collections.new("First"), bpy.data.objects["Body", None]
    for collection in list(here.users_collection):
        collection.objects.unlink(here)
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    bpy.context.scene.collection.children.link(first)
    first.objects.link(here)
    assert bpy.context.scene.objects["Body"] == wanted.objects[0]
    assert command.run(["bake", "--object", "Body"]) == 0, capfd.readouterr().err
    assert here.sinew.bake.status == "DONE" and wanted.objects[0].sinew.bake.status == "NONE"


def test_wrong_usage_exits_2(scene, capfd):
    assert command.run(["bake", "--frames", "soon"]) == 2 and command.run(["fly"]) == 2
    assert command.run(["bake", "--solver", "magic"]) == 2 and command.run(["batch", "a", "--solver", "magic"]) == 2
    assert "no command “fly”; the commands are: bake, report, batch, farm" in capfd.readouterr().err
    assert command.run(["--help"]) == 0 and command.run(["bake", "--help"]) == 0
    said = " ".join(capfd.readouterr().out.split())
    assert "replaces an earlier bake; the body is at rest at frame A" in said
    assert all(name in said for name in SOLVER_KINDS)


def test_the_version_is_told(capsys):
    assert command.run(["--version"]) == 0 and capsys.readouterr().out == f"sinew {sinew.__version__}\n"


def test_compiling_counts(capfd):
    """A minute or two, of which nothing else is told."""
    progress = bake._Progress(["Body"], ConsoleReporter(), 0, 1)
    for k in range(4):
        progress(Phase("compile", k, 3))
    assert [line.split()[3] for line in capfd.readouterr().err.splitlines()] == ["0/3", "1/3", "2/3", "3/3"]


@pytest.mark.skipif(sys.platform == "win32", reason="C's library has another name there")
def test_lines_for_programs_do_not_begin_amid_those_of_blender():
    """C writes a part of a line that is longer than its buffer at once."""
    code = f"""
import ctypes, sys
sys.path.insert(0, {str(LAUNCHER.parents[1])!r})
import conftest
from sinew.blender_addon.command.console import ConsoleReporter
ctypes.CDLL(None).puts(b"x" * 5000)
ConsoleReporter(as_openjd=True).progress(0.5, "half")
ctypes.CDLL(None).puts(b"y" * 5000)
ConsoleReporter(as_json=True).event("end")
"""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=variables)
    lines = ["openjd_progress: 50.0", "openjd_status: half", '{"event": "end"}']
    assert child.stdout.splitlines() == ["x" * 5000, *lines[:2], "y" * 5000, lines[2]]


def events(said):
    return [json.loads(line) for line in said.splitlines() if line.startswith("{")]


def test_programs_read_an_object_a_line(scene, capfd):
    """The names here are those of ``docs/manual/farms.md``: they stay."""
    page = (Path(__file__).parents[3] / "docs" / "manual" / "farms.md").read_text(encoding="utf-8")
    assert command.run(["bake", "--json", "--openjd"]) == 0
    out = capfd.readouterr().out
    told = events(out)
    for event in told:
        assert f'"event": "{event["event"]}"' in page and all(f'"{name}": ' in page for name in event), event
    frames = [event for event in told if event["event"] == "frame"]
    assert [(event["frame"], event["done"], event["total"]) for event in frames] == [(k, k, 4) for k in (1, 2, 3, 4)]
    assert {"event": "body", "body": "Body", "outcome": "done", "frames": 4} in told
    assert told[-2]["event"] == "saved" and told[-1] == {"event": "end", "exit_code": 0}
    parts = [float(line.split()[1]) for line in out.splitlines() if line.startswith("openjd_progress: ")]
    assert parts == sorted(parts) and parts[-4:] == [25.0, 50.0, 75.0, 100.0]
    assert "openjd_status: Body: frame 2 (2/4)\n" in out
    bpy.data.objects["Body"].data.vertices[0].co.x = float("nan")
    assert command.run(["bake", "--json", "--openjd"]) == 1
    out = capfd.readouterr().out
    told = events(out)
    assert [event["event"] for event in told] == ["failed", "error", "end"] and told[-1]["exit_code"] == 1
    assert told[0]["body"] == "Body" and told[0]["code"] == "MeshError" and told[0]["remedy"]
    assert "openjd_fail: Body: Vertex 0" in out


@pytest.mark.parametrize("kind", ["resume", "update", ""])
def test_a_dry_run_checks_and_writes_nothing(scene, capfd, kind):
    given = [f"--{kind}"] if kind else []
    body = bpy.data.objects["Body"]
    assert command.run(["bake", "--dry-run", *given]) == (1 if kind == "resume" else 0)
    assert not (scene.parent / "sinew_cache").exists() and body.data.shape_keys is None
    assert command.run(["bake"]) == 0
    store = baking.open_store(body)
    files = {path: path.stat().st_mtime_ns for path in scene.parent.rglob("*") if path.is_file()}
    capfd.readouterr()

    def plan(*more):
        code = command.run(["bake", "--dry-run", "--json", *given, *more])
        assert files == {path: path.stat().st_mtime_ns for path in scene.parent.rglob("*") if path.is_file()}
        told = events(capfd.readouterr().out)
        return (told[0]["first"], told[0]["last"], told[0]["why"]) if code == 0 else told[0]["message"]

    complete, replaces = (None, None, ""), "The 4 baked frames (1-4) of “Body” will be deleted when the file is saved."
    assert plan() == (complete if kind else (1, 4, replaces))
    changed = "Edited since the bake began: frame range"
    assert str(plan("--frames", "1-2")).count(changed if kind else replaces) == 1
    bpy.ops.wm.open_mainfile(filepath=str(scene))
    store.keep_until(3)
    files = {path: path.stat().st_mtime_ns for path in scene.parent.rglob("*") if path.is_file()}
    assert plan() == ((4, 4, "") if kind else (1, 4, replaces))
    bpy.data.objects["Body"].data.vertices[0].co.x = float("nan")
    assert "is not a number" in plan()


def test_bodies_are_exported_beside_the_blend(scene, tmp_path, capfd, evaluated, monkeypatch):
    output = ["--output", str(tmp_path / "farm" / "baked.blend")]
    assert command.run(["bake", "--export=abc", "--export=usd", *output]) == 0
    made = tmp_path / "farm" / "baked.abc", tmp_path / "farm" / "baked.usdc"
    assert all(path.stat().st_size > 1000 for path in made) and "exported frames 1-4 to" in capfd.readouterr().err
    assert sorted(path.name for path in made[0].parent.iterdir()) == ["baked.abc", "baked.blend", "baked.usdc"]
    expected = evaluated(bpy.data.objects["Body"], 4)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.wm.alembic_import(filepath=str(made[0]), as_background_job=False)
    assert np.abs(evaluated(bpy.context.scene.objects[0], 4) - expected).max() < 1e-5
    bpy.ops.wm.open_mainfile(filepath=str(scene))
    assert command.run(["bake", "--export=glb", "--export=fbx", "--engine-form=skeleton", "--engine-count=2"]) == 0
    assert all(scene.with_suffix(ending).stat().st_size > 1000 for ending in (".glb", ".fbx"))
    assert f"exported frames 1-4 to {scene.with_suffix('.fbx')}" in capfd.readouterr().err
    bpy.ops.wm.open_mainfile(filepath=str(scene))
    assert command.run(["bake", "--export=abc"]) == 0 and command.run(["bake", "--update", "--export=abc"]) == 0
    assert f"kept {scene.with_suffix('.abc')}" in capfd.readouterr().err
    future = time.time() + 1e6  # the clock was set back: nobody knows whether the .blend is newer
    os.utime(scene.with_suffix(".abc"), (future, future))
    assert command.run(["bake", "--update", "--export=abc"]) == 0 and "kept" not in capfd.readouterr().err
    assert scene.with_suffix(".abc").stat().st_mtime < future
    bare = types.SimpleNamespace(alembic=types.SimpleNamespace(supported=False))
    monkeypatch.setattr(export, "bpy", types.SimpleNamespace(app=bare))
    assert command.run(["bake", "--export=abc"]) == 1
    said = capfd.readouterr().err
    assert (
        "error: This build of Blender cannot export Alembic. Use a Blender from blender.org." in said
        and "frame" not in said
    )


@pytest.mark.parametrize("arguments", [["bkae", "scene.blend"], ["scene.blend"]])
def test_a_blend_without_the_word_bake_is_told_the_usage(capfd, arguments):
    path = Path(__file__).parents[3] / "blender_addon" / "package" / "__main__.py"
    spec = importlib.util.spec_from_file_location("sinew_main", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (
        module.main(arguments) == 2
        and "usage: sinew {bake,report,batch,farm,wedge} SCENE.blend" in capfd.readouterr().err
    )


@pytest.mark.parametrize("path", ["x" * 300 + ".blend", "scene.blend/x.blend", "loop.blend"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["PATH"],
        ["report", "--output", "PATH"],
        ["farm", "--output", "PATH"],
        ["bake", "--output", "PATH"],
        ["batch", "PATH"],
        ["batch", "scene.blend", "--logs", "PATH"],
    ],
)
def test_a_path_that_the_system_refuses_ends_in_a_message(scene, capfd, monkeypatch, tmp_path, arguments, path):
    monkeypatch.chdir(tmp_path)
    if sys.platform != "win32":
        (tmp_path / "loop.blend").symlink_to("loop.blend")
    given = [path if word == "PATH" else word for word in arguments]
    code = command.main(given) if arguments == ["PATH"] else command.run(given)
    output = "".join(capfd.readouterr())
    assert "Traceback" not in output and (code == 0 or "sinew: error: " in output or "no such file" in output)
    assert code == 1 or path == "loop.blend"


def test_a_missing_blend_is_refused(capfd, tmp_path):
    assert command.main([str(tmp_path / "missing.blend")]) == 1
    assert "There is no file" in capfd.readouterr().err
    # Blender itself goes on with its default scene:
    assert command.run(["bake"]) == 1
    assert "No .blend is loaded" in capfd.readouterr().err


def test_a_file_that_is_no_blend_is_refused(capfd, tmp_path):
    path = tmp_path / "text.blend"
    path.write_text("hello")
    assert command.main([str(path)]) == 1
    assert "cannot be opened" in capfd.readouterr().err


def test_a_scene_without_bodies_is_refused(capfd, saved):
    assert command.run(["bake"]) == 3, "a code of its own: in a folder of files such are no failure"
    assert "No object of the scene has Sinew enabled" in capfd.readouterr().err


def test_sigterm_stops_and_resume_gives_the_same_frames(scene):
    first = launch(scene, "--frames", "1-60")
    for line in first.stderr:
        if "(3/60)" in line:
            first.send_signal(signal.SIGTERM)
            break
    said = first.stderr.read()
    assert first.wait(60) == 128 + signal.SIGTERM, said
    assert "stopped by SIGTERM" in said and "--resume" in said
    store = baking.open_store(bpy.data.objects["Body"])
    assert 3 <= len(store.frames()) < 60

    again = launch(scene, "--frames", "1-60", "--resume")
    _, said = again.communicate(timeout=120)
    assert again.returncode == 0, said
    resumed = {frame: store.read(frame) for frame in store.frames()}
    assert len(resumed) == 60 and f"({len(resumed)}/60)" in said

    assert command.main([str(scene), "--frames", "1-60"]) == 0
    fresh = baking.open_store(bpy.data.objects["Body"])
    assert all(np.array_equal(fresh.read(frame), resumed[frame]) for frame in resumed)


def test_update_bakes_what_is_missing_and_skips_what_is_complete(scene, capfd):
    assert command.run(["bake", "--update"]) == 0, "nothing is there: bake"
    saved = scene.stat().st_mtime_ns
    capfd.readouterr()
    assert command.run(["bake", "--update"]) == 0
    said = capfd.readouterr().err
    assert "Body: complete, nothing to bake" in said and "is complete" in said and "saved" not in said
    assert scene.stat().st_mtime_ns == saved, "what is complete is not written again"
    record = bpy.data.objects["Body"].sinew.bake
    assert record.status == "DONE" and record.folder.startswith("//sinew_cache")


def test_update_goes_on_where_a_bake_was_cut_off(scene, capfd):
    assert command.run(["bake"]) == 0
    store = baking.open_store(bpy.data.objects["Body"])
    whole = {frame: store.read(frame) for frame in store.frames()}
    store.keep_until(3)
    bpy.data.objects["Body"].sinew.bake.status = "STOPPED"
    capfd.readouterr()
    assert command.run(["bake", "--update"]) == 0
    said = capfd.readouterr().err
    assert "frame 4 (4/4)" in said and "frame 3 (3/4)" not in said
    assert all(np.array_equal(store.read(frame), whole[frame]) for frame in whole)


def test_update_brings_in_frames_of_a_later_bake_than_was_saved(scene, capfd, evaluated):
    """A farm's Blender was killed after the last frame, before the .blend was saved."""
    assert command.run(["bake"]) == 0
    bpy.context.scene.gravity = (0.0, 0.0, 9.81)
    bpy.ops.wm.save_mainfile()
    bpy.ops.sinew.bake()
    expected = evaluated(bpy.data.objects["Body"], 4)
    bpy.ops.wm.open_mainfile(filepath=str(scene))
    assert not np.array_equal(evaluated(bpy.data.objects["Body"], 4), expected)
    capfd.readouterr()
    assert command.run(["bake", "--update"]) == 0
    said = capfd.readouterr().err
    assert "saved" in said and "frame 4 (4/4)" not in said, "nothing is simulated again"
    assert np.array_equal(evaluated(bpy.data.objects["Body"], 4), expected)
    assert command.run(["bake", "--update"]) == 0 and "complete" in capfd.readouterr().err


def test_update_bakes_anew_what_was_edited(scene, capfd):
    assert command.run(["bake"]) == 0
    bpy.data.objects["Body"].sinew.materials[0].log_stiffness += 1.0
    assert command.run(["bake", "--update"]) == 0
    said = capfd.readouterr().err
    assert "is baked again. Edited since the bake began: materials" in said and said.count("frame 4 (4/4)") == 2
    assert command.run(["bake", "--update", "--resume"]) == 2


def test_output_leaves_the_scene_as_it_is(scene, tmp_path):
    before = scene.read_bytes()
    output = tmp_path / "farm" / "baked.blend"
    assert command.run(["bake", "--output", str(output)]) == 0
    assert scene.read_bytes() == before
    bpy.ops.wm.open_mainfile(filepath=str(output))
    obj = bpy.data.objects["Body"]
    assert len(obj.data.shape_keys.key_blocks) == 4 and obj.sinew.bake.status == "DONE"
    assert baking.open_store(obj).frames() == [1, 2, 3, 4], "the frames are found from there"


def test_output_takes_no_cache_file_that_would_stay_behind(scene, tmp_path, capfd):
    bpy.data.objects["Body"].sinew.result = "CACHE"
    assert command.run(["bake", "--output", str(tmp_path / "farm" / "baked.blend")]) == 0
    obj = bpy.data.objects["Body"]
    assert obj.sinew.bake.kind == "KEYS" and len(obj.data.shape_keys.key_blocks) == 4
    assert "Body: the result is kept as shape keys" in capfd.readouterr().err


def test_python_that_was_not_run_is_told(scene, capfd):
    """A driver that may not run stands still, which nobody sees in a bake."""
    driver = bpy.data.objects["Body"].driver_add("location", 0).driver
    driver.type, driver.expression = "SCRIPTED", "len(bpy.data.objects) * 1.0"
    bpy.ops.wm.save_mainfile()
    assert command.main([str(scene)]) == 0
    said = capfd.readouterr().err
    assert "warning: Python in the file was not run (Driver 'len(bpy.data.objects) * 1.0')" in said
    assert bpy.data.objects["Body"].location.x == 0.0
    assert command.main([str(scene), "--enable-autoexec"]) == 0
    assert "was not run" not in capfd.readouterr().err


def test_frames_before_zero(scene):
    assert command.run(["bake", "--frames=-2-1"]) == 0
    obj = bpy.data.objects["Body"]
    assert baking.open_store(obj).frames() == [-2, -1, 0, 1] and len(obj.data.shape_keys.key_blocks) == 4
