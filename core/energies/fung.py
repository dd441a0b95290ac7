"""Fung: skin, vessels, organs, soft at first and exponentially stiffer the farther they are stretched.

    psi = mu (exp(p) - 1) - mu (J - 1) + lambda/2 (J - 1)^2,     p = (|F|^2 - 3)/2

The isotropic exponential solid ``mu/(2b) (exp(b (I1 - 3)) - 1)`` of Fung 1967, "Elasticity of soft tissues in simple
elongation", and Demiray 1972, "A note on the elasticity of soft biological tissues", with b = 1/2, made compressible by
the polynomial volume term that [MFEM22]'s own Fung has. With b = 1/2 the linearisation at rest is that of the Lame
parameters as they are. ``psi_i = mu exp(p) sigma_i + (lambda (J-1) - mu) J_i``.

Trap: the exponential overflows where a body is torn apart or scrambled. Above ``LARGEST_EXPONENT`` (a pull to 4.8 times
the length, 22,000 times the stiffness) it goes on as its second-order Taylor polynomial, twice differentiable.
"""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from .isotropic import IsotropicEnergy, PrincipalFunction, ordered, stretch_and_volume

LARGEST_EXPONENT = 10.0
"""p above which the exponential is continued by a polynomial."""


@kernel
def _exponent(s):
    """p, without loss of digits near rest."""
    x, y, z = s[0] - 1.0, s[1] - 1.0, s[2] - 1.0
    return x + y + z + 0.5 * (x * x + y * y + z * z)


@kernel
def _slopes(p):
    """First and second derivative of the continued exponential."""
    if p <= LARGEST_EXPONENT:
        return np.exp(p), np.exp(p)
    top = np.exp(LARGEST_EXPONENT)
    return top * (1.0 + p - LARGEST_EXPONENT), top


@kernel
def _value(sigma, parameters):
    n = sigma.shape[0]
    out = np.empty(n)
    for e in range(n):
        s = sigma[e]
        mu, lam = parameters[e, 0], parameters[e, 1]
        x, y, z = s[0] - 1.0, s[1] - 1.0, s[2] - 1.0
        J1 = s[0] * s[1] * s[2] - 1.0
        p = _exponent(s)
        if p <= LARGEST_EXPONENT:
            excess = np.expm1(p) - p
        else:
            above = p - LARGEST_EXPONENT
            excess = np.exp(LARGEST_EXPONENT) * (1.0 + above + 0.5 * above * above) - 1.0 - p
        # p - (J - 1), written so that nothing cancels at rest.
        shear = 0.5 * (x * x + y * y + z * z) - (x * y + y * z + z * x + x * y * z)
        psi = mu * (excess + shear) + 0.5 * lam * J1 * J1
        out[e] = ordered(psi)
    return out


@kernel
def _gradient(sigma, parameters):
    n = sigma.shape[0]
    out = np.empty((n, 3))
    for e in range(n):
        s = sigma[e]
        mu = parameters[e, 0]
        slope, _second = _slopes(_exponent(s))
        a = parameters[e, 1] * (s[0] * s[1] * s[2] - 1.0) - mu
        out[e, 0] = mu * slope * s[0] + a * s[1] * s[2]
        out[e, 1] = mu * slope * s[1] + a * s[0] * s[2]
        out[e, 2] = mu * slope * s[2] + a * s[0] * s[1]
    return out


@kernel
def _curvature(sigma, parameters):
    n = sigma.shape[0]
    H = np.empty((n, 3, 3))
    flip = np.empty((n, 3))
    twist = np.empty((n, 3))
    for e in range(n):
        s = sigma[e]
        mu, lam = parameters[e, 0], parameters[e, 1]
        slope, second = _slopes(_exponent(s))
        a = lam * (s[0] * s[1] * s[2] - 1.0) - mu
        stretch_and_volume(s, mu * slope, a, lam, H[e], flip[e], twist[e])
        for i in range(3):
            for j in range(3):
                H[e, i, j] += mu * second * s[i] * s[j]
    return H, flip, twist


ENERGY = IsotropicEnergy(
    name="fung",
    label="Fung",
    description="Skin and organs: soft at first, exponentially stiffer the farther they are stretched",
    principal=PrincipalFunction(_value, _gradient, _curvature),
)
