"""Examples with muscles: each moves as its description says. All are coarser than shipped."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from sinew.blender_addon.scene_import.job_in import make_job
from sinew.core.simulation.frame_loop.group import simulate_group
from sinew.core.simulation.preparation.prepare import prepare

FEW = 8
"""Frames a second of examples in Statics, whose poses do not depend on time."""


def example_surfaces(name, cells, frames, **settings):
    """Return the surface (n,3) of the simulated example in each frame, and its triangles, with ``cells`` across."""
    bpy.ops.sinew.add_example(example=name)
    body = bpy.context.object
    body.sinew.cells_across, body.sinew.frame_end = cells, body.sinew.frame_start + frames
    for label, value in settings.items():
        setattr(body.sinew, label, value)
    job = make_job(body, bpy.context)
    prepared = prepare(job)
    found = [prepared.surface(one.state.positions, k) for k, (one,) in enumerate(simulate_group([job], [prepared]))]
    return found, job.body.surface.triangles


def volume(surface, triangles):
    a, b, c = np.moveaxis(surface[triangles], 1, 0)
    return np.einsum("ti,ti->", a, np.cross(b, c)) / 6.0


def test_the_arm_lifts_its_hand_and_bulges(saved):
    """The example with large cells, to the frame of full activation."""
    frames, _ = example_surfaces("curling_arm", 16, 34)
    X, hand = frames[0], np.argmin(frames[0][:, 1])
    front = np.abs(X[:, 2] - 0.15) < 0.03
    assert frames[-1][hand, 2] > min(frame[hand, 2] for frame in frames[:14]) + 0.15
    assert frames[-1][front, 1].min() < frames[8][front, 1].min() - 0.003


def test_the_worm_crawls_forward(saved):
    """Two waves move it by more than a centimetre each."""
    x = [surface[:, 0].mean() for surface in example_surfaces("crawling_worm", 24, 52)[0]]
    assert x[28] > x[4] + 0.01 and x[52] > x[28] + 0.01


def test_the_heart_shortens_with_each_beat(saved):
    heights = [np.ptp(surface[:, 2]) for surface in example_surfaces("beating_heart", 12, 30)[0]]
    assert min(heights[4:14]) < 0.93 * max(heights[14:24]) and min(heights[22:]) < 0.93 * max(heights[14:24])


def test_the_face_smiles_frowns_and_smirks(saved):
    """Both corners of the mouth rise by more than 6 mm in the smile, equally within 5 %; both brows lower by more than
    3 mm in the frown; in the smirk on the left the right corner moves by less than 5 % of the left one.
    """
    bpy.context.scene.render.fps = FEW
    frames, _ = example_surfaces("six_muscle_face", 14, 21, refine_factor=2.0)
    rest, smile, frown, smirk = (frames[k] for k in (0, 6, 13, 20))
    head = rest - (0.0, 0.0, 0.2)

    def moved(pose, place, side):
        near = np.argsort(np.linalg.norm(head - np.multiply(place, (side, 1.0, 1.0)), axis=1))[:12]
        return (pose[near] - rest[near]).mean(axis=0)

    corner, brow = (0.036, -0.078, -0.061), (0.030, -0.098, 0.047)
    left, right = (moved(smile, corner, side)[2] for side in (1.0, -1.0))
    assert min(left, right) > 0.006 and left == pytest.approx(right, rel=0.05)
    assert max(moved(frown, brow, side)[2] for side in (1.0, -1.0)) < -0.003
    assert all(moved(frown, corner, side)[2] < -0.003 for side in (1.0, -1.0))
    left, right = (np.linalg.norm(moved(smirk, corner, side)) for side in (1.0, -1.0))
    assert left > 0.006 and right < 0.05 * left


def test_the_tongue_protrudes_curls_and_bends_at_constant_volume(saved):
    """Its tip moves by more than 20 % of its length ahead, 20 % up and 10 % to its left, with the volume within 2 %."""
    bpy.context.scene.render.fps = FEW
    frames, triangles = example_surfaces("hydrostatic_tongue", 14, 23)
    rest, long, curled, aside = (frames[k] for k in (0, 7, 15, 23))
    length, tip = np.ptp(rest[:, 1]), np.argsort(rest[:, 1])[:30]
    ahead, up, left = ((pose[tip] - rest[tip]).mean(axis=0) / length for pose in (long, curled, aside))
    assert ahead[1] < -0.2 and abs(ahead[0]) < 0.02
    assert np.ptp(long[:, 1]) > 1.2 * length
    assert up[2] > 0.2 and left[0] > 0.1
    assert [volume(pose, triangles) / volume(rest, triangles) for pose in frames] == pytest.approx([1.0] * 24, abs=0.02)
