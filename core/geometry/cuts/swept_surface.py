"""Surface that a moving cutter sweeps, its signed distance, and the time at which it passes a point.

A swept surface consists of the cutter's faces at every frame and of the quads that its border edges sweep between two
frames. The signed distance is ``phi = (p - q) . n``, with the point q of the surface nearest to p and the normal n
there [Baerentzen, Aanaes 2005]. Beyond the border of an open surface, phi is the distance from its tangential
extension, so the sign of phi splits all of space. The sign at a closed cutter that stands still is that of its winding
number.

A blade is a mesh with faces, open or flat. A flat closed blade is projected onto its best plane in every frame. A wire
is a mesh of edges without faces.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...foundation.errors import CutError
from ..mesh.nearest_point import NearestPointSearch
from ..mesh.surface_samples import proper_triangles
from ..mesh.topology import open_edges
from ..mesh.vertex_normals import face_normals, vertex_normals
from ..mesh.winding_number import WindingNumber
from .cutter import Cutter

FLAT = 0.2
"""Ratio of the smallest to the middle extent up to which a closed cutter counts as a flat blade."""
FACING = 0.1
"""Cosine between a face of a flat blade and its plane's normal above which the face counts as its upper side."""
STILL = 1e-6
"""Motion relative to the cutter's size up to which a cutter stands still."""
NOISE = 1e-5
"""Width relative to the cutter's size up to which the quad that an edge sweeps is left out.

The edge moves along itself, and the quad is round-off: positions in Blender have 32 bits.
"""
SAME_PASS = 0.02
"""Difference of distances, in reaches, up to which two passes of a cutter are at the same point."""
ALONG = 0.5
"""Cosine between a blade and the surface that it sweeps; below, it moves along its normal and sweeps a volume."""


@dataclass(frozen=True)
class SweptSurface:
    """Surface that a cutter sweeps.

    Attributes
    ----------
    positions : (p,3), vertices
    triangles : (t,3), faces with an area, oriented consistently
    frames : (p,), frame in which the cutter is at each vertex
    intervals : (t,), index of the interval between two samples in which the cutter is at each face
    is_closed : True for a closed cutter that stands still
    """

    positions: np.ndarray
    triangles: np.ndarray
    frames: np.ndarray
    intervals: np.ndarray
    is_closed: bool

    @cached_property
    def _search(self) -> NearestPointSearch:
        return NearestPointSearch(self.positions, self.triangles)

    def distances(self, points: np.ndarray) -> np.ndarray:
        """Return the unsigned distances (p,) of ``points`` (p,3)."""
        return np.linalg.norm(points - self._search.nearest(points).points, axis=1)

    def values(self, points: np.ndarray) -> np.ndarray:
        """Return the signed distances (p,) of ``points`` (p,3); negative inside a closed surface."""
        if self.is_closed:
            inside = WindingNumber(self.positions, self.triangles).contains(points)
            return self.distances(points) * np.where(inside, -1.0, 1.0)
        near = self._search.nearest(points)
        shared = np.einsum("pc,pci->pi", near.weights, self._vertex_normals[self.triangles[near.triangles]])
        on_border = (near.weights <= 0.0).any(axis=1)
        return np.einsum("pi,pi->p", points - near.points, np.where(on_border[:, None], shared, near.normals))

    @cached_property
    def _vertex_normals(self) -> np.ndarray:
        normals = vertex_normals(self.positions, self.triangles)
        length = np.linalg.norm(normals, axis=1, keepdims=True)
        return normals / np.where(length > 0.0, length, 1.0)

    def cut_frames(self, points: np.ndarray, reach: float) -> np.ndarray:
        """Return the first frame in which the cutter is at each point, (p,); inf where it never is.

        ``points`` (p,3): on the surface or its extension. ``reach``: distance up to which a point is on the surface.
        """
        away = self.distances(points)
        found = np.full(len(points), np.inf)
        waiting = np.flatnonzero(away <= reach)
        for interval in np.unique(self.intervals):
            faces = self.triangles[self.intervals == interval]
            near = NearestPointSearch(self.positions, faces).nearest(points[waiting])
            arrived = np.linalg.norm(points[waiting] - near.points, axis=1) <= away[waiting] + SAME_PASS * reach
            at = self.frames[faces[near.triangles]]
            times = np.clip(np.einsum("pc,pc->p", near.weights, at), at.min(axis=1), at.max(axis=1))
            found[waiting[arrived]] = times[arrived]
            waiting = waiting[~arrived]
            if not len(waiting):
                break
        return found


def sweep(cutter: Cutter) -> SweptSurface:
    """Return the surface that a cutter sweeps.

    Raises CutError if the cutter is a wire that stands still, or sweeps a volume.
    """
    X, frames, T = cutter.positions, cutter.frames, cutter.triangles.astype(np.int64)
    size = float(np.ptp(X[0], axis=0).max())
    if float(np.ptp(X, axis=0).max(initial=0.0)) <= STILL * size:
        X, frames = X[:1], frames[:1]
    is_closed = len(T) > 0 and not len(open_edges(T))
    if is_closed and (len(X) > 1 or _extents(X[0])[0] <= FLAT * _extents(X[0])[1]):
        X, T = _flattened(cutter.name, X, T)
        is_closed = False
    count, k = len(X), X.shape[1]
    ribbons, intervals = _ribbons(cutter, X, T)
    blades = (T[None] + k * np.arange(count)[:, None, None]).reshape(-1, 3)
    triangles = np.concatenate([blades, ribbons])
    intervals = np.concatenate([np.repeat(np.arange(count), len(T)), intervals])
    P = X.reshape(-1, 3)
    proper = proper_triangles(P, triangles)
    if not len(proper):
        raise CutError(f"The cutter “{cutter.name}” sweeps no surface.", "Animate the wire, or give the cutter faces.")
    return SweptSurface(P, triangles[proper], np.repeat(frames, k), intervals[proper], is_closed)


def _extents(points: np.ndarray) -> np.ndarray:
    """Return the extents of points (k,3) along their principal axes, ascending."""
    centred = points - points.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1]
    return np.sort(np.ptp(centred @ axes, axis=0))


def _flattened(name: str, X: np.ndarray, T: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return positions (f,k,3) of a flat closed blade on its best plane, and the triangles of its upper side."""
    low, middle, _ = _extents(X[0])
    if low > FLAT * middle:
        raise CutError(
            f"The cutter “{name}” is closed, thick and moves, so it sweeps a volume.",
            "Use a thin blade, a mesh of edges, or a cutter that stands still.",
        )
    centred = X - X.mean(axis=1, keepdims=True)
    normals = np.array([np.linalg.eigh(each.T @ each)[1][:, 0] for each in centred])
    for before, normal in zip(normals, normals[1:]):
        normal *= 1.0 if before @ normal >= 0.0 else -1.0
    flat = X - np.einsum("fki,fi->fk", centred, normals)[..., None] * normals[:, None]
    upper = np.einsum("ti,i->t", face_normals(X[0][T]), normals[0]) > FACING
    return flat, T[upper]


def _ribbons(cutter: Cutter, X: np.ndarray, T: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the triangles that edges sweep between samples, (r,3), and their intervals, (r,).

    The edges are those at the border of faces, and wires. A ribbon has the orientation of the face at its edge, and
    that of a wire the orientation of the ribbon before it: a saw that returns does not turn its surface around.
    """
    sides = np.concatenate([np.roll(T, -k, axis=1)[:, :2] for k in range(3)])
    of_face = np.tile(np.arange(len(T)), 3)
    is_border = ~np.isin(_codes(sides), _codes(sides[:, ::-1]))
    edges = np.concatenate([sides[is_border], _chained(cutter.edges)])
    of_face, k = of_face[is_border], X.shape[1]
    blades = len(of_face)
    triangles, before, areas = [], np.zeros((len(edges) - blades, 3)), np.zeros(2)
    for f in range(len(X) - 1):
        (p, q), (r, s) = (X[f + g, edges].transpose(1, 0, 2) for g in (0, 1))
        normals = np.cross(s - p, r - q)
        swept, length = np.linalg.norm(normals, axis=1), np.linalg.norm(q - p, axis=1)
        kept = swept > NOISE * length * np.ptp(X[f], axis=0).max()
        along = np.einsum("ei,ei->e", normals, np.concatenate([face_normals(X[f][T[of_face]]), before]))
        sign = np.where(along < 0.0, -1, 1)
        own = kept[:blades]
        areas += (
            swept[:blades][own].sum(),
            swept[:blades][own & (np.abs(along[:blades]) < ALONG * swept[:blades])].sum(),
        )
        moved = kept[blades:]
        before[moved] = (normals * (sign / np.maximum(swept, np.finfo(float).tiny))[:, None])[blades:][moved]
        a, b = edges + f * k, edges + (f + 1) * k
        both = np.stack([np.column_stack([a, b[:, 1]]), np.column_stack([a[:, 0], b[:, 1], b[:, 0]])], axis=1)
        triangles.append(np.where((sign < 0)[:, None, None], both[:, :, ::-1], both)[kept].reshape(-1, 3))
    if areas[1] > 0.5 * areas[0]:
        raise CutError(
            f"The cutter “{cutter.name}” moves along its normal, so it sweeps a volume.",
            "Move it along its faces, or use a mesh of edges, which cut as a wire.",
        )
    if not triangles:
        return np.empty((0, 3), dtype=np.int64), np.empty(0, dtype=np.int64)
    return np.concatenate(triangles), np.repeat(np.arange(len(triangles)), list(map(len, triangles)))


def _codes(pairs: np.ndarray) -> np.ndarray:
    return pairs[:, 0].astype(np.int64) << 32 | pairs[:, 1].astype(np.int64)


def _chained(edges: np.ndarray) -> np.ndarray:
    """Return edges (e,2) turned so that those of a chain run in one direction."""
    left = [tuple(edge) for edge in np.asarray(edges).reshape(-1, 2).tolist()]
    found: list[tuple[int, int]] = []
    while left:
        found.append(left.pop(0))
        ends = [found[-1]]
        while ends:
            a, b = ends.pop()
            for edge in [each for each in left if a in each or b in each]:
                left.remove(edge)
                u, v = edge
                found.append((u, v) if v == a or u == b else (v, u))
                ends.append(found[-1])
    return np.array(found, dtype=np.int64).reshape(-1, 2)
