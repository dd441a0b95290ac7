"""Phong projection of points on a surface, along normals that are interpolated between its vertices [Panozzo13].

[Panozzo13] Panozzo, Baran, Diamanti, Sorkine-Hornung 2013, "Weighted Averages on Surfaces Using Phong Projection".

A point y near the surface is ``sum_c b_c (x_c + s N_c)`` with the barycentric weights b in a triangle of the corners x
and their unit normals N, and a height s. Neighbouring triangles agree on their common edge, so that the projected point
and the normal vary continuously with y across edges and vertices. The nearest point jumps above a concave edge and
rests on a convex one.
"""

from __future__ import annotations

import numpy as np

from ...geometry.mesh.nearest_point import NearestPointSearch
from ...geometry.mesh.vertex_normals import vertex_normals

HOPS = 12
"""Largest number of triangles that a point is moved across from the nearest one."""

STEPS = 6
"""Newton steps in a triangle. The equation is bilinear in b and s; from the nearest point two suffice."""

ROUNDING = 1e-10
"""Error of a projected point relative to the edges of its triangle, and least barycentric weight within it."""

FARTHER = 2.0
"""Largest distance of a projected point, in distances of the nearest one. Beyond a fold, normals point elsewhere."""


def edge_neighbours(triangles: np.ndarray) -> np.ndarray:
    """Return the triangle across the edge opposite each corner, (t,3); -1 at open edges and where three meet."""
    edges = np.sort(np.stack([np.roll(triangles, -1, axis=1), np.roll(triangles, -2, axis=1)], axis=2), axis=2)
    flat = edges.reshape(-1, 2).astype(np.int64)
    key = flat[:, 0] * (int(triangles.max(initial=0)) + 1) + flat[:, 1]
    _keys, index, counts = np.unique(key, return_inverse=True, return_counts=True)
    order = np.argsort(index.ravel(), kind="stable")
    paired = order[(counts == 2)[index.ravel()[order]]].reshape(-1, 2)
    found = np.full(len(key), -1, dtype=np.int64)
    found[paired[:, 0]], found[paired[:, 1]] = paired[:, 1] // 3, paired[:, 0] // 3
    return found.reshape(-1, 3)


def project(
    points: np.ndarray, surface: np.ndarray, triangles: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the corners (p,3), the barycentric weights (p,3) and the unit normals (p,3) of the projected points.

    The nearest point stands in for a projection beyond an open edge, or much farther away.

    ``points`` (p,3), m. ``surface`` (k,3), m: vertices of the ``triangles`` (t,3).
    """
    at, neighbours = NearestPointSearch(surface, triangles).nearest(points), edge_neighbours(triangles)
    N = vertex_normals(surface, triangles)
    N /= np.maximum(np.linalg.norm(N, axis=1, keepdims=True), np.finfo(float).tiny)
    triangle, weights = at.triangles.copy(), at.weights.copy()
    own, b = at.triangles.copy(), at.weights.copy()
    left = np.arange(len(points))
    limit = FARTHER * np.linalg.norm(points - at.points, axis=1)
    for _ in range(HOPS):
        b[left], is_solved = _solved(points[left], surface[triangles[own[left]]], N[triangles[own[left]]], b[left])
        lowest = b[left].argmin(axis=1)
        is_inside = is_solved & (b[left, lowest] >= -ROUNDING)
        done = left[is_inside]
        away = np.linalg.norm(points[done] - np.einsum("pc,pci->pi", b[done], surface[triangles[own[done]]]), axis=1)
        edge = np.linalg.norm(surface[triangles[own[done], 1]] - surface[triangles[own[done], 0]], axis=1)
        done = done[away <= limit[done] + 1e-6 * edge]
        triangle[done], weights[done] = own[done], b[done]
        following = neighbours[own[left], lowest]
        continues = is_solved & ~is_inside & (following >= 0)
        left = left[continues]
        own[left], b[left] = following[continues], 1.0 / 3.0
        if not len(left):
            break
    corners = triangles[triangle].astype(np.int64)
    normals = np.einsum("pc,pci->pi", weights, N[corners])
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    return corners, weights, np.where(length > 0.0, normals / np.where(length > 0.0, length, 1.0), at.normals)


def _solved(y: np.ndarray, x: np.ndarray, N: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights (p,3) of points y in the triangles with the corners x and normals N, (p,3,3).

    Also return the mask (p,) of the points that were found. ``b`` (p,3): first guess.
    """
    n = np.einsum("pc,pci->pi", b, N)
    s = np.sum((y - np.einsum("pc,pci->pi", b, x)) * n, axis=1) / np.maximum(np.sum(n * n, axis=1), 1e-12)
    bound = ROUNDING * (np.linalg.norm(x[:, 1] - x[:, 0], axis=1) + np.linalg.norm(x[:, 2] - x[:, 0], axis=1))
    b, left = b.copy(), np.arange(len(y))
    with np.errstate(over="ignore", invalid="ignore"):  # a step at a focal point is unbounded; that point is not found
        for _ in range(STEPS):
            raised = x[left] + s[left, None, None] * N[left]
            r = y[left] - np.einsum("pc,pci->pi", b[left], raised)
            is_off = ~(np.linalg.norm(r, axis=1) <= bound[left])
            left, raised, r = left[is_off], raised[is_off], r[is_off]
            if not len(left):
                break
            a, c = raised[:, 1] - raised[:, 0], raised[:, 2] - raised[:, 0]
            n, across = np.einsum("pc,pci->pi", b[left], N[left]), np.cross(a, c)
            volume = np.sum(across * n, axis=1)
            volume[volume == 0.0] = np.inf
            u, v = np.sum(np.cross(r, c) * n, axis=1) / volume, np.sum(np.cross(a, r) * n, axis=1) / volume
            s[left] += np.sum(across * r, axis=1) / volume
            b[left] += np.column_stack([-u - v, u, v])
        r = y - np.einsum("pc,pci->pi", b, x + s[:, None, None] * N)
        return b, np.linalg.norm(r, axis=1) <= 1e2 * bound
