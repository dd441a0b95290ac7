"""Layers: materials on top of the painted ones, within closed surfaces or by depth below the body's surface.

Layers are applied in order. If a layer of material k covers the fraction a of a tet, the tet's weights w become
``(1 - a) w + a e_k``. So of several layers that cover a tet fully, the last wins. The fraction a is the product of up
to three factors:

- a region: the fraction of the tet that is inside the region, by winding number. Parts of the tet outside the body do
  not count. If whole tets were assigned by their centroids, a stiff bar, two cells thick and parallel to the lattice,
  would be 0.58 to 1.86 times as soft;
- a depth: the fraction of the tet in that depth range, so that a skin thinner than the tets gets a partial weight.
  Parts of the tet outside the body do not count;
- a map: the map's values on the surface, transferred like painted weights.
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
"""Edge length, m, of a cube so small that it stands for a point."""


class Laid(NamedTuple):
    """Result of applying the layers to m tets.

    ``empty``: indices of layers that cover no tet. ``is_cut`` (m,) bool: tets that a sharp border of a layer cuts. The
    border is the surface of a region, or the depth at which a layer with a depth range begins or ends. A layer that
    fades with depth has no sharp border there.
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
    """Apply ``layers`` in order to the material weights (m,k) of the tets, in place.

    Parameters
    ----------
    surface : SurfaceMesh or None
        The body's surface. Layers by depth need the surface. For regions, the surface decides which part of a tet is
        inside the body.
    carry_map : function that transfers a map, 0 to 1, from the surface's vertices, (n,), to the tets, (m,)
    """
    below = None if surface is None or not layers else SurfaceDepth(surface)
    extents = _Extents.of(mesh)
    is_cut = np.zeros(len(weights), dtype=bool)
    empty = []
    for number, layer in enumerate(layers):
        if not 0 <= layer.material < weights.shape[1]:
            raise MaterialError(
                f"Layer {number} uses material {layer.material}, counted from 0, but the number of materials is "
                f"{weights.shape[1]}.",
                "Choose the layer's material again.",
            )
        part = np.ones(len(weights))
        if layer.surfaces:
            part *= fraction_inside(mesh, layer.surfaces, below, extents)
        if layer.depth is not None:
            if below is None:
                raise MaterialError("A layer by depth needs the body's surface.", "Give the body's surface mesh.")
            part *= fraction_at_depth(mesh, below, layer.depth)
        if layer.depth is None or layer.depth.fade == 0.0:
            is_cut = (is_cut & (part < 1.0)) | ((part > 0.0) & (part < 1.0))
        if layer.map is not None:
            part *= carry_map(layer.map)
        if not part.any():
            empty.append(number)
        rows = np.flatnonzero(part)
        weights[rows] *= (1.0 - part[rows])[:, None]
        weights[rows, layer.material] += part[rows]
    return Laid(tuple(empty), is_cut)


class _Extents(NamedTuple):
    """Centroids of the tets, (m,3) m, and the distance from each centroid to the farthest corner, (m,) m."""

    centroids: np.ndarray
    reach: np.ndarray

    @classmethod
    def of(cls, mesh: TetMesh) -> _Extents:
        corners = mesh.rest_positions[mesh.tets]
        centroids = corners.mean(axis=1)
        return cls(centroids, np.linalg.norm(corners - centroids[:, None], axis=2).max(axis=1))

    def near(self, surface: SurfaceMesh) -> np.ndarray:
        """Return the mask (m,) of the tets whose sphere touches the bounding box of a surface."""
        low, high = surface.positions.min(axis=0), surface.positions.max(axis=0)
        reach = self.reach[:, None]
        return ((self.centroids + reach >= low) & (self.centroids - reach <= high)).all(axis=1)


def fraction_inside(
    mesh: TetMesh, surfaces: Sequence[SurfaceMesh], below: SurfaceDepth | None, extents: _Extents | None = None
) -> np.ndarray:
    """Return the fraction of each tet that is inside any of the closed ``surfaces``, (m,).

    Parts of the tet outside the body do not count. ``below`` measures depths below the body's surface, which decide
    which part of a tet is inside the body. If ``below`` is None, every tet counts entirely. ``extents``: those of the
    mesh, if known.
    """
    for surface in surfaces:
        surface.validate()
    regions = [SurfaceDepth(surface) for surface in surfaces]

    def deepest(points: np.ndarray) -> np.ndarray:
        return np.max([region.at(points) for region in regions], axis=0)

    extents = extents or _Extents.of(mesh)
    near = np.flatnonzero(np.any([extents.near(surface) for surface in surfaces], axis=0))
    deep = np.full(len(mesh.tets), -np.inf)
    if len(near):
        deep[near] = deepest(extents.centroids[near])
    mixed = np.flatnonzero(np.abs(deep) < extents.reach)
    return _refined(
        (deep > 0.0).astype(np.float64), mixed, mesh, below, lambda probes, width: _sharp(deepest(probes), width)
    )


def fraction_at_depth(mesh: TetMesh, below: SurfaceDepth, depth: DepthSettings) -> np.ndarray:
    """Return the mean weight of a layer with the depth range ``depth`` in each tet, (m,).

    Parts of the tet outside the body do not count. If the layer has no fade, the weight is the fraction of the tet in
    the depth range. ``below`` measures depths below the body's surface.
    """
    centroids, reach = _Extents.of(mesh)
    deep = below.at(centroids)
    # Depth is 1-Lipschitz: tets entirely on one side need no probes.
    mixed = np.flatnonzero((deep + reach > depth.depth) & (deep - reach < depth.depth + depth.fade))
    return _refined(
        _cover(depth, deep), mixed, mesh, below, lambda probes, width: _cover(depth, below.at(probes), width)
    )


def _refined(
    part: np.ndarray,
    mixed: np.ndarray,
    mesh: TetMesh,
    below: SurfaceDepth | None,
    cover: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> np.ndarray:
    """Return ``part`` (m,), the fraction of each tet that a layer covers, recomputed in the tets ``mixed``.

    The new fraction is the mean over the tet's sample points (``PROBES``) inside the body. ``cover`` takes the centres
    (k,3), m, and edge lengths (k,), m, of cubes, and returns the covered fraction (k,) of each cube.
    """
    if len(mixed):
        probes = (PROBES @ mesh.rest_positions[mesh.tets[mixed]]).reshape(-1, 3)
        inside = np.ones((len(mixed), len(PROBES)), dtype=bool)
        if below is not None:
            inside = below.at(probes).reshape(inside.shape) >= 0.0
        count = inside.sum(axis=1)
        volumes = TetMesh(mesh.rest_positions, mesh.tets[mixed]).volumes
        width = np.repeat(np.cbrt(np.abs(volumes) / len(PROBES)), len(PROBES))
        covered = (cover(probes, width).reshape(inside.shape) * inside).sum(axis=1)
        part[mixed] = np.divide(covered, count, out=part[mixed], where=count > 0)
    return part


def _sharp(past: np.ndarray, width: np.ndarray | float) -> np.ndarray:
    """Return the fraction of each cube, 0 to 1, beyond the sharp border of a layer.

    ``past``, m: signed distance of the cube's centre beyond the border. ``width``, m: edge length of the cube. Counting
    cubes by their centres would take a seventh of the volume from a thin slab parallel to the lattice.
    """
    return np.clip(0.5 + past / width, 0.0, 1.0)


def _cover(depth: DepthSettings, depths: np.ndarray, width: np.ndarray | float = POINT) -> np.ndarray:
    """Return the fraction of each cube, 0 to 1, that a layer with the depth range ``depth`` covers.

    ``depths``, m: depth of the cube's centre, negative outside the body. ``width``, m: edge length of the cube.
    """
    past = depths - depth.depth
    core = np.clip(past / depth.fade, 0.0, 1.0) if depth.fade > 0.0 else _sharp(past, width)
    return core if depth.kind == "core" else 1.0 - core
