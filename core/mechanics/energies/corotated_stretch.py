"""Kernels of the energies that are quadratic in the stretch: corotated, ARAP, and linear (as a function of the
stretch).

    psi = mu |S - I|^2 + lambda/2 tr(S - I)^2

with the stretch S, whose eigenvalues are ``sigma``, and the Lame parameters mu, lambda, Pa.

Trap: the second derivatives contain a coefficient called twist (see ``isotropic``), a quotient with the denominator
``sigma_i + sigma_j``. A sum of magnitude below 1e-8 is replaced by 1e-8, to avoid division by zero.
"""

from __future__ import annotations

from ...foundation.kernels.jit import kernel
from .isotropic import off_zero


@kernel
def quadratic_value(sigma, parameters, out):
    """Write to ``out`` (n,), Pa, the energy density of each tet at the principal stretches ``sigma`` (n,3)."""
    for e in range(len(sigma)):
        x, y, z = sigma[e, 0] - 1.0, sigma[e, 1] - 1.0, sigma[e, 2] - 1.0
        trace = x + y + z
        out[e] = parameters[e, 0] * (x * x + y * y + z * z) + 0.5 * parameters[e, 1] * trace * trace


@kernel
def quadratic_gradient(sigma, parameters, out):
    """Write to ``out`` (n,3), Pa, the principal stresses of each tet at the principal stretches ``sigma`` (n,3)."""
    for e in range(len(sigma)):
        pressure = parameters[e, 1] * (sigma[e, 0] + sigma[e, 1] + sigma[e, 2] - 3.0)
        for i in range(3):
            out[e, i] = 2.0 * parameters[e, 0] * (sigma[e, i] - 1.0) + pressure


@kernel
def quadratic_curvature(sigma, parameters, H, flip, twist):
    """Write the second derivatives of the energy density psi by the principal stretches to H (n,3,3), Pa.

    ``sigma`` (n,3): principal stretches. ``flip`` (n,3), Pa, receives ``(psi_i - psi_j) / (sigma_i - sigma_j)``, and
    ``twist`` (n,3), Pa, receives ``(psi_i + psi_j) / (sigma_i + sigma_j)``, where ``psi_i = dpsi/dsigma_i``. The
    columns belong to the index pairs (2,3), (1,3), (1,2).
    """
    for e in range(len(sigma)):
        mu, lam = parameters[e, 0], parameters[e, 1]
        trace = sigma[e, 0] + sigma[e, 1] + sigma[e, 2]
        for i in range(3):
            for j in range(3):
                H[e, i, j] = lam + (2.0 * mu if i == j else 0.0)
        for k in range(3):
            total = off_zero(trace - sigma[e, k])
            flip[e, k] = 2.0 * mu
            twist[e, k] = 2.0 * mu * (1.0 - 2.0 / total) + 2.0 * lam * (trace - 3.0) / total
