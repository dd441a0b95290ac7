"""Forms of a bake that engines play: few morph targets keep their tolerance, and a known skeleton is found again."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from sinew.core.foundation.errors import MeshError, SettingsError
from sinew.core.geometry.animation.frame_checks import check_frames, largest_distance
from sinew.core.geometry.animation.morph_targets import few_targets, one_per_frame
from sinew.core.geometry.animation.normal_targets import normal_targets
from sinew.core.geometry.animation.rigid_motions import fitted_motions
from sinew.core.geometry.animation.skinned_skeleton import INFLUENCES, skinned_skeleton

FRAMES = np.linspace(0.0, 1.0, 12)


def segments(count: int) -> np.ndarray:
    """Vertices (f,n,3) of a limb whose rigid segments bend and move apart, with a blend around each joint."""
    random = np.random.default_rng(3)
    rest = random.random((400, 3)) * (count, 0.5, 0.5)
    centres = np.arange(count) + 0.5
    weights = np.clip(5.0 * (1.0 - np.abs(rest[:, :1].clip(0.5, count - 0.5) - centres)) - 2.0, 0.0, 1.0)
    weights /= weights.sum(axis=1, keepdims=True)
    moved = np.zeros((len(FRAMES), *rest.shape))
    for w in weights.T:
        turns = Rotation.from_rotvec(FRAMES[:, None] * random.normal(size=3)).as_matrix()
        moved += w[:, None] * (rest @ turns.transpose(0, 2, 1) + FRAMES[:, None, None] * random.normal(size=3))
    return moved


@pytest.mark.parametrize("count", [2, 3, 4])
def test_a_known_skeleton_is_found_again(count):
    positions = segments(count)
    found = skinned_skeleton(positions, 0.01, count)
    assert found.weights.shape[1] == len(found.motions) == count
    assert largest_distance(positions, found.positions()) < 1e-6
    assert found.weights.min() >= 0.0 and np.abs(found.weights.sum(axis=1) - 1.0).max() < 1e-9
    far = positions + np.linspace(0.0, 1e3, len(FRAMES))[:, None, None]  # a long path costs no digits
    assert largest_distance(far, skinned_skeleton(far, 0.01, count).positions()) < 1e-6


def wave() -> np.ndarray:
    """Vertices (f,n,3) of a bar that is bent by a travelling wave, which no rigid bones play."""
    x, y, z = (g.ravel() for g in np.meshgrid(np.linspace(0.0, 1.0, 40), [0.0, 0.1], [0.0, 0.1], indexing="ij"))
    rest = np.column_stack([x, y, z])
    return rest + np.array([np.column_stack([0 * x, 0 * x, 0.1 * t * np.sin(6.0 * (x - t))]) for t in FRAMES])


def test_bones_are_added_until_the_tolerance_is_kept():
    positions = wave()
    found = skinned_skeleton(positions, 0.002)
    assert len(found.motions) > 4 and largest_distance(positions, found.positions()) <= 0.002
    assert np.count_nonzero(found.weights, axis=1).max() <= INFLUENCES
    few = largest_distance(positions, skinned_skeleton(positions, 0.002, 2).positions())
    assert few > 0.002


@pytest.mark.parametrize("make", [lambda: segments(3), wave], ids=["segments", "wave"])
def test_few_targets_keep_their_tolerance(make):
    positions, counts = make(), []
    for tolerance in (0.1, 1e-2, 1e-5):
        found = few_targets(positions, tolerance)
        assert largest_distance(positions, positions[0] + found.displacements()) <= tolerance
        assert found.weights.min() >= 0.0 and found.weights.max() <= 1.0  # importers clamp others
        counts.append(len(found.targets))
    assert counts == sorted(counts) and counts[0] < counts[-1] <= len(FRAMES)
    assert len(few_targets(positions, 0.1, 3).targets) == 3
    every = one_per_frame(positions)
    assert np.abs(positions[0] + every.displacements() - positions).max() < 1e-12


def test_blended_normals_are_those_of_the_frames():
    """A sheet that curls up: its targets alone have other normals than their blend."""
    x, y = (g.ravel() for g in np.meshgrid(np.linspace(0.0, 1.0, 9), np.linspace(0.0, 1.0, 5), indexing="ij"))
    k = np.arange(9 * 5).reshape(9, 5)
    quads = np.column_stack([k[:-1, :-1].ravel(), k[1:, :-1].ravel(), k[1:, 1:].ravel(), k[:-1, 1:].ravel()])
    triangles = np.vstack([quads[:, :3], quads[:, [0, 2, 3]]])
    angles = 2.0 * (FRAMES[:, None] + 1e-6) * x
    radii = 1.0 / (2.0 * FRAMES + 2e-6)
    sheet = np.array([np.column_stack([r * np.sin(a), y, r * (1.0 - np.cos(a))]) for r, a in zip(radii, angles)])
    found = few_targets(sheet, 1e-4)
    fitted = normal_targets(sheet[0], found.targets, found.weights, triangles)
    wanted = np.stack([-np.sin(angles), 0.0 * angles, np.cos(angles)], axis=2)
    inner = (x > 0.0) & (x < 1.0)  # elsewhere a vertex has the normal of half a facet
    shown = wanted[0] + np.tensordot(found.weights, fitted, axes=1)
    shown /= np.linalg.norm(shown, axis=2, keepdims=True)
    assert np.abs(shown - wanted)[:, inner].max() < 0.01


def test_rigid_motion_is_taken_out():
    positions = segments(1)
    motions = fitted_motions(positions[0], positions)
    moved = positions[0] @ motions[:, :3, :3].transpose(0, 2, 1) + motions[:, None, :3, 3]
    assert np.abs(moved - positions).max() < 1e-12
    still = np.tile(positions[0], (5, 1, 1))
    assert len(few_targets(still, 0.01).targets) == 0 and len(skinned_skeleton(still, 0.01).motions) == 1


def test_bad_input_is_refused():
    positions = wave()
    for tolerance in (0.0, -1.0, np.nan):
        for fit in (few_targets, skinned_skeleton):
            with pytest.raises(SettingsError, match="above 0"):
                fit(positions, tolerance)
    with pytest.raises(SettingsError, match="161 bones are asked for.*160 or less"):
        skinned_skeleton(positions, 0.01, 161)
    with pytest.raises(SettingsError, match="13 morph targets"):
        few_targets(positions, 0.01, 13)
    with pytest.raises(MeshError, match="two frames"):
        check_frames(positions[:1], [1])
    positions[3, 7, 1] = np.nan
    with pytest.raises(MeshError, match="vertex 7 at frame 4 is not a number"):
        check_frames(positions, range(1, 13))
