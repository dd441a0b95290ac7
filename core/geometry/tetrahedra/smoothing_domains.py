"""Smoothing domains: a partition of a mesh's tets into groups of adjacent tets.

All tets of a group have the same strain, the mean of their strains. Linear tets that each have their own strain are too
stiff in bending, torsion and volume. Elements with mean strains are not (smoothed FEM: Liu, Nguyen-Thoi and Lam, "An
edge-based smoothed finite element method", J. Sound Vib. 320, 2009; tets: Cazes and Meschke, "An edge-based smoothed
finite element method for 3D", 2013). In the draft lattice the domains are octahedra: the four tets around each edge
between the centres of adjacent cells. In other meshes a greedy algorithm groups the tets around edges. A local search
(:mod:`.domain_search`) replaces its domains where the search finds better ones, as in random tets. Cubes of six tets
keep those of the greedy algorithm, the cubes.
"""

from __future__ import annotations

import numpy as np

from ...foundation.kernels.jit import kernel
from ..mesh.tet_mesh import TetMesh
from .domain_search import better_domains

EDGES = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
"""Corner pairs of a tet's edges."""

ON_LATTICE = 1e-6
"""Largest deviation of a lattice mesh's vertices from the lattice, in cells."""

MOST_TETS = 9
"""Least number of tets in a smoothing domain in the first pass of the greedy algorithm (:func:`_stars`).

The tets surround a common edge, and belong to no domain yet. Each later pass needs one tet less.
"""

CONTRAST = 4.0
"""Largest ratio of the moduli of two tets in a smoothing domain.

A domain gets the mean modulus of its tets, which share one strain. With a larger ratio, the mean would move the border
between bone and flesh: with 30, bone two cells thick whose border is cut parallel to the lattice deflects by up to 7 %
less than with 4.
"""


def smoothing_domains(mesh: TetMesh, moduli: np.ndarray, energy_index: np.ndarray) -> np.ndarray:
    """Return the index of each tet's smoothing domain, (m,), from 0 on.

    All tets of a domain have the same kind of energy density. Each modulus differs between the tets of a domain by at
    most the factor ``CONTRAST``.

    ``moduli`` (m,k), Pa: k positive moduli per tet.
    ``energy_index`` (m,): kind of energy density per tet.
    """
    star = geometric_domains(mesh)
    largest = np.zeros((int(star.max()) + 1, moduli.shape[1]))
    np.maximum.at(largest, star, moduli)
    levels = np.floor(np.log(largest[star] / moduli) / np.log(CONTRAST)).astype(np.int64)
    return np.unique(np.column_stack([star, energy_index, levels]), axis=0, return_inverse=True)[1].ravel()


def geometric_domains(mesh: TetMesh) -> np.ndarray:
    """Return the index of each tet's smoothing domain in a body of one material, (m,), from 0 on.

    Smoothing domains of bodies of several materials are parts of these domains.
    """
    axes = _lattice_axes(mesh)
    found = better_domains(mesh, _stars(mesh)) if axes is None else axes[:, 0] * len(mesh.rest_positions) + axes[:, 1]
    return np.unique(found, return_inverse=True)[1].ravel()


def _lattice_axes(mesh: TetMesh) -> np.ndarray | None:
    """Return the edge (m,2) between cell centres of each tet of a draft lattice, or None.

    If vertex 0 is a cell centre, the edges join cell corners instead. The lattice is the same if centres and corners
    are exchanged.
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
    """Return the index (m,) of each tet's smoothing domain, by a greedy algorithm over the edges, longest first."""
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
    """Make smoothing domains of the free tets around edges with at least ``least`` of them."""
    for edge in order:
        count = 0
        for k in range(starts[edge], starts[edge + 1]):
            count += domain[tets[k]] < 0
        if count >= least:
            for k in range(starts[edge], starts[edge + 1]):
                if domain[tets[k]] < 0:
                    domain[tets[k]] = edge
