"""The animation is read a part at a time: what is stopped on the way leaves the scene as it was."""

from __future__ import annotations

import types

import bpy
import pytest
from sinew.blender_addon.bake import background, comparison
from sinew.blender_addon.jobs import job_queue
from sinew.blender_addon.jobs.state_machine import Stage
from sinew.blender_addon.live import live
from sinew.blender_addon.live.live_state import Stepped
from sinew.blender_addon.scene_import.job_in import job_steps, make_job
from sinew.core.foundation.errors import MeshError, SinewError

from ..live.live_driver import drain_until
from ..scenes import CUBE, keyed


@pytest.fixture
def scene(body, collection, add_mesh, saved):
    """A body that turns, with a modifier after its place, and a hidden collider; at frame 3.5 of 1 to 4."""
    keyed(body, "rotation_euler", (1, (0.0, 0.0, 0.0)), (4, (0.0, 0.0, 1.0)))
    body.modifiers.new("Subdivision", "SUBSURF")
    cube = add_mesh(*CUBE, "Cube")
    collection.objects.link(cube)
    cube.hide_viewport = collection.hide_viewport = True
    bpy.context.view_layer.objects.active = body
    body.sinew.substeps = 2
    bpy.context.scene.frame_set(3, subframe=0.5)
    return bpy.context.scene


@pytest.fixture
def by_hand(scene, monkeypatch):
    """Whatever is read takes long, and the modal operator is the test."""
    app = types.SimpleNamespace(background=False, timers=bpy.app.timers)
    ops = types.SimpleNamespace(sinew=_Modal())
    monkeypatch.setattr(job_queue, "AT_ONCE", -1.0)
    monkeypatch.setattr(job_queue, "SLICE", -1.0)
    monkeypatch.setattr(job_queue, "LONGEST", -1.0)
    monkeypatch.setattr(job_queue, "bpy", types.SimpleNamespace(app=app, context=bpy.context, ops=ops))
    yield
    job_queue.abandon()


class _Modal:
    def read_animation(self, how):
        assert how == "INVOKE_DEFAULT"


@pytest.fixture
def session(fake_child, by_hand):
    """The body is played with, at a frame of its own, hidden."""
    live.begin(fake_child)
    read_all()
    session = live.current()
    session.work.note(Stepped())
    drain_until(lambda: session.state.frame == 2 and session.drawn is session.state.shown)
    assert fake_child.hide_get() and bpy.context.scene.frame_current == session.state.frame == 2
    yield session
    live.stop()


def read_all():
    while job_queue.reading() is not None:
        job_queue.go_on()


def begin_here(monkeypatch, *works):
    """Though the scene is read by hand otherwise."""
    with monkeypatch.context() as here:
        here.setattr(job_queue, "bpy", bpy)
        job_queue.begin(*works)


def read_a_little(body):
    """Until the scene is at another frame; the timer goes on meanwhile."""
    while bpy.context.scene.frame_current != 4:
        job_queue.go_on()
        job_queue.tick()
    assert not body.hide_get() and job_queue.reading() is not None


def begin(obj, begun):
    """Begin as a bake does, without its child."""
    work = background.work_on(obj, "bake")
    work.begin = lambda _work, _obj, read: begun.append(read)
    job_queue.begin(work)


def state(scene, body):
    cube, collection = bpy.data.objects["Cube"], body.sinew.collisions.collection
    hidden = cube.hide_viewport, collection.hide_viewport, body.modifiers[0].show_viewport
    return scene.frame_current, scene.frame_subframe, hidden


def test_steps_give_the_same_job_and_grow_to_one(scene, body):
    steps, parts = job_steps(body, bpy.context), []
    try:
        while True:
            parts.append(next(steps))
    except StopIteration as end:
        job = end.value
    assert parts == sorted(parts) and len(parts) == 4 + 3 and parts[-1] == 1.0
    assert job.fingerprints() == make_job(body, bpy.context).fingerprints()


def test_a_stop_on_the_way_leaves_no_trace(by_hand, scene, body, saved):
    before, begun = state(scene, body), []
    begin(body, begun)
    for _ in range(4):
        job_queue.go_on()
    assert state(scene, body) != before and 0.5 < job_queue.reading().state.part < 1.0
    assert job_queue.reading(body.session_uid) is job_queue.reading() and not bpy.ops.sinew.bake.poll()
    assert bpy.ops.sinew.stop_bake.poll() and bpy.ops.sinew.stop_bake() == {"FINISHED"}
    assert job_queue.reading() is None and begun == [] and state(scene, body) == before
    assert [path.name for path in saved.parent.iterdir()] == ["scene.blend"] and body.sinew.bake.message == ""
    assert bpy.ops.sinew.bake.poll()


def test_esc_during_the_last_part_is_for_the_reading(by_hand, scene, body):
    """Blender listens once more between the last part and what it was read for."""
    for is_stopped in (True, False):
        begun = []
        begin(body, begun)
        while job_queue.reading().state.stage is Stage.READING:
            job_queue.go_on()
        assert begun == [] and job_queue.reading() is not None and bpy.ops.sinew.stop_bake.poll()
        if is_stopped:
            bpy.ops.sinew.stop_bake()
        else:
            job_queue.go_on()
        assert job_queue.reading() is None and len(begun) == (not is_stopped)


def test_where_drawing_takes_long_more_is_read_between(by_hand, scene, body, monkeypatch):
    """The clock advances by a second at every look."""
    clock = iter(range(1000))
    monkeypatch.setattr(job_queue.time, "monotonic", lambda: float(next(clock)))
    monkeypatch.setattr(job_queue, "SLICE", 0.5)
    monkeypatch.setattr(job_queue, "LONGEST", 8.5)
    body.sinew.frame_end, steps = 40, []
    begin(body, [])
    for drawing in (0, 3, 20):
        for _ in range(drawing):
            next(clock)
        before = job_queue.reading().state.part
        job_queue.go_on()
        steps.append(round((job_queue.reading().state.part - before) * 79))
    assert steps == [2, 5, 5], "twice as long as it drew, up to the most; a step takes two looks"


def test_what_is_read_to_the_end_begins(by_hand, scene, body):
    before, begun = state(scene, body), []
    begin(body, begun)
    with pytest.raises(SinewError, match="“Body” is being read already"):
        begin(body, [])
    read_all()
    ((mode, (job,), (store,)),) = begun
    assert mode == "bake" and store.job().fingerprints() == job.fingerprints() and state(scene, body) == before


def test_what_is_refused_late_is_kept_for_the_panel(by_hand, scene, body):
    keyed(body, "scale", (1, (1.0, 1.0, 1.0)), (4, (1.0, 0.0, 1.0)))
    scene.frame_set(3, subframe=0.5)
    before = state(scene, body)
    begin(body, [])
    with pytest.raises(MeshError, match="flattened at frame 4"):
        read_all()
    assert job_queue.reading() is None and "flattened at frame 4" in body.sinew.bake.message
    assert state(scene, body) == before


@pytest.mark.parametrize("how", ["save", "undo", "delete"])
def test_the_scene_is_put_back_before_it_is_saved_or_undone(by_hand, scene, body, saved, how):
    begin(body, [])
    job_queue.go_on()
    if how == "delete":
        bpy.data.objects.remove(bpy.data.objects["Cube"])
        with pytest.raises(MeshError, match="An object was deleted"):
            job_queue.go_on()
        assert job_queue.reading() is None and "deleted" in body.sinew.bake.message
        assert body.modifiers[0].show_viewport and (scene.frame_current, scene.frame_subframe) == (3, 0.5)
        return
    before = (3, 0.5, (True, True, True))
    if how == "undo":
        job_queue.stop_before()  # as the handler of `undo_pre`
        assert state(scene, body) == before
    else:
        bpy.ops.wm.save_mainfile()
        bpy.ops.wm.open_mainfile(filepath=str(saved))
        scene, body = bpy.context.scene, bpy.data.objects["Body"]
        assert state(scene, body)[2] == before[2] and scene.frame_current == 3
    assert job_queue.reading() is None and "not read completely" in body.sinew.bake.message


def test_what_is_deleted_in_another_window_while_it_is_read_ends_that(by_hand, scene, body):
    """A modifier that is gone must not be touched: Blender has freed it, and would crash."""
    before = state(scene, body)[:2]
    begin(body, [])
    job_queue.go_on()
    for _ in range(3):
        body.modifiers.remove(body.modifiers[0])
        body.modifiers.new("Another", "SUBSURF").show_viewport = False
    job_queue.stop_reading()
    assert (scene.frame_current, scene.frame_subframe) == before and not body.modifiers[0].show_viewport
    begin(body, [])
    job_queue.go_on()
    bpy.data.objects.remove(body)
    with pytest.raises(MeshError, match="An object was deleted"):
        job_queue.go_on()
    assert job_queue.reading() is None and (scene.frame_current, scene.frame_subframe) == before
    assert bpy.data.objects["Cube"].hide_viewport and bpy.data.collections[0].hide_viewport


def test_a_queue_waits_for_what_is_read(by_hand, scene, body):
    begun: list = []
    works = [background.work_on(body, "bake") for _ in range(2)]
    for work in works:
        work.begin = lambda work, _obj, _read: begun.append(work.state.title)
    job_queue.begin(*works)
    assert job_queue.reading().state.label.startswith("1 of 2: Reading Animation") and job_queue.tick() is not None
    for before in ([], ["1 of 2"]):
        assert begun == before and job_queue.place_of(body) == 1 - len(before)
        read_all()
        job_queue.tick()
    assert begun == ["1 of 2", "2 of 2"] and job_queue.is_idle() and job_queue.tick() is None


def test_a_check_for_edits_reads_so_too(by_hand, scene, body, monkeypatch):
    begin_here(monkeypatch, background.work_on(body, "bake"))
    body.sinew.materials[0].density = 900.0
    assert bpy.ops.sinew.check_bake() == {"FINISHED"} and body.sinew.bake.stale == ""
    assert job_queue.reading() is not None and not bpy.ops.sinew.check_bake.poll()
    read_all()
    assert body.sinew.bake.stale.startswith("materials")


def test_compare_and_live_read_so_too(by_hand, scene, body, monkeypatch):
    begin_here(monkeypatch, background.work_on(body, "bake"))
    body.sinew.compare.substeps = 3
    job_queue.begin(comparison.work_on(body))
    job_queue.go_on()
    assert job_queue.reading() is not None
    job_queue.stop_reading("Stopped.")
    assert body.sinew.compare.message == "Stopped."
    body.sinew.solver = "subspace_mixed_fem"
    live.begin(body)
    job_queue.go_on()
    job_queue.stop_reading("Stopped.")
    assert body.sinew.live.message == "Stopped."


@pytest.mark.parametrize("how", ["reset", "record"])
def test_live_mode_begins_anew_once_all_is_read(session, how):
    body = session.object
    getattr(live, how)()
    read_a_little(body)
    assert session.state.take is None and session.state.frame == 2 and job_queue.reading(body.session_uid) is not None
    read_all()
    drain_until(lambda: session.state.frame == 1 if how == "reset" else session.state.recording)
    assert live.current() is session and body.hide_get()


def begin_anew_and_read_a_little(session):
    session.object.sinew.materials[0].density *= 2.0
    live.reset()
    read_a_little(session.object)
    with pytest.raises(SinewError, match="“Body” is being read already"):
        live.record()


@pytest.mark.parametrize("how", ["esc", "save"])
def test_live_mode_that_is_not_read_to_its_end_stays_as_it_was(session, how, tmp_path):
    body, scene = session.object, bpy.context.scene
    begin_anew_and_read_a_little(session)
    if how == "esc":
        assert bpy.ops.sinew.stop_bake() == {"FINISHED"} and body.hide_get()
        assert (scene.frame_current, scene.frame_subframe) == (2, 0.0)
    else:
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "kept.blend"), copy=True)
        with bpy.data.libraries.load(str(tmp_path / "kept.blend")) as (_, there):
            there.objects, there.scenes = ["Body"], ["Scene"]
        assert there.objects[0].sinew.live_layer == "" and there.scenes[0].frame_current == 3
        assert "not read completely" in body.sinew.live.message
    assert live.current() is session and job_queue.reading() is None
    assert (
        session.state.frame == 2
        and not session.state.wishes
        and session.job.body.materials[0].density != body.sinew.materials[0].density
    )


def test_live_mode_that_ends_stops_its_reading(session):
    body, scene = session.object, bpy.context.scene
    begin_anew_and_read_a_little(session)
    live.stop()
    assert job_queue.reading() is None and not body.hide_get()
    assert (scene.frame_current, scene.frame_subframe) == (3, 0.5)


def test_live_mode_whose_body_is_deleted_while_it_is_read_ends(session):
    begin_anew_and_read_a_little(session)
    bpy.data.objects.remove(session.object)
    with pytest.raises(MeshError, match="An object was deleted"):
        job_queue.go_on()
    drain_until(lambda: live.current() is None)
    assert bpy.context.scene.frame_current == 3


def test_a_child_that_dies_while_live_mode_reads_is_told_after_it(session):
    body, scene = session.object, bpy.context.scene
    begin_anew_and_read_a_little(session)
    session.work.child.process.kill()
    session.work.child.process.wait()
    for _ in range(20):
        job_queue.tick()
    assert live.current() is session and scene.frame_current == 4
    job_queue.stop_reading()
    drain_until(lambda: live.current() is None)
    assert body.sinew.live.message and (scene.frame_current, scene.frame_subframe) == (3, 0.5)


def test_more_points_begin_anew_outside_of_their_undo_step(session):
    body = session.object
    body.sinew.bake.points_that_suffice = 200
    bpy.ops.sinew.use_points()
    assert job_queue.reading() is None and body.sinew.cubature_points == 200
    drain_until(lambda: job_queue.reading() is not None)
    read_all()
    assert live.current() is not session and live.current().job.body.solver.cubature_points == 200


def test_compare_asks_a_stopped_bake_for_its_edits_so_too(by_hand, scene, body, monkeypatch):
    begin_here(monkeypatch, background.work_on(body, "bake", until=2))
    for density, count in ((None, 2), (900.0, 1)):
        body.sinew.materials[0].density = density or body.sinew.materials[0].density
        comparison.begin(body, bpy.context)
        work = job_queue.reading()
        while job_queue.reading() is work:
            job_queue.go_on()
        assert [job_queue.reading(), *job_queue.waiting()][-1].title == "Ghost" and len(job_queue._works) == count
        job_queue.abandon()
