"""Smoothing domains: a partition of a mesh's tets into groups of tets around a common edge.

All tets of a group have the same strain, the mean of their strains. Linear tets that each have their own strain are too
stiff in bending, torsion and volume; elements with mean strains are not (smoothed FEM: Liu, Nguyen-Thoi and Lam, "An
edge-based smoothed finite element method", J. Sound Vib. 320, 2009; tets: Cazes and Meschke, "An edge-based smoothed
finite element method for 3D", 2013). In the draft lattice the domains are octahedra: the four tets around each edge
between the centres of adjacent cells. In other meshes a greedy algorithm selects the edges.
"""

from __future__ import annotations

import numpy as np

from ...foundation.kernels.jit import kernel
from ..mesh.tet_mesh import TetMesh

EDGES = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
"""Corner pairs of a tet's edges."""

ON_LATTICE = 1e-6
"""Largest deviation of a lattice mesh's vertices from the lattice, in cells."""

MOST_TETS = 9
"""Least number of tets that the greedy algorithm (:func:`_stars`) groups into a smoothing domain in its first pass. The
tets surround a common edge, and belong to no domain yet. Each later pass needs one tet less. All tets of a domain share
one strain.
"""

CONTRAST = 30.0
"""Largest ratio of the moduli of two tets in a smoothing domain, a group of tets that share one strain. A domain gets
the mean modulus of its tets, which would stiffen the softer material too much if the ratio were larger.
"""


def smoothing_domains(mesh: TetMesh, moduli: np.ndarray, energy_index: np.ndarray) -> np.ndarray:
    """Return the index of each tet's smoothing domain, (m,), from 0 on.

    All tets of a domain have the same kind of energy density, ``energy_index`` (m,). Each of the k positive ``moduli``
    (m,k), Pa, differs between the tets of a domain by at most the factor ``CONTRAST``.
    """
    axes = _lattice_axes(mesh)
    found = _stars(mesh) if axes is None else axes[:, 0] * len(mesh.rest_positions) + axes[:, 1]
    star = np.unique(found, return_inverse=True)[1].ravel()
    largest = np.zeros((int(star.max()) + 1, moduli.shape[1]))
    np.maximum.at(largest, star, moduli)
    levels = np.floor(np.log(largest[star] / moduli) / np.log(CONTRAST)).astype(np.int64)
    return np.unique(np.column_stack([star, energy_index, levels]), axis=0, return_inverse=True)[1].ravel()


def _lattice_axes(mesh: TetMesh) -> np.ndarray | None:
    """For each tet of a draft lattice (:mod:`.lattice_cells`), return the edge that joins two cell centres, as two
    ascending vertex indices (m,2). Tets that share such an edge form a smoothing domain. Return None if the mesh is not
    a part of the draft lattice, or if it has painted refinement.

    Only the parity of coordinates distinguishes cell centres from cell corners. If vertex 0 is a cell centre, the
    edges join two cell corners instead. The lattice is the same if centres and corners are exchanged.
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
    """Return the index (m,) of each tet's smoothing domain, by a greedy algorithm. Each pass visits all edges, longest
    first. If enough tets around an edge belong to no domain yet, these tets become a domain. "Enough" is at least
    ``MOST_TETS`` in the first pass and one less in each later pass, down to 2. Every tet that is left forms a domain
    alone.
    """
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
    """Visit the edges in the sequence ``order``. If at least ``least`` tets around an edge belong to no smoothing
    domain yet, these tets become a new domain, numbered by the edge. ``domain`` (m,) holds the number of each tet's
    domain, -1 if there is none yet. ``tets[starts[e]:starts[e + 1]]`` are the indices of the tets around edge e.
    """
    for edge in order:
        count = 0
        for k in range(starts[edge], starts[edge + 1]):
            count += domain[tets[k]] < 0
        if count >= least:
            for k in range(starts[edge], starts[edge + 1]):
                if domain[tets[k]] < 0:
                    domain[tets[k]] = edge
