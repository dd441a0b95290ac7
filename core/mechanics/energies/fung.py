"""Fung energy: skin, vessels and organs, soft at small strain and exponentially stiffer with stretch.

    psi = mu/(2b) (exp(2b p) - 1) - mu (J - 1) + lambda'/2 (J - 1)^2,     p = (|F|^2 - 3)/2

with the deformation gradient F (singular values sigma_i), ``J = det F``, ``J_i = dJ/dsigma_i``, the Lame parameters mu,
lambda, and b, the material's ``stiffening``. The isotropic exponential solid ``mu/(2b) (exp(b (I1 - 3)) - 1)`` of Fung
1967, "Elasticity of soft tissues in simple elongation", and Demiray 1972, "A note on the elasticity of soft biological
tissues", is made compressible by the polynomial volume term of [MFEM22]'s Fung. ``lambda' = lambda + mu (1 - 2b)``
makes the linearisation at rest match the Lame parameters. ``psi_i = mu exp(2b p) sigma_i + (lambda' (J-1) - mu) J_i``.

Traps: the exponential overflows at extreme deformation. So above 2b p = ``LARGEST_EXPONENT`` the second-order Taylor
polynomial of exp replaces exp, and psi stays twice differentiable. With b = 1/2, the polynomial begins at 4.8 times the
length, where exp has multiplied the stiffness by 22,000. With Poisson's ratio nu, lambda' is
negative if ``2b (1 - 2 nu) > 1``. A negative lambda' would make compression unstable, so lambda' is replaced by 0; the
bulk modulus is then higher than nu implies.
"""

from __future__ import annotations

import numpy as np

from ...foundation.kernels.jit import inner_kernel, kernel
from .isotropic import IsotropicEnergy, PrincipalFunction, ordered, principal_hessian, principal_stress

LARGEST_EXPONENT = 10.0
"""Largest argument 2b p (see the module) at which the energy uses the exponential function. At larger arguments, a
polynomial replaces the exponential, to avoid overflow.
"""


@inner_kernel
def _numbers(own):
    """Return mu, lambda' and 2b of the Fung energy from a tet's parameters mu, lambda and b, (3,)."""
    rate = 2.0 * own[2]
    return own[0], max(own[1] + own[0] * (1.0 - rate), 0.0), rate


@inner_kernel
def _stretching(s):
    """Return ``p = (|F|^2 - 3)/2`` at principal stretches s (3,), without cancellation near rest."""
    x, y, z = s[0] - 1.0, s[1] - 1.0, s[2] - 1.0
    return x + y + z + 0.5 * (x * x + y * y + z * z)


@inner_kernel
def _slopes(exponent):
    """Return the first and second derivatives of exp, or of the polynomial that continues exp, at ``exponent``."""
    if exponent <= LARGEST_EXPONENT:
        return np.exp(exponent), np.exp(exponent)
    top = np.exp(LARGEST_EXPONENT)
    return top * (1.0 + exponent - LARGEST_EXPONENT), top


@kernel
def _value(sigma, parameters, out):
    for e in range(len(sigma)):
        s = sigma[e]
        mu, lam, rate = _numbers(parameters[e])
        x, y, z = s[0] - 1.0, s[1] - 1.0, s[2] - 1.0
        J1 = s[0] * s[1] * s[2] - 1.0
        p = _stretching(s)
        if rate * p <= LARGEST_EXPONENT:
            excess = np.expm1(rate * p) / rate - p
        else:
            above = rate * p - LARGEST_EXPONENT
            excess = (np.exp(LARGEST_EXPONENT) * (1.0 + above + 0.5 * above * above) - 1.0) / rate - p
        # p - (J - 1), without cancellation at rest.
        shear = 0.5 * (x * x + y * y + z * z) - (x * y + y * z + z * x + x * y * z)
        psi = mu * (excess + shear) + 0.5 * lam * J1 * J1
        out[e] = ordered(psi)


@kernel
def _gradient(sigma, parameters, out):
    for e in range(len(sigma)):
        s = sigma[e]
        mu, lam, rate = _numbers(parameters[e])
        slope, _second = _slopes(rate * _stretching(s))
        a = lam * (s[0] * s[1] * s[2] - 1.0) - mu
        principal_stress(s, mu * slope, a, out[e])


@kernel
def _curvature(sigma, parameters, H, flip, twist):
    for e in range(len(sigma)):
        s = sigma[e]
        mu, lam, rate = _numbers(parameters[e])
        slope, second = _slopes(rate * _stretching(s))
        a = lam * (s[0] * s[1] * s[2] - 1.0) - mu
        principal_hessian(s, mu * slope, a, lam, H[e], flip[e], twist[e])
        for i in range(3):
            for j in range(3):
                H[e, i, j] += rate * mu * second * s[i] * s[j]


ENERGY = IsotropicEnergy(
    name="fung",
    label="Fung",
    description="Skin and organs: soft at first, exponentially stiffer the farther they are stretched",
    principal=PrincipalFunction(_value, _gradient, _curvature),
    own=("stiffening",),
)
