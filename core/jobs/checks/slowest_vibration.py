"""Estimate of a body's lowest vibration, without a factorisation of its matrix: by Rayleigh and Ritz."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.spatial import cKDTree

from ...geometry.mesh.tet_mesh import TetMesh
from ...mechanics.assembly.deformation_gradient import shape_gradients
from ...mechanics.materials.fields import MaterialFields
from ..job.job import Job

MOST = 5_000
"""Largest number of sampled tets."""
RIGID = 6
"""Rigid motions of a free body."""
INDEPENDENT = 1e-9
"""Part of the largest Gram value under which a shape depends linearly on the others."""
ALIKE = 10.0
"""Stiffest over softest tet up to which smooth shapes represent the vibration: beyond, it is all in the soft part."""


def slowest_vibration(job: Job, mesh: TetMesh, fields: MaterialFields) -> float:
    """Return the frequency, Hz, of the slowest of the displacements ``d(x) q(x)``, or 0 if unknown.

    d is the distance from the pins, 1 without any, and q is quadratic. The result is within a sixth for bars, and too
    high where limbs swing by themselves.
    """
    if fields.youngs_modulus.max() > ALIKE * fields.youngs_modulus.min():
        return 0.0
    X = (mesh.rest_positions - mesh.rest_positions.mean(axis=0)) / mesh.size
    shapes = np.column_stack([np.ones(len(X)), X, *(X[:, i] * X[:, j] for i in range(3) for j in range(i, 3))])
    pinned = job.body.pinned_vertices[job.body.pin_held[0]]
    if len(pinned):
        shapes *= cKDTree(job.body.surface.positions[pinned]).query(mesh.rest_positions)[0][:, None] / mesh.size
    # Random, since every second or sixth tet of a lattice has one and the same position in its cell.
    some = np.random.default_rng(0).permutation(len(mesh.tets))[:MOST]
    corners = shapes[mesh.tets[some]]
    masses = 0.25 * fields.density[some] * mesh.body_volumes[some]
    gram, turn = scipy.linalg.eigh(np.einsum("m,mca,mcb->ab", masses, corners, corners, optimize=True))
    own = gram > INDEPENDENT * gram[-1]
    corners = corners @ (turn[:, own] / np.sqrt(gram[own]))
    G = np.einsum("mca,mci->mai", corners, shape_gradients(mesh.rest_positions, mesh.tets[some]), optimize=True)
    # Zero Poisson's ratio, as of cork: so few shapes contain no bulging, which lets an incompressible body bend as
    # easily.
    stiffness = 0.5 * fields.youngs_modulus[some] * mesh.elastic_volumes[some]
    shear = np.einsum("m,mai,mbj->aibj", stiffness, G, G, optimize=True)
    K = shear.transpose(0, 3, 2, 1) + np.einsum("albl,ij->aibj", shear, np.eye(3))
    values = scipy.linalg.eigvalsh(K.reshape(3 * own.sum(), -1))[0 if len(pinned) else RIGID :]
    return float(np.sqrt(max(values[0], 0.0)) / (2.0 * np.pi)) if len(values) else 0.0
