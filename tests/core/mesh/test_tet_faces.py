"""Faces between tets, and the boundary of what a plane leaves."""

import numpy as np
import pytest
from sinew.core.geometry.mesh.tet_faces import clip_plane_mask, tet_faces
from sinew.core.geometry.mesh.tet_mesh import TetMesh
from sinew.core.geometry.mesh.topology import boundary_triangles


def grid(n=4):
    """A block of n³ cells of six tets each around a diagonal: rest positions, tets."""
    axis = np.arange(n + 1)
    points = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3).astype(float)
    number = np.arange((n + 1) ** 3).reshape(n + 1, n + 1, n + 1)
    tets = []
    for path in ((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (1, 0, 2), (2, 1, 0)):
        step, corners = np.zeros(3, dtype=int), []
        for direction in (None, *path):
            if direction is not None:
                step[direction] += 1
            i, j, k = step
            corners.append(number[i : n + i, j : n + j, k : n + k].ravel())
        tets.append(np.column_stack(corners))
    tets = np.concatenate(tets)
    turned = TetMesh(points, tets).volumes < 0.0
    tets[turned] = tets[turned][:, [0, 2, 1, 3]]
    return points, tets


def as_set(triangles):
    """Triangles whatever corner comes first; their side counts."""
    least = triangles.argmin(axis=1)
    return {tuple(np.roll(t, -k)) for t, k in zip(triangles, least, strict=True)}


def test_each_face_is_there_once_and_points_out_of_its_first_tet():
    points, tets = grid()
    faces = tet_faces(tets)
    inside = faces.outer < len(tets)
    assert 4 * len(tets) == len(faces.triangles) + np.count_nonzero(inside)
    assert (faces.inner[inside] < faces.outer[inside]).all()
    x = points[faces.triangles]
    out = x.mean(axis=1) - points[tets[faces.inner]].mean(axis=1)
    assert (np.einsum("fi,fi->f", np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]), out) > 0.0).all()


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("flipped", [False, True])
def test_a_slice_shows_the_boundary_of_the_tets_behind_it(axis, flipped):
    points, tets = grid()
    kept = clip_plane_mask(points[tets].mean(axis=1), axis, 0.45, flipped)
    assert 0 < np.count_nonzero(kept) < len(tets)
    triangles, owners = tet_faces(tets).around(kept)
    assert as_set(triangles) == as_set(boundary_triangles(tets[kept]))
    assert kept[owners].all()
    assert (np.sort(tets[owners], axis=1)[:, None, :] == triangles[:, :, None]).any(axis=2).all()


def test_all_tets_show_their_boundary_and_none_shows_nothing():
    _points, tets = grid(2)
    faces = tet_faces(tets)
    assert as_set(faces.around(np.ones(len(tets), dtype=bool))[0]) == as_set(boundary_triangles(tets))
    assert len(faces.around(np.zeros(len(tets), dtype=bool))[0]) == 0


def test_the_plane_goes_from_the_first_tet_to_the_last():
    centroids = np.column_stack([np.linspace(-3.0, 5.0, 9), np.zeros(9), np.zeros(9)])
    counts = [np.count_nonzero(clip_plane_mask(centroids, 0, offset)) for offset in (0.0, 0.25, 0.5, 1.0)]
    assert counts == [1, 3, 5, 9]
    assert np.count_nonzero(clip_plane_mask(centroids, 0, 0.25, flipped=True)) == 7
