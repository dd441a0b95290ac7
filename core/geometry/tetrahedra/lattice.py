"""Draft method: tetrahedra of a body-centred cubic lattice of congruent cells that covers any surface.

Tets are kept if they contain a point of the surface (every triangle is sampled much finer than a cell), or if their
centroid lies inside by generalised winding number. Every part of the inside touches the surface: away from the surface
the winding number is a harmonic function, so no region of high values is surrounded by low values. A flood fill from
the tets at the surface thus finds the whole inside, and evaluates the winding number nowhere else. Finally tets are
added until, around every vertex, the kept tets are connected by faces. So no part hangs on an edge or a vertex only.

The lattice is centred on the body, so a mirror-symmetric body gets mirror-symmetric tets. The ends of its longest side
lie a quarter cell away from lattice planes. All geometry is in units of a cell: size and position of the body do not
matter.

A set of tets is an array ``masks`` of 12-bit masks, one per cell (:mod:`.lattice_cells`). A list of tets, ``cells``
(m,4), has rows (cell x, y, z, slot).
"""

from __future__ import annotations

import numpy as np

from ...foundation.errors import MeshError
from ...foundation.kernels.jit import inner_kernel, kernel
from ..mesh.surface_mesh import SurfaceMesh
from ..mesh.surface_samples import faces_with_area, sample_surface
from ..mesh.tet_mesh import TetMesh
from ..mesh.winding_number import WindingNumber
from .adaptive_refinement import refine
from .cut_cell_volume import volume_fractions
from .lattice_cells import add_tet, face_neighbour, has_tet, in_grid, locate, star_adjacency, star_tet, tet_corners
from .sizing_field import SizingField, is_finer
from .tet_count import MAX_TETS, expected_tets, measure_surface

SAMPLE_SPACING = 1.0 / 6.0
PADDING = 3
DIGITS = 9
"""Number of decimals to which positions, in cells, are rounded.

The rounding removes the small errors of converting a scene's unit of length to cells. So a face on a lattice plane
stays exactly on that plane in every unit of length.
"""
SHEET_FILL = 0.1
"""Fraction that is assumed filled in tets that a sheet crosses, since a sheet encloses no volume."""
LEAST_FILL = 1e-3
"""Least filled fraction of a tet, so that every vertex has mass. It adds at most 3e-4 of an ordinary body's mass."""


def lattice_tets(
    surface: SurfaceMesh, cells_across: int, fineness: np.ndarray | None = None, finest: float = 1.0
) -> TetMesh:
    """Return lattice tets that fill a surface, 12 per cubic cell.

    Parameters
    ----------
    surface : SurfaceMesh
        Valid (see ``SurfaceMesh.validate``). It may be open, non-manifold, self-intersecting or inside-out.
    cells_across : int, at least 2
        Number of cells along the longest side.
    fineness : (n,) or None
        Painted refinement per vertex, 0 to 1. Where it is 1, cells are smaller by the factor ``finest``.

    Returns
    -------
    TetMesh
        Every point of every triangle with an area lies in a tet. ``fill`` is computed by winding number.

    Raises
    ------
    MeshError
        No triangle has an area, or more than ``MAX_TETS`` tets would be needed.
    """
    triangles = faces_with_area(surface)
    used = surface.positions[triangles.ravel()]
    low, high = used.min(axis=0), used.max(axis=0)
    cell_side = float((high - low).max()) / (cells_across - 0.5)
    _refuse_too_many(surface, cells_across)

    centre = 0.5 * (low + high)
    extent = np.round((high - low) / cell_side, DIGITS)
    half = np.ceil(0.5 * extent).astype(np.int64) + PADDING
    # A sheet perpendicular to an axis would lie on a lattice plane, where it cuts few tets, so the lattice is shifted.
    middle = half + np.where(extent < 0.5, 0.25, 0.0)
    points = np.round((surface.positions - centre) / cell_side + middle, DIGITS)
    masks = np.zeros(2 * half + 1, dtype=np.uint16)

    samples = sample_surface(points, triangles, SAMPLE_SPACING)
    seen = np.einsum("sc,sci->si", samples.barycentric, points[triangles[samples.triangle]])
    _mark(masks, np.round(seen, DIGITS, out=seen))
    del seen
    winding = WindingNumber(points, triangles)
    border = masks.copy()
    _flood_inside(masks, winding)
    border |= _join_stars(masks)

    ids, lattice_points, tets = _collect(masks)
    lattice_points, at_border = 0.5 * lattice_points, _members(border, ids)
    if is_finer(fineness, finest):
        scaled = SurfaceMesh(points, triangles)
        size = SizingField.on(scaled, fineness, finest)
        lattice_points, tets, at_border = refine(lattice_points, tets, at_border, scaled, size, MAX_TETS)
    filled = _filled(lattice_points, tets, at_border, winding)
    return TetMesh((lattice_points - middle) * cell_side + centre, tets, *filled)


def _refuse_too_many(surface: SurfaceMesh, cells_across: int) -> None:
    measure = measure_surface(surface)
    if measure is None:
        return

    def expected(cells: int) -> float:
        return expected_tets(measure, "lattice", cells)

    if expected(cells_across) <= MAX_TETS:
        return
    smaller = next((cells for cells in range(cells_across - 1, 2, -1) if expected(cells) <= MAX_TETS), 2)
    raise MeshError(
        f"{cells_across} cells across would make about {expected(cells_across) / 1e6:.1f} million tetrahedra.",
        f"Set Cells Across to {smaller} or less.",
    )


def _flood_inside(masks: np.ndarray, winding: WindingNumber) -> None:
    """Add all tets inside the surface to the set ``masks``, by a flood fill from the tets in it."""
    tried = masks.copy()
    cells = _list(masks)
    while len(cells):
        cells, centroids = _untried_neighbours(cells, tried)
        cells = cells[winding.contains(centroids)]
        _add_all(masks, cells)


def _filled(
    points: np.ndarray, tets: np.ndarray, border: np.ndarray, winding: WindingNumber
) -> tuple[np.ndarray, np.ndarray]:
    """Return ``fill`` (m,) and ``middle`` (m,4) of :class:`TetMesh`, computed for border tets only."""
    fill, middle = np.ones(len(tets)), np.full((len(tets), 4), 0.25)
    parts = volume_fractions(points[tets[border]], winding)
    fill[border] = np.maximum(parts.fill, np.where(parts.sheet, SHEET_FILL, LEAST_FILL))
    middle[border] = parts.middle
    return fill, middle


def _members(masks: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return the mask (m,) bool of the tets ``12 * cell + slot`` that are in the set ``masks``."""
    return (masks.ravel()[ids // 12] >> (ids % 12).astype(np.uint16)) & 1 == 1


def _list(masks: np.ndarray) -> np.ndarray:
    """Return the tets in the set ``masks`` as sorted rows (cell x, y, z, slot), (m,4) int64."""
    flat = masks.ravel()
    occupied = np.flatnonzero(flat)
    row, slot = np.nonzero((flat[occupied, None] >> np.arange(12, dtype=np.uint16)) & 1)
    return np.column_stack([*np.unravel_index(occupied[row], masks.shape), slot]).astype(np.int64)


def _collect(masks: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the ids ``12 * cell + slot`` (m,), the doubled lattice points (n,3) and the tets (m,4) of a set."""
    cells = _list(masks)
    corners = _all_corners(cells)
    shape = 2 * np.array(masks.shape, dtype=np.int64) + 3
    keys = (corners[..., 0] * shape[1] + corners[..., 1]) * shape[2] + corners[..., 2]
    used, tets = np.unique(keys.ravel(), return_inverse=True)
    points = np.column_stack(np.unravel_index(used, tuple(shape))).astype(np.int64)
    ids = np.ravel_multi_index(tuple(cells[:, :3].T), masks.shape) * 12 + cells[:, 3]
    return ids, points, tets.reshape(-1, 4).astype(np.int32)


@kernel
def _mark(masks, points):
    """Add the tets that contain ``points`` (p,3), in units of cells, to the set ``masks``."""
    cell = np.empty(3, dtype=np.int64)
    for p in range(len(points)):
        slot = locate(points[p, 0], points[p, 1], points[p, 2], cell)
        add_tet(masks, cell, slot)


@kernel
def _add_all(masks, cells):
    for t in range(len(cells)):
        add_tet(masks, cells[t], cells[t, 3])


@kernel
def _all_corners(cells):
    """Return the corners (m,4,3) of the tets in a list, in doubled integer coordinates."""
    corners = np.empty((len(cells), 4, 3), dtype=np.int64)
    for t in range(len(cells)):
        tet_corners(cells[t, 0], cells[t, 1], cells[t, 2], cells[t, 3], corners[t])
    return corners


@kernel
def _untried_neighbours(cells, tried):
    """Return the untried face neighbours of tets, (k,4), and their centroids (k,3), in cells."""
    found = np.empty((4 * len(cells), 4), dtype=np.int64)
    centroids = np.empty((4 * len(cells), 3))
    corners = np.empty((4, 3), dtype=np.int64)
    cell = np.empty(3, dtype=np.int64)
    count = 0
    for t in range(len(cells)):
        tet_corners(cells[t, 0], cells[t, 1], cells[t, 2], cells[t, 3], corners)
        for opposite in range(4):
            slot = face_neighbour(corners, opposite, cell)
            if not in_grid(tried, cell) or has_tet(tried, cell, slot):
                continue
            add_tet(tried, cell, slot)
            found[count, 0], found[count, 1], found[count, 2], found[count, 3] = cell[0], cell[1], cell[2], slot
            count += 1
    for t in range(count):
        tet_corners(found[t, 0], found[t, 1], found[t, 2], found[t, 3], corners)
        for a in range(3):
            centroids[t, a] = (corners[0, a] + corners[1, a] + corners[2, a] + corners[3, a]) / 8.0
    return found[:count], centroids[:count]


@inner_kernel
def _bridge(kept, adjacent, path):
    """Write the fewest tets that connect two groups of kept tets around a vertex by faces to ``path``, and return their
    number.
    """
    parent = np.full(24, -2, dtype=np.int64)
    queue = np.empty(24, dtype=np.int64)
    head, tail = 0, 0
    for m in range(24):
        if kept[m]:
            parent[m] = -1
            queue[0] = m
            tail = 1
            break
    while head < tail:  # all tets of the first part are starts of the search
        for n in range(24):
            if adjacent[queue[head], n] and kept[n] and parent[n] == -2:
                parent[n] = -1
                queue[tail] = n
                tail += 1
        head += 1
    head = 0
    while head < tail:
        m = queue[head]
        head += 1
        for n in range(24):
            if not adjacent[m, n] or parent[n] != -2:
                continue
            if kept[n]:
                length = 0
                while parent[m] != -1:
                    path[length] = m
                    length += 1
                    m = parent[m]
                return length
            parent[n] = m
            queue[tail] = n
            tail += 1
    return 0


@inner_kernel
def _near_kept(masks, i, j, k):
    """Return True if the set ``masks`` has a tet near the lower corner or the centre of a cell."""
    for a in range(i - 1, i + 1):
        for b in range(j - 1, j + 1):
            for c in range(k - 1, k + 1):
                if masks[a, b, c]:
                    return True
    return False


@inner_kernel
def _join_star(masks, added, adjacent, vertex):
    """Add tets to a set until its tets around a lattice vertex are connected by faces. Return True if any is added."""
    kept = np.empty(24, dtype=np.bool_)
    path = np.empty(24, dtype=np.int64)
    cell = np.empty(3, dtype=np.int64)
    changed = False
    length = 1
    while length > 0:
        for m in range(24):
            slot = star_tet(vertex, m, cell)
            kept[m] = has_tet(masks, cell, slot)
        length = _bridge(kept, adjacent, path)
        for s in range(length):
            slot = star_tet(vertex, path[s], cell)
            add_tet(masks, cell, slot)
            add_tet(added, cell, slot)
            changed = True
    return changed


@kernel
def _join_stars(masks):
    """Add tets to a set until, around every vertex, its tets are connected by faces. Return the set of added tets."""
    added = np.zeros_like(masks)
    adjacent = star_adjacency()
    vertex = np.empty(3, dtype=np.int64)
    changed = True
    while changed:
        changed = False
        for i in range(1, masks.shape[0] - 1):
            for j in range(1, masks.shape[1] - 1):
                for k in range(1, masks.shape[2] - 1):
                    if not _near_kept(masks, i, j, k):
                        continue
                    for corner in range(2):
                        vertex[0], vertex[1], vertex[2] = 2 * i + corner, 2 * j + corner, 2 * k + corner
                        changed = _join_star(masks, added, adjacent, vertex) or changed
    return added
