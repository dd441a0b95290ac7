"""Neo-Hookean energy with the logarithm of J: textbook rubber, unbounded resistance to compression.

    psi = mu/2 (|F|^2 - 3) + g(J),     g = -mu log J + lambda/2 (log J)^2     (J >= SMALLEST_RATIO)

with the deformation gradient F (singular values sigma_i), ``J = det F``, the Lame parameters mu, lambda. Bonet, Wood
2008, "Nonlinear Continuum Mechanics for Finite Element Analysis", Sec. 6.4.3. With ``J_i = dJ/dsigma_i``:
``psi_i = mu sigma_i + g' J_i``, ``psi_ii = g'' J_i² + mu``, and ``psi_ij = g'' J_i J_j + g' sigma_k`` with the third
index k.

Trap: the logarithm is undefined for flat and inverted tets, which pins or collisions can cause. Below
``SMALLEST_RATIO`` the second-order Taylor polynomial of g replaces g, as Stomakhin et al. 2012 do with principal
stretches. The polynomial is decreasing in J, so it restores inverted tets, and the energy is twice differentiable. With
contact between bodies, :mod:`.inversion_step_bound` prevents inversion.
"""

from __future__ import annotations

import numpy as np

from ...foundation.kernels.jit import inner_kernel, kernel
from .isotropic import IsotropicEnergy, PrincipalFunction, ordered, principal_hessian, principal_stress

SMALLEST_RATIO = 0.1
"""Volume ratio J below which a polynomial continues the energy."""


@inner_kernel
def _log_ratio(s):
    """Return ``log J`` of principal stretches with a positive product, without cancellation near rest."""
    if min(s[0], s[1], s[2]) > 0.0:
        return np.log1p(s[0] - 1.0) + np.log1p(s[1] - 1.0) + np.log1p(s[2] - 1.0)
    return np.log(s[0] * s[1] * s[2])


@inner_kernel
def _volumetric_derivatives(s, mu, lam):
    """Return the first and second derivatives of the volume term g(J), Pa, at principal stretches s (3,)."""
    J = s[0] * s[1] * s[2]
    at = max(J, SMALLEST_RATIO)
    log = _log_ratio(s) if J >= SMALLEST_RATIO else np.log(SMALLEST_RATIO)
    first = (lam * log - mu) / at
    second = (lam * (1.0 - log) + mu) / (at * at)
    return first + second * (J - at), second


@kernel
def _value(sigma, parameters, out):
    for e in range(len(sigma)):
        s = sigma[e]
        mu, lam = parameters[e, 0], parameters[e, 1]
        x, y, z = s[0] - 1.0, s[1] - 1.0, s[2] - 1.0
        stretching = x + y + z + 0.5 * (x * x + y * y + z * z)
        J = s[0] * s[1] * s[2]
        if J >= SMALLEST_RATIO:
            log = _log_ratio(s)
            psi = mu * (stretching - log) + 0.5 * lam * log * log
        else:
            log = np.log(SMALLEST_RATIO)
            first = (lam * log - mu) / SMALLEST_RATIO
            below = J - SMALLEST_RATIO
            slope, _second = _volumetric_derivatives(s, mu, lam)
            psi = mu * (stretching - log) + 0.5 * lam * log * log + 0.5 * (first + slope) * below
        out[e] = ordered(psi)


@kernel
def _gradient(sigma, parameters, out):
    for e in range(len(sigma)):
        s = sigma[e]
        mu = parameters[e, 0]
        slope, _second = _volumetric_derivatives(s, mu, parameters[e, 1])
        principal_stress(s, mu, slope, out[e])


@kernel
def _curvature(sigma, parameters, H, flip, twist):
    for e in range(len(sigma)):
        s = sigma[e]
        mu = parameters[e, 0]
        slope, second = _volumetric_derivatives(s, mu, parameters[e, 1])
        principal_hessian(s, mu, slope, second, H[e], flip[e], twist[e])


ENERGY = IsotropicEnergy(
    name="neo_hookean",
    label="Neo-Hookean",
    description="Textbook rubber: the more it is compressed, the stiffer it gets",
    principal=PrincipalFunction(_value, _gradient, _curvature),
    prevents_inversion=True,
)
