"""Vibrations that an artist makes softer and stiffer: set, keyed and driven, in the table, in a comparison, live."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import baking
from sinew.blender_addon.blend_data.list_animation import curves_of
from sinew.blender_addon.live import live
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.blender_addon.scene_import.settings_in import compared
from sinew.blender_addon.setup import copying
from sinew.core.jobs.job.body import VIBRATION_STIFFNESS
from sinew.core.jobs.job.job_changes import details
from sinew.ui.vibrations import SINEW_UL_vibrations

from ..drawn import Drawn, drawn_by, panels_of
from ..live.live_driver import drain_until, playing
from ..scenes import CUBE


def panel(name):
    return next(cls for cls in panels_of("PHYSICS") if cls.bl_idname == f"PHYSICS_PT_sinew_{name}")


@pytest.fixture
def controlled(body):
    body.sinew.control_vibrations = True
    return body


def factors_of(obj):
    return make_job(obj, bpy.context).body.vibration_stiffness


def test_ones_by_default_and_nothing_where_it_is_off(controlled):
    factors = factors_of(controlled)
    assert factors.shape == (4, 20) and (factors == 1.0).all()
    controlled.sinew.control_vibrations = False
    controlled.sinew.vibrations.stiffness_1 = 0.5
    assert factors_of(controlled) is None


def test_it_stays_in_its_range_and_is_read_as_it_was_meant(controlled):
    settings = controlled.sinew
    for value, meant in ((0.01, VIBRATION_STIFFNESS[0]), (99.0, VIBRATION_STIFFNESS[1]), (0.3, 0.3)):
        settings.vibrations.stiffness_3 = value
        assert (factors_of(controlled)[:, 2] == meant).all()


def test_keys_and_drivers_are_read_at_every_frame(controlled):
    settings = controlled.sinew
    for frame, value in ((1, 1.0), (4, 0.1)):
        settings.vibrations.stiffness_2 = value
        assert controlled.keyframe_insert("sinew.vibrations.stiffness_2", frame=frame)
    for curve in (each for curves in curves_of(controlled) for each in curves):
        assert curve.data_path == "sinew.vibrations.stiffness_2"
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"
    driver = controlled.driver_add("sinew.vibrations.stiffness_4").driver
    driver.type, driver.expression = "SCRIPTED", "frame / 2"
    bpy.context.scene.frame_set(3)
    factors = factors_of(controlled)
    np.testing.assert_allclose(factors[:, 1], [1.0, 0.7, 0.4, 0.1], atol=1e-6)
    np.testing.assert_allclose(factors[:, 3], [0.5, 1.0, 1.5, 2.0], atol=1e-6)
    assert (np.delete(factors, (1, 3), axis=1) == 1.0).all() and bpy.context.scene.frame_current == 3


def test_settings_are_copied_without_keys(controlled, add_mesh):
    other, settings = add_mesh(*CUBE, name="Other"), controlled.sinew
    settings.vibrations.stiffness_5 = 3.0
    controlled.keyframe_insert("sinew.vibrations.stiffness_5", frame=1)
    assert "keyframes" in copying.copy_settings(controlled, other)
    assert other.sinew.control_vibrations and other.sinew.vibrations.stiffness_5 == 3.0


def test_a_body_that_is_not_matched_has_a_table_with_a_field_a_row(controlled, saved):
    settings = controlled.sinew
    settings.solver, settings.match_modes = "newton", 3
    assert "control_vibrations" in drawn_by(panel("solver")).properties
    assert bpy.ops.sinew.find_vibrations() == {"FINISHED"}
    record = settings.bake
    assert len(record.vibrations) == 3 and record.match.startswith("3 vibrations can be controlled; the first has")
    assert record.match in drawn_by(panel("solver")).labels
    drawn = drawn_by(panel("vibrations"))
    assert drawn.labels[:4] == ["", "Original Hz", "Changed Hz", "Stiffness"]
    settings.vibrations.stiffness_2 = 4.0
    hertz = []
    for k, each in enumerate(record.vibrations):
        row = Drawn()
        SINEW_UL_vibrations.draw_item(None, None, row, record, each, 0, None, "", k)
        assert row.labels[0] == str(k + 1) and row.properties == [f"stiffness_{k + 1}"]
        hertz.append([float(word) for word in row.labels[1:3]])
    np.testing.assert_allclose(np.divide(*np.transpose(hertz)), [1.0, 0.5, 1.0], rtol=0.01)
    settings.control_vibrations = False
    assert not drawn_by(panel("vibrations")).labels and not bpy.ops.sinew.find_vibrations.poll()


def test_a_bake_is_compared_with_one_without(controlled):
    settings = controlled.sinew
    settings.compare.solver = "OWN"
    job = make_job(controlled, bpy.context)
    assert "control_vibrations" in drawn_by(panel("compare")).properties
    assert compared(job, settings.compare, settings.solver).body.vibration_stiffness is not None
    settings.compare.control_vibrations = False
    without = compared(job, settings.compare, settings.solver)
    assert without.body.vibration_stiffness is None
    assert details("solver", job, without) == ["stiffness of vibrations was removed"]
    settings.control_vibrations = False
    assert "control_vibrations" not in drawn_by(panel("compare")).properties


def test_a_bake_moves_by_it_and_is_out_of_date_after_an_edit(controlled, saved):
    settings = controlled.sinew
    settings.solver, settings.modes = "subspace_mixed_fem", 4
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    store = baking.open_store(controlled)
    before = store.read(4)
    settings.vibrations.stiffness_1 = 0.1
    assert store.changes(make_job(controlled, bpy.context)) == ["solver (stiffness of vibrations)"]
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert np.abs(baking.open_store(controlled).read(4) - before).max() > 1e-5


def test_live_mode_follows_what_is_set_by_hand(soft_body, monkeypatch):
    settings = soft_body.sinew
    settings.control_vibrations = True
    session, asked = playing(soft_body), []
    note = session.work.note
    monkeypatch.setattr(session.work, "note", lambda event: (asked.append(event), note(event))[1])
    settings.vibrations.stiffness_1 = 0.1
    drain_until(lambda: session.edits.stiffness_differs)
    (command,) = (each for each in asked if type(each).__name__ == "SetStiffness")
    assert command.vibrations == [0.1] + 19 * [1.0] and session.pending == []
    drain_until(lambda: not session.state.out and not session.state.wishes)
    assert not session.state.message and not session.state.stale and live.is_outdated(session)
    settings.control_vibrations = False
    drain_until(lambda: session.pending == ["solver"])
    live.stop()


def test_live_mode_plays_what_is_keyed_as_it_is_keyed(soft_body):
    settings = soft_body.sinew
    settings.control_vibrations = True
    for frame, value in ((1, 1.0), (4, 0.2)):
        settings.vibrations.stiffness_1 = value
        soft_body.keyframe_insert("sinew.vibrations.stiffness_1", frame=frame)
    session = playing(soft_body)
    settings.vibrations.stiffness_1 = 5.0
    assert session.edits.new_stiffness(soft_body) is None and session.pending == []
    live.stop()
