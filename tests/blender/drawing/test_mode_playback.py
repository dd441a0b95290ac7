"""A vibration that is played: what is drawn of it, what ends it, and what it leaves as it was."""

from __future__ import annotations

import math
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import baking
from sinew.blender_addon.cache import frame_folders
from sinew.blender_addon.draw_handlers import mode_playback
from sinew.blender_addon.drawing import gpu_mode, layer
from sinew.blender_addon.drawing.gpu_overlay import Painter, View
from sinew.blender_addon.jobs import job_queue
from sinew.blender_addon.live import live
from sinew.blender_addon.setup.unit_format import pace_words, slower
from sinew.core.jobs.store.cached_shapes import Shapes
from sinew.core.jobs.store.frame_store import FrameStore

from .. import card

BENT = np.array([[0.8, -0.3, 0.1], [0.2, 1.3, -0.2], [0.1, 0.4, 0.7]])


def sphere(shape):
    """A ball of triangles that swings by a shape (n,3) of its places."""
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=0.4)
    mesh = bpy.context.object.data
    rest = np.array([v.co for v in mesh.vertices], dtype=np.float32)
    triangles = np.array([p.vertices for p in mesh.polygons], dtype=np.int32)
    return Shapes(rest, triangles, shape(rest)[None].astype(np.float32), np.ones(1))


def bending(x):
    """A shape under which all normals turn, here and there to the other side."""
    return np.column_stack([x[:, 1] ** 2 - x[:, 2], 3.0 * x[:, 0] * x[:, 2], np.sin(4.0 * x[:, 0])])


@pytest.mark.parametrize("part", [-1.0, -0.1, 0.0, 0.1, 0.3, 1.0])
def test_normals_are_those_of_the_moved_surface(part):
    ball = sphere(bending)
    N0, N1, N2 = gpu_mode.normals(ball.rest, ball.shapes[0], ball.triangles)
    moved = ball.rest.astype(np.float64) + part * ball.shapes[0]
    true, still = np.zeros_like(moved), np.zeros_like(moved)
    for found, at in ((true, moved), (still, ball.rest.astype(np.float64))):
        for i, j, k in ball.triangles:
            found[[i, j, k]] += np.cross(at[j] - at[i], at[k] - at[i])
    true /= np.linalg.norm(still, axis=1, keepdims=True)
    assert np.abs(N0 + part * N1 + part**2 * N2 - true).max() < 1e-6 * np.abs(true).max()


@pytest.mark.parametrize("part", [-1.0, 0.0, 0.1, 1.0])
def test_the_card_shows_the_surface_as_if_it_were_moved(monkeypatch, part):
    card.make_ready()
    monkeypatch.setattr(gpu_mode, "weight_colours", lambda weights: np.full((len(weights), 3), 0.5))
    ball = sphere(lambda x: (x @ BENT.T - x) + 0.2 * bending(x))
    moved = ball._replace(rest=ball.rest + np.float32(part) * ball.shapes[0], shapes=0.0 * ball.shapes)
    painter, view = Painter(), View(*card.straight_down(2.0))
    matrix = np.diag([0.7, -1.2, 1.0, 1.0])
    matrix[:3, 3] = 0.1, -0.2, 0.3

    def seen(shapes, part):
        batch = gpu_mode.swing_batch(shapes, 0, matrix)
        return card.picture(lambda: painter.swing(batch, view, matrix, part), (96, 96))[..., :3]

    by_card, as_moved, at_rest = seen(ball, part), seen(moved, 0.0), seen(ball, 0.0)
    assert as_moved.max() > 0.3 and (as_moved == 0.0).any()
    assert (np.abs(by_card - as_moved).max(axis=2) > 0.02).mean() < 0.002, "but for pixels at the edge"
    assert (np.abs(as_moved - at_rest).max(axis=2) > 0.02).mean() > 0.02 or abs(part) <= 0.1


def test_what_swings_most_in_the_world_is_red(monkeypatch):
    seen = []
    monkeypatch.setattr(gpu_mode, "weight_colours", lambda weights: seen.append(weights) or np.ones((len(weights), 3)))
    card.make_ready()
    ball = sphere(lambda x: x[:, :1] * [1.0, 0.0, 0.0] + x[:, 1:2] * [0.0, 2.0, 0.0])
    gpu_mode.swing_batch(ball, 0, np.diag([5.0, 1.0, 1.0, 1.0]))
    assert np.abs(seen[0] - np.hypot(5.0 * ball.rest[:, 0], 2.0 * ball.rest[:, 1])).max() < 1e-6


@pytest.mark.parametrize(
    "frequency, times", [(0.0, 1), (0.01, 1), (1.0, 1), (1.01, 2), (2.0, 2), (3.2, 4), (1000.0, 1024), (1e6, 2**20)]
)
def test_what_is_fast_is_slowed_until_the_eye_follows(frequency, times):
    assert slower(frequency) == times
    assert frequency / times <= 1.0 < 2.0 * max(frequency, 1.0) / times


def test_words_say_the_right_frequency_and_what_is_shown():
    assert pace_words(3.2) == "3.20 Hz, shown 4 times slower" and pace_words(0.64) == "0.640 Hz"


@pytest.fixture
def found(soft_body):
    """A body whose vibrations are known, though nothing is baked."""
    soft_body.sinew.match_modes = 4
    assert bpy.ops.sinew.find_vibrations() == {"FINISHED"}
    assert len(soft_body.sinew.bake.vibrations) == 4 and soft_body.sinew.bake.status == "NONE"
    yield soft_body
    mode_playback.unregister()


@pytest.fixture
def played(found):
    mode_playback.begin(found)
    assert mode_playback.tick() == mode_playback.TICK
    return found


def test_it_swings_as_a_sine_around_rest_at_the_frequency_that_is_said(played):
    settings, swing = bpy.context.workspace.sinew, mode_playback.current()
    for number, (part, right) in enumerate([(0.1, 0.5), (0.02, 3.2), (0.3, 100.0)]):
        settings.active_vibration, settings.swing = number, part
        played.sinew.bake.vibrations[number].right = right
        period = slower(right) / right
        turns = np.array([0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 7.25])
        at = [swing.part(played, settings, swing._began + turn * period) for turn in turns]
        np.testing.assert_allclose(at, settings.swing * np.sin(2.0 * np.pi * turns), atol=1e-6)
    settings.property_unset("active_vibration")
    settings.property_unset("swing")


def test_it_swings_as_its_stiffness_has_it(played):
    """Four times as stiff, twice as fast; with a match or without; uncontrolled, as before."""
    settings, vibrations = played.sinew, played.sinew.bake.vibrations
    vibrations[0].right, vibrations[1].right, vibrations[1].frequency = 3.0, 0.0, 5.0
    settings.vibrations.stiffness_1 = settings.vibrations.stiffness_2 = 4.0
    assert [mode_playback.pace(played, k) for k in (0, 1)] == [3.0, 5.0]
    settings.control_vibrations = True
    assert [mode_playback.pace(played, k) for k in (0, 1)] == [6.0, 10.0]


def test_a_number_beyond_the_table_is_its_last(played):
    settings = bpy.context.workspace.sinew
    settings.active_vibration = 99
    assert mode_playback.chosen(played, settings) == 3 and mode_playback.tick() == mode_playback.TICK
    settings.property_unset("active_vibration")


def scene_state(obj):
    settings = obj.sinew
    kinds = (p.identifier for p in bpy.data.bl_rna.properties if p.type == "COLLECTION")
    blocks = {kind: sorted(block.name for block in getattr(bpy.data, kind)) for kind in kinds}
    coordinates = [tuple(v.co) for v in obj.data.vertices]
    said = [(each.frequency, each.right, each.share) for each in settings.bake.vibrations]
    seen = obj.hide_get(), obj.hide_viewport, obj.select_get(), tuple(map(tuple, obj.matrix_world))
    return blocks, coordinates, said, seen, bpy.context.scene.frame_current, bpy.data.is_dirty


def test_the_scene_stays_as_it_is(found):
    bpy.ops.wm.save_mainfile()
    before = scene_state(found)
    mode_playback.begin(found)
    for _ in range(3):
        assert mode_playback.tick() == mode_playback.TICK
    assert scene_state(found) == before
    mode_playback.stop()
    assert mode_playback.tick() is None and scene_state(found) == before


def test_a_hundred_leave_nothing(found, monkeypatch):
    added, removed, space = [], [], bpy.types.SpaceView3D
    monkeypatch.setattr(layer, "add_handler", lambda *a: added.append(space.draw_handler_add(*a)) or added[-1])
    monkeypatch.setattr(layer, "remove_handler", lambda h, r: removed.append(h) or space.draw_handler_remove(h, r))
    for _ in range(100):
        mode_playback.begin(found)
        mode_playback.tick()
    assert bpy.app.timers.is_registered(mode_playback.tick)
    mode_playback.unregister()
    assert not bpy.app.timers.is_registered(mode_playback.tick)
    assert len(added) == len(removed) == 200 and set(map(id, added)) == set(map(id, removed))


def goes_on(obj):
    obj.location, obj.name = (1.0, 2.0, 3.0), "Renamed"
    bpy.context.scene.frame_set(3)
    bpy.context.workspace.sinew.active_vibration = 2
    obj.sinew.substeps = 3


def another_active(obj):
    other = bpy.data.objects.new("Other", None)
    bpy.context.scene.collection.objects.link(other)
    bpy.context.view_layer.objects.active = other


ENDS = {
    "goes on": goes_on,
    "deleted": lambda obj: bpy.data.objects.remove(obj),
    "deleted by hand": lambda obj: bpy.ops.object.delete(),
    "another active": another_active,
    "edited": lambda obj: bpy.ops.object.mode_set(mode="EDIT"),
    "turned off": lambda obj: setattr(obj.sinew, "enabled", False),
    "bake deleted": lambda obj: obj.sinew.property_unset("bake"),
    "prepared anew": lambda obj: setattr(obj.sinew.bake.vibrations[1], "frequency", 1.0),
    "played with": live.begin,
    "undone": lambda obj: [handler(None) for handler in bpy.app.handlers.undo_pre],
    "redone": lambda obj: [handler(None) for handler in bpy.app.handlers.redo_pre],
    "another file": lambda obj: bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True),
    "stopped": lambda obj: bpy.ops.sinew.stop_vibration(),
}


@pytest.mark.parametrize("what", ENDS)
def test_what_ends_it(played, what):
    ENDS[what](played)
    if what == "goes on":
        assert mode_playback.tick() == mode_playback.TICK and mode_playback.current() is not None
        bpy.context.workspace.sinew.property_unset("active_vibration")
        return
    drawn = mode_playback.current()
    assert drawn is None or drawn._seen(SimpleNamespace(space_data=object())) is None, "it is drawn no more"
    assert mode_playback.tick() is None and mode_playback.current() is None
    assert not bpy.ops.sinew.stop_vibration.poll()


def test_what_is_not_kept_whole_or_of_another_table_is_refused(found):
    store = FrameStore(frame_folders.live_path(found))
    arrays, about = store.read_cached("shapes")
    harms = (
        {"triangles": arrays["triangles"] + 10**6},
        {"shapes": arrays["shapes"] * np.float32(np.nan)},
        {"frequencies": arrays["frequencies"] * 1.01},
    )
    for harm in harms:
        store.write_cached("shapes", arrays | harm, about)
        with pytest.raises(mode_playback.StoreError, match="not on disk any more. Press Find Vibrations"):
            mode_playback.begin(found)
        assert mode_playback.current() is None
    store.write_cached("shapes", arrays, about)
    mode_playback.begin(found)
    (store.folder / "shapes.sinew").unlink()
    assert mode_playback.tick() == mode_playback.TICK, "what is drawn has been read"
    with pytest.raises(mode_playback.StoreError):
        mode_playback.begin(found)


def test_a_body_without_a_table_has_nothing_to_play(soft_body):
    with pytest.raises(mode_playback.StoreError, match="Press Find Vibrations"):
        mode_playback.begin(soft_body)


def test_a_bake_s_own_are_played_too(soft_body):
    soft_body.sinew.match_modes = 3
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert baking.has_frames(soft_body) and not frame_folders.live_path(soft_body).exists()
    assert len(mode_playback.shapes_of(soft_body).shapes) == 3


def test_the_shapes_of_a_bar_bend_its_free_end(found):
    shapes = mode_playback.shapes_of(found)
    far = np.linalg.norm(shapes.shapes, axis=2)
    ends = [far[:, np.abs(shapes.rest[:, 0] - x) < 1e-6].max(axis=1) for x in (0.0, 1.0)]
    assert far.max(axis=1) == pytest.approx(1.0, rel=1e-5), "as long as the bar"
    assert (ends[0] < 0.05).all() and (ends[1] > 0.9)[:2].all(), "pins are firm springs"
    assert math.isclose(*shapes.frequencies[:2], rel_tol=0.05), "it bends as easily both ways"


def test_the_child_finds_them_and_esc_stops_it(soft_body):
    from sinew.blender_addon.bake import background

    from ..bake.test_child import drain_until, in_child

    job_queue.begin(in_child(background.work_on(soft_body, "vibrations")))
    work = job_queue.current()
    drain_until(lambda: work.state.phase.phase == "subspace")
    assert work.order.mode == "vibrations" and 0.0 <= work.state.factor <= 1.0
    assert bpy.ops.sinew.stop_bake() == {"FINISHED"}
    drain_until(job_queue.is_idle)
    record = soft_body.sinew.bake
    assert not record.vibrations and not record.message and record.status == "NONE"
    job_queue.begin(in_child(background.work_on(soft_body, "vibrations")))
    drain_until(job_queue.is_idle)
    assert record.vibrations and record.match and not record.message and record.status == "NONE"
    mode_playback.shapes_of(soft_body)
