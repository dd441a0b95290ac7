"""Fung: skin, vessels, organs, soft at first and exponentially stiffer the farther they are stretched.

    psi = mu/(2b) (exp(2b p) - 1) - mu (J - 1) + lambda'/2 (J - 1)^2,     p = (|F|^2 - 3)/2

The isotropic exponential solid ``mu/(2b) (exp(b (I1 - 3)) - 1)`` of Fung 1967, "Elasticity of soft tissues in simple
elongation", and Demiray 1972, "A note on the elasticity of soft biological tissues", made compressible by the
polynomial volume term that [MFEM22]'s own Fung has. ``lambda' = lambda + mu (1 - 2b)`` makes its linearisation at rest
that of the Lame parameters. ``psi_i = mu exp(2b p) sigma_i + (lambda' (J-1) - mu) J_i``.

Traps: the exponential overflows where a body is torn apart or scrambled. Where 2b p is above ``LARGEST_EXPONENT`` (with
b = 1/2 a pull to 4.8 times the length, 22,000 times the stiffness) it goes on as its second-order Taylor polynomial,
twice differentiable. And under a negative lambda' a crushed body would collapse: it ends at 0, where ``2b (1 - 2 nu)``
reaches 1, and beyond that small changes of volume are held back more than Poisson's ratio says.
"""

from __future__ import annotations

import numpy as np

from ...foundation.kernels.jit import inner_kernel, kernel
from .isotropic import IsotropicEnergy, PrincipalFunction, ordered, stress_and_volume, stretch_and_volume

LARGEST_EXPONENT = 10.0
"""2b p above which the exponential is continued by a polynomial."""


@inner_kernel
def _numbers(own):
    """mu, lambda' and 2b of a tet's parameters."""
    rate = 2.0 * own[2]
    return own[0], max(own[1] + own[0] * (1.0 - rate), 0.0), rate


@inner_kernel
def _stretching(s):
    """p, without loss of digits near rest."""
    x, y, z = s[0] - 1.0, s[1] - 1.0, s[2] - 1.0
    return x + y + z + 0.5 * (x * x + y * y + z * z)


@inner_kernel
def _slopes(exponent):
    """First and second derivative of the continued exponential."""
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
        # p - (J - 1), written so that nothing cancels at rest.
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
        stress_and_volume(s, mu * slope, a, out[e])


@kernel
def _curvature(sigma, parameters, H, flip, twist):
    for e in range(len(sigma)):
        s = sigma[e]
        mu, lam, rate = _numbers(parameters[e])
        slope, second = _slopes(rate * _stretching(s))
        a = lam * (s[0] * s[1] * s[2] - 1.0) - mu
        stretch_and_volume(s, mu * slope, a, lam, H[e], flip[e], twist[e])
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
