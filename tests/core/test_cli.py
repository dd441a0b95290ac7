"""The command line: what it writes, what it refuses before it simulates, and how it stops."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest
from sinew.core import cli
from sinew.core.foundation.errors import SettingsError, StoreError
from sinew.core.jobs.results import export as exporting
from sinew.core.jobs.scene_files.scene_file import read_scene
from sinew.core.jobs.store.frame_store import FrameStore

from .jobs import box_surface

SCENE = """
mesh = "bar.npz"
frames = [1, 4]
[resolution]
cells_across = 4
[solver]
solver = "newton"
[[material]]
[[material]]
region = "inner.npz"
[[pins]]
vertices = [0, 1]
"""


@pytest.fixture
def scene(tmp_path):
    for name, size in (("bar", (0.4, 0.1, 0.1)), ("inner", (0.1, 0.1, 0.1)), ("bar_0002", (0.4, 0.1, 0.1))):
        surface = box_surface(size)
        np.savez(tmp_path / f"{name}.npz", positions=surface.positions, triangles=surface.triangles)
    (tmp_path / "bar.toml").write_text(SCENE)
    return tmp_path / "bar.toml"


@pytest.fixture
def stop_at(monkeypatch):
    """Raise a signal when a frame is done."""

    def arrange(number, frame, times=1):
        def event(event, last):
            if event.kind == "frame" and event.frame == frame:
                for _ in range(times):
                    signal.raise_signal(number)

        monkeypatch.setattr(cli, "print_event", event)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield arrange
    signal.signal(signal.SIGINT, before)


def _files(scene):
    return {path.name: path.read_bytes() for path in scene.parent.iterdir() if path.is_file()}


def test_the_default_output_leaves_the_scene_alone(scene):
    before = _files(scene)
    assert cli.main([str(scene)]) == 0
    after = _files(scene)
    assert set(after) == {*before, "bar.frames.npz"}
    assert {name: after[name] for name in before} == before


def test_a_pre_roll_is_not_written(scene):
    scene.write_text(SCENE.replace("frames = [1, 4]", "frames = [1, 4]\npre_roll = 2"))
    assert cli.main([str(scene), "--out", str(scene.parent / "out.npz")]) == 0
    with np.load(scene.parent / "out.npz") as found:
        assert found["frames"].tolist() == [3, 4] and len(found["positions"]) == 2


@pytest.mark.parametrize("name", ["bar.toml", "bar.npz", "inner.npz", "link.npz"])
def test_an_output_that_the_scene_reads_is_refused(scene, capsys, name):
    (scene.parent / "link.npz").symlink_to("inner.npz")
    before = _files(scene)
    assert cli.main([str(scene), "--out", str(scene.parent / name)]) == 1
    assert "that the scene reads" in capsys.readouterr().err
    assert _files(scene) == before


def test_one_frame_of_an_output_may_not_be_the_mesh_either(scene, capsys):
    surface = box_surface()
    (scene.parent / "bar_0002.obj").write_text(
        "".join(f"v {x} {y} {z}\n" for x, y, z in surface.positions)
        + "".join(f"f {a} {b} {c}\n" for a, b, c in surface.triangles + 1)
    )
    scene.write_text(SCENE.replace("bar.npz", "bar_0002.obj"))
    assert cli.main([str(scene), "--out", str(scene.parent / "bar.obj")]) == 1
    assert "bar_0002.obj is a file that the scene reads" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("frames", "has no file extension"),
        ("", "has no file extension"),
        ("frames.unheard-of", "cannot write .unheard-of"),
        ("bar.toml/frames.npz", "cannot be written"),
        ("folder.npz", "is a folder"),
    ],
)
def test_an_output_that_cannot_be_written_is_refused_before_the_simulation(scene, capsys, monkeypatch, name, said):
    monkeypatch.chdir(scene.parent)
    (scene.parent / "folder.npz").mkdir()
    before = sorted(os.listdir(scene.parent))
    assert cli.main([str(scene), "--out", name]) == 1
    output = capsys.readouterr().err
    assert said in output
    assert "Frame" not in output
    assert sorted(os.listdir(scene.parent)) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_between_steps_and_the_run_resumes(scene, stop_at, number):
    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    assert cli.main([str(scene), "--out", str(scene.parent / "whole.npz")]) == 0
    stop_at(number, 2)
    assert cli.main([str(scene)]) == 3
    store = FrameStore.open(scene.parent / "bar.frames.npz.frames")
    assert store.frames() == [1, 2]
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == handlers
    assert cli.main([str(scene), "--resume"]) == 0
    with np.load(scene.parent / "whole.npz") as whole, np.load(scene.parent / "bar.frames.npz") as resumed:
        assert np.array_equal(whole["positions"], resumed["positions"])


def test_a_second_interrupt_stops_at_once_and_the_run_resumes(scene, stop_at, capsys):
    stop_at(signal.SIGINT, 2, times=2)
    assert cli.main([str(scene)]) == 3
    assert "--resume" in capsys.readouterr().err
    assert cli.main([str(scene), "--resume"]) == 0


def test_a_handler_that_python_did_not_set_becomes_the_default(scene, monkeypatch):
    real = signal.signal

    def foreign(number, handler):
        before = real(number, handler)
        return None if callable(handler) else before

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(signal, "signal", foreign)
    try:
        assert cli.main([str(scene)]) == 0
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        real(signal.SIGTERM, before)


def test_another_thread_can_run_it(scene):
    codes = []
    thread = threading.Thread(target=lambda: codes.append(cli.main([str(scene)])))
    thread.start()
    thread.join()
    assert codes == [0]


@pytest.fixture
def baked(scene):
    """A store whose frames are the rest shape, and its job."""
    job = read_scene(scene)
    store = FrameStore.create(scene.parent / "store", job)
    store.frames = lambda: [1, 2]
    store.read = lambda frame: job.body.surface.positions
    return store, job


@pytest.mark.parametrize("ending", [".npz", ".NPZ", ".pc2", ".ply"])
def test_a_failed_export_leaves_the_earlier_one_whole(scene, baked, ending):
    store, job = baked
    out = scene.parent / "new" / f"frames{ending}"
    exporting.export(store, job, out)
    names = ["frames_0001.ply", "frames_0002.ply"] if ending == ".ply" else [f"frames{ending}"]
    assert sorted(os.listdir(out.parent)) == names
    before = [(out.parent / name).read_bytes() for name in names]

    def full(frame):
        if frame == 2:
            raise OSError(28, "No space left on device")
        return job.body.surface.positions + 1.0

    store.read = full
    with pytest.raises(StoreError, match="No space left") as raised:
        exporting.export(store, job, out)
    assert raised.value.remedy
    assert sorted(os.listdir(out.parent)) == names
    assert [(out.parent / name).read_bytes() for name in names] == before


def test_a_format_that_cannot_hold_the_frames_is_named(scene, baked):
    with pytest.raises(SettingsError, match=r"cannot write \.svg") as raised:
        exporting.export(*baked, scene.parent / "frames.svg")
    assert raised.value.remedy
    assert not list(scene.parent.glob("*frames*"))


def test_an_export_without_frames_is_refused(scene, baked):
    store, job = baked
    store.frames = list
    with pytest.raises(StoreError):
        exporting.export(store, job, scene.parent / "frames.npz")


BODIES = """
mesh = "bar.npz"
frames = [1, 3]
[resolution]
cells_across = 4
[[collider]]
mesh = "inner.npz"
[[pins]]
vertices = [0, 1]
[contact]
bodies = false
[[body]]
name = "left"
[[body]]
name = "right"
mesh = "inner.npz"
[body.solver]
solver = "newton"
substeps = 2
[[body.pins]]
vertices = [2]
"""


def _frames_of(path) -> np.ndarray:
    with np.load(path) as data:
        return data["positions"]


def test_a_scene_of_several_bodies_gives_what_each_gives_alone(scene, capsys):
    folder = scene.parent
    scene.write_text(BODIES)
    left, right = read_scene(scene).bodies
    assert left.solver.solver == "mixed_fem" and (right.solver.substeps, len(right.pinned_vertices)) == (2, 1)
    assert cli.main([str(scene), "--report", str(folder / "steps.csv")]) == 0
    assert (folder / "steps.csv").read_text().count("right") >= 2
    alone = {
        "left": BODIES.split("[[body]]")[0],
        "right": BODIES.split("[[pins]]")[0].replace("bar.npz", "inner.npz").replace('mesh = "inner.npz"\n[[pins', "")
        + '[[pins]]\nvertices = [2]\n[solver]\nsolver = "newton"\nsubsteps = 2\n',
    }
    for name, text in alone.items():
        (folder / f"{name}.toml").write_text(text)
        assert cli.main([str(folder / f"{name}.toml")]) == 0
        together = _frames_of(folder / f"bar.frames.{name}.npz")
        assert np.array_equal(together, _frames_of(folder / f"{name}.frames.npz"))


def test_what_hinders_one_body_hinders_no_other(scene, capsys):
    scene.write_text(BODIES.replace('[[body]]\nname = "right"\n', '[[body]]\nname = "right"\nlayers_are_unknown = 1\n'))
    assert cli.main([str(scene)]) == 1 and "Unknown entry" in capsys.readouterr().err
    everywhere = str(list(range(len(box_surface((0.1, 0.1, 0.1)).positions))))
    scene.write_text(BODIES.replace("vertices = [2]", f"vertices = {everywhere}"))
    assert cli.main([str(scene)]) == 1
    assert "sinew: “right”: Every vertex is pinned" in capsys.readouterr().err
    assert (scene.parent / "bar.frames.left.npz").is_file() and not (scene.parent / "bar.frames.right.npz").exists()
    assert cli.main([str(scene), "--resume"]) == 1
    assert "Frame 1" not in capsys.readouterr().err, "what is done is not done again"


MEETING = """
mesh = "inner.npz"
frames = [1, 6]
[resolution]
cells_across = 3
[ground]
height = -0.52
[[pins]]
box = [[-1, -1, -1], [1, 1, 0.001]]
[[body]]
name = "low"
[[body]]
name = "high"
mesh = "raised.npz"
pins = []
"""


@pytest.mark.parametrize("meets", [True, False])
def test_bodies_of_a_scene_meet(scene, capsys, meets):
    """A falling body comes to rest on a pinned one; without contact it falls through."""
    folder = scene.parent
    with np.load(folder / "inner.npz") as low:
        X, triangles = low["positions"] - low["positions"].min(axis=0), low["triangles"]
    np.savez(folder / "inner.npz", positions=X, triangles=triangles)
    np.savez(folder / "raised.npz", positions=X + (0.01, 0.0, 0.11), triangles=triangles)
    scene.write_text(MEETING + f"[body.contact]\nbodies = {str(meets).lower()}\nfriction = 0.1\n")
    assert [body.contact.friction for body in read_scene(scene).bodies] == [0.5, 0.1]
    assert cli.main([str(scene)]) == 0
    assert ("high, low:" in capsys.readouterr().err) == meets
    fallen = 0.11 - _frames_of(folder / "bar.frames.high.npz")[-1, :, 2].min()
    assert fallen < 0.03 if meets else fallen > 0.1, fallen


def test_bodies_that_meet_name_what_differs(scene, capsys):
    scene.write_text(BODIES.replace("[contact]\nbodies = false\n", ""))
    assert cli.main([str(scene)]) == 1
    said = capsys.readouterr().err
    assert "sinew: “left”, “right”: “left” and “right” collide, but differ in solver settings" in said
    assert said.count("differ in solver settings") == 1, "once of all"


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('name = "right"', 'name = "left"', "“left” and “left” mean the same folder"),
        *(
            ('name = "right"', f"name = '{bad}'", "The body name .* is not a valid folder name")
            for bad in ("a/b", "..", "", "a.", "Con", "x" * 99 + "ä")
        ),
        ('name = "right"', 'name = "a\\u0000b"', "The body name .* is not a valid folder name"),
        ('name = "right"', 'name = "LEFT"', "the same folder on some systems"),
        ('name = "right"', "", "Body 2 has no name"),
        ("substeps = 2", "substeps = 0", "“right”"),
        ('[[body]]\nname = "left"', '[body]\nname = "left"', "body is not a list of tables|cannot be read"),
    ],
)
def test_bodies_that_cannot_be_read_are_refused(scene, before, after, words):
    scene.write_text(BODIES.replace(before, after))
    with pytest.raises(SettingsError, match=words):
        read_scene(scene)
