"""Estimate of a body's lowest vibration frequency by the Rayleigh-Ritz method.

The stiffness matrix is not factorized.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.spatial import cKDTree

from ...geometry.mesh.tet_mesh import TetMesh
from ...mechanics.assembly.deformation_gradient import shape_gradients
from ...mechanics.materials.fields import MaterialFields
from ..job.job import Job

MOST = 5_000
"""Largest number of tets, chosen at random, over which the energies are summed."""
RIGID = 6
"""Number of rigid motions of a free body."""
INDEPENDENT = 1e-9
"""Smallest eigenvalue of the Gram matrix of the trial displacements, relative to the largest, that is kept."""
ALIKE = 10.0
"""Largest ratio of Young's moduli within a body at which a frequency is estimated.

The trial displacements of the Rayleigh-Ritz estimate are smooth. At larger ratios, the slowest vibration differs too
much from such displacements.
"""


def slowest_vibration(job: Job, mesh: TetMesh, fields: MaterialFields) -> float:
    """Estimate the lowest vibration frequency of a body, Hz.

    The Rayleigh-Ritz method uses displacements ``d(x) q(x)``, where d is the distance of the point x from the nearest
    pin (1 without pins), and q a quadratic polynomial. For bars, the relative error of the frequency is at most a
    sixth. For bodies whose slowest vibration is that of a single limb, the frequency is too high. The result is 0 if
    the stiffness varies too much for the estimate.
    """
    if fields.youngs_modulus.max() > ALIKE * fields.youngs_modulus.min():
        return 0.0
    X = (mesh.rest_positions - mesh.rest_positions.mean(axis=0)) / mesh.size
    shapes = np.column_stack([np.ones(len(X)), X, *(X[:, i] * X[:, j] for i in range(3) for j in range(i, 3))])
    pinned = job.body.pinned_vertices[job.body.pin_held[0]]
    if len(pinned):
        shapes *= cKDTree(job.body.surface.positions[pinned]).query(mesh.rest_positions)[0][:, None] / mesh.size
    # Random, since every second or sixth tet of a lattice has the same position in its cell.
    some = np.random.default_rng(0).permutation(len(mesh.tets))[:MOST]
    corners = shapes[mesh.tets[some]]
    masses = 0.25 * fields.density[some] * mesh.body_volumes[some]
    gram, turn = scipy.linalg.eigh(np.einsum("m,mca,mcb->ab", masses, corners, corners, optimize=True))
    own = gram > INDEPENDENT * gram[-1]
    corners = corners @ (turn[:, own] / np.sqrt(gram[own]))
    G = np.einsum("mca,mci->mai", corners, shape_gradients(mesh.rest_positions, mesh.tets[some]), optimize=True)
    # Poisson's ratio is set to zero: these few shapes lack the bulging by which an incompressible body bends as
    # easily as cork.
    stiffness = 0.5 * fields.youngs_modulus[some] * mesh.elastic_volumes[some]
    shear = np.einsum("m,mai,mbj->aibj", stiffness, G, G, optimize=True)
    K = shear.transpose(0, 3, 2, 1) + np.einsum("albl,ij->aibj", shear, np.eye(3))
    values = scipy.linalg.eigvalsh(K.reshape(3 * own.sum(), -1))[0 if len(pinned) else RIGID :]
    return float(np.sqrt(max(values[0], 0.0)) / (2.0 * np.pi)) if len(values) else 0.0
