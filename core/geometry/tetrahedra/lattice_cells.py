"""Geometry of the body-centred cubic lattice's tetrahedra: numbering, corners, point location, neighbours.

The unit of length is the side of a cubic cell. Lattice vertices are the cells' corners and centres. Each tet is the
convex hull of the centres of two adjacent cells and one edge of the face between these cells. So there are 12 tets per
cell, all congruent (tetragonal disphenoids, the fundamental domain of the affine reflection group A3~). Neighbours
across a face are mirror images. [Conway, Burgiel, Goodman-Strauss, The Symmetries of Things, 2008, ch. 22.]

A tet is identified by a pair (cell, slot) with slot = 4 * axis + 2 * which + side. The square face between ``cell`` and
the next cell along ``axis`` has four edges, one for each tet. ``which`` (0 or 1) selects another axis, with the number
``axis + 1 + which`` modulo 3. The tet's edge is the face's edge with the lowest (``side`` 0) or highest (``side`` 1)
coordinate on that other axis. Lattice points have doubled integer coordinates: all even at corners, all odd at centres.
A set of tets is a 3D grid ``masks`` of 12-bit masks of slots, one uint16 per cell.
"""

from __future__ import annotations

import numpy as np

from ...foundation.kernels.jit import inner_kernel


@inner_kernel
def tet_corners(i, j, k, slot, corners):
    """Write the corners of a lattice tet to ``corners`` (4,3), in positive orientation.

    The corners are in doubled integer coordinates, twice the position in cells.

    ``i``, ``j``, ``k``: indices of the cell.
    ``slot``: number of the tet in the cell, 0 to 11.
    """
    axis = slot // 4
    across = (axis + 1 + (slot // 2) % 2) % 3
    along = 3 - axis - across
    corners[0, 0] = corners[1, 0] = 2 * i + 1
    corners[0, 1] = corners[1, 1] = 2 * j + 1
    corners[0, 2] = corners[1, 2] = 2 * k + 1
    corners[1, axis] += 2
    for c in range(2, 4):
        corners[c, axis] = corners[0, axis] + 1
        corners[c, across] = corners[0, across] - 1 + 2 * (slot % 2)
    # If (axis, across, along) is right-handed and the edge is on the upper side, a positive tet's edge runs upwards.
    upwards = ((across - axis) % 3 == 1) == (slot % 2 == 1)
    corners[2, along] = corners[0, along] + (-1 if upwards else 1)
    corners[3, along] = corners[0, along] + (1 if upwards else -1)


@inner_kernel
def locate(x, y, z, cell):
    """Find the tet that contains a point.

    Write the indices of the tet's cell to ``cell`` (3,). Return the number of the tet within the cell (slot), 0 to 11.

    ``x``, ``y``, ``z``: the point, in units of cells.
    """
    u = np.empty(3)
    p = (x, y, z)
    for a in range(3):
        cell[a] = int(np.floor(p[a]))
        u[a] = p[a] - cell[a] - 0.5
    axis = 0
    for a in range(1, 3):
        if abs(u[a]) > abs(u[axis]):
            axis = a
    b, c = (axis + 1) % 3, (axis + 2) % 3
    which = 0 if abs(u[b]) >= abs(u[c]) else 1
    across = b if which == 0 else c
    side = 1 if u[across] > 0.0 else 0
    if u[axis] <= 0.0:
        cell[axis] -= 1
    return 4 * axis + 2 * which + side


@inner_kernel
def in_grid(masks, cell):
    """Return True if a cell lies within the grid ``masks``.

    ``cell`` (3,): indices of the cell.
    """
    inside = True
    for a in range(3):
        inside = inside and 0 <= cell[a] < masks.shape[a]
    return inside


@inner_kernel
def has_tet(masks, cell, slot):
    """Return True if the set ``masks`` contains a tet.

    The result is False for a cell outside the grid.

    ``cell`` (3,): indices of the cell.
    ``slot``: number of the tet in the cell, 0 to 11.
    """
    return in_grid(masks, cell) and (masks[cell[0], cell[1], cell[2]] >> slot) & 1 == 1


@inner_kernel
def add_tet(masks, cell, slot):
    """Add a tet to the set ``masks``.

    ``cell`` (3,): indices of the cell.
    ``slot``: number of the tet in the cell, 0 to 11.
    """
    masks[cell[0], cell[1], cell[2]] |= np.uint16(1 << slot)


@inner_kernel
def face_neighbour(corners, opposite, cell):
    """Find a tet's neighbour across a face.

    Write the indices of the neighbour's cell to ``cell`` (3,). Return the number of the neighbour within the cell
    (slot), 0 to 11. The neighbour is the tet that contains a point slightly beyond the face's middle.

    ``corners`` (4,3): the tet's corners in doubled coordinates, twice the position in cells.
    ``opposite``: corner opposite to the face, 0 to 3.
    """
    p = np.zeros(3)
    for a in range(3):
        middle = 0.0
        for c in range(4):
            if c != opposite:
                middle += corners[c, a] / 6.0
        p[a] = middle + 0.1 * (middle - 0.5 * corners[opposite, a])
    return locate(p[0], p[1], p[2], cell)


@inner_kernel
def star_tet(vertex, member, cell):
    """Find one of the 24 tets around a lattice vertex.

    Write the indices of the tet's cell to ``cell`` (3,). Return the number of the tet within the cell (slot), 0 to 11.

    ``vertex`` (3,): twice the vertex's position in cells, whole numbers.
    ``member``: number of the tet, 0 to 23. It encodes two axes and the direction along each. The tet contains a point
    displaced from the vertex along both axes, farther along the first one.
    """
    p = 0.5 * vertex.astype(np.float64)
    axis, rest = member // 8, member % 8
    second = (axis + 1 + rest // 4) % 3
    p[axis] += 0.3 if (rest // 2) % 2 == 1 else -0.3
    p[second] += 0.2 if rest % 2 == 1 else -0.2
    return locate(p[0], p[1], p[2], cell)


@inner_kernel
def star_adjacency():
    """Return the face adjacency (24,24) bool of the tets around a lattice vertex.

    Adjacent tets have three common corners.
    """
    corners = np.empty((24, 4, 3), dtype=np.int64)
    cell = np.empty(3, dtype=np.int64)
    vertex = np.full(3, 9, dtype=np.int64)
    for m in range(24):
        slot = star_tet(vertex, m, cell)
        tet_corners(cell[0], cell[1], cell[2], slot, corners[m])
    adjacent = np.zeros((24, 24), dtype=np.bool_)
    for m in range(24):
        for n in range(24):
            common = 0
            for c in range(4):
                for d in range(4):
                    same = True
                    for a in range(3):
                        same = same and corners[m, c, a] == corners[n, d, a]
                    common += same
            adjacent[m, n] = common == 3
    return adjacent
