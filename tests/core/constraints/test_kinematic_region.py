"""A kinematic region: what is inside it, and how points inside follow its surface."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from sinew.core.foundation.errors import PinError
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.mechanics.constraints.kinematic_region import KinematicRegion

from ..jobs import box_surface

SIZE = (1.0, 0.2, 0.2)


def box(cells=(20, 4, 4)):
    surface = box_surface(SIZE, cells)
    return SurfaceMesh(surface.positions - 0.5 * np.array(SIZE), surface.triangles)


def inner(count=200, margin=0.98):
    return np.random.default_rng(1).uniform(-0.5, 0.5, (count, 3)) * margin * np.array(SIZE)


def bent(X, angle):
    """Pure bending of a bar along x about y: a circular axis of the bar's length."""
    radius, turn = 1.0 / angle, angle * X[:, 0]
    return np.column_stack([(radius - X[:, 2]) * np.sin(turn), X[:, 1], radius - (radius - X[:, 2]) * np.cos(turn)])


def test_points_on_the_surface_are_inside():
    region = KinematicRegion("Bone", box())
    points = np.array([[0.5, 0.1, 0.1], [0.2, 0.1, 0.0], [0.5 + 1e-6, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert region.contains(points).tolist() == [True, True, False, True]


@pytest.mark.parametrize("bends", [False, True])
def test_rigid_motions_are_exact(bends):
    """Also beside a sample in which the surface bends."""
    surface, points = box(), inner()
    turn = Rotation.from_rotvec([1.0, -2.0, 0.5]).as_matrix()
    track = np.stack([surface.positions @ turn.T + 3.0, bent(surface.positions, 1.0 if bends else 1e-300)])
    moved = KinematicRegion("Bone", surface, track[: 1 + bends]).follow(points)
    assert np.abs(moved[0] - (points @ turn.T + 3.0)).max() <= 1e-12


def test_points_follow_bending():
    """Curvature k and thickness t cause an error of 0.12 k t² at most; harmonic coordinates cause 0.074 k t²."""
    surface, points, errors = box(), inner(), []
    for angle in (0.5, 1.0):
        region = KinematicRegion("Bone", surface, bent(surface.positions, angle))
        off = np.linalg.norm(region.follow(points)[0] - bent(points, angle), axis=1).max()
        errors.append(off / (angle * SIZE[1] ** 2))
    assert max(errors) <= 0.12, errors


def test_points_on_vertices_follow_them():
    surface = box()
    moved = bent(surface.positions, 1.0)
    found = KinematicRegion("Bone", surface, moved).follow(surface.positions)[0]
    assert np.abs(found - moved).max() <= 1e-6


def test_wrong_tracks_are_refused():
    surface = box()
    for positions, held, words in (
        (np.zeros((3, 5, 3)), None, "have shape"),
        (np.full((1, *surface.positions.shape), np.nan), None, "not a number"),
        (None, [True], "held"),
    ):
        with pytest.raises(PinError, match=words):
            KinematicRegion("Bone", surface, positions, held).over(3)
