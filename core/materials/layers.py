"""Layers: materials laid over the painted ones, within closed surfaces or by depth below the body's surface.

Layers are laid one after the other: in a tet that a layer covers by a part a, ``w <- (1 - a) w + a e_k``, so the later
one wins where both cover it wholly. What covers:

- a region holds the tets whose centroids lie inside it, by winding number;
- a depth covers the part of a tet, as far as that lies in the body, where it is so deep: a skin thinner than the tets
  counts by its share;
- a map on the surface is carried inward as paint is.

A layer that names several of them is where all of them are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..errors import MaterialError
from ..mesh.surface_depth import SurfaceDepth
from ..mesh.surface_mesh import SurfaceMesh
from ..mesh.tet_mesh import TetMesh
from ..mesh.winding_number import WindingNumber
from ..settings import DepthSettings
from .carrying import PROBES
from .layer import Layer


def lay_over(
    mesh: TetMesh,
    weights: np.ndarray,
    layers: Sequence[Layer],
    surface: SurfaceMesh | None,
    carry_map: Callable[[np.ndarray], np.ndarray],
) -> tuple[int, ...]:
    """Lay the layers over the weights (m,k) in place; indices of those that cover nothing.

    Parameters
    ----------
    surface : SurfaceMesh or None
        The body's, from which depth is measured.
    carry_map : carries a map (n,), 0 to 1, of the surface's vertices to the tets, (m,)
    """
    below = None
    empty = []
    for number, layer in enumerate(layers):
        if not 0 <= layer.material < weights.shape[1]:
            raise MaterialError(
                f"Layer {number} names material {layer.material} of {weights.shape[1]}.", "Choose its material again."
            )
        part = np.ones(len(weights))
        if layer.surfaces:
            part *= _inside(mesh, layer.surfaces)
        if layer.depth is not None:
            if surface is None:
                raise MaterialError("There is no surface to measure depth from.", "Give the body's surface.")
            below = below or SurfaceDepth(surface)
            part *= part_so_deep(mesh, below, layer.depth)
        if layer.map is not None:
            part *= carry_map(layer.map)
        if not part.any():
            empty.append(number)
        weights *= (1.0 - part)[:, None]
        weights[:, layer.material] += part
    return tuple(empty)


def _inside(mesh: TetMesh, surfaces: Sequence[SurfaceMesh]) -> np.ndarray:
    """Which tets have their centroid in any of the surfaces, (m,) bool."""
    origin = mesh.rest_positions.mean(axis=0)
    centroids = mesh.rest_positions[mesh.tets].mean(axis=1) - origin
    inside = np.zeros(len(centroids), dtype=bool)
    for surface in surfaces:
        surface.validate()
        inside |= WindingNumber(surface.positions - origin, surface.triangles).contains(centroids)
    return inside


def part_so_deep(mesh: TetMesh, below: SurfaceDepth, depth: DepthSettings) -> np.ndarray:
    """Part of each tet, of what of it lies in the body, that a depth covers, (m,)."""
    corners = mesh.rest_positions[mesh.tets]
    centroids = corners.mean(axis=1)
    deep = below.at(centroids)
    part = _cover(depth, deep)
    # Depth changes by no more than the way: tets that lie wholly on one side need no closer look.
    reach = np.linalg.norm(corners - centroids[:, None], axis=2).max(axis=1)
    mixed = np.flatnonzero((deep + reach > depth.depth) & (deep - reach < depth.depth + depth.fade))
    if len(mixed):
        probes = (PROBES @ corners[mixed]).reshape(-1, 3)
        at = below.at(probes).reshape(len(mixed), -1)
        inside = at >= 0.0
        count = inside.sum(axis=1)
        covered = (_cover(depth, at) * inside).sum(axis=1)
        part[mixed] = np.divide(covered, count, out=part[mixed], where=count > 0)
    return part


def _cover(depth: DepthSettings, depths: np.ndarray) -> np.ndarray:
    """How much a layer covers at depths in m (negative outside), 0 to 1, in the shape of ``depths``."""
    past = depths - depth.depth
    core = np.clip(past / depth.fade, 0.0, 1.0) if depth.fade > 0.0 else (past > 0.0).astype(np.float64)
    return core if depth.kind == "core" else 1.0 - core
