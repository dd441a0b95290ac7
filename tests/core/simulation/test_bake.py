"""Bakes: the same bits however often they are stopped, killed and resumed, in process or in a child."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sinew.core import worker
from sinew.core.foundation.errors import PinError, StoreError
from sinew.core.foundation.events import Done, StoppedAfter, event_of, line_of
from sinew.core.foundation.files.array_file import read_arrays, write_arrays
from sinew.core.foundation.schema.solver_kinds import SOLVER_KINDS
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.numerics.linear_solvers import registry
from sinew.core.simulation.frame_loop.bake import bake, build_mesh
from sinew.core.simulation.preparation import body_mesh

from ..jobs import shaken_bar

STATE_POSITIONS = ("positions", "velocities")
PACKAGE_FOLDER = Path(worker.__file__).resolve().parents[1]


def content(store):
    return {frame: store.read(frame) for frame in store.frames()}


def assert_same_bits(a, b):
    assert a.keys() == b.keys()
    assert all(np.array_equal(a[frame], b[frame]) for frame in a)


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """An uninterrupted bake of the job that the others interrupt."""
    job = shaken_bar(frames=40)
    store = FrameStore.create(tmp_path_factory.mktemp("reference") / "bake", job)
    assert bake(job, store) == "done"
    return job, content(store)


def test_events_come_in_order(tmp_path):
    job = shaken_bar(frames=5)
    store = FrameStore.create(tmp_path / "bake", job)
    events = []
    assert bake(job, store, events.append) == "done"
    kinds = [e.kind for e in events if e.kind != "phase"]
    assert kinds == ["mesh"] + 5 * ["frame"] + ["done"]
    mesh = next(e for e in events if e.kind == "mesh")
    assert mesh.outside == 0
    assert mesh.warnings == []
    assert [event_of(line_of(event)) for event in events] == events
    assert event_of("Warning: of a library") is event_of('["event"]') is event_of('{"event": "new"}') is None
    last = events[-2].report
    assert last["solver"] == "mixed_fem"
    assert last["reason"]


def test_pins_follow_their_animation_and_the_first_frame_is_rest(reference):
    job, frames = reference
    assert np.abs(frames[1] - job.body.surface.positions).max() <= 1e-12
    for k, frame in enumerate(frames):
        assert np.abs(frames[frame][job.body.pinned_vertices] - job.body.pin_positions[k]).max() <= 1e-9


@pytest.mark.parametrize("solver", SOLVER_KINDS)
def test_stop_and_resume_give_the_same_bits(tmp_path, solver):
    job = shaken_bar(frames=5, solver=solver, substeps=2, modes=4, cubature_points=60)
    whole = FrameStore.create(tmp_path / "whole", job)
    bake(job, whole)
    store = FrameStore.create(tmp_path / "parts", job)
    seen = []
    assert bake(job, store, seen.append, lambda: sum(e.kind == "frame" for e in seen) == 3) == "stopped"
    assert store.frames() == [1, 2, 3]
    assert bake(job, store, resume=True) == "done"
    assert_same_bits(content(store), content(whole))


@pytest.mark.parametrize("stop", (2, 4))
def test_conjugate_gradients_that_are_too_slow_end_and_resume_gives_the_same_bits(tmp_path, monkeypatch, stop):
    """They are judged too slow always: in a frame of two steps. The direct solver takes over from the next frame on."""
    for name, value in (("FEWEST_VERTICES", 1), ("THIN", 0.0), ("SLOW", 0.0)):
        monkeypatch.setattr(registry, name, value)
    job = shaken_bar(frames=5, substeps=2)
    whole = FrameStore.create(tmp_path / "whole", job)
    events = []
    bake(job, whole, events.append)
    solvers = [event.report["linear_solver"] for event in events if event.kind == "frame" and event.report]
    assert solvers[0].startswith("conjugate gradients")
    assert all("CHOLMOD" in each and registry.SWITCHED in each for each in solvers[1:]) and len(solvers) == 4
    store, seen = FrameStore.create(tmp_path / "parts", job), []
    assert bake(job, store, seen.append, lambda: sum(e.kind == "frame" for e in seen) == stop) == "stopped"
    assert bake(job, store, resume=True) == "done"
    assert_same_bits(content(store), content(whole))


def test_resume_of_another_job_is_refused(tmp_path):
    job = shaken_bar(frames=3)
    store = FrameStore.create(tmp_path / "bake", job)
    bake(job, store)
    changed = job.with_body(pin_positions=job.body.pin_positions + 0.1)
    with pytest.raises(StoreError, match="animation changed"):
        bake(changed, store, resume=True)
    assert store.frames() == [1, 2, 3]


def test_everything_pinned_is_refused(tmp_path):
    job = shaken_bar(frames=2)
    every = np.arange(len(job.body.surface.positions))
    at_rest = np.tile(job.body.surface.positions, (2, 1, 1))
    job = job.with_body(pinned_vertices=every, pin_positions=at_rest, pin_held=None)
    with pytest.raises(PinError, match="nothing is left to move"):
        bake(job, FrameStore.create(tmp_path / "bake", job))


def test_a_stop_names_the_last_frame_on_disk(tmp_path):
    job = shaken_bar(frames=6)
    store = FrameStore.create(tmp_path / "bake", job)
    seen = []
    assert bake(job, store, seen.append, lambda: True) == "stopped"
    assert seen[-1] == StoppedAfter(None)
    assert store.frames() == []
    bake(job, store, seen.append, lambda: sum(e.kind == "frame" for e in seen) == 3)
    assert seen[-1] == StoppedAfter(3)
    assert bake(job, store, seen.append, lambda: True, resume=True) == "stopped"
    assert seen[-1] == StoppedAfter(3)
    assert store.frames() == [1, 2, 3]


def test_frames_that_did_not_settle_are_named(tmp_path):
    job = shaken_bar(frames=4, substeps=2)
    job = job.with_body(solver=replace(job.body.solver, max_iterations=1))
    store = FrameStore.create(tmp_path / "bake", job)
    seen = []
    bake(job, store, seen.append)
    reports = {frame: store.about(frame)["reports"] for frame in store.frames()}
    short = [frame for frame in reports if not all(report["converged"] for report in reports[frame])]
    assert seen[-1] == Done(4, short)
    assert short, "one iteration does not suffice for this bar"
    thorough = job.with_body(solver=replace(job.body.solver, max_iterations=200))
    bake(thorough, FrameStore.create(tmp_path / "bake", thorough), seen.append)
    assert seen[-1].unconverged == []


def test_resume_after_another_version_is_refused_in_words(tmp_path):
    job = shaken_bar(frames=3)
    store = FrameStore.create(tmp_path / "bake", job)
    bake(job, store)
    write_arrays(store.folder / "about.sinew", {}, {"format": 0, "fingerprints": job.fingerprints()})
    with pytest.raises(StoreError, match="another version of Sinew"):
        bake(job, FrameStore.open(store.folder), resume=True)
    assert store.frames() == [1, 2, 3]


@pytest.mark.parametrize("change", [{"stretch": np.ones((3, 6))}, {n: np.zeros((5, 3)) for n in STATE_POSITIONS}])
def test_a_state_of_another_body_is_refused(tmp_path, change):
    job = shaken_bar(frames=3)
    store = FrameStore.create(tmp_path / "bake", job)
    bake(job, store)
    path = store.folder / "state_000003.sinew"
    arrays, about = read_arrays(path)
    write_arrays(path, {**arrays, **change}, about)
    with pytest.raises(StoreError, match="state of frame 3 belongs to another body"):
        bake(job, store, resume=True)
    assert store.frames() == [1, 2, 3]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda a, _about: a.pop("fill"),
        lambda a, _about: a.update(fill=a["fill"][:-1]),
        lambda a, _about: a.update(fill=-a["fill"]),
        lambda a, _about: a["tets"].__setitem__((0, 0), len(a["rest_positions"])),
        lambda a, _about: a["tets"].__setitem__((0, 0), -1),
        lambda a, _about: a.update(tets=a["tets"][:, [1, 0, 2, 3]]),
        lambda a, _about: a.update(tets=a["tets"].astype(np.int64)),
        lambda a, _about: a.update(rest_positions=np.vstack([a["rest_positions"], [[9.0, 9.0, 9.0]]])),
        lambda a, _about: a["rest_positions"].__setitem__((0, 0), np.nan),
        lambda a, _about: a["tet_indices"].__setitem__(0, len(a["tets"])),
        lambda a, _about: a.update({k: a[k][:-1] for k in ("tet_indices", "barycentric", "outside")}),
        lambda a, _about: a.update(outside=np.zeros(())),
        lambda _a, about: about["key"].pop("format"),
        lambda _a, about: about.update(key=["mesh"]),
    ],
)
def test_cached_tetrahedra_are_built_again_on_any_doubt(tmp_path, spoil):
    job = shaken_bar(frames=2)
    store = FrameStore.create(tmp_path / "bake", job)
    build_mesh(job, store)
    good, about = store.read_cached("mesh")
    spoiled = {name: array.copy() for name, array in good.items()}
    spoil(spoiled, about)
    store.write_cached("mesh", spoiled, about)
    assert bake(job, store) == "done"
    again = store.read_cached("mesh")[0]
    assert all(np.array_equal(again[name], good[name]) for name in good)


def test_cached_tetrahedra_are_used(tmp_path, monkeypatch):
    job = shaken_bar(frames=2)
    store = FrameStore.create(tmp_path / "bake", job)
    build_mesh(job, store)
    monkeypatch.setattr(body_mesh, "tetrahedralize", None)
    assert bake(job, FrameStore.create(store.folder, job)) == "done"


def test_a_part_without_pin_is_named(tmp_path):
    job = shaken_bar(frames=2)
    far = job.body.surface.positions + [0.0, 1.0, 0.0]
    surface = type(job.body.surface)(
        np.vstack([job.body.surface.positions, far]),
        np.vstack([job.body.surface.triangles, job.body.surface.triangles + len(far)]),
    )
    doubled = np.vstack([job.body.material_weights] * 2)
    job = job.with_body(surface=surface, material_weights=doubled, stiffness_maps=None)
    events = []
    store = FrameStore.create(tmp_path / "bake", job)
    build_mesh(job, store, events.append)
    mesh = next(e for e in events if e.kind == "mesh")
    assert mesh.components == 2
    assert any("no pin" in said for said in mesh.warnings)


# -- the child process
# ----------------------------------------------------------------------------------------------------


def test_lines_are_taken_as_they_come_without_a_read_that_waits():
    """The worker listens so on Windows, where a blocking read prevents NumPy from loading."""
    said = [b"", b'{"a": "\xc3\xa4', b'"}\nst', b"", b"op\r\nunfinished"]
    pieces, asked = iter(said), []
    waiting = iter([*map(len, said), None])
    lines = worker.lines_of(lambda: next(waiting), lambda count: asked.append(count) or next(p for p in pieces if p))
    assert [line.strip() for line in lines] == ['{"a": "ä"}', "stop"]
    assert asked == [len(piece) for piece in said if piece], "never more than is there"


def start_worker(store, task, **popen):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [
        sys.executable,
        "-P",
        worker.__file__,
        "sinew",
        str(PACKAGE_FOLDER),
        str(os.getpid()),
        str(store.folder),
        task,
    ]
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        **popen,
    )


def finish(child):
    """Everything the child prints until it ends by itself; its input stays open meanwhile."""
    out = child.stdout.read()
    child.wait(timeout=60)
    for pipe in (child.stdin, child.stdout, child.stderr):
        pipe.close()
    return out


def test_the_child_gives_the_same_bits_as_the_library(tmp_path, reference):
    job, frames = reference
    store = FrameStore.create(tmp_path / "bake", job)
    child = start_worker(store, "bake")
    out = finish(child)
    assert child.returncode == 0
    assert json.loads(out.splitlines()[-1])["event"] == "done"
    assert_same_bits(content(store), frames)


def test_the_child_stops_when_told_and_when_its_parent_is_gone(tmp_path):
    job = shaken_bar(frames=2000)
    store = FrameStore.create(tmp_path / "bake", job)
    for ending in ("stop", "close"):
        child = start_worker(store, "resume")
        for line in child.stdout:
            if json.loads(line)["event"] == "frame":
                break
        if ending == "stop":
            child.stdin.write("stop\n")
            child.stdin.flush()
        else:
            child.stdin.close()
        last = json.loads(child.stdout.read().splitlines()[-1])
        assert child.wait(timeout=60) == 0
        assert last["event"] == "stopped", last
        assert store.frames()[-1] == last["frame"]
        child.stdout.close()
        child.stderr.close()


def test_the_child_speaks_of_errors(tmp_path):
    job = shaken_bar(frames=2)
    store = FrameStore.create(tmp_path / "bake", job)
    (store.folder / "job.npz").write_bytes(b"torn")
    child = start_worker(store, "bake")
    out = finish(child)
    event = json.loads(out.splitlines()[-1])
    assert child.returncode == 1
    assert event["event"] == "error"
    assert event["code"] == "StoreError"
    assert event["remedy"]


def test_the_child_turns_a_refused_file_into_an_event(tmp_path):
    store = FrameStore.create(tmp_path / "bake", shaken_bar(frames=2))
    event, said = run_spoiled(tmp_path, store, "raise PermissionError(13, 'Permission denied', 'frame_000001.sinew')")
    assert event["code"] == "PermissionError"
    assert "Permission denied" in event["message"] and "frame_000001" in event["message"]
    assert event["remedy"]
    assert "Traceback" in said


def test_the_child_reports_what_nobody_foresaw(tmp_path):
    store = FrameStore.create(tmp_path / "bake", shaken_bar(frames=2))
    event, said = run_spoiled(tmp_path, store, "return {}['a crack']")
    assert event["code"] == "KeyError"
    assert "a crack" in event["message"]
    assert event["remedy"] == "Please report this, with the log."
    assert "Traceback" in said and "KeyError: 'a crack'" in said


def run_spoiled(tmp_path, store, body):
    """The child's one event and what it says on stderr, where its job is read by a function with that body."""
    code = f"""
import sys
sys.argv = ["worker.py", "sinew", {str(PACKAGE_FOLDER)!r}, "{os.getpid()}", {str(store.folder)!r}, "bake"]
from importlib import util
spec = util.spec_from_file_location("worker", {worker.__file__!r})
worker = util.module_from_spec(spec)
spec.loader.exec_module(worker)
worker._load_package("sinew", {str(PACKAGE_FOLDER)!r})
from sinew.core.jobs.store.frame_store import FrameStore
from sinew.core.numerics.linear_solvers import registry
def job(self):
    {body}
FrameStore.job = job
worker._load_package = lambda *_: None
sys.exit(worker.main(sys.argv[1:]))
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [sys.executable, "-P", "-c", code]
    child = subprocess.run(command, input="", capture_output=True, text=True, env=environment, timeout=120)
    assert child.returncode == 1
    (line,) = child.stdout.splitlines()
    event = json.loads(line)
    assert event["event"] == "error"
    return event, child.stderr


def test_ten_kills_lose_nothing_that_was_reported(tmp_path, reference):
    """Killed at random moments, in start-up, between frames and within a write; then the same bits as without."""
    job, frames = reference
    store = FrameStore.create(tmp_path / "bake", job)
    chance = random.Random(5)
    reported = 0
    for kill in range(10):
        child = start_worker(store, "resume")
        if kill % 4 == 0:
            time.sleep(chance.uniform(0.0, 1.5))
        else:
            wanted = chance.randint(1, 2)
            for line in child.stdout:
                event = json.loads(line)
                if event["event"] == "frame":
                    reported = max(reported, event["frame"])
                    wanted -= 1
                    if wanted <= 0:
                        break
            time.sleep(chance.uniform(0.0, 0.03))
        child.kill()
        rest = finish(child)
        for line in rest.splitlines():
            if line.endswith("}") and json.loads(line)["event"] == "frame":
                reported = max(reported, json.loads(line)["frame"])
        for frame in range(1, reported + 1):
            assert np.array_equal(store.read(frame), frames[frame])
    assert reported >= 5
    child = start_worker(store, "resume")
    finish(child)
    assert child.returncode == 0
    assert_same_bits(content(store), frames)


DELETED = [(name, when) for name in ("job.npz", "about.sinew") for when in ("tetrahedralize", "simulate", 2, 4)]


@pytest.mark.parametrize("name, when", [*DELETED, ("frame_000002.sinew", 2), ("frame_000002.sinew", 4)])
def test_what_is_deleted_amid_a_bake_is_told_and_mended(tmp_path, name, when):
    """A bake that is done is all there, and nothing that a deleted file told is made up anew."""
    job = shaken_bar(frames=4)
    store = FrameStore.create(tmp_path / "bake", job)

    def delete(event):
        if when in (getattr(event, "phase", ""), getattr(event, "frame", None)):
            (store.folder / name).unlink(missing_ok=True)

    with pytest.raises(StoreError, match="deleted during the bake") as caught:
        bake(job, store, delete)
    if name.startswith("frame"):
        assert "Resume" in caught.value.remedy and bake(job, store, resume=True) == "done"
    else:
        assert caught.value.remedy == "Bake again." and not FrameStore(store.folder).exists()
        store = FrameStore.create(store.folder, job)
        assert bake(job, store) == "done"
    assert store.frames() == [1, 2, 3, 4]
