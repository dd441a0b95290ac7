"""``sinew batch``: which files, in how many processes, what is told at the end, and that nothing is left at work."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import bpy
import pytest
from sinew.blender_addon import command
from sinew.blender_addon.command import batch
from sinew.blender_addon.command.batch import find_tasks
from sinew.blender_addon.command.options import parser

LAUNCHER = Path(__file__).parents[1] / "command_line.py"


@pytest.fixture
def folder(shot, tmp_path) -> Path:
    """Two files with a body in folders of a show, one without."""
    show = tmp_path / "show"
    for name in ("a/shot.blend", "b/shot.blend"):
        (show / name).parent.mkdir(parents=True)
        bpy.ops.wm.save_as_mainfile(filepath=str(show / name), copy=True)
    bpy.data.objects["Body"].sinew.enabled = False
    bpy.ops.wm.save_as_mainfile(filepath=str(show / "set.blend"), copy=True)
    return show


def test_files_are_named_or_found_each_once(tmp_path):
    names = "b.blend", "a/a.blend", "a/C.BLEND", "a/a.blend1", "a/sinew_cache/x.blend", ".trash/c.blend", "notes.txt"
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    tasks = find_tasks([str(tmp_path), str(tmp_path / "b.blend"), str(tmp_path / "a" / ".." / "a" / "a.blend")])
    found = {Path(task.name).as_posix(): task.found for task in tasks}
    assert found == {"a/C.BLEND": True, "a/a.blend": False, "b.blend": False} and len(tasks) == 3
    assert [task.found for task in find_tasks([str(tmp_path / "a")])] == [True, True]


def test_a_batch_does_what_is_left_and_tells_what_failed(folder, blender, tmp_path, capfd):
    broken = folder / "STAND_IN_CRASH.blend"
    shutil.copy(folder / "a" / "shot.blend", broken)
    batch = ["batch", str(folder), str(folder / "gone.blend"), "--jobs", "2", "--blender", str(blender), "--render"]
    assert command.run([*batch, "--logs", str(tmp_path / "logs")]) == 1
    said = capfd.readouterr().err
    assert "sinew: 5 files: 2 done, 2 failed, 1 no body" in said
    last = [line for line in said.splitlines() if line.startswith("sinew:   ")]
    assert "gone.blend: There is no such file." in last[-1] or "gone.blend: There is no such file." in last[-2]
    assert any("STAND_IN_CRASH.blend: Blender ended" in line and "crash.txt" in line for line in last[-2:])
    assert sorted(path.name for path in (folder / "a" / "images").iterdir())[0] == "shot_0001.png"
    assert len(list((folder / "b" / "images").iterdir())) == 3
    logs = {path.name.rpartition("-")[0]: path.read_text("utf-8") for path in (tmp_path / "logs").iterdir()}
    assert set(logs) == {"shot", "set", "STAND_IN_CRASH"} and "sinew: Body: frame 2 (2/2)" in logs["shot"]

    broken.unlink()
    (folder / "b" / "images" / "shot_0003.png").unlink()
    assert command.run(batch[:2] + batch[3:]) == 0, "what was found without a body is no failure"
    said = capfd.readouterr().err
    assert said.count("Body: complete, nothing to bake") == 2 and "frame 2 (2/2)" not in said
    assert "rendered 1, kept 2 of 3" in said and "rendered 0, kept 3 of 3" in said


def test_a_named_file_without_a_body_is_a_failure(folder, blender, capfd):
    assert command.run(["batch", str(folder / "set.blend"), "--blender", str(blender)]) == 1
    assert "no body" in capfd.readouterr().err


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--blender", "/nowhere/blender"], "/nowhere/blender cannot be used"),
        (["--jobs", "2", "--logs", "{saved}/logs"], "cannot be used"),
    ],
)
def test_what_concerns_all_files_is_one_error(saved, blender, capfd, arguments, said):
    arguments = [argument.format(saved=saved) for argument in arguments]
    assert command.run(["batch", str(saved), "--blender", str(blender), *arguments]) == 1
    lines = [line for line in capfd.readouterr().err.splitlines() if line.startswith("sinew: error: ")]
    assert len(lines) == 1 and said in lines[0]


def test_a_folder_without_files_and_wrong_numbers_are_refused(tmp_path, capfd):
    assert command.run(["batch", str(tmp_path)]) == 1
    assert "There is no .blend in" in capfd.readouterr().err
    assert command.run(["batch", str(tmp_path), "--jobs", "0"]) == 2 and command.run(["batch"]) == 2


def test_python_of_the_files_is_blocked_unless_trusted(folder, blender, capfd):
    driver = bpy.data.objects["Body"].driver_add("location", 0).driver
    bpy.data.objects["Body"].sinew.enabled = True
    driver.type, driver.expression = "SCRIPTED", "len(bpy.data.objects) * 1.0"
    path = folder / "driven.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    batch = ["batch", str(path), "--blender", str(blender)]
    assert command.run(batch) == 0
    said = capfd.readouterr().err
    assert said.rindex("warning: Python in the file was not run") > said.index("1 files:"), "told again at the end"
    assert command.run([*batch, "--enable-autoexec", "--fresh"]) == 0
    assert "was not run" not in capfd.readouterr().err


def test_options_are_handed_on():
    given = ["--frames=1-2", "--solver=newton", "--result=nodes", "--export=abc", "--export=usd"]
    given += ["--engine-form=skeleton", "--engine-count=8", "--scene=Shot2", "--dry-run"]
    options = parser("batch", with_scene=False).parse_args(["a.blend", "--blender", "b", *given])
    command_line = batch._Runner(options).command(batch.Task(Path("a.blend"), "a", words=batch._bake_words(options)))
    assert command_line[command_line.index("bake") + 1 :] == ["--update", *given]
    parser("bake", with_scene=False).parse_args(["--update", *given])


@pytest.mark.parametrize("at_once", [False, True])
def test_what_was_asked_to_end_has_not_failed(at_once):
    """Whatever its exit code is: Windows', and that of a second Ctrl+C, is none of a signal that it heeds."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    task = batch.Task(Path("shot.blend"), "shot.blend", process=process, reader=threading.Thread())
    task.reader.start()
    batch._ask_to_end([task], at_once)
    process.wait(60)
    process.stdin.close()
    assert batch._has_ended(task) and task.outcome == "stopped" and not task.last_message


def test_nothing_is_run_from_the_folder_of_the_files(folder, tmp_path, monkeypatch, capfd):
    """A child that is Python itself would look there first, with ``-m`` or an empty entry in its path."""
    if batch.PACKAGE != "sinew":
        pytest.skip("the package is an extension, which Python alone does not find")
    for name in ("argparse", "hashlib", "signal", "glob"):
        (folder / f"{name}.py").write_text(f"open({str(tmp_path / 'planted')!r}, 'w').close()\n")
    editable = Path(__file__).resolve().parents[3] / "building" / "editable"
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", str(editable), "."]))
    monkeypatch.chdir(folder)
    assert command.run(["batch", "a", "--frames", "1-2"]) == 0
    assert "Body: frame 2 (2/2)" in capfd.readouterr().err and not (tmp_path / "planted").exists()


def children_of(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.skipif(not Path(f"/proc/self/task/{os.getpid()}/children").exists(), reason="needs Linux's /proc")
def test_a_signal_ends_every_child_and_the_same_command_goes_on(folder, blender):
    for name in ("a/shot.blend", "b/shot.blend"):
        bpy.ops.wm.open_mainfile(filepath=str(folder / name))
        bpy.data.objects["Body"].sinew.frame_end = 400
        bpy.ops.wm.save_mainfile()
    arguments = ["batch", str(folder / "a"), str(folder / "b"), "--jobs", "2", "--blender", str(blender)]
    process = subprocess.Popen([sys.executable, str(LAUNCHER), *arguments], stderr=subprocess.PIPE, text=True)
    begun = set()
    for line in process.stderr:
        begun |= {name for name in ("a/", "b/") if f"{name}shot.blend: Body: frame " in line}
        if len(begun) == 2:
            break
    children = children_of(process.pid)
    process.send_signal(signal.SIGINT)
    said = process.stderr.read()
    assert process.wait(60) == 128 + signal.SIGINT, said
    assert len(children) == 2 and "stopping 2 Blender" in said and "0 done, 0 failed" in said and "2 left" in said
    deadline = time.monotonic() + 5
    while any(Path(f"/proc/{pid}").exists() for pid in children) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [pid for pid in children if Path(f"/proc/{pid}").exists()]
    done = [len(list((folder / name / "sinew_cache").rglob("frame_*.sinew"))) for name in "ab"]
    assert all(0 < frames < 400 for frames in done)
