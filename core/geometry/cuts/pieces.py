"""Pieces of split solids: connected components, joined where they are slivers or never come apart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import connected_components

from ..mesh.surface_mesh import signed_volume
from ..mesh.winding_number import WindingNumber
from .seam_matching import CellFaces


def edge_components(faces: CellFaces) -> np.ndarray:
    """Return the component of each triangle, (t,): triangles of one solid that are connected over edges."""
    sides = np.concatenate([np.roll(faces.triangles, -k, axis=1)[:, :2] for k in range(3)])
    key = np.column_stack([np.tile(faces.cell, 3), np.sort(sides, axis=1)])
    edge, count = np.ravel(np.unique(key, axis=0, return_inverse=True)[1]), len(faces.cell)
    ends = np.tile(np.arange(count), 3), count + edge
    n = count + int(edge.max()) + 1
    return connected_components(scipy.sparse.coo_matrix((np.ones(len(edge)), ends), shape=(n, n)), False)[1][:count]


class Interfaces(NamedTuple):
    """Seams between pairs of pieces.

    Attributes
    ----------
    pairs : (i,2), pieces on both sides, the lower one first
    areas : (i,), m²
    is_free : (i,), True if the seam can come apart anywhere
    """

    pairs: np.ndarray
    areas: np.ndarray
    is_free: np.ndarray


class Pieces:
    """Groups of components that are joined one by one.

    ``component`` (t,): of each triangle. ``volumes`` (c,): of the components. ``opposite`` (t,): triangle on the other
    side of the seam, or -1. ``areas`` (t,). ``is_free`` (t,): True if the seam can come apart at a triangle.
    """

    def __init__(
        self, component: np.ndarray, volumes: np.ndarray, opposite: np.ndarray, areas: np.ndarray, is_free: np.ndarray
    ) -> None:
        self.label, self.volumes = component.copy(), volumes.copy()
        self._opposite, self._areas, self._is_free = opposite, areas, is_free

    def interfaces(self) -> Interfaces:
        """Return the seams between different pieces."""
        here = np.flatnonzero(self._opposite >= 0)
        pairs = np.sort(np.column_stack([self.label[here], self.label[self._opposite[here]]]), axis=1)
        is_between = pairs[:, 0] < pairs[:, 1]
        here, pairs = here[is_between], pairs[is_between]
        unique, index = np.unique(pairs, axis=0, return_inverse=True)
        index = np.ravel(index)
        areas = np.bincount(index, self._areas[here], minlength=len(unique))
        free = np.bincount(index, self._is_free[here], minlength=len(unique)) > 0.0
        return Interfaces(unique, areas, free)

    def join(self, pair: np.ndarray) -> None:
        """Join two pieces; the lower number stays."""
        low, high = sorted(map(int, pair))
        self.label[self.label == high] = low
        self.volumes[low] += self.volumes[high]
        self.volumes[high] = np.inf

    def join_glued(self) -> None:
        """Join pieces whose whole common seam never comes apart, the largest seam first."""
        while True:
            found = self.interfaces()
            glued = np.flatnonzero(~found.is_free)
            if not len(glued):
                return
            self.join(found.pairs[glued[found.areas[glued].argmax()]])

    def join_slivers(self, least: float) -> int:
        """Join pieces of less than ``least`` volume, m³, to the neighbour with the largest common seam.

        Returns the number of slivers. A sliver without a neighbour stays.
        """
        small = np.flatnonzero(self.volumes < least)
        count = 0
        for sliver in small[np.argsort(self.volumes[small], kind="stable")].tolist():
            if not self.volumes[sliver] < least:
                continue
            found = self.interfaces()
            beside = np.flatnonzero((found.pairs == sliver).any(axis=1))
            if len(beside):
                self.join(found.pairs[beside[found.areas[beside].argmax()]])
                count += 1
        return count

    def join_overlapping(self, positions: np.ndarray, faces: CellFaces, solid: np.ndarray, key: np.ndarray) -> None:
        """Join cavities to the pieces around them, and pieces that overlap on the same side of all dividers.

        ``positions`` (n,3), ``faces``: vertices and triangles. ``solid``, ``key`` (cells,): solid of the body, and the
        side of all dividers, of each cell.
        """
        parts = {int(k): np.flatnonzero(self.label == k) for k in np.unique(self.label)}
        if solid.max() == 0 and (self.volumes > 0.0).all():
            return
        boxes = {k: _box(positions[faces.triangles[part]].reshape(-1, 3)) for k, part in parts.items()}
        for a in (k for k in parts if self.volumes[k] > 0.0):
            around = WindingNumber(positions, faces.triangles[parts[a]])
            for b in parts:
                one, other = faces.cell[parts[a][0]], faces.cell[parts[b][0]]
                is_hollow = one == other and self.volumes[b] < 0.0
                if not is_hollow and (solid[one] == solid[other] or key[one] != key[other]):
                    continue
                if (boxes[a][0] > boxes[b][1]).any() or (boxes[b][0] > boxes[a][1]).any():
                    continue
                ends = {int(self.label[parts[k][0]]) for k in (a, b)}
                if len(ends) == 2 and around.contains(positions[np.unique(faces.triangles[parts[b]])]).any():
                    self.join(np.array(list(ends)))


def _box(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return points.min(axis=0), points.max(axis=0)


def component_volumes(positions: np.ndarray, faces: CellFaces, component: np.ndarray) -> np.ndarray:
    """Return the volume of each component, (c,), m³."""
    return np.array([signed_volume(positions, faces.triangles[component == k]) for k in range(component.max() + 1)])


def opposite_faces(faces: CellFaces) -> np.ndarray:
    """Return the triangle on the other side of the seam of each triangle, (t,); -1 on the outer surface."""
    found = np.full(len(faces.cell), -1)
    here = np.flatnonzero(faces.across >= 0)
    ends = np.sort(np.column_stack([faces.cell, faces.across])[here], axis=1)
    key = np.column_stack([ends, np.sort(faces.triangles[here], axis=1)])
    order = here[np.lexsort(key.T[::-1])].reshape(-1, 2)
    found[order[:, 0]], found[order[:, 1]] = order[:, 1], order[:, 0]
    return found
