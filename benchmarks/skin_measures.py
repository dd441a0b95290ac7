"""Measures of the draft lattice's collision proxy: closed, free of self-intersections, close to the body."""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from ..core.contact.barrier.barrier_potential import Barrier
from ..core.contact.barrier.collision_mesh import CollisionMesh
from ..core.contact.proxy.collision_proxy import CollisionProxy, collision_proxy
from ..core.foundation.schema.settings import ResolutionSettings
from ..core.geometry.mesh.surface_depth import SurfaceDepth
from ..core.geometry.mesh.surface_mesh import SurfaceMesh
from ..core.geometry.mesh.surface_samples import sample_surface
from ..core.geometry.mesh.topology import boundary_triangles
from ..core.geometry.mesh.vertex_normals import face_normals
from ..core.geometry.tetrahedra.tetrahedralize import tetrahedralize
from .bodies import load
from .crossings import crossings

AT_REST = 0.05
"""Distance, in cells, at which a skin may not touch itself at rest."""
THICK = 0.5
"""Minimum thickness, in cells: diameter of a ball inside the body that touches the point, or comes as close to it as to
the corner of a cube.
"""
SPACING = 0.25
"""Spacing of the samples on the render surface, in cells."""


class Measured(NamedTuple):
    """Measures of one collision proxy; lengths in cells.

    ``unpaired``: directed edges without an opposite one; ``pinched``: vertices with more than one fan of faces;
    ``volume``; ``crossings`` of edges and faces; ``touching`` pairs at rest; ``lost``: fraction of the surface more
    than half a cell outside; ``near`` and ``farthest``: 95th percentile and maximum distance of thick parts, NaN
    without any; ``uneven``: deviation of the weights' sums from 1; ``seconds``: processor seconds, and the lattice's.
    """

    tets: int
    faces: int
    unpaired: int
    pinched: int
    volume: float
    crossings: int
    touching: int
    lost: float
    near: float
    farthest: float
    uneven: float
    seconds: float
    lattice_seconds: float
    skin: CollisionProxy


def recorded_surface(data: Path, name: str) -> SurfaceMesh:
    """Return the boundary of one of the papers' bodies."""
    body = load(data, name)
    return SurfaceMesh(body["vertices"], boundary_triangles(body["tets"]))


def measured(surface: SurfaceMesh, cells_across: int) -> Measured:
    """Create and measure the collision proxy of a draft lattice."""
    begin = time.process_time()
    mesh = tetrahedralize(surface, ResolutionSettings(method="lattice", cells_across=cells_across))
    between = time.process_time()
    skin = collision_proxy(surface, mesh)
    end = time.process_time()
    cell = surface.size / (cells_across - 0.5)
    lost, near, farthest = _fidelity(surface, skin, cell)
    off = np.abs(skin.carried @ mesh.rest_positions - skin.rest).max() / cell
    p = skin.rest[skin.faces] - skin.rest[0]
    return Measured(
        tets=len(mesh.tets),
        faces=len(skin.faces),
        unpaired=_unpaired(skin.faces),
        pinched=_pinched(skin.faces),
        volume=float(np.einsum("fi,fi->", p[:, 0], np.cross(p[:, 1], p[:, 2]))) / 6.0 / cell**3,
        crossings=len(crossings(skin.rest, skin.faces)),
        touching=_touching(skin, AT_REST * cell),
        lost=lost,
        near=near,
        farthest=farthest,
        uneven=float(max(np.abs(skin.carried.sum(axis=1) - 1.0).max(), off)),
        seconds=end - between,
        lattice_seconds=between - begin,
        skin=skin,
    )


def _unpaired(faces: np.ndarray) -> int:
    """Return the number of directed edges that are duplicate, or without an opposite one."""
    ways = faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    ways, counts = np.unique(ways, axis=0, return_counts=True)
    n = int(faces.max()) + 1
    there, back = ways[:, 0] * n + ways[:, 1], ways[:, 1] * n + ways[:, 0]
    return int((counts > 1).sum() + (~np.isin(back, there)).sum())


def _pinched(faces: np.ndarray) -> int:
    """Return the number of fans of faces beyond one per vertex, of a closed surface."""
    a, b = (faces[:, k].ravel().astype(np.int64) for k in ([0, 1, 2], [1, 2, 0]))
    here, there = a * (int(faces.max()) + 1) + b, b * (int(faces.max()) + 1) + a
    order = np.argsort(here)
    beyond = order[np.searchsorted(here[order], there).clip(max=len(order) - 1)]
    corners = np.arange(3 * len(faces)).reshape(-1, 3)
    at_a, at_b = corners.ravel(), corners[:, [1, 2, 0]].ravel()
    ends = np.concatenate([at_a, at_b]), np.concatenate([at_b[beyond], at_a[beyond]])
    graph = sp.coo_matrix((np.ones(len(ends[0])), ends), shape=(corners.size, corners.size))
    return int(connected_components(graph, directed=False)[0]) - len(np.unique(faces))


def _touching(skin: CollisionProxy, distance: float) -> int:
    count = len(skin.rest)
    one, free = np.zeros(count, dtype=int), np.zeros(count, dtype=bool)
    barrier = Barrier(CollisionMesh(skin.rest, skin.faces, one, free, (0,)), distance, 1.0, 0.0, 1.0)
    return len(barrier.normal_collisions(skin.rest))


def _fidelity(surface: SurfaceMesh, skin: CollisionProxy, cell: float) -> tuple[float, float, float]:
    """Return ``lost``, ``near``, ``farthest``, without inner surfaces, which lie within other parts of the body."""
    samples = sample_surface(surface.positions, surface.triangles, SPACING * cell)
    places = samples.interpolate(surface.positions, surface.triangles)
    normals = face_normals(surface.positions[surface.triangles])[samples.triangle]
    body = SurfaceDepth(surface)
    behind, before = (body.at(places + by * cell * normals) > 0.0 for by in (-1e-3, 1e-3))
    shown = ~(behind & before)
    depth = SurfaceDepth(SurfaceMesh(skin.rest, skin.faces)).at(places) / cell
    lost = float(samples.area[shown & (depth < -0.5)].sum() / samples.area[shown].sum())

    radius = 0.5 * THICK * cell
    solid = behind != before
    centres = (places + np.where(behind, -radius, radius)[:, None] * normals)[solid]
    centres = centres[body.at(centres) > 0.98 * radius]
    if len(centres) == 0:
        return lost, np.nan, np.nan
    thick = solid & (cKDTree(centres).query(places)[0] <= 3.0**0.5 * radius)
    away, area = np.abs(depth[thick]), samples.area[thick]
    order = np.argsort(away)
    share = np.cumsum(area[order]) / area.sum()
    return lost, float(away[order][np.searchsorted(share, 0.95)]), float(away.max())
