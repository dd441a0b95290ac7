"""Pre-roll: frames that are simulated before the first and not shown."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.bake import baking
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.blender_addon.setup import forecasts
from sinew.core.jobs.job.job import Job

from ..scenes import keyed, prepared


@pytest.mark.parametrize("result", ["KEYS", "NODES", "CACHE"])
def test_the_shown_frames_are_those_of_an_earlier_start(body, saved, evaluated, result):
    keyed(body, "location", (-2, (0.0, 0.0, 0.0)), (4, (0.3, 0.0, 0.2)))
    body.sinew.result, body.sinew.solver, body.sinew.modes = result, "subspace_mixed_fem", 4
    body.sinew.frame_start = -2
    bpy.ops.sinew.bake()
    whole = {frame: evaluated(body, frame) for frame in range(-2, 5)}
    bpy.ops.sinew.delete_bake()
    body.sinew.frame_start, body.sinew.pre_roll = 1, 3
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    record = body.sinew.bake
    assert (record.status, record.frames, record.first_frame) == ("DONE", 4, 1) and baking.lost_words(body) == ""
    for frame in range(1, 5):
        assert np.abs(evaluated(body, frame) - whole[frame]).max() < 1e-6
    local = evaluated(body, 1) - evaluated(body, -2)
    assert np.ptp(local, axis=0).max() < 1e-5, "before the first frame its shape stays, on the moving object"
    assert np.abs(whole[1] - whole[-2] - (whole[1] - whole[-2]).mean(axis=0)).max() > 1e-4


def test_the_mesh_keeps_its_rest_shape(body, saved):
    """Through Edit Mode, too: a job made after the bake is that of before."""
    body.sinew.pre_roll = 2
    before = make_job(body, bpy.context).fingerprints()
    bpy.ops.sinew.bake()
    assert [block.name for block in body.data.shape_keys.key_blocks][:2] == ["Rest", "Frame 1"]
    for mode in ("EDIT", "OBJECT"):
        bpy.ops.object.mode_set(mode=mode)
    assert make_job(body, bpy.context).fingerprints() == before
    body.sinew.pre_roll = 3
    bpy.ops.sinew.check_bake()
    assert "frame range" in body.sinew.bake.stale


def test_a_bake_stopped_within_it_shows_nothing_yet(body, saved):
    from sinew.core.simulation.frame_loop import bake as library

    body.sinew.pre_roll = 3
    job, store = prepared(body)
    assert library.bake(job, store, until=-1) == "stopped" and store.frames() == [-2, -1]
    assert baking.put_result(body, bpy.context, "STOPPED", store) == 0
    assert body.data.shape_keys is None and bpy.ops.sinew.resume_bake() == {"FINISHED"}
    assert body.sinew.bake.frames == 4


def test_it_is_kept_with_the_job(body, saved, tmp_path):
    body.sinew.pre_roll = 5
    job = make_job(body, bpy.context)
    assert (job.frame_start, job.first_shown, job.frame_count) == (-4, 1, 9)
    job.save(tmp_path / "job.npz")
    assert Job.load(tmp_path / "job.npz").pre_roll == 5


def test_the_size_is_told_before_and_after(body, saved):
    assert forecasts.disk_words(body, bpy.context).endswith("kB")
    bpy.ops.sinew.bake()
    assert body.sinew.bake.size.endswith("kB")
