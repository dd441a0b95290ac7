"""Layers: materials laid over the painted ones, within closed surfaces or by depth below the body's surface.

Layers are laid one after the other: in a tet that a layer covers by a part a, ``w <- (1 - a) w + a e_k``, so the later
one wins where both cover it wholly. What covers:

- a region covers the part of a tet, as far as that lies in the body, that is inside it, by winding number (whole tets,
  by their centroids, make a bone of two cells that is parallel to the lattice 0.58 to 1.86 times as soft);
- a depth covers the part of a tet, as far as that lies in the body, where it is so deep: a skin thinner than the tets
  counts by its share;
- a map on the surface is carried inward as paint is.

A layer that names several of them is where all of them are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ...foundation.errors import MaterialError
from ...foundation.schema.settings import DepthSettings
from ...geometry.mesh.surface_depth import SurfaceDepth
from ...geometry.mesh.surface_mesh import SurfaceMesh
from ...geometry.mesh.tet_mesh import TetMesh
from .layer import Layer
from .surface_to_tet_transfer import PROBES

POINT = 1e-12
"""Width, m, of what counts as a point."""


class Laid(NamedTuple):
    """``empty``: indices of the layers that cover nothing; ``is_cut`` (m,) bool: tets that the sharp border of a region
    or of a depth divides.
    """

    empty: tuple[int, ...]
    is_cut: np.ndarray


def apply_layers(
    mesh: TetMesh,
    weights: np.ndarray,
    layers: Sequence[Layer],
    surface: SurfaceMesh | None,
    carry_map: Callable[[np.ndarray], np.ndarray],
) -> Laid:
    """Lay the layers over the weights (m,k) in place.

    Parameters
    ----------
    surface : SurfaceMesh or None
        The body's, from which depth is measured.
    carry_map : carries a map (n,), 0 to 1, of the surface's vertices to the tets, (m,)
    """
    below = None if surface is None or not layers else SurfaceDepth(surface)
    is_cut = np.zeros(len(weights), dtype=bool)
    empty = []
    for number, layer in enumerate(layers):
        if not 0 <= layer.material < weights.shape[1]:
            raise MaterialError(
                f"Layer {number} names material {layer.material} of {weights.shape[1]}.", "Choose its material again."
            )
        part = np.ones(len(weights))
        if layer.surfaces:
            part *= fraction_inside(mesh, layer.surfaces, below)
        if layer.depth is not None:
            if below is None:
                raise MaterialError("There is no surface to measure depth from.", "Give the body's surface.")
            part *= fraction_at_depth(mesh, below, layer.depth)
        if layer.depth is None or layer.depth.fade == 0.0:
            is_cut = (is_cut & (part < 1.0)) | ((part > 0.0) & (part < 1.0))
        if layer.map is not None:
            part *= carry_map(layer.map)
        if not part.any():
            empty.append(number)
        weights *= (1.0 - part)[:, None]
        weights[:, layer.material] += part
    return Laid(tuple(empty), is_cut)


def fraction_inside(mesh: TetMesh, surfaces: Sequence[SurfaceMesh], below: SurfaceDepth | None) -> np.ndarray:
    """Part of each tet, of what of it lies in the body, that lies in any of the closed surfaces, (m,)."""
    for surface in surfaces:
        surface.validate()
    regions = [SurfaceDepth(surface) for surface in surfaces]

    def deepest(points: np.ndarray) -> np.ndarray:
        return np.max([region.at(points) for region in regions], axis=0)

    centroids, reach = _extents(mesh)
    deep = deepest(centroids)
    mixed = np.flatnonzero(np.abs(deep) < reach)
    return _refined(
        (deep > 0.0).astype(np.float64), mixed, mesh, below, lambda probes, width: _sharp(deepest(probes), width)
    )


def fraction_at_depth(mesh: TetMesh, below: SurfaceDepth, depth: DepthSettings) -> np.ndarray:
    """Part of each tet, of what of it lies in the body, that a depth covers, (m,)."""
    centroids, reach = _extents(mesh)
    deep = below.at(centroids)
    # Depth changes by no more than the way: tets that lie wholly on one side need no closer look.
    mixed = np.flatnonzero((deep + reach > depth.depth) & (deep - reach < depth.depth + depth.fade))
    return _refined(
        _cover(depth, deep), mixed, mesh, below, lambda probes, width: _cover(depth, below.at(probes), width)
    )


def _extents(mesh: TetMesh) -> tuple[np.ndarray, np.ndarray]:
    """Centroids (m,3), and the distance of each one's farthest corner, (m,)."""
    corners = mesh.rest_positions[mesh.tets]
    centroids = corners.mean(axis=1)
    return centroids, np.linalg.norm(corners - centroids[:, None], axis=2).max(axis=1)


def _refined(
    part: np.ndarray,
    mixed: np.ndarray,
    mesh: TetMesh,
    below: SurfaceDepth | None,
    cover: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> np.ndarray:
    """Covered parts (m,), of the ``mixed`` tets by probes: their mean over those in the body, if any are. ``cover``
    takes probes (k,3) and the side of a cube as large as what each stands for, (k,), m.
    """
    if len(mixed):
        probes = (PROBES @ mesh.rest_positions[mesh.tets[mixed]]).reshape(-1, 3)
        inside = np.ones((len(mixed), len(PROBES)), dtype=bool)
        if below is not None:
            inside = below.at(probes).reshape(inside.shape) >= 0.0
        count = inside.sum(axis=1)
        width = np.repeat(np.cbrt(np.abs(mesh.volumes[mixed]) / len(PROBES)), len(PROBES))
        covered = (cover(probes, width).reshape(inside.shape) * inside).sum(axis=1)
        part[mixed] = np.divide(covered, count, out=part[mixed], where=count > 0)
    return part


def _sharp(past: np.ndarray, width: np.ndarray | float) -> np.ndarray:
    """Part of a cube of that width, m, that lies past a border, from how far its centre does, m. Counting centres alone
    misses a slab thinner than a cell by a seventh where it is parallel to the lattice.
    """
    return np.clip(0.5 + past / width, 0.0, 1.0)


def _cover(depth: DepthSettings, depths: np.ndarray, width: np.ndarray | float = POINT) -> np.ndarray:
    """How much a layer covers at depths in m (negative outside), 0 to 1, in the shape of ``depths``."""
    past = depths - depth.depth
    core = np.clip(past / depth.fade, 0.0, 1.0) if depth.fade > 0.0 else _sharp(past, width)
    return core if depth.kind == "core" else 1.0 - core
