"""Live mode, its timer called by hand: no timer runs without a window."""

from __future__ import annotations

from dataclasses import replace

import bpy
import numpy as np
import pytest
from sinew.blender_addon.jobs import job_queue
from sinew.blender_addon.live import live, live_scene, live_view
from sinew.blender_addon.live.live_edits import Edits
from sinew.blender_addon.live.live_state import LiveState
from sinew.blender_addon.scene_import import picks, subdivision_in
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.blender_addon.scene_import.mesh_in import vertex_positions
from sinew.core.foundation.errors import SinewError
from sinew.core.foundation.events import LiveFrame
from sinew.operators.live_grab import HINTS
from sinew.ui import live as ui_live
from sinew.ui.live import hints

from ..drawn import drawn_by
from .live_driver import drain_until, playing


def test_play_and_stop_leave_the_scene_as_it_was(soft_body):
    bpy.context.scene.frame_set(3)
    session = live.begin(soft_body)
    process = session.work.child.process
    assert not soft_body.hide_get(), "the mesh is shown while the body is prepared"
    drain_until(lambda: session.state.frame >= 8)
    assert soft_body.hide_get() and bpy.context.scene.frame_current == 4, "the scene stops at the job's last frame"
    assert np.abs(session.view.positions() - session.job.body.surface.positions).max() > 1e-4
    live.stop()
    assert live.current() is None and job_queue.current() is None and process.poll() is not None
    assert not soft_body.hide_get() and soft_body.select_get() and bpy.context.view_layer.objects.active == soft_body
    assert bpy.context.scene.frame_current == 3 and soft_body.sinew.live_layer == ""


def test_what_nodes_carry_is_drawn_where_its_surface_is(soft_body, monkeypatch):
    """Pulled by a grab; of what only a subspace has nothing is shown."""
    settings = soft_body.sinew
    settings.solver, settings.live.rate = "conjac", "FREE"
    picks.change(soft_body, picks.group_of(soft_body, "NODES", make=True), [10], add=True)
    session = playing(soft_body)
    view, rest = session.view, session.job.body.surface.positions
    assert len(session.job.body.dynamic_nodes) == 1 and view.modes == 0
    live.grab(11, rest[11] + [0.0, 0.2, 0.1], 2000.0)
    frame = session.state.frame
    drain_until(lambda: session.state.frame >= frame + 5)
    live.toggle()
    drain_until(lambda: not session.state.out)
    assert np.array_equal(view.positions(), session.state.positions) and view.positions()[11, 1] > rest[11, 1] + 0.05
    drain_until(lambda: soft_body.hide_get())
    monkeypatch.setattr(live_view.live_visibility, "is_seen", lambda *_: True)
    settings.live.preview, settings.live.show = "MESH", "WEIGHTS"
    view.draw(view.draw_view)
    view._colour(settings.live)
    assert np.array_equal(view.seen(), view.positions()) and view._shown[0] == "OBJECT"
    drawn = drawn_by(ui_live.draw_live[0])
    assert any("need a subspace solver" in label for label in drawn.labels)
    live.toggle()
    assert live_view.words(session)[1].endswith("ms per frame")
    settings.node_group = ""
    drain_until(lambda: session.pending == ["solver"])
    live.reset()
    assert live.current() is not session
    drain_until(lambda: live.current().state.ready)
    assert len(live.current().job.body.dynamic_nodes) == 0, "nothing carries it, and it is played all the same"


@pytest.mark.parametrize("solver", ["subspace_mixed_fem", "conjac"])
def test_a_subdivision_is_drawn_as_the_modifier_makes_it(soft_body, monkeypatch, solver):
    """At each level that it is given meanwhile, by the card and by the mesh that may be moved instead."""
    settings, fine = soft_body.sinew, soft_body.modifiers.new("Fine", "SUBSURF")
    settings.solver, fine.levels = solver, 2
    copy = bpy.data.objects.new("Copy", soft_body.data.copy())
    bpy.context.scene.collection.objects.link(copy)
    copy.modifiers.new("Fine", "SUBSURF")
    view = playing(soft_body).view
    live.toggle()
    drain_until(lambda: not live.current().state.out)
    copy.data.vertices.foreach_set("co", view.positions().astype(np.float32).ravel())
    assert np.abs(view.positions() - live.current().job.body.surface.positions).max() > 1e-5
    for level in (2, 1):
        fine.levels = copy.modifiers["Fine"].levels = level
        copy.data.update()
        made = vertex_positions(copy.evaluated_get(bpy.context.evaluated_depsgraph_get()).data)
        drain_until(lambda made=made: len(view.surface()[0]) == len(made))
        assert np.abs(view.surface()[0] - made).max() < 1e-6
    settings.live.preview = "MESH"
    drain_until(lambda: "Body Live" in bpy.data.objects)
    assert np.abs(vertex_positions(bpy.data.objects["Body Live"].data) - made).max() < 1e-6
    monkeypatch.setattr(subdivision_in, "MOST_TRIANGLES", 200)
    fine.levels = 3
    drain_until(lambda: view.coarser != "")
    assert view.coarser.startswith("Subdivision is drawn at level 1 of 3") and len(view.surface()[0]) == len(made)
    assert view.coarser in live_view.words(live.current())
    fine.show_viewport = False
    drain_until(lambda: view.coarser == "")
    assert np.array_equal(view.surface()[0], view.positions()) and len(view.positions()) == 12
    assert len(bpy.data.objects["Body Live"].data.vertices) == 12


def test_the_mouse_takes_what_was_drawn_last(fake_child, monkeypatch):
    """Slow drawing leaves frames that nobody has seen yet."""
    view = playing(fake_child).view
    monkeypatch.setattr(live_view.live_visibility, "is_seen", lambda *_: True)
    fake_child.sinew.live.preview = "MESH"  # drawn by Blender itself, which there is none of here
    view.draw(view.draw_view)
    drawn = view.positions()
    view.show(np.ones_like(live.current().state.handles))
    assert np.abs(view.positions() - drawn).max() > 0.1 and np.abs(view.seen() - drawn).max() < 1e-12
    view.draw(view.draw_view)
    assert np.array_equal(view.seen(), view.positions())


def test_a_card_that_refuses_is_replaced_by_a_mesh(soft_body, tmp_path):
    soft_body.sinew.live.rate = "FREE"
    session = live.begin(soft_body)
    drain_until(lambda: session.state.frame >= 2)
    session.view.refused = "The shader is refused."
    drain_until(lambda: session.state.frame >= 6)
    stand_in = bpy.data.objects["Body Live"]
    flat = np.empty(3 * len(stand_in.data.vertices), dtype=np.float32)
    stand_in.data.vertices.foreach_get("co", flat)
    live.toggle()
    assert np.abs(flat.reshape(-1, 3) - session.view.positions()).max() < 1e-6 and soft_body.hide_get()
    assert "The mesh itself is moved instead" in soft_body.sinew.live.message
    path = str(tmp_path / "refused.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    assert "Body Live" not in bpy.data.objects, "the file is saved without it"
    drain_until(lambda: "Body Live" in bpy.data.objects)
    live.stop()
    assert [o.name for o in bpy.data.objects] == ["Body"] and [m.name for m in bpy.data.meshes] == ["Body"]
    bpy.ops.wm.open_mainfile(filepath=path)
    assert [o.name for o in bpy.data.objects] == ["Body"]


def test_any_error_in_drawing_is_told_once_and_the_mesh_is_moved(fake_child, monkeypatch, capsys):
    session, calls = playing(fake_child), []

    def fail(settings):
        calls.append(settings.show)
        raise RuntimeError("no room")

    monkeypatch.setattr(live_view.live_visibility, "is_seen", lambda *_: True)
    monkeypatch.setattr(session.view, "_colour", fail)
    session.view.draw(session.view.draw_view)
    session.view.draw(session.view.draw_view)
    assert len(calls) == 1 and capsys.readouterr().err.count("Traceback") == 1
    drain_until(lambda: "Body Live" in bpy.data.objects)
    assert fake_child.sinew.live.message.endswith("graphics card (no room). The mesh itself is moved instead.")
    fake_child.sinew.live.preview = "MESH"
    drain_until(lambda: not session.view.refused and not fake_child.sinew.live.message)
    fake_child.sinew.live.preview = "CARD"
    drain_until(lambda: "Body Live" not in bpy.data.objects)
    session.view.draw(session.view.draw_view)
    assert len(calls) == 2, "it may try again"


def test_the_mesh_is_moved_where_the_artist_wants_so(fake_child, monkeypatch):
    bpy.ops.ed.undo_push(message="Before")
    session, settings = playing(fake_child), fake_child.sinew.live
    monkeypatch.setattr(live_view.live_visibility, "is_seen", lambda *_: True)
    monkeypatch.setattr(session.view, "_colour", pytest.fail)
    settings.preview = "MESH"
    drain_until(lambda: "Body Live" in bpy.data.objects)
    session.view.draw(session.view.draw_view)
    bpy.ops.ed.undo_push(message="Preview")
    bpy.ops.ed.undo()
    drain_until(lambda: "Body Live" not in bpy.data.objects and bpy.data.objects["Body"].hide_get())
    assert bpy.data.objects["Body"].sinew.live.preview == "CARD"
    bpy.ops.ed.redo()
    drain_until(lambda: "Body Live" in bpy.data.objects)
    assert bpy.data.objects["Body"].sinew.live.message == "" and len(bpy.data.objects) == 2
    live.stop()
    assert [o.name for o in bpy.data.objects] == ["Body"]


def test_the_frame_changed_by_hand(fake_child):
    session = playing(fake_child)
    bpy.context.scene.frame_set(3)
    drain_until(lambda: not session.state.playing)
    assert "another frame" in session.state.message and live_view.words(session)[1] == session.state.message
    live.toggle()
    drain_until(lambda: session.state.frame >= 7)
    live.toggle()
    drain_until(lambda: not session.state.out)
    bpy.context.scene.frame_set(1)
    drain_until(lambda: session.state.frame == 1)
    assert session.state.message.startswith("Restarted")
    live.toggle()
    drain_until(lambda: session.state.frame >= 2)
    assert session.state.message == ""


def test_blenders_own_playback_pauses(fake_child, monkeypatch):
    session = playing(fake_child)
    monkeypatch.setattr(live_scene, "is_played_back", lambda: True)
    for frame in (3, 1):
        bpy.context.scene.frame_set(frame)
        drain_until(lambda: not session.stage._changed)
    assert not session.state.playing and session.state.frame > 1, "the playback's first frame begins nothing anew"
    assert "Space" in session.state.message


def test_stiffness_is_sent_and_other_edits_are_told(fake_child):
    session = playing(fake_child)
    fake_child.sinew.materials[0].log_stiffness = 6.0
    drain_until(lambda: session.state.stale)
    assert live.is_outdated(session) and session.pending == []
    assert live_view.words(session)[-1].startswith("The modes were computed for other stiffness")
    told = [any("off by at most" in line for line in live_view.words(session))]
    apart = 0.03 * session.job.body.surface.size
    session.work.note(replace(session.state.shown, apart=apart))
    assert told == [False] and any("off by at most 3% of the body's size" in line for line in live_view.words(session))
    fake_child.sinew.max_iterations += 1
    fake_child.sinew.pin_group = ""
    drain_until(lambda: session.pending == ["solver", "pins"])
    process = session.work.child.process
    live.reset()
    assert live.current() is not session and process.poll() is not None
    drain_until(lambda: live.current().state.ready)
    before = live.current()
    bpy.ops.object.effector_add(type="WIND")
    job_queue.tick()
    assert before.pending == [] and not live.is_outdated(before)
    live.reset()
    assert live.current() is not before, "what is not looked at all the time is found, too"


def test_which_edits_are_told(body, saved):
    """Edits of the body are named; animated values, which differ from frame to frame, are not."""
    settings, scene = body.sinew, bpy.context.scene
    job = make_job(body, bpy.context).body
    spring = settings.springs.add()
    edits, told = Edits(body, scene, job), []
    assert edits.others(body, scene) == []

    def edited(word, change):
        nonlocal edits
        change()
        assert edits.others(body, scene) == [word]
        told.append(word)
        edits = Edits(body, scene, job)

    def assign(owner, name, value):
        return lambda: setattr(owner, name, value)

    edited("mesh", assign(body.data.vertices[3], "co", (2.0, 0.0, 0.1)))
    edited("place of the object", assign(body, "location", (1.0, 0.0, 0.0)))
    edited("pins", assign(settings, "pin_threshold", 0.8))
    edited("pins", assign(settings, "goal_strength", 7.0))
    edited("pins", assign(settings, "use_goal", False))
    edited("springs", assign(spring, "strength", 5.0))
    edited("fields", assign(settings.field_weights, "wind", 0.5))
    edited("rest shape", assign(settings, "rest_key", "Rest"))
    edited("resolution", assign(settings, "refine_group", "Fine"))
    edited("resolution", assign(settings, "simulate_after", "Hook"))
    edited("solver", assign(scene, "gravity", (0.0, 0.0, -1.0)))
    edited("solver", assign(settings, "control_vibrations", True))
    edited("solver", assign(settings.live, "solver", "conjac"))
    settings.solver = "newton"
    assert edits.others(body, scene) == [], "live mode has a solver of its own"
    scene.keyframe_insert("gravity", frame=1)
    settings.keyframe_insert("pin_threshold", frame=1)
    settings.keyframe_insert("goal_strength", frame=1)
    spring.keyframe_insert("strength", frame=1)
    body.keyframe_insert("location", frame=1)
    edits, body.location, settings.pin_threshold, spring.strength = Edits(body, scene, job), (0.0, 0.0, 0.0), 0.2, 1.0
    settings.goal_strength, scene.gravity = 1.0, (0.0, 0.0, -2.0)
    assert edits.others(body, scene) == [] and len(told) == 13


def test_stiffness_that_was_put_back_is_no_reason_to_begin_anew(soft_body):
    session, material = playing(soft_body), soft_body.sinew.materials[0]
    before, material.log_stiffness = material.log_stiffness, 6.0
    drain_until(lambda: session.edits.stiffness_differs)
    assert live.is_outdated(session)
    material.log_stiffness = before
    drain_until(lambda: not session.edits.stiffness_differs and not session.state.wishes)
    live.reset()
    drain_until(lambda: session.state.frame == 1)
    assert live.current() is session


def test_edits_count_when_it_begins_anew(soft_body):
    """With the real child, which holds the store that is written anew."""
    first, material = playing(soft_body), soft_body.sinew.materials[0]
    material.density *= 2.0
    live.reset()
    second = live.current()
    assert second is not first
    drain_until(lambda: second.state.ready)
    soft_body.sinew.bake.points_that_suffice = 200
    bpy.ops.sinew.use_points()
    assert live.current() is second and second.reset_is_due
    drain_until(lambda: live.current() is not second)
    third = live.current()
    assert third is not second and third.job.body.solver.cubature_points == 200
    drain_until(lambda: third.state.ready)
    material.density /= 2.0
    live.record()
    fourth = live.current()
    drain_until(lambda: live.current() is None or fourth.state.frame >= 3)
    assert fourth is not third and "Another process" not in soft_body.sinew.live.message


def test_the_colours_follow_the_stiffness(fake_child, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        live_view.preview_colours, "stiffness_colours", lambda log: drawn.append(log) or np.zeros((1, 3))
    )
    session, material = playing(fake_child), fake_child.sinew.materials[0]
    fake_child.sinew.live.show = "STIFFNESS"
    before = material.log_stiffness
    session.view._colour(fake_child.sinew.live)
    material.log_stiffness = before + 1.0
    drain_until(lambda: session.state.stale)
    session.view._colour(fake_child.sinew.live)
    session.view._colour(fake_child.sinew.live)
    assert len(drawn) == 2, "only when something has changed"
    assert np.abs(drawn[0] - before).max() < 1e-5 and np.abs(drawn[1] - drawn[0] - 1.0).max() < 1e-5


def test_only_one_at_a_time(fake_child):
    playing(fake_child)
    with pytest.raises(SinewError, match="stop .* first"):
        live.begin(fake_child)
    assert bpy.ops.sinew.live_stop.poll() and bpy.ops.sinew.live_step.poll() and not bpy.ops.sinew.bake.poll()
    assert not bpy.ops.sinew.stop_bake.poll(), "Esc is live mode's"
    bpy.ops.sinew.live_stop()
    assert live.current() is None and not bpy.ops.sinew.live_play.poll(), "nothing is played without a window"


def test_modifiers_that_are_not_drawn_are_named(body):
    for kind in ("LATTICE", "SUBSURF", "DISPLACE", "SMOOTH"):
        body.modifiers.new(kind.title(), kind)
    body.modifiers["Displace"].show_viewport = False
    assert live.not_drawn(body) == ["Smooth"], "a Subdivision is drawn"
    body.modifiers["Displace"].show_viewport = True
    assert live.not_drawn(body) == ["Displace", "Smooth"], "and what comes after it is not"
    body.modifiers.move(body.modifiers.find("Displace"), 1)
    assert live.not_drawn(body) == ["Displace", "Subsurf", "Smooth"], "nor what comes after another"
    body.sinew.simulate_at, body.sinew.simulate_after = "MODIFIER", "Smooth"
    assert live.not_drawn(body) == []


def test_the_status_bar_says_what_keys_do_now():
    icons = bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items
    assert hints(LiveState()) == [("Cancel", "EVENT_ESC")]
    state = LiveState(shown=LiveFrame(1, "AA", 0, True, 0.0, 0.0))
    assert [word for word, _ in hints(state)] == ["Grab", "Pin", "Pause", "Step", "Stop"]
    assert {icon for _, icon in (*hints(state), *HINTS)} <= set(icons.keys())
    state = replace(state, playing=False, take=([],))
    assert [word for word, _ in hints(state)][2:] == ["Play", "Step", "End Take"]
    assert hints(replace(state, recorded=True))[-1][0] == "Stop"
