"""Surfaces that reduce a force field's strength behind them: Blender's *Absorption*.

A field acts on a point along the arm, the vector to the point from the nearest point of the field's source
(``FieldCoordinates.arms``). Each surface that the arm crosses transmits the fraction ``1 - absorption``, however often
it is crossed. `docs/design/forces.md` lists the differences to Blender.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...foundation.kernels.jit import parallel_kernel
from ...geometry.mesh.bounding_tree import BoundingTree, build_tree, element_boxes, refit
from ...geometry.mesh.closest_point import first_hit


class AbsorbingSurface:
    """Surface that absorbs force fields, at one time.

    Parameters
    ----------
    positions : (k,3) m
    triangles : (t,3), at least one
    absorption : fraction of a field's strength that is absorbed, 0 to 1
    like : the same surface at another time; its BVH is refitted instead of built again
    """

    def __init__(
        self,
        positions: np.ndarray,
        triangles: np.ndarray,
        absorption: float,
        like: AbsorbingSurface | None = None,
    ) -> None:
        self._corners = np.ascontiguousarray(positions[triangles], dtype=np.float64)
        self._kept = 1.0 - min(max(absorption, 0.0), 1.0)
        box = element_boxes(self._corners)
        self._tree: BoundingTree = build_tree(*box) if like is None else refit(like._tree, *box)

    def transmittance(self, points: np.ndarray, arms: np.ndarray) -> np.ndarray:
        """Return the fraction of a field's strength that passes the surface, per point, (p,).

        ``points`` (p,3) m. ``arms`` (p,3), m: vector from the field to each point.
        """
        if self._kept == 1.0:
            return np.ones(len(points))
        points = np.ascontiguousarray(points, dtype=np.float64)
        crossed = np.empty(len(points), dtype=np.bool_)
        _crossed_faces(len(points), points, points - arms, self._corners, self._tree, crossed)
        return np.where(crossed, self._kept, 1.0)


def transmittance(surfaces: Sequence[AbsorbingSurface], points: np.ndarray, arms: np.ndarray) -> np.ndarray:
    """Return the fraction of a field's strength that passes all ``surfaces``, per point, (p,).

    ``points`` (p,3) m. ``arms`` (p,3), m: vector from the field to each point.
    """
    part = np.ones(len(points))
    for surface in surfaces:
        part *= surface.transmittance(points, arms)
    return part


@parallel_kernel
def _crossed_faces(first, last, points, ends, corners, tree, crossed):
    for p in range(first, last):
        crossed[p] = first_hit(points[p], ends[p], corners, tree) >= 0
