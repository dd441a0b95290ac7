"""Smoothing domains: a partition of a mesh's tets into groups around common edges, which share one strain.

Linear tets with a strain each are too stiff in bending, torsion and volume; the mean strain of the tets around an edge
is not (smoothed FEM: Liu, Nguyen-Thoi and Lam, "An edge-based smoothed finite element method", J. Sound Vib. 320, 2009;
tets: Cazes and Meschke, "An edge-based smoothed finite element method for 3D", 2013). In the draft lattice the domains
are octahedra: the four tets around each edge between the centres of adjacent cells. In other meshes they are found
greedily.
"""

from __future__ import annotations

import numpy as np

from ...foundation.kernels.jit import kernel
from ..mesh.tet_mesh import TetMesh

EDGES = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
"""Corner pairs of a tet's edges."""

ON_LATTICE = 1e-6
"""Largest deviation of a lattice mesh's vertices from the lattice, in cells."""

MOST_TETS = 8
"""Number of free tets around an edge that make a domain in the first pass over the edges of other meshes."""

CONTRAST = 30.0
"""Ratio of moduli that no domain spans: their mean would stiffen the softer material."""


def smoothing_domains(mesh: TetMesh, moduli: np.ndarray, energy_index: np.ndarray) -> np.ndarray:
    """Return the index of each tet's smoothing domain, (m,), from 0 on. The tets of a domain have the same energy (m,),
    and positive ``moduli`` (m,k), Pa, that differ at most by the factor CONTRAST.
    """
    axes = _lattice_axes(mesh)
    found = _stars(mesh) if axes is None else axes[:, 0] * len(mesh.rest_positions) + axes[:, 1]
    star = np.unique(found, return_inverse=True)[1].ravel()
    largest = np.zeros((int(star.max()) + 1, moduli.shape[1]))
    np.maximum.at(largest, star, moduli)
    levels = np.floor(np.log(largest[star] / moduli) / np.log(CONTRAST)).astype(np.int64)
    return np.unique(np.column_stack([star, energy_index, levels]), axis=0, return_inverse=True)[1].ravel()


def _lattice_axes(mesh: TetMesh) -> np.ndarray | None:
    """Return for each tet the edge (m,2) between two cell centres, as ascending vertices, if the mesh is a part of the
    draft lattice (:mod:`.lattice_cells`) without painted refinement; else None.
    """
    volumes = mesh.volumes
    side = float(np.cbrt(12.0 * volumes.mean()))
    doubled = 2.0 * (mesh.rest_positions - mesh.rest_positions[0]) / side
    whole = np.round(doubled)
    # All coordinates of a vertex are even, or all are odd: cell corners and cell centres, in either order.
    odd = whole.astype(np.int64) % 2
    if np.abs(doubled - whole).max() > ON_LATTICE or (odd != odd[:, :1]).any():
        return None
    if not np.allclose(volumes, volumes.mean(), rtol=ON_LATTICE):
        return None
    at_centre = odd[mesh.tets, 0] != 0
    if (at_centre.sum(axis=1) != 2).any():
        return None
    return np.sort(mesh.tets[at_centre].reshape(-1, 2), axis=1).astype(np.int64)


def _stars(mesh: TetMesh) -> np.ndarray:
    """Return a domain index (m,) per tet: greedily, edges with the most tets first, the longest of these first."""
    ends = np.sort(mesh.tets[:, EDGES], axis=2).reshape(-1, 2).astype(np.int64)
    keys, edge = np.unique(ends[:, 0] * len(mesh.rest_positions) + ends[:, 1], return_inverse=True)
    first, second = keys // len(mesh.rest_positions), keys % len(mesh.rest_positions)
    lengths = np.linalg.norm(mesh.rest_positions[first] - mesh.rest_positions[second], axis=1)
    around = np.argsort(edge.ravel(), kind="stable")
    starts = np.searchsorted(edge.ravel()[around], np.arange(len(keys) + 1))
    # Rounded, so that edges of equal length keep their order in any unit and on any processor.
    order = np.argsort(-np.round(lengths / lengths.max(), 6), kind="stable")
    domain = np.full(len(mesh.tets), -1, dtype=np.int64)
    for least in range(MOST_TETS, 1, -1):
        _gather_stars(order, starts, around // len(EDGES), least, domain)
    single = np.flatnonzero(domain < 0)
    domain[single] = len(keys) + single
    return domain


@kernel
def _gather_stars(order, starts, tets, least, domain):
    """Write the edge to ``domain`` of the free tets around it, if they are at least ``least``, for the edges in
    ``order``.
    """
    for edge in order:
        count = 0
        for k in range(starts[edge], starts[edge + 1]):
            count += domain[tets[k]] < 0
        if count >= least:
            for k in range(starts[edge], starts[edge + 1]):
                if domain[tets[k]] < 0:
                    domain[tets[k]] = edge
